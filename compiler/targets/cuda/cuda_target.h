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

// A schedule rule. Error: why it does not apply.
using CudaRule = absl::StatusOr<KernelVariant> (*)(const Kernel& kernel,
                                                   const CudaOptions& options);

// Elementwise kernels whose threads move 16 bytes at a time.
absl::StatusOr<KernelVariant> PackedElementwiseOnCuda(const Kernel& kernel,
                                                      const CudaOptions& options);
// Elementwise kernels that read along another axis than they write along.
absl::StatusOr<KernelVariant> TransposeTileOnCuda(const Kernel& kernel, const CudaOptions& options);
// Rows that attend to keys, in one pass over them. Error: why it does not apply.
absl::StatusOr<KernelVariant> AttentionOnCuda(const Kernel& kernel, const CudaOptions& options);
// Reductions, softmax, normalisations: a warp, a part of one or a block to each row.
absl::StatusOr<KernelVariant> RowsOnCuda(const Kernel& kernel, const CudaOptions& options);
// Shared-memory tiled contraction, dense or convolution by implicit GEMM. Error: why it does not
// apply.
absl::StatusOr<KernelVariant> MatmulTileOnCuda(const Kernel& kernel, const CudaOptions& options);
// Contraction of f16 on tensor cores, for sm_80 and newer. Error: why it does not apply.
absl::StatusOr<KernelVariant> MmaTileOnCuda(const Kernel& kernel, const CudaOptions& options);
// Matrix times vector: a row of the matrix by a warp or a block. Error: why it does not apply.
absl::StatusOr<KernelVariant> MatrixVectorOnCuda(const Kernel& kernel, const CudaOptions& options);
// Depthwise convolution with a run of outputs per thread. Error: why it does not apply.
absl::StatusOr<KernelVariant> DepthwiseTileOnCuda(const Kernel& kernel, const CudaOptions& options);

// Whether the kernel is computed in one pass, though a part of it alone would not be.
bool IsOnePassOnCuda(const Kernel& kernel, const CudaOptions& options);

// Whether threads or blocks have room for what the kernel keeps between its stages.
bool CudaHolds(const Kernel& kernel, const CudaOptions& options);

// Why `merged` must not replace its parts: a contraction would lose its tile, or rows the threads
// that share them. "" where it may.
std::string CudaFusionVeto(const Kernel& producer, const Kernel& consumer, const Kernel& merged);
FusionVeto CudaFusionVetoFor(const CudaOptions& options);

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
