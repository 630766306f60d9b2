#include "compiler/schedule/join.h"

#include <string>

#include "compiler/ir/expr_simplify.h"

namespace aotc {
namespace {

std::optional<size_t> AxisOf(const Expr& index, const Stage& stage) {
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    if (index.IsVar() && stage.axes[i].name == index->name) return i;
  }
  return std::nullopt;
}

// Where the elements end that a condition chooses, in "axis < end" or "axis <= end - 1".
struct End {
  size_t axis = 0;
  Expr end = 0;
};

std::optional<End> ReadEnd(const Expr& condition, const Stage& stage) {
  const bool is_last = condition.op() == ExprOp::kLe;
  if (!is_last && condition.op() != ExprOp::kLt) return std::nullopt;
  const std::optional<size_t> axis = AxisOf(condition.arg(0), stage);
  if (!axis) return std::nullopt;
  return End{.axis = *axis, .end = condition.arg(1) + int64_t{is_last}};
}

// What a condition chooses by, in "axis % count == part", or "axis == part" of as many elements.
struct Turn {
  size_t axis = 0;
  int64_t count = 1, part = 0;
};

std::optional<Turn> ReadTurn(const Expr& condition, const Stage& stage) {
  if (condition.op() != ExprOp::kEq) return std::nullopt;
  const Expr& chosen = condition.arg(0);
  const bool turns = chosen.op() == ExprOp::kMod;
  const std::optional<size_t> axis = AxisOf(turns ? chosen.arg(0) : chosen, stage);
  if (!axis) return std::nullopt;
  const std::optional<int64_t> count =
                                   turns ? chosen.arg(1).AsInt() : stage.axes[*axis].extent.AsInt(),
                               part = condition.arg(1).AsInt();
  if (!count || !part) return std::nullopt;
  return Turn{.axis = *axis, .count = *count, .part = *part};
}

class JoinReader {
 public:
  JoinReader(const Kernel& kernel, size_t axis)
      : kernel_(kernel),
        stage_(kernel.stages[0]),
        bounds_(StageBounds(kernel, stage_)),
        join_{.axis = axis} {}

  std::optional<Join> Run() {
    const bool is_join = Read(stage_.body[0], 0, stage_.axes[join_.axis].extent);
    return is_join && join_.parts.size() > 1 ? std::optional(join_) : std::nullopt;
  }

  // The same of parts whose elements take turns.
  std::optional<Join> Turns(int64_t count) {
    join_.step = count;
    Expr e = stage_.body[0];
    for (int64_t p = 0; p < count; ++p) {
      const bool is_last = p + 1 == count;
      const std::optional<Turn> turn =
          e.op() == ExprOp::kSelect ? ReadTurn(e.arg(0), stage_) : std::nullopt;
      const bool chooses =
          turn && turn->axis == join_.axis && turn->count == count && turn->part == p;
      if (!is_last && !chooses) return std::nullopt;
      const Expr& load = is_last ? e : e.arg(1);
      const Axis& axis = stage_.axes[join_.axis];
      const Expr extent = Simplify(CeilDiv(axis.extent - p, count), bounds_);
      if (load.op() != ExprOp::kLoad || !IsPart(load, FloorDiv(Var(axis.name), count), extent))
        return std::nullopt;
      join_.parts.push_back({load->tensor, p});
      if (!is_last) e = Expr(e.arg(2));
    }
    return join_;
  }

 private:
  // The elements from `start` to `end` - 1 along the axis.
  bool Read(const Expr& e, const Expr& start, const Expr& end) {
    if (e.op() == ExprOp::kSelect) {
      const std::optional<End> middle = ReadEnd(e.arg(0), stage_);
      return middle && middle->axis == join_.axis && Read(e.arg(1), start, middle->end) &&
             Read(e.arg(2), middle->end, end);
    }
    if (e.op() != ExprOp::kLoad) return false;
    const Expr index = Var(stage_.axes[join_.axis].name) - start;
    if (!IsPart(e, index, Simplify(end - start, bounds_))) return false;
    join_.parts.push_back({e->tensor, Simplify(start, bounds_)});
    return true;
  }

