#include "tests/interpreter/expr_code.h"

#include <algorithm>

#include "compiler/ir/expr_evaluate.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/interpreter/lane_ops.h"

namespace aotc {

size_t ExprCode::SlotOf(const std::string& name) {
  return slots_.emplace(name, slots_.size()).first->second;
}

int ExprCode::Add(const Expr& e) {
  Node node{.op = e.op(), .dtype = e.dtype(), .lanes = e.lanes()};
  AOTC_CHECK(node.lanes <= kMostLanes && e.args().size() <= 3);
  for (size_t i = 0; i < e.args().size(); ++i) node.args[i] = Add(e.arg(i));
  if (!e.args().empty()) node.operand = e.arg(0).dtype();
  if (e.op() == ExprOp::kVar) node.index = SlotOf(e->name);
  if (e.op() == ExprOp::kLoad) node.index = static_cast<size_t>(e->tensor.index());
  if (e.op() == ExprOp::kConst) {
    if (IsFloat(e.dtype())) {
      node.constant.f = RoundTo(e.dtype(), e->float_value);
    } else {
      node.constant.i = e->int_value;
    }
  }
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

int64_t ExprCode::Integer(int node, Frame& frame) const {
  LaneValues value;
  Evaluate(node, frame, value);
  return value[0].i;
}

void ExprCode::Evaluate(int number, Frame& frame, LaneValues& out) const {
  const Node& node = nodes_[static_cast<size_t>(number)];
  switch (node.op) {
    case ExprOp::kConst: std::fill_n(out.begin(), node.lanes, node.constant); return;
    case ExprOp::kVar: std::copy_n(frame.slot(node.index).begin(), node.lanes, out.begin()); return;
    case ExprOp::kLoad: return EvaluateLoad(node, frame, out);
    case ExprOp::kSelect: return EvaluateSelect(node, frame, out);
    case ExprOp::kBroadcast:
    case ExprOp::kRamp:
    case ExprOp::kLaneSum:
    case ExprOp::kLaneMax:
    case ExprOp::kLaneMin: return EvaluateLanes(node, frame, out);
    default: break;
  }
  return IsBinary(node.op) ? EvaluateBinary(node, frame, out) : EvaluateUnary(node, frame, out);
}

// Arguments: index, or first index, stride and the number of lanes that exist; the others are 0.
void ExprCode::EvaluateLoad(const Node& node, Frame& frame, LaneValues& out) const {
  const Memory& memory = frame.buffer(node.index);
  const int64_t first = Integer(node.args[0], frame);
  const int64_t stride = node.args[1] < 0 ? 1 : Integer(node.args[1], frame);
  const int64_t count = node.args[2] < 0 ? node.lanes : Integer(node.args[2], frame);
  std::fill_n(out.begin(), node.lanes, Lane{.i = 0});
  for (int64_t l = 0; l < std::min<int64_t>(count, node.lanes); ++l) {
    const int64_t index = first + l * stride;
    if (index < 0 || index >= memory.elements) {
      return frame.Fail(
          StrCat("element ", index, " of ", memory.name, " is read, of ", memory.elements));
    }
    out[static_cast<size_t>(l)] = LoadLane(memory, index);
  }
}

// Of scalars only the chosen side is evaluated.
void ExprCode::EvaluateSelect(const Node& node, Frame& frame, LaneValues& out) const {
  LaneValues condition;
  Evaluate(node.args[0], frame, condition);
  if (LanesOf(node.args[0]) == 1) {
    return Evaluate(node.args[condition[0].i != 0 ? 1 : 2], frame, out);
  }
  LaneValues other;
  Evaluate(node.args[1], frame, out);
  Evaluate(node.args[2], frame, other);
  for (size_t l = 0; l < static_cast<size_t>(node.lanes); ++l) {
    if (condition[l].i == 0) out[l] = other[l];
  }
}

void ExprCode::EvaluateUnary(const Node& node, Frame& frame, LaneValues& out) const {
  LaneValues x;
  Evaluate(node.args[0], frame, x);
  for (size_t l = 0; l < static_cast<size_t>(node.lanes); ++l) {
    if (node.op == ExprOp::kCast) {
      out[l] = CastLane(node.operand, node.dtype, x[l]);
    } else if (node.op == ExprOp::kBitCast) {
      out[l] = BitCastLane(node.operand, node.dtype, x[l]);
    } else if (!IsFloat(node.operand)) {
      const std::optional<int64_t> result = EvaluateIntOp(node.op, node.operand, {&x[l].i, 1});
      if (!result) frame.Fail(StrCat(ExprOpName(node.op), " of ", x[l].i, " has no value"));
      out[l].i = result.value_or(0);
    } else if (node.dtype == DType::kBool) {
      out[l].i = TestFloat(node.op, x[l].f, 0);
    } else {
      out[l].f = UnaryFloat(node.op, node.dtype, x[l].f);
    }
  }
}

void ExprCode::EvaluateBinary(const Node& node, Frame& frame, LaneValues& out) const {
  LaneValues a, b;
  Evaluate(node.args[0], frame, a);
  const bool decides =
      (node.op == ExprOp::kAnd && a[0].i == 0) || (node.op == ExprOp::kOr && a[0].i != 0);
  if (node.lanes == 1 && decides) {  // && and || evaluate their right side only when it matters
    out[0].i = node.op == ExprOp::kOr;
    return;
  }
  Evaluate(node.args[1], frame, b);
  for (size_t l = 0; l < static_cast<size_t>(node.lanes); ++l) {
    if (!IsFloat(node.operand)) {
      const int64_t operands[] = {a[l].i, b[l].i};
      const std::optional<int64_t> result = EvaluateIntOp(node.op, node.operand, operands);
      if (!result) {
        frame.Fail(StrCat(ExprOpName(node.op), " of ", a[l].i, " and ", b[l].i, " has no value"));
      }
      out[l].i = result.value_or(0);
    } else if (node.dtype == DType::kBool) {
      out[l].i = TestFloat(node.op, a[l].f, b[l].f);
    } else {
      out[l].f = BinaryFloat(node.op, node.dtype, a[l].f, b[l].f);
    }
  }
}

void ExprCode::EvaluateLanes(const Node& node, Frame& frame, LaneValues& out) const {
  LaneValues x;
  Evaluate(node.args[0], frame, x);
  if (node.op == ExprOp::kBroadcast) {
    std::fill_n(out.begin(), node.lanes, x[0]);
    return;
  }
  if (node.op == ExprOp::kRamp) {
    const int64_t stride = Integer(node.args[1], frame);
    for (int l = 0; l < node.lanes; ++l) out[static_cast<size_t>(l)].i = x[0].i + l * stride;
    return;
  }
  const ExprOp op = node.op == ExprOp::kLaneSum   ? ExprOp::kAdd
                    : node.op == ExprOp::kLaneMax ? ExprOp::kMax
                                                  : ExprOp::kMin;
  double result = x[0].f;
  for (int l = 1; l < LanesOf(node.args[0]); ++l) {
    result = BinaryFloat(op, node.dtype, result, x[static_cast<size_t>(l)].f);
  }
  out[0].f = result;
}

}  // namespace aotc
