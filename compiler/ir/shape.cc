#include "compiler/ir/shape.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace aotc {

Bounds BoundsOf(const std::vector<Symbol>& symbols) {
  Bounds bounds;
  for (const Symbol& symbol : symbols) bounds.Add(symbol.var, symbol.min, symbol.max);
  return bounds;
}

std::optional<std::vector<int64_t>> StaticDims(const Shape& shape) {
  std::vector<int64_t> dims;
  dims.reserve(shape.size());
  for (const Expr& dim : shape) {
    std::optional<int64_t> value = dim.AsInt();
    if (!value) return std::nullopt;
    dims.push_back(*value);
  }
  return dims;
}

bool IsStatic(const Shape& shape) { return StaticDims(shape).has_value(); }

std::optional<std::string> NegativeAt(const Shape& shape, const std::vector<Symbol>& symbols) {
  constexpr size_t kMostSymbols = 6;
  for (const Expr& dim : shape) {
    std::vector<Symbol> used;
    for (const Symbol& symbol : symbols) {
      if (UsesVar(dim, symbol.var)) used.push_back(symbol);
    }
    const size_t tried = std::min(used.size(), kMostSymbols);
    for (size_t corner = 0; corner < size_t{1} << tried; ++corner) {
      std::map<std::string, int64_t, std::less<>> values;
      std::vector<std::string> sizes;
      for (size_t i = 0; i < used.size(); ++i) {
        const int64_t value = (corner >> i & 1) == 0 ? used[i].min : used[i].max;
        values[used[i].var] = value;
        sizes.push_back(absl::StrCat(used[i].name, "=", value * used[i].step));
      }
      if (EvaluateInt(dim, values).value_or(0) < 0) return absl::StrJoin(sizes, ", ");
    }
  }
  return std::nullopt;
}

Shape MakeShape(const std::vector<int64_t>& dims) { return Shape(dims.begin(), dims.end()); }

bool AreFewElements(const std::vector<int64_t>& dims) {
  constexpr int64_t kMost = 64;
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim > kMost) return false;
    count *= dim;
    if (count > kMost) return false;
  }
  return true;
}

std::string ElementName(std::string_view tensor, size_t rank, size_t element) {
  const std::string name(tensor);
  return rank == 0 ? name : absl::StrCat(name, "[", element, "]");
}

Expr ElementCount(const Shape& shape) {
  Expr count = 1;
  for (const Expr& dim : shape) count = count * dim;
  return Simplify(count);
}

std::optional<int64_t> MaxElements(const Shape& shape, const Bounds& bounds) {
  // The range of the product is tighter than the product of the ranges where dims depend on each
  // other.
  int64_t whole = RangeOf(ElementCount(shape), bounds).max;
  int64_t product = 1;
  bool overflow = false;
  for (const Expr& dim : shape) {
    int64_t max = RangeOf(dim, bounds).max;
    if (max <= 0) return 0;
    overflow |= max == INT64_MAX || __builtin_mul_overflow(product, max, &product);
  }
  if (overflow && whole == INT64_MAX) return std::nullopt;
  return overflow ? whole : std::min(whole, product);
}

std::optional<Interval> DimRange(const Expr& dim, const Bounds& bounds) {
  Interval range = RangeOf(dim, bounds);
  if (range.min == INT64_MIN || range.max == INT64_MAX) return std::nullopt;
  return range;
}

std::vector<Expr> RowMajorStrides(const Shape& shape) {
  std::vector<Expr> strides(shape.size());
  Expr stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = Simplify(stride * shape[i]);
  }
  return strides;
}

Expr LinearIndex(const std::vector<Expr>& indices, const std::vector<Expr>& strides) {
  Expr index = 0;
  for (size_t i = 0; i < indices.size(); ++i) index = index + indices[i] * strides[i];
  return Simplify(index);
}

bool SameShape(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!ProveEqual(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace aotc
