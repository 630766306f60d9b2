#include "compiler/ir/layout.h"

#include <algorithm>

#include "compiler/support/status.h"

namespace aotc {
namespace {

Halo HaloOf(const Layout& layout, size_t axis) {
  return axis < layout.halo.size() ? layout.halo[axis] : Halo{};
}

// The axes spelled out where they are implied.
std::vector<StorageAxis> AxesOf(const Layout& layout, size_t rank) {
  if (!layout.axes.empty()) return layout.axes;
  std::vector<StorageAxis> axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back({.axis = static_cast<int>(i)});
  return axes;
}

}  // namespace

bool Layout::IsRowMajor() const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != StorageAxis{.axis = static_cast<int>(i)}) return false;
  }
  return true;
}

bool Layout::HasHalo() const {
  return std::any_of(halo.begin(), halo.end(), [](const Halo& h) { return h != Halo{}; });
}

Layout BlockedLayout(int rank, int axis, int64_t block) {
  AOTC_CHECK(0 <= axis && axis < rank && block > 0);
  Layout layout;
  for (int i = 0; i < rank; ++i) {
    layout.axes.push_back({.axis = i, .divisor = i == axis ? block : 1});
  }
  layout.axes.push_back({.axis = axis, .modulus = block});
  return layout;
}

Layout PermutedLayout(const std::vector<int>& order) {
  Layout layout;
  for (int axis : order) layout.axes.push_back({.axis = axis});
  if (layout.IsRowMajor()) layout.axes.clear();
  return layout;
}

Shape StorageShape(const Layout& layout, const Shape& shape) {
  Shape result;
  for (const StorageAxis& axis : AxesOf(layout, shape.size())) {
    auto index = static_cast<size_t>(axis.axis);
    Halo halo = HaloOf(layout, index);
    Expr extent = CeilDiv(shape[index] + (halo.before + halo.after), axis.divisor);
    result.push_back(axis.modulus == 0 ? Simplify(extent) : Expr(axis.modulus));
  }
  return result;
}

std::vector<Expr> StorageIndices(const Layout& layout, const std::vector<Expr>& indices) {
  std::vector<Expr> result;
  for (const StorageAxis& axis : AxesOf(layout, indices.size())) {
    auto logical = static_cast<size_t>(axis.axis);
    Expr index = FloorDiv(indices[logical] + HaloOf(layout, logical).before, axis.divisor);
    result.push_back(axis.modulus == 0 ? index : Mod(index, axis.modulus));
  }
  return result;
}

Expr StorageElements(const Layout& layout, const Shape& shape) {
  return ElementCount(StorageShape(layout, shape));
}

}  // namespace aotc
