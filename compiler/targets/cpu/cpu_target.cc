#include "compiler/targets/cpu/cpu_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_split.h"
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

constexpr std::array<Isa, 5> kIsas = {{
    {"portable", "AOTC_ISA_GENERIC", "generic", 4, 16},
    {"x86-64", "AOTC_ISA_X86_64", "v1", 4, 16},
    {"x86-64-v3", "AOTC_ISA_X86_64_V3", "v3", 8, 16},
    {"x86-64-v4", "AOTC_ISA_X86_64_V4", "v4", 16, 32},
    {"x86-64-v4-vnni", "AOTC_ISA_X86_64_V4", "v4vnni", 16, 32, true},
}};

const Isa* FindIsa(const std::string& name) {
  auto found = std::find_if(kIsas.begin(), kIsas.end(),
                            [&](const Isa& isa) { return isa.name == name && !isa.has_vnni; });
  return found == kIsas.end() ? nullptr : &*found;
}

// The best instruction set of this machine.
const Isa& NativeIsa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return kIsas[3];
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kIsas[2];
  return kIsas[1];
#else
  return kIsas[0];
#endif
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
  return KernelVariant{.feature = std::string(isa.name),
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
  for (auto isa = options.isas.rbegin(); isa != options.isas.rend(); ++isa) {
    if (isa->has_vnni && !contraction.is_integer) continue;
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

absl::StatusOr<std::vector<Isa>> ParseCpuList(std::string_view list) {
  std::vector<Isa> isas;
  for (const auto& part : absl::StrSplit(View(list), ',')) {
    const std::string name(part);
    const Isa* isa = name == "native" ? &NativeIsa() : FindIsa(name);
    if (isa == nullptr) {
      return absl::InvalidArgumentError(
          StrCat("unknown instruction set '", name,
                 "'; known: native, portable, x86-64, x86-64-v3, x86-64-v4"));
    }
    isas.push_back(*isa);
    constexpr std::string_view kWithVnni = "x86-64-v4";
    if (isa->name == kWithVnni) isas.push_back(*(isa + 1));
  }
  std::sort(isas.begin(), isas.end(),
            [](const Isa& a, const Isa& b) { return a.suffix < b.suffix; });
  isas.erase(std::unique(isas.begin(), isas.end(),
                         [](const Isa& a, const Isa& b) { return a.name == b.name; }),
             isas.end());
  return isas;
}

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
  for (auto isa = options.isas.rbegin(); isa != options.isas.rend(); ++isa) {
    if (isa->has_vnni) continue;
    AOTC_ASSIGN_OR_RETURN(KernelVariant variant, RowVariant(blocked, *isa, options, reason));
    result.variants.push_back(std::move(variant));
    // Without vectors all instruction sets would get the same text.
    if (result.variants.back().realisation == "loops") {
      result.variants = {std::move(result.variants.back())};
      result.variants[0].feature = std::string(options.isas.front().name);
      break;
    }
  }
  result.kernel = std::move(kernel);
  return result;
}

}  // namespace aotc
