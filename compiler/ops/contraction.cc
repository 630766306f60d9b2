#include "compiler/ops/contraction.h"

namespace aotc {

DType AccumulatorOf(DType operand) {
  if (IsFloat(operand)) return ComputeType(operand);
  return BitWidth(operand) >= 32 ? operand : DType::kI32;
}

Tensor SumOfProducts(TensorBuilder& builder, const Contraction& c) {
  auto body = [&](const Indices& i, const Indices& r) {
    return Cast(c.accumulator, c.left(i, r)) * Cast(c.accumulator, c.right(i, r));
  };
  return builder.Reduce("sum", c.accumulator, c.shape, c.reduce_shape, body);
}

}  // namespace aotc
