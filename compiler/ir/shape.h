// Shapes: lists of dims, each an integer expression over bounded symbols, and the symbols
// themselves.
//
//   Shape shape = {Var("batch"), 3, 224, 224};
//   Bounds bounds = BoundsOf(symbols);          // batch in 1..8
//   MaxElements(shape, bounds);                 // 8 * 3 * 224 * 224
#ifndef AOTC_COMPILER_IR_SHAPE_H_
#define AOTC_COMPILER_IR_SHAPE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/expr_simplify.h"

namespace aotc {

using Shape = std::vector<Expr>;

// What has to hold of the sizes of a run, and the sentence for a run of which it does not.
struct SizeCheck {
  Expr holds = {};
  std::string text = {};
};

// A bounded unknown of the dims. The user's dim `name` has the value step * Var(var).
//
// Its source is a dim or an element of an input; an element of a tensor that the run computes,
// where a DefineSizes (control_flow.h) says so; or an expression over the symbols before it, which
// a run works out as soon as these are known. All are checked against the range, unless it
// `clamps`: such an element is a position of which all beyond an end of the range is as good as
// that end.
struct Symbol {
  std::string name = {};  // as the user writes it: "height"
  std::string var = {};   // as expressions name it; equal to `name` where step is 1
  int64_t min = 1;        // of var, inclusive
  int64_t max = 1;
  int64_t step = 1;
  bool clamps = false;
  bool computed = false;               // a tensor states it that the run computes
  Expr value = {};                     // invalid where an input or such a tensor states it
  std::vector<SizeCheck> checks = {};  // over this symbol and those before it
};

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

// The ranges, and as facts what is checked before any step of a run that uses the symbols.
Bounds BoundsOf(const std::vector<Symbol>& symbols);
// Null where no symbol has that variable.
const Symbol* FindSymbol(const std::vector<Symbol>& symbols, std::string_view var);
// The symbol whose value the size is, else the size itself, which has to be simplified.
Expr NamedSize(const Expr& size, const std::vector<Symbol>& symbols);
// Those that a run does not know before its first step: computed ones, and what comes of them.
std::set<std::string> LateSymbols(const std::vector<Symbol>& symbols);
// False where a check refuses these values.
bool MayOccur(const std::vector<Symbol>& symbols, const SymbolValues& values);
// A size of which only a run knows that a tensor can have it: it may be negative, or of any length.
bool IsOpenSize(const Expr& size, const Bounds& bounds);

// The dims as numbers; nothing where one is symbolic.
std::optional<std::vector<int64_t>> StaticDims(const Shape& shape);
bool IsStatic(const Shape& shape);
// Least or greatest values of its symbols at which a dim is negative, as the user writes them:
// "height=0, width=64", "" where the dim has none. Nothing where no dim is; of more than six
// symbols the others are at their least.
std::optional<std::string> NegativeAt(const Shape& shape, const std::vector<Symbol>& symbols);
Shape MakeShape(const std::vector<int64_t>& dims);
// What a shape operand may be: of a type that holds sizes, and so few elements that each is worth
// knowing; nobody has tensors of that rank.
inline bool HoldsShape(DType dtype) { return dtype == DType::kI64 || dtype == DType::kI32; }
bool AreFewElements(const std::vector<int64_t>& dims);
// How users name an element of a tensor, row-major: "k" of a scalar, "ends[1]" of any other.
std::string ElementName(std::string_view tensor, size_t rank, size_t element);
// Product of the dims, simplified; 1 for rank 0.
Expr ElementCount(const Shape& shape);
// The largest number of elements over the box of the symbols; nothing on overflow.
std::optional<int64_t> MaxElements(const Shape& shape, const Bounds& bounds);
// The least and largest value of a dim.
std::optional<Interval> DimRange(const Expr& dim, const Bounds& bounds);
// Row-major strides in elements: strides[i] is the product of the dims after i.
std::vector<Expr> RowMajorStrides(const Shape& shape);
// sum(indices[i] * strides[i])
Expr LinearIndex(const std::vector<Expr>& indices, const std::vector<Expr>& strides);
// Equal after simplification.
bool SameShape(const Shape& a, const Shape& b);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_SHAPE_H_
