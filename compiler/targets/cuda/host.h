// The host programs of the CUDA target: NAME.cpp, NAME_device.cu, and their part of NAME.h.
//
//   EmitOptions options{.host = CudaHost({"80", "90a"}, 80)};
#ifndef AOTC_COMPILER_TARGETS_CUDA_HOST_H_
#define AOTC_COMPILER_TARGETS_CUDA_HOST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
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

// Whether launches choose by the compute capability of the device, which create() then asks for.
bool AsksForCapability(const Program& program);
// "sm_80" is 80; nothing for what is no such name.
std::optional<int> CapabilityOf(std::string_view feature);

// Where inputs and outputs that are host memory lie on the device, and the functions that bring
// them there and back.
void EmitStaging(const EmitContext& context, CodeWriter& w);
void EmitTransfers(const EmitContext& context, CodeWriter& w);

// The functions of NAME_device.cu.
void DeclareCudaDevice(const EmitContext& context, CodeWriter& w);

// Of models that tell of their steps; nothing of others. The functions of NAME_device.cu that make,
// record and read events, and those of NAME.cpp that mark steps and tell of them.
void DeclareDeviceEvents(const EmitContext& context, CodeWriter& w);
void EmitDeviceEvents(const EmitContext& context, CodeWriter& w);
void EmitMarks(const EmitContext& context, CodeWriter& w);
// Lines of create() and destroy().
std::string CreateEvents(const EmitContext& context);
std::string DestroyEvents(const EmitContext& context);
// Whether a step is marked, which does something on the stream; whether any is.
bool IsMarked(const EmitContext& context, const Step& step);
bool MarksSteps(const EmitContext& context);

// The run through the table, the table, and the function that returns it.
absl::Status EmitCudaTable(const EmitContext& context, CodeWriter& w);

// NAME_create(), NAME_finish() and NAME_destroy(); runs of the model make that many late checks.
void EmitCudaLifetime(const EmitContext& context, size_t checks, CodeWriter& w);
// NAME_load(), which verifies weights that the caller gives.
void EmitCudaLoad(const EmitContext& context, CodeWriter& w);
// Lines of create() that bring the weights to the device, or share those of another instance.
std::string BringCudaWeights(const EmitContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CUDA_HOST_H_
