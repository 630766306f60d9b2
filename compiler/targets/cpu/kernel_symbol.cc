#include "compiler/targets/cpu/kernel_symbol.h"

#include "compiler/support/strings.h"
#include "compiler/targets/cpu/features.h"

namespace aotc {

std::string KernelSymbol(std::string_view prefix, const KernelVariant& variant) {
  const absl::StatusOr<Isa> isa = ParseIsa(variant.feature);
  return StrCat(prefix, "_", variant.loops.name, isa.ok() ? "_" + isa->suffix : "");
}

}  // namespace aotc
