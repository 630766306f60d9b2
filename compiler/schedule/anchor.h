// The anchor of a kernel: what its heart computes, read from its stages without changing or
// deciding anything. Layout, fusion, both targets and reports ask this one reading.
//
//   %acc[n, c, i, j] = reduce sum(r, p, q) select(guard, %x[n, r, i + p - 1, j + q - 1], 0.0)
//                                          * %w[c, r, p, q]
//
//   std::optional<ContractionAnchor> c = ReadContraction(stage);
//   c->a.load      // %x[n, r, i + p - 1, j + q - 1], under c->a.guard, else c->a.fill
//   c->m           // n, i, j: axes that only %x is indexed by; c->n: c; c->k: r, p, q
#ifndef AOTC_COMPILER_SCHEDULE_ANCHOR_H_
#define AOTC_COMPILER_SCHEDULE_ANCHOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/kernel.h"

namespace aotc {

// A factor of the product: (cast(select(guard, load, fill)) - zero_point) * scale.
struct AnchorOperand {
  Expr load = {};        // the element as stored
  Expr guard = {};       // under which it is read; null: always
  Expr fill = {};        // where the guard does not hold, a constant; null without a guard
  Expr zero_point = {};  // null: none
  Expr scale = {};       // of stored integers, in floats; null: none
  Expr whole = {};       // the factor itself
};

// What an axis of the result is to the contraction.
enum class AxisRole : uint8_t {
  kBatch,  // indexes both operands, or none
  kM,      // indexes a alone
  kN,      // indexes b alone
};

// Of the axis in a product of two factors.
AxisRole RoleOf(const std::string& axis, const Expr& a, const Expr& b);

// sum over k of a * b.
struct ContractionAnchor {
  AnchorOperand a, b;
  std::vector<AxisRole> roles = {};                      // of the stage's axes, in order
  std::vector<Axis> batch = {}, m = {}, n = {}, k = {};  // k in order; the others as `roles` says
  DType accumulator = DType::kF32;

  bool HasZeroPoints() const { return a.zero_point.valid() || b.zero_point.valid(); }
  bool HasScales() const { return a.scale.valid() || b.scale.valid(); }
};

// A factor whose loads are logical or flat. Nothing where it is no load under casts, guards and a
// zero point.
std::optional<AnchorOperand> ReadOperand(const Expr& factor);
// Its load alone; null where there is none.
Expr OperandLoad(const Expr& factor);

// Nothing where the stage is no sum of products of two loads; a sum of squares is none.
std::optional<ContractionAnchor> ReadContraction(const Stage& stage);
// Of the first stage that is one.
std::optional<ContractionAnchor> ReadContraction(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_ANCHOR_H_
