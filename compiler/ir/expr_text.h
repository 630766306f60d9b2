// The text form of expressions, with as few parentheses as precedence allows.
//
//   PrintExpr(e, names)            // "max(%x[i*2 + 1, j], 0.0)"
//   ParseExpr(scanner, scope)
//
// Grammar: + - * as operators on any type; `a / b` is kDiv; floor_div(a, b), mod(a, b), min, max,
// exp ... as calls by ExprOpName; == != < <= && || !; select(c, a, b); f16(x) is the cast to f16,
// bits_f16(x) the bit cast;
// %name[...] is a load; a bare integer is i64 (or what the scope says that indices are), a number
// with a point or exponent (also inf, nan) is f32, a constant of another type is written as u8:3,
// f64:0.5, bool as true and false. A variable prints as its name; the scope given to the parser
// knows its type.
#ifndef AOTC_COMPILER_IR_EXPR_TEXT_H_
#define AOTC_COMPILER_IR_EXPR_TEXT_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

// In front of the type in a bit cast.
inline constexpr std::string_view kBitsPrefix = "bits_";

using TensorNames = std::function<std::string(TensorId)>;
// `tensor_name` gives the name without the %; may be empty where `e` has no loads. Constants of the
// type `index` are bare.
std::string PrintExpr(const Expr& e, const TensorNames& tensor_name = {},
                      DType index = DType::kI64);

// What names mean to the parser.
struct ExprScope {
  std::map<std::string, std::pair<TensorId, DType>, std::less<>> tensors = {};  // without %
  std::map<std::string, DType, std::less<>> vars = {};  // those that are no indices
  DType index = DType::kI64;  // of bare integers, and of all other variables
};
absl::StatusOr<Expr> ParseExpr(Scanner& scanner, const ExprScope& scope = {});
absl::StatusOr<Expr> ParseExpr(std::string_view text, const ExprScope& scope = {});
// `<8>`, or nothing for one lane.
absl::StatusOr<int> ParseLanes(Scanner& scanner);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_EXPR_TEXT_H_
