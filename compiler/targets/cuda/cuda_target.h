// The CUDA target: schedule rules and kernel files.
//
//   ProgramKernel kernel = *ScheduleOnCuda(fused.kernel, {});
//   std::string text = EmitCudaKernels({{&kernel, &kernel.variants[0]}}, "mobilenet");
//
// Tensors are row-major. Each kernel is a __global__ function with a launcher that the host calls:
//   aotc_status NAME(inputs, outputs, symbols, int64_t tasks, struct CUstream_st *stream);
#ifndef AOTC_COMPILER_TARGETS_CUDA_CUDA_TARGET_H_
#define AOTC_COMPILER_TARGETS_CUDA_CUDA_TARGET_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/program.h"
#include "compiler/targets/cuda/limits.h"
#include "compiler/targets/target.h"

namespace aotc {

struct CudaOptions {
  bool templates = true;  // false: one thread per result, plain loops
  int least_arch = 80;    // compute capability that all kernels may rely on, times ten
  int most_arch = 0;      // the largest that kernels are compiled for; 0: none is larger
  CudaLimits limits = DefaultCudaLimits({"80"});
  std::set<std::string> disabled = {};  // schedules that are not to be chosen
};

// The least and the largest compute capability of a list such as {"80", "90a"}, times ten. Error:
// one is none.
absl::StatusOr<int> LeastArch(const std::vector<std::string>& archs);
absl::StatusOr<int> MostArch(const std::vector<std::string>& archs);

// The kernel's variants: those that only some of the GPUs can run first ("sm_80" and later), each
// asked for by its compute capability.
absl::StatusOr<ProgramKernel> ScheduleOnCuda(const Kernel& kernel, const CudaOptions& options);

// What could stand in the place of one of these variants, and the variant with such a schedule.
// Error: the text is no schedule of the kernel, and why.
std::vector<ScheduleCandidate> CudaCandidatesOf(const Kernel& kernel, const KernelVariant& variant,
                                                const CudaOptions& options);
absl::StatusOr<KernelVariant> CudaVariantBy(const Kernel& kernel, const KernelVariant& variant,
                                            std::string_view text, const CudaOptions& options);

// What the kernel should take on the least of the GPUs, by the first rule that takes it.
KernelEstimate EstimateOnCuda(const Kernel& kernel, const CudaOptions& options);

// Bytes of shared memory that the loops of a block name, each buffer on a line of its own. Beyond
// what every block has they are one dynamic block.
inline constexpr int64_t kSharedOfEveryBlock = 48 * 1024, kSharedAlign = 128;
int64_t SharedBytes(const LoopFunction& function);

// Symbol of the function that launches a variant, and of the kernel but for its ending.
std::string CudaSymbol(std::string_view prefix, const ProgramKernel& kernel,
                       const KernelVariant& variant);

std::string EmitCudaKernels(const std::vector<const ProgramKernel*>& kernels,
                            std::string_view prefix);
// The same for all kernels of a program, in files of a size that compiles quickly.
std::vector<KernelFile> CudaKernelFiles(const Program& program);

extern const TargetMaker kCudaTarget;

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CUDA_CUDA_TARGET_H_
