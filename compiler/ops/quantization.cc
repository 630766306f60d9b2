#include "compiler/ops/quantization.h"

#include "compiler/ops/helpers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::StatusOr<QuantParam> ParamOf(OpContext& op, size_t index, const Expr& count) {
  AOTC_ASSIGN_OR_RETURN(Tensor tensor, op.Input(index));
  const bool one = tensor.rank() == 0 || (tensor.rank() == 1 && tensor.dim(0).IsInt(1));
  if (one) return QuantParam{tensor};
  const std::string wrong =
      StrCat("input ", index, " must be one number, or one per position of its axis");
  if (tensor.rank() != 1) return AOTC_REFUSAL(InvalidArgument, wrong);
  AOTC_RETURN_IF_ERROR(op.RequireEqual(tensor.dim(0), count, wrong));
  return QuantParam{tensor};
}

bool IsAllZero(const Constant* constant) {
  return constant != nullptr && constant->UniformElement() && constant->FloatAt(0) == 0;
}

}  // namespace

Expr QuantParam::At(const Expr& at) const {
  if (tensor.rank() == 0) return tensor({});
  return tensor({PerAxis() ? at : Expr(0)});
}

Expr ZeroPoint::Subtracted(const Expr& element, const Expr& at) const {
  const Expr wide = Cast(DType::kI32, element);
  return param ? wide - Cast(DType::kI32, param->At(at)) : wide;
}

Expr ZeroPoint::AsFloat(const Expr& at) const {
  return param ? Cast(DType::kF32, param->At(at)) : FloatConst(0);
}

absl::StatusOr<QuantParam> ScaleOf(OpContext& op, size_t index, const Expr& count) {
  AOTC_ASSIGN_OR_RETURN(QuantParam scale, ParamOf(op, index, count));
  AOTC_RETURN_IF_ERROR(RequireFloat(scale.tensor));
  return scale;
}

absl::StatusOr<ZeroPoint> ZeroPointOf(OpContext& op, size_t index, DType type, const Expr& count) {
  if (!op.HasInput(index)) return ZeroPoint{};
  if (op.InputType(index).dtype != type) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("the zero point, input ", index,
                                                ", must be of type ", TypeName(type)));
  }
  if (IsAllZero(op.ConstInput(index))) return ZeroPoint{};
  AOTC_ASSIGN_OR_RETURN(QuantParam param, ParamOf(op, index, count));
  return ZeroPoint{param};
}

absl::Status RequireQuantized(DType type) {
  if (IsInteger(type) && BitWidth(type) <= 16) return absl::OkStatus();
  return AOTC_REFUSAL(Unimplemented, StrCat("quantised values of type ", TypeName(type),
                                            "; integers of 2 to 16 bits are supported"));
}

Expr Requantized(const Expr& value, const Expr& zero, DType type) {
  return Cast(type, Unary(ExprOp::kRound, value) + zero);  // saturates
}

}  // namespace aotc
