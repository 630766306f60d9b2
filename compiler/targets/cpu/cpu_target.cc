#include "compiler/targets/cpu/cpu_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_split.h"
#include "compiler/fuse/split_kernels.h"
#include "compiler/lower/nest.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_schedules.h"

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

// What a share of the FLOP is reported under.
std::string RealisationOf(const Schedule& schedule) {
  const SchedulePart& heart = HeartOf(schedule);
  if (heart.by == "loops") return heart.params[0] > 1 ? "vector_loops" : "loops";
  return heart.by == "row_dots" ? "row_products" : heart.by;
}

std::string ReasonOf(const CpuReading& reading, const Schedule& schedule) {
  const std::string& by = HeartOf(schedule).by;
  const std::string why(reading.contraction().status().message());
  if (by == "depthwise_tile") return "channels in blocks, each with a filter of its own";
  if (reading.contraction().ok() && by != "loops") {
    return "a contraction with constant weights and its columns innermost";
  }
  if (by == "loops") return why;
  return StrCat("rows that multiply with one matrix share its loads; no contract_tile: ", why);
}

absl::StatusOr<KernelVariant> VariantOf(const CpuReading& reading, const Isa& isa) {
  const Schedule schedule = ChooseOnCpu(reading, isa);
  KernelVariant variant{.feature = std::string(isa.name),
                        .realisation = RealisationOf(schedule),
                        .schedule = PrintSchedule(schedule),
                        .reason = ReasonOf(reading, schedule)};
  AOTC_ASSIGN_OR_RETURN(variant.loops, ApplyOnCpu(reading, schedule, isa));
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
absl::Status AddVariants(const CpuReading& reading, const Isa& isa,
                         std::vector<KernelVariant>& variants) {
  std::optional<Expr> guard;
  if (reading.contraction().ok()) guard = OneRowGuard(*reading.contraction());
  if (guard) {
    AOTC_ASSIGN_OR_RETURN(KernelVariant one, VariantOf(reading.Under(*guard), isa));
    one.guard = *guard;
    one.reason += ", and one row";
    one.loops.name += "_one_row";
    variants.push_back(std::move(one));
  }
  AOTC_ASSIGN_OR_RETURN(KernelVariant any, VariantOf(reading, isa));
  variants.push_back(std::move(any));
  return absl::OkStatus();
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
  const auto refusal = [](const Kernel& kernel) {
    return CpuReading(kernel).contraction().status();
  };
  const absl::Status tiled = refusal(merged);
  if (!tiled.ok() && (refusal(producer).ok() || refusal(consumer).ok())) {
    return StrCat("the contraction would lose its tile: ", std::string(tiled.message()));
  }
  constexpr int64_t kMostRowBytes = 128 * 1024;  // with what a row reads, within most L2 caches
  const absl::StatusOr<Nest> nest = BuildNest(merged);
  if (nest.ok() && TempBytes(*nest) > kMostRowBytes) {
    return StrCat("temps of ", TempBytes(*nest), " bytes would leave the cache");
  }
  return "";
}

absl::StatusOr<ProgramKernel> ScheduleOnCpu(Kernel kernel, const CpuOptions& options) {
  const CpuReading reading(kernel, options);
  ProgramKernel result{.kernel = kernel, .packing = reading.packing()};
  const bool is_integer = reading.contraction().ok() && reading.contraction()->is_integer;
  for (auto isa = options.isas.rbegin(); isa != options.isas.rend(); ++isa) {
    if (isa->has_vnni && !is_integer) continue;
    AOTC_RETURN_IF_ERROR(AddVariants(reading, *isa, result.variants));
    // Without vectors all instruction sets would get the same text.
    if (result.variants.back().realisation == "loops") {
      result.variants = {std::move(result.variants.back())};
      result.variants[0].feature = std::string(options.isas.front().name);
      break;
    }
  }
  return result;
}

}  // namespace aotc
