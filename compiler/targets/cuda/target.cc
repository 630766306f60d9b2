// The CUDA target's record.
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {
namespace {

constexpr TargetSchedule kSchedules[] = {
    {"attention", "rows that attend to keys: blocks of rows by blocks of keys, in one pass"},
    {"depthwise_tile", "convolutions with a filter for each channel"},
    {"matrix_vector_tile", "a matrix times a vector: a row by a warp or a block"},
    {"mma_tile", "contractions of f16 on tensor cores"},
    {"mma_tile_int8", "contractions of bytes on tensor cores"},
    {"matmul_tile", "contractions in shared memory"},
    {"row_groups", "reductions, softmax, normalisations: a group of threads to a row"},
    {"transpose_tile", "copies that read along another axis than they write"},
    {"updates", "scatters and counts: a thread to the elements that it owns, of all updates"},
    {"packed_elementwise", "elementwise kernels, 16 bytes at a time"},
};

std::vector<std::string> ArchsOf(const TargetOptions& options) {
  return options.archs.empty() ? std::vector<std::string>{"80"} : options.archs;
}

absl::Status Check(const TargetOptions& options) {
  AOTC_RETURN_IF_ERROR(LeastArch(ArchsOf(options)).status());
  return CudaLimitsFrom(options.limits, ArchsOf(options)).status();
}

absl::StatusOr<Target> Make(const TargetOptions& options) {
  CudaOptions cuda{.templates = options.templates, .disabled = options.disabled};
  AOTC_ASSIGN_OR_RETURN(cuda.least_arch, LeastArch(ArchsOf(options)));
  AOTC_ASSIGN_OR_RETURN(cuda.most_arch, MostArch(ArchsOf(options)));
  AOTC_ASSIGN_OR_RETURN(cuda.limits, CudaLimitsFrom(options.limits, ArchsOf(options)));
  AOTC_ASSIGN_OR_RETURN(const std::optional<LimitsJson> given, LimitsOf(options.limits, "cuda"));
  Target target{.name = kCudaTarget.name, .host = CudaHost(ArchsOf(options), cuda.least_arch)};
  target.estimate = [cuda](const Kernel& kernel) { return EstimateOnCuda(kernel, cuda); };
  target.schedule = [cuda](const Kernel& kernel) { return ScheduleOnCuda(kernel, cuda); };
  target.candidates = [cuda](const Kernel& kernel, const KernelVariant& variant) {
    return CudaCandidatesOf(kernel, variant, cuda);
  };
  target.realise = [cuda](const Kernel& kernel, const KernelVariant& variant,
                          std::string_view schedule) {
    return CudaVariantBy(kernel, variant, schedule, cuda);
  };
  target.limits = given ? given->dump() : "";
  target.kernel_files = CudaKernelFiles;
  if (options.cpu != kDefaultCpuList) target.unused_flags.push_back("--cpu");
  if (!options.threads) target.unused_flags.push_back("--no-threads");
  target.refuses_pools =
      "a program for cuda has one device arena; hint: leave it out, or --target cpu";
  target.emulation_flags = {"-DAOTC_CUDA_EMULATE"};
  return target;
}

}  // namespace

const TargetMaker kCudaTarget = {"cuda", "gpu", kSchedules, Check, Make};

}  // namespace aotc
