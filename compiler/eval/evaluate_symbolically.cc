#include <algorithm>
#include <utility>

#include "compiler/eval/evaluate.h"
#include "compiler/eval/rational.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kLargestTensor = 4096;  // elements; shape operands are far smaller
constexpr int64_t kLargestReduction = 4096;

struct SymbolicTensor {
  std::vector<int64_t> dims;
  std::vector<Expr> elements;
};

absl::StatusOr<std::vector<int64_t>> StaticExtents(const std::vector<Axis>& axes, int64_t limit) {
  std::vector<int64_t> extents;
  int64_t count = 1;
  for (const Axis& axis : axes) {
    std::optional<int64_t> extent = Simplify(axis.extent).AsInt();
    if (extent) count *= std::min(*extent, limit + 1);
    if (!extent || count > limit) {
      return absl::FailedPreconditionError("too many elements to be known one by one");
    }
    extents.push_back(*extent);
  }
  return extents;
}

class SymbolicEvaluator {
 public:
  SymbolicEvaluator(const Kernel& kernel, const Bounds& bounds)
      : kernel_(kernel), bounds_(bounds), tensors_(kernel.tensors.size()) {}

  absl::Status SetInput(TensorId id, const std::vector<Expr>& elements);
  absl::Status RunStage(const Stage& stage);
  std::vector<Expr> Elements(TensorId id) const { return tensors_[id].elements; }

 private:
  absl::Status RunElement(const Stage& stage, const std::vector<int64_t>& reduce);
  absl::Status Accumulate(const Stage& stage, std::vector<Expr>& accumulators);
  absl::StatusOr<Expr> Value(const Expr& e);
  absl::StatusOr<Expr> ValueOfOperator(const Expr& e);
  absl::StatusOr<Expr> ValueOfLoad(const Expr& e);
  absl::StatusOr<Expr> ValueOfCast(const Expr& e);
  absl::StatusOr<Expr> ValueOfSelect(const Expr& e);
  // `x`; an error where it is an integer that may wrap in the type.
  absl::StatusOr<Expr> InRangeOf(DType type, const Expr& x);
  // The next combination of `axes`; false after the last.
  bool Advance(const std::vector<Axis>& axes, const std::vector<int64_t>& extents);
  void Reset(const std::vector<Axis>& axes);

  const Kernel& kernel_;
  const Bounds& bounds_;
  IdVector<TensorId, SymbolicTensor> tensors_;
  SymbolValues axes_;      // the element in work
  Substitution operands_;  // of the combiner
};

absl::Status SymbolicEvaluator::SetInput(TensorId id, const std::vector<Expr>& elements) {
  std::optional<std::vector<int64_t>> dims = StaticDims(kernel_.tensors[id].shape);
  if (!dims) return absl::FailedPreconditionError("a tensor of unknown size");
  tensors_[id] = {*dims, elements};
  return absl::OkStatus();
}

bool SymbolicEvaluator::Advance(const std::vector<Axis>& axes,
                                const std::vector<int64_t>& extents) {
  for (size_t i = axes.size(); i-- > 0;) {
    int64_t& value = axes_[axes[i].name];
    if (++value < extents[i]) return true;
    value = 0;
  }
  return false;
}

void SymbolicEvaluator::Reset(const std::vector<Axis>& axes) {
  for (const Axis& axis : axes) axes_[axis.name] = 0;
}

absl::Status SymbolicEvaluator::RunStage(const Stage& stage) {
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> extents, StaticExtents(stage.axes, kLargestTensor));
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> reduce,
                        StaticExtents(stage.reduce_axes, kLargestReduction));
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  for (const StageResult& result : stage.results) {
    if (result.axis_count != static_cast<int>(extents.size())) {
      return absl::FailedPreconditionError("results of different rank");
    }
    tensors_[result.tensor] = {extents, {}};
  }
  Reset(stage.axes);
  for (int64_t i = 0; i < count; ++i) {
    AOTC_RETURN_IF_ERROR(RunElement(stage, reduce));
    Advance(stage.axes, extents);
  }
  return absl::OkStatus();
}