  // All of a tensor that has `joined_extent` elements along the axis, read at `joined_index`.
  bool IsPart(const Expr& load, const Expr& joined_index, const Expr& joined_extent) const {
    const KernelTensor& tensor = kernel_.tensors[load->tensor];
    if (load.args().size() != stage_.axes.size()) return false;
    for (size_t i = 0; i < stage_.axes.size(); ++i) {
      const Axis& axis = stage_.axes[i];
      const bool joined = i == join_.axis;
      const Expr index = joined ? joined_index : Var(axis.name);
      const Expr extent = joined ? joined_extent : axis.extent;
      const bool one = extent.IsInt(1) && load.arg(i).IsInt(0);
      if (!one && !ProveEqual(load.arg(i), index, bounds_)) return false;
      if (!ProveEqual(tensor.shape[i], extent, bounds_)) return false;
    }
    return true;
  }

  const Kernel& kernel_;
  const Stage& stage_;
  const Bounds bounds_;
  Join join_;
};

// One stage whose elements are loads of the kernel's one operand, of as many axes.
bool ReadsOne(const Kernel& kernel) {
  if (kernel.params.size() != 2 || kernel.stages.size() != 1) return false;
  const Stage& stage = kernel.stages[0];
  const Expr& load = stage.body[0];
  return !stage.IsReduction() && stage.body.size() == 1 && load.op() == ExprOp::kLoad &&
         load->tensor == kernel.params[0] && load.args().size() == stage.axes.size();
}

}  // namespace

std::optional<Repeats> ReadRepeats(const Kernel& kernel) {
  if (!ReadsOne(kernel)) return std::nullopt;
  const Stage& stage = kernel.stages[0];
  const Shape& from = kernel.tensors[kernel.params[0]].shape;
  const Bounds bounds = StageBounds(kernel, stage);
  Repeats repeats;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    const Axis& axis = stage.axes[i];
    const std::optional<int64_t> to = axis.extent.AsInt(), dim = from[i].AsInt();
    int64_t times = 1;
    if (to && dim && *dim > 0) times = *to / *dim;
    if (times < 1 || !ProveEqual(from[i] * times, axis.extent, bounds)) return std::nullopt;
    const Expr index = FloorDiv(Var(axis.name), times);
    if (!ProveEqual(stage.body[0].arg(i), index, bounds)) return std::nullopt;
    repeats.push_back(times);
  }
  return repeats;
}

std::optional<JoinCut> ReadCut(const Kernel& kernel) {
  if (!ReadsOne(kernel)) return std::nullopt;
  const Stage& stage = kernel.stages[0];
  const Expr& load = stage.body[0];
  const Shape& from = kernel.tensors[kernel.params[0]].shape;
  const Bounds bounds = StageBounds(kernel, stage);
  std::optional<JoinCut> cut;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    const Axis& axis = stage.axes[i];
    Expr start = Simplify(load.arg(i) - Var(axis.name), bounds);
    if (axis.extent.IsInt(1)) start = load.arg(i);
    if (UsesVar(start, axis.name)) return std::nullopt;
    if (start.IsInt(0) && ProveEqual(axis.extent, from[i], bounds)) continue;
    if (cut || !start.IsConst()) return std::nullopt;
    cut = {.axis = i, .start = start};
  }
  return cut;
}

std::optional<Join> ReadJoin(const Kernel& kernel) {
  if (kernel.stages.size() != 1) return std::nullopt;
  const Stage& stage = kernel.stages[0];
  const bool chooses =
      !stage.IsReduction() && stage.body.size() == 1 && stage.body[0].op() == ExprOp::kSelect;
  if (!chooses) return std::nullopt;
  const Expr& condition = stage.body[0].arg(0);
  if (const std::optional<Turn> turn = ReadTurn(condition, stage))
    return JoinReader(kernel, turn->axis).Turns(turn->count);
  const std::optional<End> first = ReadEnd(condition, stage);
  return first ? JoinReader(kernel, first->axis).Run() : std::nullopt;
}

}  // namespace aotc
