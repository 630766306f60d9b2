// The CPU target's record.
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cpu/host.h"
#include "compiler/targets/cpu/winograd.h"

namespace aotc {
namespace {

constexpr TargetSchedule kSchedules[] = {
    {"contract_tile_int8", "contractions of 8-bit integers with packed weights"},
    {"contract_tile_amx", "the same on AMX"},
    {"contract_tile", "matrix products and convolutions with packed weights"},
    {"contract_tile_gathered", "the same where steps of the reduction lie anywhere in the input"},
    {"contract_tile_scaled", "products with weights of 8 or 4 bits that have scales"},
    {"contract_tile_shifted", "the same with scales and zero points"},
    {"depthwise_tile", "convolutions with a filter for each channel"},
    {"depthwise_tile_int8", "the same on 8-bit integers"},
    {"winograd", "convolutions with 3x3 taps and a step of 1, by patches of outputs"},
    {"attention", "rows that attend to keys: blocks of rows by blocks of keys, in one pass"},
    {"row_products", "rows that multiply with one matrix, such as attention"},
};

// Of the layout that the tiles read: the lanes of the widest vectors.
constexpr int64_t kChannelBlock = 16;

absl::Status Check(const TargetOptions& options) {
  AOTC_RETURN_IF_ERROR(CpuLimitsFrom(options.limits).status());
  return ParseCpuList(options.cpu).status();
}

absl::StatusOr<Target> Make(const TargetOptions& options) {
  CpuOptions cpu{.templates = options.templates, .disabled = options.disabled};
  AOTC_ASSIGN_OR_RETURN(cpu.isas, ParseCpuList(options.cpu));
  AOTC_ASSIGN_OR_RETURN(cpu.limits, CpuLimitsFrom(options.limits));
  AOTC_ASSIGN_OR_RETURN(const std::optional<LimitsJson> given, LimitsOf(options.limits, "cpu"));
  Target target{.name = kCpuTarget.name,
                .channel_block = options.templates ? kChannelBlock : 0,
                .scales_weights = options.templates,
                .host = CpuHost()};
  target.estimate = [cpu](const Kernel& kernel) { return EstimateOnCpu(kernel, cpu); };
  target.schedule = [cpu](const Kernel& kernel) { return ScheduleOnCpu(kernel, cpu); };
  target.candidates = [cpu](const Kernel& kernel, const KernelVariant& variant) {
    return CpuCandidatesOf(kernel, variant, cpu);
  };
  target.realise = [cpu](const Kernel& kernel, const KernelVariant& variant,
                         std::string_view schedule) {
    return CpuVariantBy(kernel, variant, schedule, cpu);
  };
  target.limits = given ? given->dump() : "";
  target.kernel_files = CpuKernelFiles;
  const bool has_winograd = options.templates && !options.disabled.contains("winograd") &&
                            !options.disabled.contains("contract_tile");
  if (has_winograd) {
    target.convolution_seconds = [cpu](const ConvolutionSize& size, int64_t m) {
      const Isa& isa = cpu.isas.back();
      return ConvolutionSeconds(size, m, isa, cpu.limits.For(isa));
    };
  }
  return target;
}

}  // namespace

const TargetMaker kCpuTarget = {"cpu", kSchedules, Check, Make, [] { return MeasureCpu().dump(); }};

}  // namespace aotc
