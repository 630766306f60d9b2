#include "compiler/targets/cpu/features.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_split.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace aotc {
namespace {

// The builtin takes literals only.
#if defined(__x86_64__)
#define AOTC_CPU_TEST(name)                                \
  CpuTest {                                                \
    name, [] { return __builtin_cpu_supports(name) != 0; } \
  }
#else
#define AOTC_CPU_TEST(name)    \
  CpuTest {                    \
    name, [] { return false; } \
  }
#endif

constexpr CpuTest kTestsV3[] = {AOTC_CPU_TEST("avx2"), AOTC_CPU_TEST("fma"), AOTC_CPU_TEST("bmi"),
                                AOTC_CPU_TEST("bmi2")};
constexpr CpuTest kTestsV4[] = {AOTC_CPU_TEST("avx512f"), AOTC_CPU_TEST("avx512bw"),
                                AOTC_CPU_TEST("avx512cd"), AOTC_CPU_TEST("avx512dq"),
                                AOTC_CPU_TEST("avx512vl")};

constexpr std::string_view kBroughtByV4[] = {"avx512vnni", "amx-int8"};

// name, macro, suffix, lanes, registers, is_x86, tests, brings
constexpr VectorFamily kFamilies[] = {
    {"portable", "AOTC_ISA_GENERIC", "generic", 4, 16},
    {"x86-64", "AOTC_ISA_X86_64", "v1", 4, 16, true},
    {"x86-64-v3", "AOTC_ISA_X86_64_V3", "v3", 8, 16, true, kTestsV3},
    {"x86-64-v4", "AOTC_ISA_X86_64_V4", "v4", 16, 32, true, kTestsV4, kBroughtByV4},
};

// As aotc_system_allows_tiles() in runtime-lite/aotc/cpu.h.
bool SystemAllowsTiles() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr int64_t kAskForState = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
#else
  return false;
#endif
}

constexpr CpuTest kTilesAllowed = {"aotc_system_allows_tiles()", SystemAllowsTiles};

// name, family, provides, macro, CPUID leaf 7: subleaf, register, bit, permission
constexpr CpuFeature kFeatures[] = {
    {"avxvnni", "x86-64-v3", "vnni", "AOTC_WITH_AVXVNNI", 1, 0, 4},
    {"avx512vnni", "x86-64-v4", "vnni", "AOTC_WITH_AVX512VNNI", 0, 2, 11},
    {"avx512bf16", "x86-64-v4", "bf16", "AOTC_WITH_AVX512BF16", 1, 0, 5},
    {"avx512fp16", "x86-64-v4", "fp16", "AOTC_WITH_AVX512FP16", 0, 3, 23},
    {"amx-int8", "x86-64-v4", "amx", "AOTC_WITH_AMX_INT8", 0, 3, 25, kTilesAllowed},
};

const VectorFamily* FindFamily(std::string_view name) {
  const auto* found = std::ranges::find(kFamilies, name, &VectorFamily::name);
  return found == std::end(kFamilies) ? nullptr : found;
}

absl::Status UnknownIsa(std::string_view name) {
  std::vector<std::string> known = {"native"};
  for (const VectorFamily& family : kFamilies) known.emplace_back(family.name);
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat(UnknownName("instruction set", name, known),
                             "; hint: x86-64-v3 has AVX2, x86-64-v4 AVX-512; features come behind, "
                             "as in x86-64-v4+avx512vnni"));
}

absl::StatusOr<const CpuFeature*> FindFeature(std::string_view name, const VectorFamily& family) {
  std::vector<std::string> known;
  for (const CpuFeature& feature : kFeatures) {
    if (feature.family != family.name) continue;
    if (feature.name == name) return &feature;
    known.emplace_back(feature.name);
  }
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("instruction set ", family.name, " has no feature '", name,
                             "'; known: ", known.empty() ? "none" : StrJoin(known, ", ")));
}

bool HasFamily(const VectorFamily& family) {
#if defined(__x86_64__)
  for (const VectorFamily& narrower : kFamilies) {
    for (const CpuTest& test : narrower.tests) {
      if (!test.holds_here()) return false;
    }
    if (&narrower == &family) return true;
  }
  return true;
#else
  return !family.is_x86;
#endif
}

