// The host programs of the CUDA target: NAME.cpp, NAME_device.cu, and their part of NAME.h.
//
//   EmitOptions options{.host = CudaHost({"80", "90a"}, 80)};
#ifndef AOTC_COMPILER_TARGETS_CUDA_HOST_H_
#define AOTC_COMPILER_TARGETS_CUDA_HOST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"

namespace aotc {

// `archs` are what CMakeLists.txt compiles for, `least_arch` is the least compute capability of
// those, times ten.
HostWriter CudaHost(const std::vector<std::string>& archs = {}, int least_arch = 80);

// NAME.cpp
absl::StatusOr<std::string> EmitCudaHost(const EmitContext& context);
// NAME_device.cu: what of the host program calls the CUDA runtime.
std::string EmitCudaDevice(const EmitContext& context);

// The functions of NAME_device.cu.
void DeclareCudaDevice(const EmitContext& context, CodeWriter& w);

// The run through the table, the table, and the function that returns it.
void EmitCudaTable(const EmitContext& context, CodeWriter& w);

// NAME_load(), which verifies weights that the caller gives.
void EmitCudaLoad(const EmitContext& context, CodeWriter& w);
// Lines of create() that bring the weights to the device, or share those of another instance.
std::string BringCudaWeights(const EmitContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CUDA_HOST_H_
