#include "compiler/ops/helpers.h"

#include "compiler/ir/small_float.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

std::string TypeName(DType type) { return std::string(DTypeName(type)); }

absl::Status RequireFloat(const Tensor& x) {
  if (IsFloat(x.dtype())) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("needs floating-point operands, not ", TypeName(x.dtype())));
}

absl::Status RequireNumber(const Tensor& x) {
  if (x.dtype() != DType::kBool) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, "needs numbers, not bool");
}

absl::Status RequireSameType(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() == tensors[0].dtype()) continue;
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("operands have different element types: ",
                               TypeName(tensors[0].dtype()), " and ", TypeName(tensor.dtype())));
  }
  return absl::OkStatus();
}

absl::Status RequireRank(const Tensor& x, int least, int most) {
  if (x.rank() >= least && x.rank() <= most) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, StrCat("operand of rank ", x.rank(), " where at ",
                                              x.rank() < least ? "least " : "most ",
                                              x.rank() < least ? least : most, " is needed"));
}

absl::StatusOr<Tensor> TypedInput(OpContext& op, size_t index, DType type, int least, int most) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(index));
  if (x.dtype() != type) {
    return absl::InternalError(
        StrCat("operand of type ", TypeName(x.dtype()), " where ", TypeName(type), " is needed"));
  }
  AOTC_RETURN_IF_ERROR(RequireRank(x, least, most));
  return x;
}

absl::Status RequireBroadcast(const OpContext& op, const std::vector<Tensor>& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.shape());
  std::vector<DimPair> unproved;  // required where the operands are mapped
  return BroadcastShapes(shapes, op.bounds(), &unproved).status();
}

absl::StatusOr<std::vector<Tensor>> BroadcastInputs(OpContext& op, size_t first, size_t count) {
  std::vector<Tensor> tensors;
  for (size_t i = first; i < first + count; ++i) {
    AOTC_ASSIGN_OR_RETURN(Tensor tensor, op.Input(i));
    tensors.push_back(tensor);
  }
  AOTC_RETURN_IF_ERROR(RequireSameType(tensors));
  AOTC_RETURN_IF_ERROR(RequireBroadcast(op, tensors));
  return tensors;
}

Expr CastWithin(DType type, const Expr& x) {
  const SmallFloat& format = *SmallFloatOf(type);
  const double largest = DecodeSmallFloat(format, format.largest);
  return Cast(type, Clamp(x, Number(-largest, x), Number(largest, x)));
}

bool IsFloat8(DType type) { return IsFloat(type) && BitWidth(type) == 8; }

Expr Number(double value, const Expr& like) { return NumberConst(value, like.dtype()); }

Expr InBounds(const Expr& index, const Expr& extent) {
  return And(Le(0, index), Lt(index, extent));
}

Expr Clamp(const Expr& x, const Expr& low, const Expr& high) { return Max(Min(x, high), low); }

Indices Unraveled(const Expr& position, const Shape& dims) {
  const std::vector<Expr> strides = RowMajorStrides(dims);
  Indices indices;
  for (size_t d = 0; d < dims.size(); ++d) {
    indices.push_back(Mod(FloorDiv(position, strides[d]), dims[d]));
  }
  return indices;
}

absl::Status RequireOneElement(const Constant* constant) {
  if (constant == nullptr || constant->element_count() == 1) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, StrCat("needs a constant of one element, not of ",
                                              constant->element_count()));
}

absl::StatusOr<Expr> OneElement(OpContext& op, size_t index, DType dtype) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(index));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  for (const Expr& dim : x.shape()) {
    if (dim.IsInt(1)) continue;
    return AOTC_REFUSAL(InvalidArgument, StrCat("input ", index, " has to have one element"));
  }
  return Cast(dtype, x(Indices(static_cast<size_t>(x.rank()), Expr(0))));
}

absl::StatusOr<std::vector<Expr>> SizeElements(const OpContext& op, size_t index) {
  absl::StatusOr<std::vector<Expr>> elements = op.IntElements(index);
  if (elements.ok() || !op.unknown().valid() || HoldsShape(op.InputType(index).dtype)) {
    return elements;
  }
  return absl::FailedPreconditionError(elements.status().message());
}

Expr ElementOf(const Constant& constant, int64_t index, DType dtype) {
  return IsFloat(dtype) ? FloatConst(constant.FloatAt(index), dtype)
                        : IntConst(constant.IntAt(index), dtype);
}

Expr LowestOf(DType dtype) { return StockCombiner("max", dtype).identity[0]; }
Expr HighestOf(DType dtype) { return StockCombiner("min", dtype).identity[0]; }

Combiner ArgCombiner(DType value_type, bool maximum, bool prefer_last) {
  Expr a = Var("a0", value_type), b = Var("b0", value_type);
  Expr a_place = Var("a1"), b_place = Var("b1");
  Expr beyond = maximum ? Lt(a, b) : Lt(b, a), same = Eq(a, b);
  if (IsFloat(value_type)) {
    const Expr a_is_nan = Unary(ExprOp::kIsNan, a), b_is_nan = Unary(ExprOp::kIsNan, b);
    beyond = Or(beyond, And(Not(a_is_nan), b_is_nan));
    same = Or(same, And(a_is_nan, b_is_nan));
  }
  Expr preferred = prefer_last ? Lt(a_place, b_place) : Lt(b_place, a_place);
  Expr replace = Or(beyond, And(same, preferred));
  Combiner combiner;
  combiner.identity = {maximum ? LowestOf(value_type) : HighestOf(value_type),
                       Expr(prefer_last ? int64_t{-1} : INT64_MAX)};
  combiner.combine = {Select(replace, b, a), Select(replace, b_place, a_place)};
  return combiner;
}

absl::StatusOr<std::vector<int64_t>> IntsOr(const OpContext& op, std::string_view name,
                                            size_t count, int64_t fallback) {
  std::vector<int64_t> values = op.attributes().Ints(name);
  if (values.empty()) values.assign(count, fallback);
  if (values.size() == count) return values;
  return AOTC_REFUSAL(InvalidArgument, StrCat("attribute ", name, " has ", values.size(),
                                              " elements instead of ", count));
}

}  // namespace aotc
