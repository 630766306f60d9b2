#include "compiler/optimize/fourier_passes.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/optimize/fourier_plan.h"

namespace aotc {
namespace {

Attributes Perm(const std::vector<int64_t>& perm) {
  Attributes attributes;
  attributes.Set("perm", perm);
  return attributes;
}

}  // namespace

ValueId FourierPasses::Emit(std::string_view op, std::vector<ValueId> inputs, const Shape& dims,
                            Attributes attributes) {
  const DType type = site_.TypeOf(inputs[0]).dtype;
  return site_.Emit(op, std::move(inputs), std::move(attributes), TensorType(type, dims));
}

ValueId FourierPasses::Transpose(ValueId x, const std::vector<int64_t>& perm) {
  if (std::ranges::is_sorted(perm)) return x;
  Shape dims;
  for (const int64_t axis : perm) dims.push_back(DimsOf(x)[static_cast<size_t>(axis)]);
  return Emit("Transpose", {x}, dims, Perm(perm));
}

ValueId FourierPasses::Resize(ValueId x, size_t axis, int64_t dim) {
  const auto ints = [&](int64_t value) {
    return site_.EmitConstant("_bound", Constant::Ints({value}));
  };
  const auto at = static_cast<int64_t>(axis);
  Shape dims = DimsOf(x);
  if (Prove(Le(dims[axis], dim), site_.bounds()) != true) {
    dims[axis] = Simplify(Min(dims[axis], dim), site_.bounds());
    x = Emit("Slice", {x, ints(0), ints(dim), ints(at)}, dims);
  }
  const Expr missing = Simplify(dim - dims[axis], site_.bounds());
  if (missing.IsInt(0)) return x;
  dims[axis] = dim;
  Shape pads(2 * dims.size(), Expr(0));
  pads[dims.size() + axis] = missing;
  return Emit("Pad", {x, site_.EmitSizes("_pads", pads)}, dims);
}

Shape FourierPasses::Rows::Dims(const std::vector<int64_t>& last) const {
  Shape dims = lead;
  dims.insert(dims.end(), factors.begin(), factors.end());
  dims.insert(dims.end(), last.begin(), last.end());
  return dims;
}

ValueId FourierPasses::Turned(ValueId x, Constant numbers) {
  Shape dims = DimsOf(x);
  dims[dims.size() - 2] = 2;
  return Emit("ComplexProduct", {x, site_.EmitConstant("_turns", std::move(numbers))}, dims);
}

// With j = length * j1 + j2 and k = k1 + factor * k2, of the whole the sum over j1 for each k1 and
// j2; what is left are transforms over j2 for each k1.
void FourierPasses::Split(Rows& rows, int64_t factor, int64_t sign) {
  const DType type = site_.TypeOf(rows.x).dtype;
  rows.length /= factor;
  const FourierMatrix matrix = {
      .length = factor, .sign = sign, .parts = rows.parts, .bins = factor};
  const ValueId columns = site_.EmitReshape(rows.x, rows.Dims({rows.parts * factor, rows.length}));
  const ValueId sums =
      Emit("MatMul", {site_.EmitConstant("_matrix", ColumnMatrix(type, matrix)), columns},
           rows.Dims({factor * 2, rows.length}));
  rows.factors.push_back(factor);
  rows.parts = 2;
  rows.x = Turned(site_.EmitReshape(sums, rows.Dims({2, rows.length})),
                  Turns(type, factor, rows.length, sign));
}

ValueId FourierPasses::Product(const Rows& rows, const FourierMatrix& last) {
  const DType type = site_.TypeOf(rows.x).dtype;
  const ValueId flat = site_.EmitReshape(rows.x, rows.Dims({rows.parts * rows.length}));
  const ValueId sums = Emit("MatMul", {flat, site_.EmitConstant("_matrix", RowMatrix(type, last))},
                            rows.Dims({last.bins * last.Results()}));
  return site_.EmitReshape(sums, rows.Dims({last.bins, last.Results()}));
}

// j k = (j^2 + k^2 - (k - j)^2) / 2: a turn of each number, the convolution with a chirp as the
// product of its spectrum and theirs, and a turn of each result.
ValueId FourierPasses::Convolution(const Rows& rows, int64_t padded, const FourierMatrix& last) {
  const DType type = site_.TypeOf(rows.x).dtype;
  const size_t axis = DimsOf(rows.x).size() - 1;
  const auto in_planes = [&](ValueId x) {  // [..., n, 2] -> [..., 2, n]
    std::vector<int64_t> perm(axis + 1);
    std::iota(perm.begin(), perm.end(), int64_t{0});
    std::swap(perm[axis - 1], perm[axis]);
    return Transpose(x, perm);
  };
  ValueId x = Turned(rows.x, Chirp(type, last.length, last.sign, 1));
  x = Transform(Resize(x, axis, padded), {.length = padded, .bins = padded});
  x = Turned(in_planes(x), ChirpSpectrum(type, last.length, padded, last.sign));
  x = in_planes(Transform(x, {.length = padded, .sign = 1, .bins = last.length}));
  x = Turned(x, Chirp(type, last.length, last.sign, last.scale));
  return Resize(in_planes(Resize(x, axis, last.bins)), axis, last.Results());
}

ValueId FourierPasses::Transform(ValueId x, const FourierMatrix& transform) {
  const double asked = static_cast<double>(transform.bins * transform.Results()) /
                       static_cast<double>(2 * transform.length);
  const FourierPlan plan =
      PlanFourier({.length = transform.length, .parts = transform.parts, .asked = asked});
  Rows rows = {.x = x, .lead = DimsOf(x), .parts = transform.parts, .length = transform.length};
  rows.lead.resize(rows.lead.size() - 2);
  for (const int64_t factor : plan.factors) Split(rows, factor, transform.sign);
  // Of the last results those that the first bins are of, which follow one another slowest.
  const int64_t others = transform.length / plan.last;
  FourierMatrix last = transform;
  last.length = plan.last;
  last.parts = rows.parts;
  last.bins = (transform.bins + others - 1) / others;
  const ValueId parts =
      plan.padded > 0 ? Convolution(rows, plan.padded, last) : Product(rows, last);
  std::vector<int64_t> perm(DimsOf(parts).size());
  std::iota(perm.begin(), perm.end(), int64_t{0});
  const auto first = perm.begin() + static_cast<std::ptrdiff_t>(rows.lead.size());
  std::reverse(first, perm.end() - 1);
  rows.factors.clear();
  const ValueId ordered = site_.EmitReshape(Transpose(parts, perm),
                                            rows.Dims({last.bins * others, transform.Results()}));
  return Resize(ordered, rows.lead.size(), transform.bins);
}

}  // namespace aotc
