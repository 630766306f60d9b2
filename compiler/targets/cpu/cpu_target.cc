#include "compiler/targets/cpu/cpu_target.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/fuse/split_kernels.h"
#include "compiler/lower/block_constants.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/tidy_loops.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contract_schedule.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/row_products.h"

namespace aotc {
namespace {

// What the kernels of a contraction gain by.
std::vector<std::string_view> UsedBy(const TiledContraction& contraction) {
  if (contraction.is_integer) return {"vnni"};
  return {};
}

bool HasFloatMath(const Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(), [](const Stage& stage) {
    return std::any_of(stage.body.begin(), stage.body.end(),
                       [](const Expr& e) { return ComputeType(e.dtype()) == DType::kF32; });
  });
}

// What a share of the FLOP is reported under.
std::string RealisationOf(const Schedule& schedule) {
  const SchedulePart& heart = HeartOf(schedule);
  if (heart.by == "loops") return heart.params[0] > 1 ? "vector_loops" : "loops";
  return heart.by == "row_dots" ? "row_products" : heart.by;
}

// A variant for one instruction set, of a schedule that has been applied.
absl::StatusOr<KernelVariant> VariantOf(const Schedule& schedule, const Isa& isa,
                                        absl::StatusOr<LoopFunction> loops, std::string reason) {
  AOTC_RETURN_IF_ERROR(loops.status());
  TidyLoops(*loops);
  return KernelVariant{.feature = isa.name,
                       .realisation = RealisationOf(schedule),
                       .schedule = PrintSchedule(schedule),
                       .reason = std::move(reason),
                       .loops = *std::move(loops)};
}

absl::StatusOr<KernelVariant> ContractVariant(const TiledContraction& contraction, const Isa& isa) {
  const Schedule schedule = ChooseContractSchedule(contraction, isa);
  return VariantOf(schedule, isa, ApplyContractSchedule(contraction, schedule, isa.lanes),
                   contraction.is_depthwise
                       ? "channels in blocks, each with a filter of its own"
                       : "a contraction with constant weights and its columns innermost");
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
absl::Status AddVariants(const TiledContraction& contraction, const Isa& isa,
                         std::vector<KernelVariant>& variants) {
  if (const std::optional<Expr> guard = OneRowGuard(contraction)) {
    AOTC_ASSIGN_OR_RETURN(KernelVariant one,
                          ContractVariant(UnderFact(contraction, *guard), isa));
    one.guard = *guard;
    one.reason += ", and one row";
    one.loops.name += "_one_row";
    variants.push_back(std::move(one));
  }
  AOTC_ASSIGN_OR_RETURN(KernelVariant any, ContractVariant(contraction, isa));
  variants.push_back(std::move(any));
  return absl::OkStatus();
}

absl::StatusOr<KernelVariant> LoopVariant(const Kernel& kernel, const Isa& isa,
                                          const std::string& why) {
  AOTC_ASSIGN_OR_RETURN(Nest nest, LoopNest(kernel));
  const Schedule schedule = ScheduleLoops(kernel, nest, HasFloatMath(kernel) ? isa.lanes : 1);
  return VariantOf(schedule, isa, LowerToLoops(kernel, std::move(nest), schedule), why);
}

// The kernel as a matrix or a depthwise tile sees it; of two refusals the first.
absl::StatusOr<TiledContraction> AnalyzeAny(const Kernel& kernel) {
  if (HasSubByteTensor(kernel)) return absl::FailedPreconditionError("elements share bytes");
  absl::StatusOr<TiledContraction> tiled = AnalyzeContraction(kernel);
  if (tiled.ok()) return tiled;
  absl::StatusOr<TiledContraction> pixels = AnalyzeDepthwise(kernel);
  return pixels.ok() ? std::move(pixels) : std::move(tiled);
}

// All variants by the contraction tile, or the reason why not.
absl::StatusOr<ProgramKernel> AsContraction(const Kernel& kernel, const CpuOptions& options) {
  AOTC_ASSIGN_OR_RETURN(const TiledContraction contraction, AnalyzeAny(kernel));
  ProgramKernel result{.kernel = kernel, .packing = PackingOf(kernel, contraction.kernel)};
  const std::vector<Isa> isas = IsasFor(options.isas, UsedBy(contraction));
  for (auto isa = isas.rbegin(); isa != isas.rend(); ++isa) {
    AOTC_RETURN_IF_ERROR(AddVariants(contraction, *isa, result.variants));
  }
  const std::string& name = result.variants.front().realisation;
  if (options.disabled.contains(name)) {
    return absl::FailedPreconditionError(StrCat(name, " is disabled"));
  }
  return result;
}

absl::StatusOr<KernelVariant> RowProductVariant(const Kernel& kernel, const Isa& isa,
                                                const std::string& why) {
  AOTC_ASSIGN_OR_RETURN(const Nest nest, RowProductNest(kernel));
  AOTC_ASSIGN_OR_RETURN(const Schedule schedule, ChooseRowProducts(kernel, nest, isa));
  return VariantOf(
      schedule, isa, ApplyRowProducts(kernel, nest, schedule),
      StrCat("rows that multiply with one matrix share its loads; no contract_tile: ", why));
}

// The rows of a kernel that no contraction tile takes, in blocks where that pays.
absl::StatusOr<KernelVariant> RowVariant(const Kernel& kernel, const Isa& isa,
                                         const CpuOptions& options, const std::string& why) {
  if (options.templates && !options.disabled.contains("row_products")) {
    absl::StatusOr<KernelVariant> blocks = RowProductVariant(kernel, isa, why);
    if (blocks.ok()) return blocks;
  }
  return LoopVariant(kernel, isa, why);
}

}  // namespace

bool CpuHolds(const Kernel& kernel) {
  constexpr int64_t kMostScratchBytes = 1 << 20;  // of the second-level cache
  if (TempBytes(kernel) <= kMostScratchBytes || IsPointNest(kernel)) return true;
  const absl::StatusOr<Nest> nest = BuildNest(kernel);
  return nest.ok() && TempBytes(*nest) <= kMostScratchBytes;
}

std::string CpuFusionVeto(const Kernel& producer, const Kernel& consumer, const Kernel& merged) {
  const absl::StatusOr<TiledContraction> tiled = AnalyzeAny(merged);
  if (!tiled.ok() && (AnalyzeAny(producer).ok() || AnalyzeAny(consumer).ok())) {
    return StrCat("the contraction would lose its tile: ", std::string(tiled.status().message()));
  }
  constexpr int64_t kMostRowBytes = 128 * 1024;  // with what a row reads, within most L2 caches
  const absl::StatusOr<Nest> nest = BuildNest(merged);
  if (nest.ok() && TempBytes(*nest) > kMostRowBytes) {
    return StrCat("temps of ", TempBytes(*nest), " bytes would leave the cache");
  }
  return "";
}

absl::StatusOr<ProgramKernel> ScheduleOnCpu(Kernel kernel, const CpuOptions& options) {
  std::string reason = "templates are off";
  if (options.templates) {
    absl::StatusOr<ProgramKernel> tiled = AsContraction(kernel, options);
    if (tiled.ok()) return tiled;
    reason = std::string(tiled.status().message());
  }
  Kernel blocked = kernel;
  BlockConstants(blocked);
  ProgramKernel result{.packing = PackingOf(kernel, blocked)};
  const std::vector<Isa> isas = IsasFor(options.isas, {});
  for (auto isa = isas.rbegin(); isa != isas.rend(); ++isa) {
    AOTC_ASSIGN_OR_RETURN(KernelVariant variant, RowVariant(blocked, *isa, options, reason));
    result.variants.push_back(std::move(variant));
    // Without vectors all instruction sets would get the same text.
    if (result.variants.back().realisation == "loops") {
      result.variants = {std::move(result.variants.back())};
      result.variants[0].feature = isas.front().name;
      break;
    }
  }
  result.kernel = std::move(kernel);
  return result;
}

}  // namespace aotc
