#include "compiler/ops/index_map.h"

#include "compiler/support/status.h"

namespace aotc {
namespace {

// Positions of the dims that are not 1: the others have index 0 and do not matter.
std::vector<size_t> WideAxes(const Shape& shape) {
  std::vector<size_t> axes;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!shape[d].IsInt(1)) axes.push_back(d);
  }
  return axes;
}

// A run of axes of one of the shapes, and the product of their dims.
struct Run {
  const Shape& shape;
  std::vector<size_t> axes;  // all wide axes
  size_t begin = 0;
  size_t end = 0;
  Expr product = 1;

  bool AtEnd() const { return end == axes.size(); }
  void Extend(const Bounds& bounds) { product = Simplify(product * shape[axes[end++]], bounds); }
  void Restart() {
    begin = end;
    product = 1;
  }
  Shape Dims() const {
    Shape dims;
    for (size_t a = begin; a < end; ++a) dims.push_back(shape[axes[a]]);
    return dims;
  }
};

// Extends the runs, the provably smaller one first, until their products are equal or nothing is
// left.
void CloseRuns(Run& from, Run& to, const Bounds& bounds) {
  from.Extend(bounds);
  to.Extend(bounds);
  while (!ProveEqual(from.product, to.product, bounds)) {
    bool from_is_larger = Prove(Lt(to.product, from.product), bounds) == true;
    bool extend_to = !to.AtEnd() && (from_is_larger || from.AtEnd());
    if (!extend_to && from.AtEnd()) return;
    (extend_to ? to : from).Extend(bounds);
  }
}

void MapRun(const Run& from, const Run& to, const Indices& i, Indices& result) {
  if (from.end - from.begin == 1 && to.end - to.begin == 1) {
    result[from.axes[from.begin]] = i[to.axes[to.begin]];
    return;
  }
  Indices to_indices;
  for (size_t a = to.begin; a < to.end; ++a) to_indices.push_back(i[to.axes[a]]);
  Expr linear = LinearIndex(to_indices, RowMajorStrides(to.Dims()));
  std::vector<Expr> strides = RowMajorStrides(from.Dims());
  for (size_t a = from.begin; a < from.end; ++a) {
    Expr index = FloorDiv(linear, strides[a - from.begin]);
    // The outermost index needs no remainder: the linear index is below the product of the run.
    result[from.axes[a]] = a == from.begin ? index : Mod(index, from.shape[from.axes[a]]);
  }
}

}  // namespace

Indices ReshapeIndices(const Shape& from_shape, const Shape& to_shape, const Indices& i,
                       const Bounds& bounds) {
  AOTC_CHECK(i.size() == to_shape.size());
  Indices result(from_shape.size(), Expr(0));
  Run from = {.shape = from_shape, .axes = WideAxes(from_shape)};
  Run to = {.shape = to_shape, .axes = WideAxes(to_shape)};
  while (!from.AtEnd() && !to.AtEnd()) {
    CloseRuns(from, to, bounds);
    // What is left may be dims that are 1 without a proof: they belong to the last run.
    if (from.AtEnd() || to.AtEnd()) {
      while (!from.AtEnd()) from.Extend(bounds);
      while (!to.AtEnd()) to.Extend(bounds);
    }
    MapRun(from, to, i, result);
    from.Restart();
    to.Restart();
  }
  return result;
}

}  // namespace aotc