absl::Status SymbolicEvaluator::RunElement(const Stage& stage, const std::vector<int64_t>& reduce) {
  std::vector<Expr> values;
  const std::vector<Expr>& first = stage.IsReduction() ? stage.combiner.identity : stage.body;
  for (const Expr& e : first) {
    AOTC_ASSIGN_OR_RETURN(Expr value, Value(e));
    values.push_back(std::move(value));
  }
  if (stage.IsReduction()) {
    Reset(stage.reduce_axes);
    bool empty = std::find(reduce.begin(), reduce.end(), 0) != reduce.end();
    for (bool more = !empty; more; more = Advance(stage.reduce_axes, reduce)) {
      AOTC_RETURN_IF_ERROR(Accumulate(stage, values));
    }
  }
  for (size_t k = 0; k < values.size(); ++k) {
    tensors_[stage.results[k].tensor].elements.push_back(Simplify(values[k], bounds_));
  }
  return absl::OkStatus();
}

absl::Status SymbolicEvaluator::Accumulate(const Stage& stage, std::vector<Expr>& accumulators) {
  Substitution operands;
  for (size_t k = 0; k < accumulators.size(); ++k) {
    AOTC_ASSIGN_OR_RETURN(operands[StrCat("b", k)], Value(stage.body[k]));
    operands[StrCat("a", k)] = accumulators[k];
  }
  operands_ = std::move(operands);
  for (size_t k = 0; k < accumulators.size(); ++k) {
    AOTC_ASSIGN_OR_RETURN(Expr combined, Value(stage.combiner.combine[k]));
    accumulators[k] = Simplify(combined, bounds_);
  }
  operands_.clear();
  return absl::OkStatus();
}

// `e` with numbers for axes and elements for loads; every integer as an i64 that its type holds.
absl::StatusOr<Expr> SymbolicEvaluator::Value(const Expr& e) {
  if (e.IsConst()) return IsInteger(e.dtype()) ? InRangeOf(e.dtype(), Expr(e->int_value)) : e;
  if (e.IsVar()) {
    if (auto axis = axes_.find(e->name); axis != axes_.end()) return Expr(axis->second);
    auto operand = operands_.find(e->name);
    return operand == operands_.end() ? e : operand->second;
  }
  if (e.op() == ExprOp::kSelect) return ValueOfSelect(e);
  if (e.op() == ExprOp::kTable) return Value(WithoutTables(e));
  if (e.op() == ExprOp::kLoad && e.dtype() != DType::kU64) return ValueOfLoad(e);
  AOTC_ASSIGN_OR_RETURN(Expr value, ValueOfOperator(e));
  return InRangeOf(e.dtype(), value);
}

absl::StatusOr<Expr> SymbolicEvaluator::InRangeOf(DType type, const Expr& x) {
  if (!IsInteger(type) || type == DType::kI64) return x;
  Expr simple = Simplify(x, bounds_);
  const Interval range = RangeOf(simple, bounds_);
  const auto [least, largest] =
      type == DType::kU64 ? std::pair(int64_t{0}, INT64_MAX - 1) : IntegerRange(type);
  if (range.min >= least && range.max <= largest) return simple;
  return absl::FailedPreconditionError(StrCat("a number may leave ", DTypeName(type)));
}

absl::StatusOr<Expr> SymbolicEvaluator::ValueOfOperator(const Expr& e) {
  if (e.op() == ExprOp::kLoad) return ValueOfLoad(e);
  if (e.op() == ExprOp::kCast) return ValueOfCast(e);
  if (e.op() == ExprOp::kBitCast) return absl::FailedPreconditionError("bits of a number");
  std::vector<Expr> args;
  for (const Expr& arg : e.args()) {
    AOTC_ASSIGN_OR_RETURN(Expr value, Value(arg));
    args.push_back(std::move(value));
  }
  return IsBinary(e.op()) ? Binary(e.op(), args[0], args[1]) : Unary(e.op(), args[0]);
}

