// What quantised operators share: scales and zero points, and rounding to a quantised type.
//
//   AOTC_ASSIGN_OR_RETURN(ZeroPoint zero, ZeroPointOf(op, 2, DType::kU8));
//   zero.Subtracted(x(i), {i[1]});  // i32(x) - i32(zero); x where the zero point is absent or 0
//   Requantized(f32_value, f32_zero, DType::kI8);  // limit(round(value) + zero) as an i8
#ifndef AOTC_COMPILER_OPS_QUANTIZATION_H_
#define AOTC_COMPILER_OPS_QUANTIZATION_H_

#include "compiler/ops/op.h"

namespace aotc {

// A scale or zero point of one element, or of one per position of an axis.
struct QuantParam {
  Tensor tensor = {};

  bool PerAxis() const { return tensor.rank() > 0 && !tensor.dim(-1).IsInt(1); }
  // The element; `at` is used where there is one per position.
  Expr At(const Expr& at) const;
};

struct ZeroPoint {
  std::optional<QuantParam> param = {};  // nothing: 0

  // The element in i32, less the zero point.
  Expr Subtracted(const Expr& element, const Expr& at) const;
  Expr AsFloat(const Expr& at) const;  // in f32
};

// Input `index`, a float of rank 0, or of rank 1 with one element or `count`.
absl::StatusOr<QuantParam> ScaleOf(OpContext& op, size_t index, const Expr& count);
// Input `index`, of `type`; absent, or constant and all 0, it is nothing.
absl::StatusOr<ZeroPoint> ZeroPointOf(OpContext& op, size_t index, DType type, const Expr& count);

// Error where no quantised value can be stored as `type`: not an integer of 2 to 16 bits.
absl::Status RequireQuantized(DType type);
// round(value) + zero within the range of `type`, halves to even. Both in f32.
Expr Requantized(const Expr& value, const Expr& zero, DType type);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_QUANTIZATION_H_
