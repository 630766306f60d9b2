// The CPU target's record.
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contracts.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cpu/host.h"

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
    {"chain", "two contractions, the second of what the first makes, in bands of rows"},
    {"attention", "rows that attend to keys: blocks of rows by blocks of keys, in one pass"},
    {"row_products", "rows that multiply with one matrix, such as attention"},
    {"transpose_tile", "copies that read along another axis than they write"},
    {"rank_tile", "ranks along an axis, by sorting"},
    {"rank_tile_integers", "the same of integers"},
    {"order_tile", "the places along an axis in the order of what is there"},
    {"order_tile_integers", "the same of integers"},
    {"select_tile", "the places of what comes first along an axis, of few"},
    {"select_tile_integers", "the same of integers"},
};

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
                .contracts = CpuContracts(cpu),
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
  if (!options.archs.empty()) target.unused_flags.push_back("--arch");
  return target;
}

}  // namespace

const TargetMaker kCpuTarget = {"cpu", "host", kSchedules,
                                Check, Make,   [] { return MeasureCpu().dump(); }};

}  // namespace aotc
