// Questions that patterns ask of a graph (recognize.h), in the graph that a round of rewrites
// begins with.
//
//   const Node* root = OnlyReadBy(site, value, "Sqrt");   // the Sqrt that defines it, or null
//   NumberOf(site, value)                                 // 1.4142135 for a constant of one value
//   Product p = ProductOf(site, mul);                     // factors of nested Mul and Div
#ifndef AOTC_COMPILER_OPTIMIZE_PATTERN_H_
#define AOTC_COMPILER_OPTIMIZE_PATTERN_H_

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/optimize/rewrite.h"

namespace aotc {

// The node of this op that defines the value; null where another one does.
const Node* DefinedBy(const RewriteSite& site, ValueId value, std::string_view op);
// Likewise, and null where the value has several readers.
const Node* OnlyReadBy(const RewriteSite& site, ValueId value, std::string_view op);

// The one value of all elements of a float constant.
std::optional<double> NumberOf(const RewriteSite& site, ValueId value);
// Equal up to what f32 rounds away; in f64 up to what f64 does.
bool IsNear(const RewriteSite& site, double a, double b);
// Whether an attribute, which is an f32, says the number as exactly as the site's type needs it.
bool FitsAttribute(const RewriteSite& site, double number);

// The operand of a binary node that is no number, with the number.
struct NumberAndRest {
  double number = 0;
  ValueId rest = {};
};
std::optional<NumberAndRest> SplitNumber(const RewriteSite& site, const Node& binary);

// number * factors[0] * factors[1] ...: a tree of Mul and of Div by numbers, whose inner nodes have
// one reader.
struct Product {
  double number = 1;
  std::vector<ValueId> factors = {};
};
Product ProductOf(const RewriteSite& site, ValueId value);
// How often a value is a factor.
int CountOf(const Product& product, ValueId factor);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_PATTERN_H_
