// MatMulInteger and QLinearMatMul of two operands of the run, in the form that tiles take: bytes
// without zero points. What those contribute is taken from the sums:
//
//   sum((a - za) * (b - zb)) = sum(a * b) - za * sum(b) - zb * sum(a - za)
#include <algorithm>

#include "compiler/ops/tensor_builder.h"
#include "compiler/optimize/integer_operands.h"

namespace aotc {
namespace {

// Input `index`, one number or one of each row or column, in `type`: along `axis` of `rank`.
ValueId Along(RewriteSite& site, size_t index, size_t axis, size_t rank, DType type) {
  const ValueType from = site.InputType(index);
  Shape dims(from.dims.empty() ? 0 : rank, Expr(1));
  if (!from.dims.empty()) dims[axis] = from.dims[0];
  const ValueId numbers = site.EmitReshape(site.node().inputs[index], dims);
  if (from.dtype == type) return numbers;
  return site.Emit("Cast", {numbers}, CastTo(type), TensorType(type, dims));
}

// Numbers that may lie along other axes.
ValueId Combined(RewriteSite& site, std::string_view op, ValueId a, ValueId b) {
  const auto dims = BroadcastShapes({site.TypeOf(a).dims, site.TypeOf(b).dims});
  return site.Emit(op, {a, b}, {}, TensorType(site.TypeOf(a).dtype, *dims));
}

// sum(value - zeros) along the axis, which stays.
ValueId SumsAlong(RewriteSite& site, ValueId value, ValueId zeros, size_t axis) {
  Shape dims = site.TypeOf(value).dims;
  ValueId wide = site.Emit("Cast", {value}, CastTo(DType::kI32), TensorType(DType::kI32, dims));
  if (zeros.valid()) wide = site.Emit("Sub", {wide, zeros}, {}, site.TypeOf(wide));
  dims[axis] = 1;
  const ValueId axes = site.EmitConstant("_axis", Constant::Ints({static_cast<int64_t>(axis)}));
  return site.Emit("ReduceSum", {wide, axes}, {}, TensorType(DType::kI32, dims));
}

ValueId Less(RewriteSite& site, ValueId sums, ValueId others, ValueId zeros) {
  const ValueId product = Combined(site, "Mul", others, zeros);
  return site.Emit("Sub", {sums, product}, {}, site.type());
}

// A matrix by a matrix: beside a single row, sums over the matrix cost as much as the product.
bool IsOfMatrices(const RewriteSite& site, size_t right) {
  const Shape &a = site.InputType(0).dims, &b = site.InputType(right).dims;
  return a.size() > 1 && b.size() > 1 && !a[a.size() - 2].IsInt(1);
}

// One number or one of each row or column, as these forms have them; absent ones too.
bool ArePlain(const RewriteSite& site, std::initializer_list<size_t> inputs) {
  return std::ranges::all_of(inputs, [&](size_t input) {
    return !site.HasInput(input) || site.InputType(input).dims.size() <= 1;
  });
}

bool IsZero(const Constant* zeros) {
  return zeros != nullptr && zeros->UniformElement() && zeros->IntAt(0) == 0;
}

bool WithoutZeroPointsOfTheRun(RewriteSite& site) {
  const Node node = site.node();
  if (node.op != "MatMulInteger" || !(site.HasInput(2) || site.HasInput(3))) return false;
  if (!IsOfMatrices(site, 1) || !ArePlain(site, {2, 3})) return false;
  const size_t left = site.InputType(0).dims.size(), right = site.InputType(1).dims.size();
  const size_t rank = site.type().dims.size();
  const bool moves_left = site.HasInput(2) && !IsZero(site.ConstantInput(2));
  const bool moves_right = site.HasInput(3) && !IsZero(site.ConstantInput(3));
  ValueId sums = site.Emit(node.op, {node.inputs[0], node.inputs[1]}, {}, site.type());
  if (moves_left) {
    const ValueId columns = SumsAlong(site, node.inputs[1], {}, right - 2);
    sums = Less(site, sums, columns, Along(site, 2, rank - 2, rank, DType::kI32));
  }
  if (moves_right) {
    const ValueId zeros = moves_left ? Along(site, 2, left - 2, left, DType::kI32) : ValueId();
    const ValueId rows = SumsAlong(site, node.inputs[0], zeros, left - 1);
    sums = Less(site, sums, rows, Along(site, 3, rank - 1, rank, DType::kI32));
  }
  return site.ReplaceBy(sums);
}

// QLinearMatMul as those sums and what becomes of them, in the steps of the operator.
bool SumsOfQuantized(RewriteSite& site) {
  const Node node = site.node();
  if (node.op != "QLinearMatMul" || !IsOfMatrices(site, 3)) return false;
  if (!ArePlain(site, {1, 2, 4, 5}) || site.InputType(6).dims.size() > 1) return false;
  for (const size_t scale : {1, 4, 6}) {
    if (site.InputType(scale).dtype != DType::kF32) return false;
  }
  const size_t rank = site.type().dims.size();
  const ValueId sums =
      site.Emit("MatMulInteger", {node.inputs[0], node.inputs[3], node.inputs[2], node.inputs[5]},
                {}, TensorType(DType::kI32, site.type().dims));
  const ValueId products = Combined(site, "Mul", Along(site, 1, rank - 2, rank, DType::kF32),
                                    Along(site, 4, rank - 1, rank, DType::kF32));
  const ValueId factors =
      Combined(site, "Div", products, Along(site, 6, rank - 1, rank, DType::kF32));
  return ReplaceByRounded(site, EmitScaled(site, sums, factors), node.inputs[7]);
}

constexpr RewriteRule kRules[] = {SumsOfQuantized, WithoutZeroPointsOfTheRun};

}  // namespace

std::span<const RewriteRule> IntegerProductRules() { return kRules; }

}  // namespace aotc
