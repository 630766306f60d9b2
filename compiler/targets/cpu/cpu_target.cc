#include "compiler/targets/cpu/cpu_target.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/lower/nest.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contract_schedule.h"
#include "compiler/targets/cpu/cpu_schedules.h"
#include "compiler/targets/cpu/product_rows.h"

namespace aotc {
namespace {

// What the kernels of a contraction gain by.
std::vector<std::string_view> UsedBy(const CpuReading& reading, const CpuOptions& options) {
  std::vector<const TiledContraction*> parts;
  if (reading.contraction().ok()) parts = {&*reading.contraction()};
  if (reading.chain().ok()) parts = {&reading.chain()->first, &reading.chain()->second};
  const auto takes_amx = [](const TiledContraction* part) { return FitsAmx(*part); };
  const auto is_integer = [](const TiledContraction* part) { return part->is_integer; };
  if (std::ranges::none_of(parts, is_integer)) return {};
  const bool may_take = !options.disabled.contains(std::string(kAmxTile));
  if (!may_take || std::ranges::none_of(parts, takes_amx)) return {"vnni"};
  return {"vnni", "amx"};
}

// What a share of the FLOP is reported under.
std::string RealisationOf(const Schedule& schedule) {
  const SchedulePart& heart = HeartOf(schedule);
  if (heart.by == kWinogradInputTile) return "winograd";
  if (IsAttention(schedule)) return "attention";
  if (IsChain(schedule)) return "chain";
  if (heart.by == "loops") return heart.params[0] > 1 ? "vector_loops" : "loops";
  return IsProductRow(heart.by) ? "row_products" : heart.by;
}

std::string ReasonOf(const CpuReading& reading, const Schedule& schedule) {
  const std::string& by = HeartOf(schedule).by;
  std::string why = reading.WhyNoTile();
  if (by == kWinogradInputTile) return "a convolution with 3x3 taps and a step of 1";
  if (IsChain(schedule)) return "two contractions, the second of what the first makes, in bands";
  if (by.starts_with("depthwise_tile")) return "channels in blocks, each with a filter of its own";
  if (IsAttention(schedule)) return "rows that attend to keys, in blocks of both";
  if (reading.contraction().ok() && by != "loops") {
    return "a contraction with constant weights and its columns innermost";
  }
  if (by == kTransposeTile) return "read along another axis than it is written";
  if (by == "loops") return why;
  if (by.starts_with("rank_tile")) return "ranks along a long axis";
  return StrCat("rows that multiply with one matrix share its loads; no contract_tile: ", why);
}

absl::StatusOr<KernelVariant> VariantBy(const CpuReading& reading, const Schedule& schedule,
                                        const Isa& isa) {
  KernelVariant variant{.feature = isa.name,
                        .realisation = RealisationOf(schedule),
                        .schedule = PrintSchedule(schedule),
                        .reason = ReasonOf(reading, schedule)};
  AOTC_ASSIGN_OR_RETURN(variant.loops, ApplyOnCpu(reading, schedule, isa));
  return variant;
}

absl::StatusOr<KernelVariant> VariantOf(const CpuReading& reading, const Isa& isa,
                                        const CpuLimits& limits) {
  AOTC_RETURN_IF_ERROR(reading.CheckRealisable());
  return VariantBy(reading, ChooseOnCpu(reading, isa, limits), isa);
}

// One row alone, where the number of rows is a symbol that may be 1: the tile is then as wide as
// the panel.
std::optional<Expr> OneRowGuard(const TiledContraction& contraction) {
  const Expr& rows = contraction.row_extent;
  if (contraction.is_depthwise || !rows.IsVar()) return std::nullopt;
  if (RangeOf(rows, contraction.nest.bounds).min > 1) return std::nullopt;
  return Eq(rows, 1);
}

// The variants for one instruction set, guarded ones first.
absl::Status AddVariants(const CpuReading& reading, const Isa& isa, const CpuLimits& limits,
                         std::vector<KernelVariant>& variants) {
  std::optional<Expr> guard;
  if (reading.contraction().ok()) guard = OneRowGuard(*reading.contraction());
  if (guard) {
    AOTC_ASSIGN_OR_RETURN(KernelVariant one, VariantOf(reading.Under(*guard), isa, limits));
    one.guard = *guard;
    one.reason += ", and one row";
    one.loops.name += "_one_row";
    variants.push_back(std::move(one));
  }
  AOTC_ASSIGN_OR_RETURN(KernelVariant any, VariantOf(reading, isa, limits));
  variants.push_back(std::move(any));
  return absl::OkStatus();
}

// The one that the variant is for.
Isa IsaOf(const CpuReading& reading, const KernelVariant& variant, const CpuOptions& options) {
  const std::vector<Isa> isas = IsasFor(options.isas, UsedBy(reading, options));
  const auto found = std::ranges::find(isas, variant.feature, &Isa::name);
  AOTC_CHECK(found != isas.end()) << variant.feature;
  return *found;
}

absl::StatusOr<ProgramKernel> AllVariants(const CpuReading& reading, const CpuOptions& options) {
  ProgramKernel result{.kernel = reading.kernel(), .packing = reading.packing()};
  const std::vector<Isa> isas = IsasFor(options.isas, UsedBy(reading, options));
  for (auto isa = isas.rbegin(); isa != isas.rend(); ++isa) {
    AOTC_RETURN_IF_ERROR(AddVariants(reading, *isa, options.limits.For(*isa), result.variants));
    // Without vectors all instruction sets would get the same text.
    const std::string& realisation = result.variants.back().realisation;
    if (realisation == "loops" || realisation == kTransposeTile) {
      result.variants = {std::move(result.variants.back())};
      result.variants[0].feature = isas.front().name;
      break;
    }
  }
  return result;
}

// Error: what is chosen for some instruction set cannot be applied, or takes too much memory.
absl::Status CheckChain(const CpuReading& reading, const std::vector<Isa>& isas,
                        const CpuLimitsTable& limits) {
  for (const Isa& isa : isas) {
    const Schedule schedule = ChooseOnCpu(reading, isa, limits.For(isa));
    if (!HasRoom(*reading.chain(), schedule))
      return absl::FailedPreconditionError("scratch of a chain would raise the peak of memory");
    AOTC_RETURN_IF_ERROR(ApplyOnCpu(reading, schedule, isa).status());
  }
  return absl::OkStatus();
}

}  // namespace

KernelEstimate EstimateOnCpu(const Kernel& kernel, const CpuOptions& options) {
  const CpuReading reading(kernel, options);
  if (const absl::Status status = reading.CheckRealisable(); !status.ok()) {
    return {.seconds = std::numeric_limits<double>::infinity(),
            .realisation = "nothing",
            .why = std::string(status.message())};
  }
  const std::vector<Isa> isas = IsasFor(options.isas, UsedBy(reading, options));
  const Isa& isa = isas.back();
  const CpuLimits& limits = options.limits.For(isa);
  const Schedule schedule = ChooseOnCpu(reading, isa, limits);
  KernelEstimate estimate{.seconds = CpuSeconds(reading, schedule, isa, limits),
                          .launch_seconds = CpuLaunchSeconds(limits),
                          .realisation = RealisationOf(schedule),
                          .is_plain = HeartOf(schedule).by == "loops"};
  if (reading.chain().ok()) {
    estimate.apart_seconds = ApartSeconds(reading, schedule, isa, options);
    // There are no plain loops of results in blocks to fall back to.
    if (const absl::Status status = CheckChain(reading, isas, options.limits); !status.ok()) {
      estimate.seconds = std::numeric_limits<double>::infinity();
      estimate.why = std::string(status.message());
    }
  }
  if (estimate.is_plain && reading.loops().ok()) estimate.kept_bytes = TempBytes(*reading.loops());
  if (estimate.realisation == "row_products") {
    estimate.kept_bytes = TempBytes(*reading.rows());
    // Blocks of few rows walk all of the weights again, which a tile has packed for it.
    estimate.is_plain = MultipliesConstants(kernel);
  }
  if (estimate.is_plain) estimate.why = reading.WhyNoTile();
  return estimate;
}

absl::StatusOr<ProgramKernel> ScheduleOnCpu(const Kernel& kernel, const CpuOptions& options) {
  const CpuReading reading(kernel, options);
  absl::StatusOr<ProgramKernel> result = AllVariants(reading, options);
  if (result.ok() || !reading.HasTile()) return result;
  return AllVariants(reading.WithoutTile(result.status()), options);
}

std::vector<ScheduleCandidate> CpuCandidatesOf(const Kernel& kernel, const KernelVariant& variant,
                                               const CpuOptions& options) {
  const CpuReading reading = ReadingOf(kernel, variant, options);
  const Isa isa = IsaOf(reading, variant, options);
  const CpuLimits& limits = options.limits.For(isa);
  std::vector<ScheduleCandidate> candidates;
  for (const Schedule& schedule : CpuCandidates(reading, isa, limits)) {
    candidates.push_back({PrintSchedule(schedule), CpuCost(reading, schedule, isa, limits)});
  }
  return candidates;
}

absl::StatusOr<KernelVariant> CpuVariantBy(const Kernel& kernel, const KernelVariant& variant,
                                           std::string_view text, const CpuOptions& options) {
  const CpuReading reading = ReadingOf(kernel, variant, options);
  AOTC_ASSIGN_OR_RETURN(const Schedule schedule, ParseSchedule(text));
  AOTC_ASSIGN_OR_RETURN(KernelVariant other,
                        VariantBy(reading, schedule, IsaOf(reading, variant, options)));
  other.guard = variant.guard;
  other.loops.name = variant.loops.name;
  return other;
}

}  // namespace aotc
