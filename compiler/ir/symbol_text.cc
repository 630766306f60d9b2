#include "compiler/ir/symbol_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "compiler/ir/expr_text.h"
#include "compiler/support/literals.h"
#include "compiler/support/names.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::StatusOr<std::string> ParseSymbolName(Scanner& scanner) {
  if (scanner.Peek().kind == TokenKind::kString) return scanner.ExpectString();
  return scanner.ExpectIdentifier();
}

}  // namespace

std::string PrintSymbol(const Symbol& symbol) {
  std::string text = "symbol ";
  text += IsIdentifier(symbol.name) ? symbol.name : QuotedText(symbol.name);
  if (symbol.var != symbol.name) StrAppend(&text, " as ", symbol.var);
  StrAppend(&text, " in ", symbol.min, "..", symbol.max);
  if (symbol.step != 1) StrAppend(&text, " step ", symbol.step);
  if (symbol.clamps) text += " clamped";
  if (symbol.computed) text += " computed";
  if (symbol.value.valid()) StrAppend(&text, " = ", PrintExpr(symbol.value));
  for (const SizeCheck& check : symbol.checks) {
    StrAppend(&text, " requires ", PrintExpr(check.holds), " ", QuotedText(check.text));
  }
  return text;
}

absl::StatusOr<Symbol> ParseSymbol(Scanner& scanner) {
  Symbol symbol;
  AOTC_RETURN_IF_ERROR(scanner.Expect("symbol"));
  AOTC_ASSIGN_OR_RETURN(symbol.name, ParseSymbolName(scanner));
  symbol.var = symbol.name;
  if (scanner.TryConsume("as")) {
    AOTC_ASSIGN_OR_RETURN(symbol.var, scanner.ExpectIdentifier());
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("in"));
  AOTC_ASSIGN_OR_RETURN(symbol.min, scanner.ExpectInteger());
  AOTC_RETURN_IF_ERROR(scanner.Expect(".."));
  AOTC_ASSIGN_OR_RETURN(symbol.max, scanner.ExpectInteger());
  if (scanner.TryConsume("step")) {
    AOTC_ASSIGN_OR_RETURN(symbol.step, scanner.ExpectInteger());
  }
  symbol.clamps = scanner.TryConsume("clamped");
  symbol.computed = scanner.TryConsume("computed");
  if (scanner.TryConsume("=")) {
    AOTC_ASSIGN_OR_RETURN(symbol.value, ParseExpr(scanner));
  }
  while (scanner.TryConsume("requires")) {
    SizeCheck check;
    AOTC_ASSIGN_OR_RETURN(check.holds, ParseExpr(scanner));
    AOTC_ASSIGN_OR_RETURN(check.text, scanner.ExpectString());
    symbol.checks.push_back(std::move(check));
  }
  if (symbol.min > symbol.max || symbol.step < 1) {
    return scanner.Error(StrCat("symbol '", symbol.name, "' has no values"));
  }
  return symbol;
}

std::string SigilName(char sigil, std::string_view name) {
  bool plain = !name.empty() && name.find("//") == std::string_view::npos && name.back() != ':' &&
               std::ranges::all_of(name, [](char c) {
                 return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '/' || c == ':';
               });
  // "%a..b" would read as a range in some places, "%x:" as a name with its type.
  plain = plain && name.find("..") == std::string_view::npos;
  return StrCat(std::string(1, sigil), plain ? std::string(name) : QuotedText(name));
}

}  // namespace aotc
