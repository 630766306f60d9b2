#include "compiler/ir/shape.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace aotc {

Bounds BoundsOf(const std::vector<Symbol>& symbols) {
  Bounds bounds;
  for (const Symbol& symbol : symbols) bounds.Add(symbol.var, symbol.min, symbol.max);
  const std::set<std::string> late = LateSymbols(symbols);
  for (const Symbol& symbol : symbols) {
    for (const SizeCheck& check : symbol.checks) {
      std::set<std::string> known_with = FreeVars(check.holds);
      known_with.insert(symbol.var);
      std::erase_if(known_with, [&](const std::string& var) { return !late.contains(var); });
      bounds.AddFact(check.holds, std::move(known_with));
    }
    if (!late.contains(symbol.var) || !symbol.value.valid()) continue;
    for (const std::string& var : FreeVars(symbol.value)) bounds.AddKnownBefore(symbol.var, var);
  }
  return bounds;
}

const Symbol* FindSymbol(const std::vector<Symbol>& symbols, std::string_view var) {
  const auto found = std::ranges::find(symbols, var, &Symbol::var);
  return found == symbols.end() ? nullptr : &*found;
}

std::set<std::string> LateSymbols(const std::vector<Symbol>& symbols) {
  std::set<std::string> late;
  if (std::ranges::none_of(symbols, &Symbol::computed)) return late;
  for (const Symbol& symbol : symbols) {
    const bool follows = symbol.value.valid() && NamesAny(symbol.value, late);
    if (symbol.computed || follows) late.insert(symbol.var);
  }
  return late;
}

Expr NamedSize(const Expr& size, const std::vector<Symbol>& symbols) {
  const auto has_value = [](const Symbol& symbol) { return symbol.value.valid(); };
  if (size.IsConst() || std::ranges::none_of(symbols, has_value)) return size;
  // A fact that came after the value may have made the size simpler.
  const Bounds bounds = BoundsOf(symbols);
  const auto found = std::ranges::find_if(symbols, [&](const Symbol& symbol) {
    return has_value(symbol) &&
           (Same(symbol.value, size) || Same(Simplify(symbol.value, bounds), size));
  });
  return found == symbols.end() ? size : Var(found->var);
}

bool MayOccur(const std::vector<Symbol>& symbols, const SymbolValues& values) {
  Bounds ranges;  // of the symbols that have no value
  for (const Symbol& symbol : symbols) ranges.Add(symbol.var, symbol.min, symbol.max);
  Substitution known;
  for (const auto& [var, value] : values) known.emplace(var, value);
  return std::ranges::all_of(symbols, [&](const Symbol& symbol) {
    return std::ranges::all_of(symbol.checks, [&](const SizeCheck& check) {
      return Prove(Substitute(check.holds, known), ranges) != false;
    });
  });
}

bool IsOpenSize(const Expr& size, const Bounds& bounds) {
  constexpr int64_t kMost = int64_t{1} << 30;
  const Interval range = RangeOf(size, bounds);
  return range.min < 0 || range.max > kMost;
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
  const Bounds bounds = BoundsOf(symbols);
  for (const Expr& dim : shape) {
    if (RangeOf(dim, bounds).min >= 0) continue;
    std::vector<Symbol> used;
    for (const Symbol& symbol : symbols) {
      if (UsesVar(dim, symbol.var)) used.push_back(symbol);
    }
    const size_t tried = std::min(used.size(), kMostSymbols);
    for (size_t corner = 0; corner < size_t{1} << tried; ++corner) {
      SymbolValues values;
      std::vector<std::string> sizes;
      for (size_t i = 0; i < used.size(); ++i) {
        const int64_t value = (corner >> i & 1) == 0 ? used[i].min : used[i].max;
        values[used[i].var] = value;
        sizes.push_back(absl::StrCat(used[i].name, "=", value * used[i].step));
      }
      if (EvaluateInt(dim, values).value_or(0) < 0 && MayOccur(symbols, values)) {
        return absl::StrJoin(sizes, ", ");
      }
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
