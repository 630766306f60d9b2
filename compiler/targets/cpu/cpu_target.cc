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

// There is something to compute for vectors: on f32, or a reduction of bytes.
bool HasVectorMath(const Kernel& kernel) {
  return std::ranges::any_of(kernel.stages, [](const Stage& stage) {
    return std::ranges::any_of(stage.body, [&](const Expr& e) {
      const bool is_byte = e.dtype() == DType::kU8 || e.dtype() == DType::kI8;
      return ComputeType(e.dtype()) == DType::kF32 || (is_byte && stage.IsReduction());
    });
  });
}

absl::StatusOr<KernelVariant> ContractVariant(const Kernel& kernel,
                                              const TiledContraction& contraction, const Isa& isa) {
  const ContractSchedule schedule = ChooseContractSchedule(contraction, isa);
  KernelVariant variant{
      .feature = std::string(isa.name),
      .realisation = schedule.name,
      .schedule = PrintSchedule(schedule),
      .reason = contraction.is_depthwise
                    ? "channels in blocks, each with a filter of its own"
                    : "a contraction with constant weights and its columns innermost"};
  AOTC_ASSIGN_OR_RETURN(variant.loops, ApplyContractSchedule({kernel, contraction, schedule, isa}));
  TidyLoops(variant.loops);
  return variant;
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
absl::Status AddVariants(const Kernel& kernel, const TiledContraction& contraction, const Isa& isa,
                         std::vector<KernelVariant>& variants) {
  if (const std::optional<Expr> guard = OneRowGuard(contraction)) {
    AOTC_ASSIGN_OR_RETURN(KernelVariant one,
                          ContractVariant(kernel, UnderFact(contraction, *guard), isa));
    one.guard = *guard;
    one.reason += ", and one row";
    one.loops.name += "_one_row";
    variants.push_back(std::move(one));
  }
  AOTC_ASSIGN_OR_RETURN(KernelVariant any, ContractVariant(kernel, contraction, isa));
  variants.push_back(std::move(any));
  return absl::OkStatus();
}

absl::StatusOr<KernelVariant> LoopVariant(const Kernel& kernel, const Isa& isa,
                                          const std::string& why) {
  const bool vectors = HasVectorMath(kernel);
  KernelVariant variant{.feature = std::string(isa.name),
                        .realisation = vectors ? "vector_loops" : "loops",
                        .reason = why};
  variant.schedule = StrCat(variant.realisation, "{lanes=", vectors ? isa.lanes : 1, "}");
  AOTC_ASSIGN_OR_RETURN(variant.loops, LowerToLoops(kernel, {.lanes = vectors ? isa.lanes : 1}));
  TidyLoops(variant.loops);
  return variant;
}

// The kernel as a matrix or a depthwise tile sees it; of two refusals the first.
absl::StatusOr<TiledContraction> AnalyzeAny(Kernel& kernel) {
  if (HasSubByteTensor(kernel)) return absl::FailedPreconditionError("elements share bytes");
  Kernel matrix = kernel;
  BlockConstants(matrix);
  absl::StatusOr<TiledContraction> tiled = AnalyzeContraction(matrix);
  if (tiled.ok()) {
    kernel = std::move(matrix);
    return tiled;
  }
  Kernel depthwise = kernel;
  BlockConstants(depthwise);
  absl::StatusOr<TiledContraction> pixels = AnalyzeDepthwise(depthwise);
  if (!pixels.ok()) return tiled;
  kernel = std::move(depthwise);
  return pixels;
}

// All variants by the contraction tile, or the reason why not.
absl::StatusOr<ProgramKernel> AsContraction(Kernel kernel, const CpuOptions& options) {
  AOTC_ASSIGN_OR_RETURN(const TiledContraction contraction, AnalyzeAny(kernel));
  ProgramKernel result;
  for (auto isa = options.isas.rbegin(); isa != options.isas.rend(); ++isa) {
    if (isa->has_vnni && !contraction.is_integer) continue;
    AOTC_RETURN_IF_ERROR(AddVariants(kernel, contraction, *isa, result.variants));
  }
  const std::string& name = result.variants.front().realisation;
  if (options.disabled.contains(name)) {
    return absl::FailedPreconditionError(StrCat(name, " is disabled"));
  }
  result.kernel = std::move(kernel);
  return result;
}

// The rows of a kernel that no contraction tile takes, in blocks where that pays.
absl::StatusOr<KernelVariant> RowVariant(const Kernel& kernel, const Isa& isa,
                                         const CpuOptions& options, const std::string& why) {
  if (options.templates && !options.disabled.contains("row_products")) {
    absl::StatusOr<KernelVariant> blocks = RowProductVariant(kernel, isa);
    if (blocks.ok()) StrAppend(&blocks->reason, "; no contract_tile: ", why);
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
  Kernel parts[] = {producer, consumer}, after = merged;
  const absl::StatusOr<TiledContraction> tiled = AnalyzeAny(after);
  if (!tiled.ok() && (AnalyzeAny(parts[0]).ok() || AnalyzeAny(parts[1]).ok())) {
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
  BlockConstants(kernel);
  ProgramKernel result;
  for (auto isa = options.isas.rbegin(); isa != options.isas.rend(); ++isa) {
    if (isa->has_vnni) continue;
    AOTC_ASSIGN_OR_RETURN(KernelVariant variant, RowVariant(kernel, *isa, options, reason));
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
