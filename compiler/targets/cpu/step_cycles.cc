#include "compiler/targets/cpu/step_cycles.h"

namespace aotc {
namespace {

// Cycles of one operation on a vector, and on a scalar.
struct OpCycles {
  double vector, scalar;
};

OpCycles CyclesOf(ExprOp op) {
  switch (op) {
    case ExprOp::kConst:
    case ExprOp::kVar:
    case ExprOp::kLoad: return {0, 0};
    case ExprOp::kDiv: return {8, 4};
    case ExprOp::kSqrt: return {10, 5};
    case ExprOp::kExp: return {9, 12};
    case ExprOp::kLog: return {12, 14};
    case ExprOp::kTanh:
    case ExprOp::kErf:
    case ExprOp::kSigmoid: return {18, 26};
    case ExprOp::kFloorDiv:
    case ExprOp::kMod:
    case ExprOp::kTruncMod: return {3, 3};
    case ExprOp::kSin:
    case ExprOp::kCos:
    case ExprOp::kTan:
    case ExprOp::kAsin:
    case ExprOp::kAcos:
    case ExprOp::kAtan:
    case ExprOp::kSinh:
    case ExprOp::kCosh:
    case ExprOp::kAsinh:
    case ExprOp::kAcosh:
    case ExprOp::kAtanh:
    case ExprOp::kPow: return {40, 40};
    default: return {0.5, 0.5};
  }
}

class Counter {
 public:
  Counter(const std::set<std::string>& fixed, bool is_vector)
      : fixed_(fixed), is_vector_(is_vector) {}

  // Whether the value is the same in all steps.
  bool Visit(const Expr& e) {
    if (e.IsVar()) return fixed_.contains(e->name);
    const double before = cycles_;
    bool is_fixed = true;
    for (const Expr& arg : e.args()) is_fixed = Visit(arg) && is_fixed;
    if (e.op() == ExprOp::kLoad && is_vector_) cycles_ = before;
    const OpCycles own = CyclesOf(e.op());
    if (!is_fixed) cycles_ += is_vector_ ? own.vector : own.scalar;
    return is_fixed;
  }

  double cycles() const { return cycles_; }

 private:
  const std::set<std::string>& fixed_;
  const bool is_vector_;
  double cycles_ = 0;
};

}  // namespace

double StepCycles(const Expr& e, const std::set<std::string>& fixed, bool is_vector) {
  Counter counter(fixed, is_vector);
  counter.Visit(e);
  return counter.cycles();
}

}  // namespace aotc
