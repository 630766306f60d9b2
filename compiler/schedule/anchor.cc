#include "compiler/schedule/anchor.h"

#include <algorithm>
#include <utility>

namespace aotc {
namespace {

Expr WithoutCasts(const Expr& e) { return e.op() == ExprOp::kCast ? WithoutCasts(e.arg(0)) : e; }

// A load under casts and guards, the outermost guard being noted.
bool ReadLoad(const Expr& e, AnchorOperand& operand) {
  const Expr bare = WithoutCasts(e);
  if (bare.op() == ExprOp::kLoad) {
    operand.load = bare;
    return true;
  }
  if (bare.op() != ExprOp::kSelect || !bare.arg(2).IsConst()) return false;
  if (!ReadLoad(bare.arg(1), operand)) return false;
  operand.guard = operand.guard.valid() ? And(bare.arg(0), operand.guard) : bare.arg(0);
  operand.fill = bare.arg(2);
  return true;
}

// What is subtracted: a constant, or an element of a tensor.
bool IsZeroPoint(const Expr& e) {
  const Expr bare = WithoutCasts(e);
  return bare.IsConst() || bare.op() == ExprOp::kLoad;
}

// A number, or an element of a tensor, in floats.
bool IsScale(const Expr& e) {
  const Expr bare = WithoutCasts(e);
  return IsFloat(bare.dtype()) && (bare.IsConst() || bare.op() == ExprOp::kLoad);
}

// An integer, read as a factor, times a scale.
std::optional<AnchorOperand> ReadScaled(const Expr& product) {
  if (product.op() != ExprOp::kMul || !IsFloat(product.dtype())) return std::nullopt;
  for (const size_t scale : {1, 0}) {
    const Expr integer = WithoutCasts(product.arg(1 - scale));
    if (!IsScale(product.arg(scale)) || !IsInteger(integer.dtype())) continue;
    std::optional<AnchorOperand> operand = ReadOperand(integer);
    if (!operand || !IsInteger(operand->load.dtype())) continue;
    operand->scale = product.arg(scale);
    return operand;
  }
  return std::nullopt;
}

}  // namespace

std::optional<AnchorOperand> ReadOperand(const Expr& e) {
  AnchorOperand operand{.whole = e};
  if (ReadLoad(e, operand)) return operand;
  const Expr bare = WithoutCasts(e);
  if (std::optional<AnchorOperand> scaled = ReadScaled(bare)) {
    scaled->whole = e;
    return scaled;
  }
  const bool shifted = bare.op() == ExprOp::kSub && IsInteger(bare.dtype()) &&
                       IsZeroPoint(bare.arg(1)) && ReadLoad(bare.arg(0), operand);
  if (!shifted) return std::nullopt;
  operand.zero_point = bare.arg(1);
  return operand;
}

Expr OperandLoad(const Expr& factor) {
  const std::optional<AnchorOperand> operand = ReadOperand(factor);
  return operand ? operand->load : Expr();
}

AxisRole RoleOf(const std::string& axis, const Expr& a, const Expr& b) {
  const bool in_a = UsesVar(a, axis), in_b = UsesVar(b, axis);
  return in_a == in_b ? AxisRole::kBatch : in_a ? AxisRole::kM : AxisRole::kN;
}

std::optional<ContractionAnchor> ReadContraction(const Stage& stage) {
  if (!stage.IsReduction() || stage.combiner.name != "sum" || stage.body.size() != 1) {
    return std::nullopt;
  }
  const Expr& product = stage.body[0];
  if (product.op() != ExprOp::kMul || Same(product.arg(0), product.arg(1))) return std::nullopt;
  std::optional<AnchorOperand> a = ReadOperand(product.arg(0)), b = ReadOperand(product.arg(1));
  if (!a || !b) return std::nullopt;
  ContractionAnchor contraction{.a = *std::move(a),
                                .b = *std::move(b),
                                .k = stage.reduce_axes,
                                .accumulator = product.dtype()};
  for (const Axis& axis : stage.axes) {
    const AxisRole role = RoleOf(axis.name, contraction.a.whole, contraction.b.whole);
    contraction.roles.push_back(role);
    (role == AxisRole::kBatch ? contraction.batch
     : role == AxisRole::kM   ? contraction.m
                              : contraction.n)
        .push_back(axis);
  }
  return contraction;
}

std::optional<ContractionAnchor> ReadContraction(const Kernel& kernel) {
  for (const Stage& stage : kernel.stages) {
    if (std::optional<ContractionAnchor> found = ReadContraction(stage)) return found;
  }
  return std::nullopt;
}

}  // namespace aotc