bool HasFeature(const CpuFeature& feature) {
#if defined(__x86_64__)
  // As aotc_cpu_has() in runtime-lite/aotc/cpu.h.
  std::array<uint32_t, 4> words = {};
  const auto ask = [&](uint32_t subleaf) {
    return __get_cpuid_count(7, subleaf, &words[0], &words[1], &words[2], &words[3]) != 0;
  };
  if (!ask(0) || words[0] < feature.subleaf || !ask(feature.subleaf)) return false;
  if (((words[feature.word] >> feature.bit) & 1) == 0) return false;
  return feature.permission.holds_here == nullptr || feature.permission.holds_here();
#else
  return feature.family.empty();
#endif
}

std::vector<Isa> Sorted(std::vector<Isa> isas) {
  std::ranges::sort(isas, ComesBefore);
  const auto again = std::ranges::unique(isas);
  isas.erase(again.begin(), again.end());
  return isas;
}

}  // namespace

std::span<const VectorFamily> VectorFamilies() { return kFamilies; }
std::span<const CpuFeature> CpuFeatures() { return kFeatures; }

Isa MakeIsa(const VectorFamily& family, std::vector<const CpuFeature*> features) {
  std::ranges::sort(features);
  const auto again = std::ranges::unique(features);
  features.erase(again.begin(), again.end());
  Isa isa{.family = &family,
          .name = std::string(family.name),
          .suffix = std::string(family.suffix),
          .lanes = family.lanes,
          .registers = family.registers};
  for (const CpuFeature* feature : features) {
    StrAppend(&isa.name, "+", feature->name);
    StrAppend(&isa.suffix, feature->provides);
  }
  isa.features = std::move(features);
  isa.has_vnni = Provides(isa, "vnni");
  isa.has_amx = Provides(isa, "amx");
  return isa;
}

bool ComesBefore(const Isa& a, const Isa& b) {
  if (a.family != b.family) return a.family < b.family;
  if (a.features.size() != b.features.size()) return a.features.size() < b.features.size();
  return a.features < b.features;
}

bool Holds(const Isa& a, const Isa& b) {
  return a.family >= b.family && std::ranges::all_of(b.features, [&](const CpuFeature* feature) {
           return std::ranges::count(a.features, feature) > 0;
         });
}

bool Provides(const Isa& isa, std::string_view provided) {
  return provided.empty() || std::ranges::any_of(isa.features, [&](const CpuFeature* feature) {
           return feature->provides == provided;
         });
}

std::vector<Isa> IsasFor(std::span<const Isa> isas, std::span<const std::string_view> used) {
  std::vector<Isa> narrowed;
  for (const Isa& isa : isas) {
    std::vector<const CpuFeature*> features;
    std::ranges::copy_if(isa.features, std::back_inserter(features), [&](const auto* feature) {
      return std::ranges::count(used, feature->provides) > 0;
    });
    narrowed.push_back(MakeIsa(*isa.family, std::move(features)));
  }
  return Sorted(std::move(narrowed));
}

absl::StatusOr<Isa> ParseIsa(std::string_view name) {
  const std::vector<std::string> parts = absl::StrSplit(View(name), '+');
  const VectorFamily* family = FindFamily(parts[0]);
  if (family == nullptr) return UnknownIsa(parts[0]);
  std::vector<const CpuFeature*> features;
  for (size_t i = 1; i < parts.size(); ++i) {
    AOTC_ASSIGN_OR_RETURN(const CpuFeature* feature, FindFeature(parts[i], *family));
    features.push_back(feature);
  }
  return MakeIsa(*family, std::move(features));
}

Isa NativeIsa() {
  const VectorFamily* best = &kFamilies[0];
  for (const VectorFamily& family : kFamilies) {
    if (HasFamily(family)) best = &family;
  }
  std::vector<const CpuFeature*> features;
  for (const CpuFeature& feature : kFeatures) {
    if (feature.family == best->name && HasFeature(feature)) features.push_back(&feature);
  }
  return MakeIsa(*best, std::move(features));
}

absl::StatusOr<std::vector<Isa>> ParseCpuList(std::string_view list) {
  std::vector<Isa> isas;
  for (const auto& part : absl::StrSplit(View(list), ',')) {
    const std::string name(part);
    if (name == "native") {
      isas.push_back(NativeIsa());
      continue;
    }
    AOTC_ASSIGN_OR_RETURN(Isa isa, ParseIsa(name));
    isas.push_back(isa);
    if (!isa.features.empty()) continue;
    std::string with = name;
    for (const std::string_view feature : isa.family->brings) {
      StrAppend(&with, "+", feature);
      AOTC_ASSIGN_OR_RETURN(Isa brought, ParseIsa(with));
      isas.push_back(std::move(brought));
    }
  }
  return Sorted(std::move(isas));
}

}  // namespace aotc
