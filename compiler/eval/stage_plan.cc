#include "compiler/eval/stage_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/eval/row_program.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Loop {
  LoopVar var;
  int stage_axis;  // -1 for reduce axes
};

struct Loops {
  std::vector<Loop> outputs;
  std::vector<Loop> reduce;
};

LoopVars VarsOf(const Loops& loops) {
  LoopVars vars;
  for (const Loop& loop : loops.outputs) vars.push_back(loop.var);
  for (const Loop& loop : loops.reduce) vars.push_back(loop.var);
  return vars;
}

const TensorData& TensorOf(const std::vector<TensorData>& tensors, const Expr& load) {
  return tensors[static_cast<size_t>(load->tensor.index())];
}

// Axes with more than one value become loops; the others read as 0.
absl::StatusOr<std::vector<Loop>> LoopsOf(const std::vector<Axis>& axes, bool reduced,
                                          const SymbolValues& symbols, Substitution& known,
                                          bool& empty) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < axes.size(); ++i) {
    std::optional<int64_t> extent = EvaluateInt(axes[i].extent, symbols);
    if (!extent) {
      return absl::InternalError(StrCat("the extent of axis ", axes[i].name, " has no value"));
    }
    if (*extent <= 0) empty = true;
    if (*extent == 1) {
      known[axes[i].name] = Expr(0);
    } else {
      loops.push_back({{axes[i].name, *extent}, reduced ? -1 : static_cast<int>(i)});
    }
  }
  return loops;
}

// A load of a splat at an index that is surely in range is a constant.
Expr ReplaceSplats(const Expr& body, const LoopVars& vars, const std::vector<TensorData>& tensors) {
  return Transform(body, [&](const Expr& e) {
    if (e.op() != ExprOp::kLoad) return e;
    const TensorData& tensor = TensorOf(tensors, e);
    if (!tensor.is_splat() || tensor.dims.size() != e.args().size()) return e;
    for (size_t axis = 0; axis < e.args().size(); ++axis) {
      std::optional<LinearForm> form = LinearOf(e.arg(axis), vars);
      if (!form) return e;
      auto [least, largest] = RangeOfForm(*form, vars);
      if (least < 0 || largest >= tensor.dims[axis]) return e;
    }
    if (IsFloat(e.dtype())) return FloatConst(LoadElement(tensor.cell, tensor.data, 0), e.dtype());
    return IntConst(LoadIntElement(tensor.cell, tensor.data, 0), e.dtype());
  });
}

bool DependsOnOutputs(const std::vector<Expr>& body, const Loops& loops) {
  std::set<std::string> used;
  for (const Expr& e : body) used.merge(FreeVars(e));
  return std::any_of(loops.outputs.begin(), loops.outputs.end(),
                     [&](const Loop& loop) { return used.count(loop.var.name) != 0; });
}

// Time of one lane of a load, in nanoseconds or so, when `var` is the row.
double LoadCost(const Expr& load, const LoopVars& vars, size_t var,
                const std::vector<TensorData>& tensors) {
  constexpr double kGather = 6, kStrided = 2, kContiguous = 0.5, kUniform = 0.05;
  const TensorData& tensor = TensorOf(tensors, load);
  int64_t stride = 0;
  for (size_t axis = 0; axis < load.args().size(); ++axis) {
    if (!UsesVar(load.arg(axis), vars[var].name)) continue;
    std::optional<LinearForm> form = LinearOf(load.arg(axis), vars);
    if (!form) return kGather;
    stride += form->Coefficient(static_cast<int>(var)) * tensor.strides[axis];
  }
  return stride == 0 ? kUniform : stride == 1 ? kContiguous : kStrided;
}

int CountNodes(const Expr& e) {
  int count = 0;
  Visit(e, [&](const Expr&) { ++count; });
  return count;
}

// Time of one element of the iteration space with `var` as the row.
double RowCost(const std::vector<Expr>& body, const LoopVars& vars, size_t var,
               const std::vector<TensorData>& tensors) {
  constexpr double kInstruction = 8, kRow = 30;
  int64_t lanes = std::min<int64_t>(vars[var].extent, kRowLanes);
  double row = kRow, lane = 0;
  for (const Expr& e : body) {
    row += kInstruction * CountNodes(e);
    for (const Expr& load : LoadsOf(e)) lane += LoadCost(load, vars, var, tensors);
  }
  return row / static_cast<double>(lanes) + lane;
}

// The position in VarsOf(loops) of the best row; -1 where there is no loop.
int ChooseRow(const std::vector<Expr>& body, const Loops& loops,
              const std::vector<TensorData>& tensors) {
  constexpr double kFold = 1.0;  // folding a row costs more than adding to one
  LoopVars vars = VarsOf(loops);
  int best = -1;
  double best_cost = 0;
  for (size_t i = vars.size(); i-- > 0;) {
    bool is_output = i < loops.outputs.size();
    if (!is_output && i + 1 != vars.size()) continue;
    double cost = RowCost(body, vars, i, tensors) + (is_output ? 0 : kFold);
    if (best < 0 || cost < best_cost) {
      best = static_cast<int>(i);
      best_cost = cost;
    }
  }
  return best;
}

// Puts the row in its place: last of the outputs, or last of all.
void OrderLoops(Loops& loops, int row, StagePlan& plan) {
  int outputs = static_cast<int>(loops.outputs.size());
  if (row < 0) {  // nothing to loop over: a row of one lane
    loops.outputs.push_back({{"", 1}, -1});
    plan.row = outputs;
  } else if (row < outputs) {
    std::rotate(loops.outputs.begin() + row, loops.outputs.begin() + row + 1, loops.outputs.end());
    plan.row = outputs - 1;
  } else {
    plan.row = row;
  }
  plan.vars = VarsOf(loops);
  plan.reduce_begin = static_cast<int>(loops.outputs.size());
  for (size_t i = 0; i < loops.outputs.size(); ++i) {
    if (int axis = loops.outputs[i].stage_axis; axis >= 0) {
      plan.axis_position[static_cast<size_t>(axis)] = static_cast<int>(i);
    }
  }
}

}  // namespace

absl::StatusOr<StagePlan> PlanStage(const Stage& stage, const SymbolValues& symbols,
                                    const std::vector<TensorData>& tensors) {
  StagePlan plan;
  Substitution known;
  for (const auto& [name, value] : symbols) known[name] = Expr(value);
  Loops loops;
  AOTC_ASSIGN_OR_RETURN(loops.outputs,
                        LoopsOf(stage.axes, false, symbols, known, plan.empty_output));
  AOTC_ASSIGN_OR_RETURN(loops.reduce,
                        LoopsOf(stage.reduce_axes, true, symbols, known, plan.empty_reduction));
  plan.axis_position.assign(stage.axes.size(), -1);
  bool runs = !plan.empty_output && !plan.empty_reduction;
  for (const Expr& e : stage.body) {
    Expr body = Substitute(e, known);
    plan.body.push_back(runs ? ReplaceSplats(body, VarsOf(loops), tensors) : body);
  }
  if (!plan.empty_output && !loops.outputs.empty() &&
      (plan.empty_reduction || !DependsOnOutputs(plan.body, loops))) {
    plan.splat = true;
    loops.outputs.clear();
  }
  OrderLoops(loops, runs ? ChooseRow(plan.body, loops, tensors) : -1, plan);
  return plan;
}

}  // namespace aotc
