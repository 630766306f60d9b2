#include "compiler/targets/cpu/kernel_symbol.h"

#include <algorithm>
#include <array>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::array<FeatureLevel, 6> kLevels = {{
    {"", "", 0},
    {"portable", "_generic", 0},
    {"x86-64", "_v1", 1},
    {"x86-64-v3", "_v3", 3},
    {"x86-64-v4", "_v4", 4},
    {"x86-64-v4-vnni", "_v4vnni", 5},
}};

}  // namespace

std::optional<FeatureLevel> FindFeatureLevel(std::string_view feature) {
  const auto* found = std::find_if(kLevels.begin(), kLevels.end(), [&](const FeatureLevel& level) {
    return level.feature == feature;
  });
  if (found == kLevels.end()) return std::nullopt;
  return *found;
}

std::string KernelSymbol(std::string_view prefix, const KernelVariant& variant) {
  const std::optional<FeatureLevel> level = FindFeatureLevel(variant.feature);
  return StrCat(prefix, "_", variant.loops.name, level ? level->suffix : "");
}

}  // namespace aotc
