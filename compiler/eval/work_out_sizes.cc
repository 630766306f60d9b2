// The sizes of a run, from those that are known.
#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "compiler/eval/evaluate.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status DefineSize(const Symbol& symbol, SymbolValues& values) {
  const auto given = values.find(symbol.var);
  if (symbol.clamps && given != values.end()) {
    given->second = std::clamp(given->second, symbol.min, symbol.max);
  }
  if (!symbol.value.valid()) return absl::OkStatus();
  const std::optional<int64_t> value = EvaluateInt(symbol.value, values);
  if (!value || *value < symbol.min || *value > symbol.max) {
    return AOTC_REFUSAL(
        OutOfRange, StrCat("'", symbol.name, "' is not within ", symbol.min, " .. ", symbol.max));
  }
  values[symbol.var] = *value;
  return absl::OkStatus();
}

}  // namespace

absl::Status WorkOutSizes(const std::vector<Symbol>& symbols, SymbolValues& values) {
  // What a tensor states that is still to be computed, and what follows from it, comes later.
  std::set<std::string> unknown;
  for (const Symbol& symbol : symbols) {
    const bool is_to_come = symbol.computed && !values.contains(symbol.var);
    if (is_to_come || (symbol.value.valid() && NamesAny(symbol.value, unknown))) {
      unknown.insert(symbol.var);
      continue;
    }
    AOTC_RETURN_IF_ERROR(DefineSize(symbol, values));
    for (const SizeCheck& check : symbol.checks) {
      if (NamesAny(check.holds, unknown)) continue;
      if (EvaluateInt(check.holds, values).value_or(0) == 0) {
        return absl::FailedPreconditionError(check.text);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace aotc
