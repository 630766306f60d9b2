// Dims as exporters write them: "batch", "4*batch", "((height - 1)//16) + 1", "Min(64, seq)",
// "floor(width/2 - 1/2) + 1", "Mod(s0, 8)", "(s0//14)**2", "floor(0.5*h)",
// "p2o.DynamicDimension.0".
//
//   std::optional<Expr> dim = ParseDimText("4*batch", [](const std::string& name) {
//     return std::optional<Expr>(Var(name));
//   });
#ifndef AOTC_COMPILER_IMPORT_DIM_PARSER_H_
#define AOTC_COMPILER_IMPORT_DIM_PARSER_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/ir/expr.h"

namespace aotc {

// What a name in a dim stands for; nothing where it means nothing, and then the whole text does
// not.
using DimNames = std::function<std::optional<Expr>(const std::string& name)>;

// Nothing where the text is no integer expression of this kind. Divisions by `/` are exact
// fractions, which must have become whole by the end or through floor and ceiling.
std::optional<Expr> ParseDimText(std::string_view text, const DimNames& names);

// The names in the text; none where it cannot be parsed.
std::set<std::string> NamesInDim(std::string_view text);

// Letters, digits, _ and dots, not beginning with a digit: one symbol, no arithmetic.
bool IsPlainDimName(std::string_view text);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_DIM_PARSER_H_
