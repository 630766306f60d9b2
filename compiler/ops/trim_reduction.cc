#include "compiler/ops/trim_reduction.h"

#include <algorithm>
#include <optional>
#include <string>

namespace aotc {
namespace {

struct Range {
  int64_t begin = 0, end = 0;
};

bool IsZero(const Expr& e) {
  return e.IsConst() && (IsFloat(e.dtype()) ? e->float_value == 0 : e->int_value == 0);
}

// The condition without which the element is zero: of the body, or of a factor of it.
std::optional<Expr> GuardOf(const Expr& body) {
  if (body.op() == ExprOp::kSelect && IsZero(body.arg(2))) return body.arg(0);
  if (body.op() == ExprOp::kCast) return GuardOf(body.arg(0));
  if (body.op() != ExprOp::kMul) return std::nullopt;
  const std::optional<Expr> left = GuardOf(body.arg(0));
  return left ? left : GuardOf(body.arg(1));
}

// Narrows `range` by the parts of a conjunction that bound the variable by a constant.
void Narrow(const Expr& condition, const std::string& name, Range& range) {
  if (condition.op() == ExprOp::kAnd) {
    Narrow(condition.arg(0), name, range);
    Narrow(condition.arg(1), name, range);
    return;
  }
  if (condition.op() != ExprOp::kLe && condition.op() != ExprOp::kLt) return;
  const int64_t strict = condition.op() == ExprOp::kLt ? 1 : 0;
  const Expr &low = condition.arg(0), &high = condition.arg(1);
  const auto is_axis = [&](const Expr& e) { return e.IsVar() && e->name == name; };
  if (is_axis(high) && low.AsInt()) range.begin = std::max(range.begin, *low.AsInt() + strict);
  if (is_axis(low) && high.AsInt()) range.end = std::min(range.end, *high.AsInt() + 1 - strict);
}

bool TrimStage(Stage& stage) {
  if (stage.combiner.name != "sum" || stage.body.size() != 1) return false;
  const std::optional<Expr> guard = GuardOf(stage.body[0]);
  if (!guard) return false;
  bool changed = false;
  for (Axis& axis : stage.reduce_axes) {
    const std::optional<int64_t> extent = axis.extent.AsInt();
    if (!extent) continue;
    Range range{0, *extent};
    Narrow(*guard, axis.name, range);
    if (range.end - range.begin == *extent || range.end <= range.begin) continue;
    axis.extent = range.end - range.begin;
    stage.body[0] = Substitute(stage.body[0], {{axis.name, Var(axis.name) + range.begin}});
    changed = true;
  }
  return changed;
}

}  // namespace

bool TrimReduceAxes(Kernel& kernel) {
  bool changed = false;
  for (Stage& stage : kernel.stages) changed = TrimStage(stage) || changed;
  return changed;
}

}  // namespace aotc