absl::StatusOr<Expr> SymbolicEvaluator::ValueOfLoad(const Expr& e) {
  const SymbolicTensor& tensor = tensors_[e->tensor];
  int64_t offset = 0;
  for (size_t axis = 0; axis < e.args().size(); ++axis) {
    AOTC_ASSIGN_OR_RETURN(Expr index, Value(e.arg(axis)));
    std::optional<int64_t> value = Simplify(index, bounds_).AsInt();
    if (!value) return absl::FailedPreconditionError("an index depends on symbolic dims");
    if (*value < 0 || *value >= tensor.dims[axis]) {
      return AOTC_REFUSAL(OutOfRange, StrCat("index ", *value, " is outside 0..",
                                             tensor.dims[axis] - 1, " of axis ", axis));
    }
    offset = offset * tensor.dims[axis] + *value;
  }
  if (offset >= static_cast<int64_t>(tensor.elements.size())) {
    return absl::FailedPreconditionError("an element is not known");
  }
  return tensor.elements[static_cast<size_t>(offset)];
}

absl::StatusOr<Expr> SymbolicEvaluator::ValueOfCast(const Expr& e) {
  AOTC_ASSIGN_OR_RETURN(Expr x, Value(e.arg(0)));
  if (IsFloat(e.dtype())) {
    return Cast(e.dtype(), x.dtype() == DType::kBool ? Select(x, Expr(1), Expr(0)) : x);
  }
  if (IsFloat(x.dtype()) && e.dtype() == DType::kBool) {
    const std::optional<Rational> value = RationalOf(x, bounds_);
    if (!value) return absl::FailedPreconditionError("a float does not reduce to a fraction");
    return Ne(value->numerator, 0);
  }
  if (IsFloat(x.dtype())) {
    std::optional<Expr> whole = TruncationOf(x, bounds_);
    if (!whole) return absl::FailedPreconditionError("a float does not reduce to an integer");
    x = *whole;
  }
  if (e.dtype() == DType::kBool) return x.dtype() == DType::kBool ? x : Ne(x, 0);
  return x.dtype() == DType::kBool ? Select(x, Expr(1), Expr(0)) : x;
}

// Only the chosen side, where the condition is known: the other may load out of range.
absl::StatusOr<Expr> SymbolicEvaluator::ValueOfSelect(const Expr& e) {
  AOTC_ASSIGN_OR_RETURN(Expr condition, Value(e.arg(0)));
  condition = Simplify(condition, bounds_);
  if (std::optional<int64_t> chosen = condition.AsInt()) return Value(e.arg(*chosen != 0 ? 1 : 2));
  AOTC_ASSIGN_OR_RETURN(Expr if_true, Value(e.arg(1)));
  AOTC_ASSIGN_OR_RETURN(Expr if_false, Value(e.arg(2)));
  return Select(condition, if_true, if_false);
}

}  // namespace

absl::StatusOr<std::vector<std::vector<Expr>>> EvaluateSymbolically(
    const Kernel& kernel, const std::vector<std::vector<Expr>>& inputs, const Bounds& bounds) {
  SymbolicEvaluator evaluator(kernel, bounds);
  size_t next = 0;
  for (TensorId id : kernel.params) {
    if (kernel.tensors[id].role == TensorRole::kOutput) continue;
    if (next == inputs.size()) return absl::InternalError("too few inputs for the kernel");
    AOTC_RETURN_IF_ERROR(evaluator.SetInput(id, inputs[next++]));
  }
  for (const Stage& stage : kernel.stages) AOTC_RETURN_IF_ERROR(evaluator.RunStage(stage));
  std::vector<std::vector<Expr>> outputs;
  for (TensorId id : kernel.params) {
    if (kernel.tensors[id].role == TensorRole::kOutput) outputs.push_back(evaluator.Elements(id));
  }
  return outputs;
}

}  // namespace aotc
