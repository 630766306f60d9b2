// The one form of a contraction: a sum whose body is a product of two operands' elements.
//
//   %acc[i, j] = reduce sum(k) f32(%a[i, k]) * f32(%b[k, j])
//
// MatMul, Gemm and Conv of any dtype are stated through it, so that later phases recognise one
// form: loads with affine indices, each cast to the accumulator's type; padding is `select(in
// bounds, load, 0)` around the first; bias, scaling and the cast to the result's type follow in a
// stage of their own.
#ifndef AOTC_COMPILER_OPS_CONTRACTION_H_
#define AOTC_COMPILER_OPS_CONTRACTION_H_

#include "compiler/ops/tensor_builder.h"

namespace aotc {

// One element of an operand, at the axes of the result and the reduce axes, in the accumulator's
// type.
using OperandElement = TensorBuilder::ReduceBody;

struct Contraction {
  DType accumulator = DType::kF32;
  Shape shape = {};
  Shape reduce_shape = {};
  OperandElement left = {};
  OperandElement right = {};
};

// The type in which products are summed where an op does not state it: the compute type of floats,
// integers of 32 and 64 bits in their own type, i32 for narrower ones.
DType AccumulatorOf(DType operand);

// The tensor of sums, in the accumulator's type.
Tensor SumOfProducts(TensorBuilder& builder, const Contraction& contraction);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_CONTRACTION_H_
