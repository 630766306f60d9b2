#include "compiler/import/symbol_table.h"

#include <algorithm>

#include "compiler/import/dim_parser.h"
#include "compiler/import/onnx_proto.h"
#include "compiler/ir/loop_names.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {

SymbolTable::SymbolTable() : vars_(TakenByLowering()) {}

// "4*batch" and "floor(h/2)" can be nothing else; "batch-size" and "N/2" may be names.
bool SymbolTable::IsExpression(const std::string& text) const {
  if (IsPlainDimName(text)) return false;
  std::set<std::string> names = NamesInDim(text);
  if (names.empty())
    return ParseDimText(text, [](const auto&) { return std::nullopt; }).has_value();
  if (text.find_first_of("*+%(), ") != std::string::npos || text.find("//") != std::string::npos) {
    return true;
  }
  return std::ranges::all_of(names, [this](const std::string& name) {
    return known_.contains(name) || bounds_.contains(name);
  });
}

std::set<std::string> SymbolTable::NamesOf(const std::string& text) const {
  return IsExpression(text) ? NamesInDim(text) : std::set<std::string>{text};
}

const std::string& SymbolTable::Principal(const std::string& name) const {
  const auto found = equal_.find(name);
  return found == equal_.end() ? name : Principal(found->second);
}

void SymbolTable::Equate(const std::string& name, const std::string& other) {
  const std::string from = Principal(name), to = Principal(other);
  if (from != to) equal_[from] = to;
}

absl::Status SymbolTable::Bind(const std::string& alias, const DimBound& bound) {
  const std::string& name = Principal(alias);
  auto [found, added] = bounds_.try_emplace(name, bound);
  if (added || found->second == bound) return absl::OkStatus();
  return AOTC_REFUSAL(
      InvalidArgument,
      StrCat("dim '", DisplayName(name), "' is given as ", PrintDimBound(found->second), " and as ",
             PrintDimBound(bound), "; hint: where the model has a name twice, both are one dim"));
}

std::optional<DimBound> SymbolTable::BoundOf(const std::string& alias) const {
  const auto found = bounds_.find(Principal(alias));
  return found == bounds_.end() ? std::nullopt : std::optional(found->second);
}

Expr SymbolTable::Symbol(const std::string& alias) {
  const std::string& name = Principal(alias);
  if (auto found = values_.find(name); found != values_.end()) return found->second;
  auto bound = bounds_.find(name);
  if (bound != bounds_.end() && bound->second.min == bound->second.max) {
    return values_[name] = Expr(bound->second.min);
  }
  aotc::Symbol symbol{.name = DisplayName(name), .max = kUnboundMax};
  if (bound == bounds_.end()) {
    unbound_.push_back(name);
  } else {
    symbol.step = bound->second.step;
    symbol.min = bound->second.min / symbol.step;
    symbol.max = bound->second.max / symbol.step;
  }
  const std::string ending = symbol.step == 1 ? "" : StrCat("_", symbol.step);
  symbol.var = UniqueSymbolVar(vars_, name, ending);
  symbols_.push_back(symbol);
  return values_[name] = Var(symbol.var) * symbol.step;
}

Expr SymbolTable::Dim(const std::string& text) {
  if (!IsExpression(text)) return Symbol(text);
  const std::optional<Expr> dim = ParseDimText(
      text, [this](const std::string& name) { return std::optional<Expr>(Symbol(name)); });
  return dim ? *dim : Symbol(text);  // nothing for "8//n" where n is pinned to 0
}

std::optional<Expr> SymbolTable::ExistingDim(const std::string& text) const {
  auto find = [this](const std::string& name) -> std::optional<Expr> {
    auto found = values_.find(Principal(name));
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  };
  return IsExpression(text) ? ParseDimText(text, find) : find(text);
}

}  // namespace aotc
