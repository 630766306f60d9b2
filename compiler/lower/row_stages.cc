// Row nests: softmax, normalisations and other kernels whose stages pass over a row several times.
#include <algorithm>
#include <string>
#include <utility>

#include "compiler/lower/nest_stages.h"
#include "compiler/lower/ranked_reduction.h"
#include "compiler/lower/running.h"
#include "compiler/lower/updates.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class RowWriter {
 public:
  RowWriter(const Nest& nest, int lane_count) : nest_(nest), lane_count_(lane_count) {}

  std::vector<Stmt> Run() {
    for (const FlatStage& stage : nest_.stages) {
      if (stage.reduce.empty()) {
        Pointwise(stage);
      } else {
        Reduction(stage);
      }
    }
    return std::move(out_);
  }

 private:
  // A loop over `axis` in whole vectors, then what is left; `make(lanes)` gives the body of either.
  using Body = std::function<std::optional<std::vector<Stmt>>(const Lanes*)>;
  std::vector<Stmt> VectorLoop(const Axis& axis, const Body& make) const {
    const std::string chunk = axis.name + "_v";
    const Lanes lanes{.var = axis.name, .first = Var(chunk) * lane_count_, .count = lane_count_};
    std::optional<std::vector<Stmt>> body;
    if (lane_count_ > 1) body = make(&lanes);
    if (!body) return {For(axis.name, 0, axis.extent, *make(nullptr))};
    const Expr chunks = Simplify(FloorDiv(axis.extent, lane_count_), nest_.bounds);
    const Expr done = Simplify(chunks * lane_count_, nest_.bounds);
    std::vector<Stmt> loops = {For(chunk, 0, chunks, *std::move(body))};
    if (!ProveEqual(done, axis.extent, nest_.bounds)) {
      loops.push_back(
          For(axis.name, done, Simplify(axis.extent - done, nest_.bounds), *make(nullptr)));
    }
    return loops;
  }

  Stmt StoreOrLet(const FlatResult& result, const Expr& value) const {
    if (!result.index.valid()) return Let(result.variable, InVariable(value));
    return Store(result.tensor, result.index, Cast(result.dtype, value));
  }

  void Pointwise(const FlatStage& stage) {
    const Bounds bounds = StageBounds(nest_, stage);
    if (stage.inner.empty()) {
      for (size_t k = 0; k < stage.bodies.size(); ++k) {
        out_.push_back(StoreOrLet(stage.results[k], stage.bodies[k]));
      }
      return;
    }
    const Axis last = stage.inner.back();
    std::vector<Stmt> loops =
        VectorLoop(last, [&](const Lanes* lanes) { return PointwiseBody(stage, lanes, bounds); });
    Append(Around({stage.inner.begin(), stage.inner.end() - 1}, std::move(loops)));
  }

  // Where the first lane is stored, if the others follow one by one.
  static std::optional<Expr> FirstLane(const Expr& index, const Lanes& lanes,
                                       const Bounds& bounds) {
    const std::optional<Affine> affine = AsAffine(index, {lanes.var}, bounds);
    if (!affine) return std::nullopt;
    const auto step = affine->coefficients.find(lanes.var);
    if (step == affine->coefficients.end() || !step->second.IsInt(1)) return std::nullopt;
    return Simplify(affine->rest + lanes.first, bounds);
  }

  static std::optional<std::vector<Stmt>> PointwiseBody(const FlatStage& stage, const Lanes* lanes,
                                                        const Bounds& bounds) {
    std::vector<Stmt> body;
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      const FlatResult& result = stage.results[k];
      const Expr value = Cast(result.dtype, stage.bodies[k]);
      if (lanes == nullptr) {
        body.push_back(Store(result.tensor, result.index, value));
        continue;
      }
      std::optional<Expr> vector = VectorizeExpr(value, *lanes, bounds);
      std::optional<Expr> first = FirstLane(result.index, *lanes, bounds);
      if (!vector || !first) return std::nullopt;
      body.push_back(Store(result.tensor, *first, *vector));
    }
    return body;
  }

  void Reduction(const FlatStage& stage) {
    if (HasSeveralRanks(stage)) return RankedReduction(stage);
    if (const std::optional<Updates> updates = ReadUpdates(nest_, stage)) {
      return UpdateReduction(stage, *updates);
    }
    if (const std::optional<RunningStage> running = ReadRunning(nest_, stage)) {
      return RunningReduction(*running);
    }
    std::vector<Stmt> saved = std::move(out_);
    out_.clear();
    const std::optional<ExprOp> lane_op = LaneCombiner(stage.combiner);
    const bool vectors = lane_op && stage.bodies[0].dtype() == DType::kF32 && lane_count_ > 1;
    std::vector<Axis> around = stage.inner;
    if (vectors && stage.bodies.size() == 1 && RunsAcross(stage)) {
      around.pop_back();
      out_ = VectorLoop(stage.inner.back(),
                        [&](const Lanes* lanes) { return ReductionAcross(stage, lanes); });
    } else if (stage.bodies.size() > 1) {
      TupleReduction(stage);
    } else if (!vectors || !VectorReduction(stage, *lane_op)) {
      ScalarReduction(stage);
    }
    std::vector<Stmt> body = Around(around, std::move(out_));
    out_ = std::move(saved);
    Append(std::move(body));
  }

  std::string AccumulatorName(const FlatStage& stage, size_t k) const {
    const FlatResult& result = stage.results[k];
    return result.variable.empty() ? nest_.buffers[result.tensor].name + "_value" : result.variable;
  }

  void FinishResult(const FlatStage& stage, size_t k, const Expr& value) {
    const FlatResult& result = stage.results[k];
    if (result.index.valid())
      out_.push_back(Store(result.tensor, result.index, Cast(result.dtype, value)));
  }

  void ScalarReduction(const FlatStage& stage) {
    const std::string name = AccumulatorName(stage, 0);
    const Expr accumulator = Var(name, stage.bodies[0].dtype());
    out_.push_back(Declare(name, stage.combiner.identity[0]));
    Append(Around(stage.reduce, AccumulateElements(stage, {name})));
    FinishResult(stage, 0, accumulator);
  }

  // Whether every load of the body stays or steps by one along `axis`.
  bool IsDenseAlong(const FlatStage& stage, const Axis& axis) const {
    const Bounds bounds = StageBounds(nest_, stage);
    const std::vector<Expr> loads = LoadsOf(stage.bodies[0]);
    return std::ranges::all_of(loads, [&](const Expr& load) {
      const std::optional<Affine> affine = AsAffine(load.arg(0), {axis.name}, bounds);
      return affine &&
             (affine->coefficients.empty() || affine->coefficients.begin()->second.IsInt(1));
    });
  }

  // Lanes lie across the sums where only that reads neighbours: weights times rows of values.
  bool RunsAcross(const FlatStage& stage) const {
    return !stage.inner.empty() && !stage.inner.back().extent.IsInt(1) &&
           IsDenseAlong(stage, stage.inner.back()) && !IsDenseAlong(stage, stage.reduce.back());
  }

  // The sums of a reduction to memory, one for each lane.
  struct Sums {
    Stmt begin = {}, add = {}, store = {};
  };

  std::optional<Sums> SumsOf(const FlatStage& stage, const Lanes* lanes) const {
    const FlatResult& result = stage.results[0];
    const std::string name = AccumulatorName(stage, 0);
    const Expr accumulator = VectorVar(name, stage.bodies[0].dtype(), lanes ? lanes->count : 1);
    if (lanes == nullptr) {
      return Sums{.begin = Declare(name, stage.combiner.identity[0]),
                  .add = AccumulateElements(stage, {name})[0],
                  .store = Store(result.tensor, result.index, Cast(result.dtype, accumulator))};
    }
    const Bounds bounds = StageBounds(nest_, stage);
    const std::optional<Expr> identity = VectorizeExpr(stage.combiner.identity[0], *lanes, bounds);
    const std::optional<Expr> element = VectorizeExpr(stage.bodies[0], *lanes, bounds);
    const std::optional<Expr> first = FirstLane(result.index, *lanes, bounds);
    if (!identity || !element || !first || result.dtype != DType::kF32) return std::nullopt;
    Lanes combined = *lanes;
    combined.vectors["a0"] = accumulator;
    combined.vectors["b0"] = *element;
    const std::optional<Expr> next = VectorizeExpr(stage.combiner.combine[0], combined, bounds);
    if (!next) return std::nullopt;
    return Sums{.begin = Declare(name, *identity),
                .add = Assign(name, *next),
                .store = Store(result.tensor, *first, accumulator)};
  }

  std::optional<std::vector<Stmt>> ReductionAcross(const FlatStage& stage,
                                                   const Lanes* lanes) const {
    std::optional<Sums> sums = SumsOf(stage, lanes);
    if (!sums) return std::nullopt;
    std::vector<Stmt> body = {std::move(sums->begin)};
    for (Stmt& stmt : Around(stage.reduce, {std::move(sums->add)})) body.push_back(std::move(stmt));
    body.push_back(std::move(sums->store));
    return body;
  }

  // A result at each step of the reduction, which lanes lie across where they are neighbours.
  void RunningReduction(const RunningStage& running) {
    const FlatStage& stage = running.stage;
    const auto steps = [&](const Lanes* lanes) -> std::optional<std::vector<Stmt>> {
      std::optional<Sums> sums = SumsOf(stage, lanes);
      if (!sums) return std::nullopt;
      const Axis& within = stage.reduce[0];
      std::vector<Stmt> step = {std::move(sums->add)};
      if (running.counts_from_next) step = {If(Lt(0, Var(within.name)), std::move(step))};
      step.push_back(std::move(sums->store));
      return std::vector<Stmt>{std::move(sums->begin),
                               For(within.name, 0, within.extent, std::move(step))};
    };
    const std::vector<Axis> around(stage.inner.begin(), stage.inner.end() - 1);
    Append(Around(around, VectorLoop(stage.inner.back(), steps)));
  }

  bool VectorReduction(const FlatStage& stage, ExprOp lane_op) {
    const Bounds bounds = StageBounds(nest_, stage);
    const Axis axis = stage.reduce.back();
    if (RangeOf(axis.extent, nest_.bounds).max < lane_count_) return false;
    const std::string name = AccumulatorName(stage, 0), partial = name + "_lanes",
                      chunk = axis.name + "_v";
    const Lanes lanes{.var = axis.name, .first = Var(chunk) * lane_count_, .count = lane_count_};
    std::optional<Expr> element = VectorizeExpr(stage.bodies[0], lanes, bounds);
    std::optional<Expr> identity = VectorizeExpr(stage.combiner.identity[0], lanes, bounds);
    if (!element || !identity) return false;
    Lanes step_lanes = lanes;
    step_lanes.vectors["a0"] = VectorVar(partial, DType::kF32, lane_count_);
    step_lanes.vectors["b0"] = *element;
    std::optional<Expr> step = VectorizeExpr(stage.combiner.combine[0], step_lanes, bounds);
    if (!step) return false;
    const Expr chunks = Simplify(FloorDiv(axis.extent, lane_count_), bounds);
    const Expr done = Simplify(chunks * lane_count_, bounds);
    const std::vector<Axis> outer(stage.reduce.begin(), stage.reduce.end() - 1);
    const Expr accumulator = Var(name, DType::kF32);
    out_.push_back(Declare(partial, *identity));
    Append(Around(outer, {For(chunk, 0, chunks, {Assign(partial, *step)})}));
    out_.push_back(
        Declare(name, Expr::Make({.op = lane_op,
                                  .dtype = DType::kF32,
                                  .args = {VectorVar(partial, DType::kF32, lane_count_)}})));
    if (!ProveEqual(done, axis.extent, bounds)) {
      Append(Around(outer, {For(axis.name, done, Simplify(axis.extent - done, bounds),
                                AccumulateElements(stage, {name}))}));
    }
    FinishResult(stage, 0, accumulator);
    return true;
  }

  void TupleReduction(const FlatStage& stage) {
    std::vector<std::string> names;
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      names.push_back(AccumulatorName(stage, k));
      out_.push_back(Declare(names[k], stage.combiner.identity[k]));
    }
    Append(Around(stage.reduce, AccumulateElements(stage, names)));
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      FinishResult(stage, k, Var(AccumulatorName(stage, k), stage.bodies[k].dtype()));
    }
  }

  void UpdateReduction(const FlatStage& stage, const Updates& updates) {
    FlatStage first = stage;
    first.reduce.clear();
    first.bodies = {updates.first};
    Pointwise(first);
    Append(UpdateLoops(stage, updates));
  }

  // Components without inner axes are variables; those with all of them are combined in place, in
  // the memory of their results, a whole row for each element of the reduction.
  void RankedReduction(const FlatStage& stage) {
    const RankedStep step = SplitRanks(stage, [&](size_t k) { return AccumulatorName(stage, k); });
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      if (!IsRanked(stage, k))
        out_.push_back(Declare(AccumulatorName(stage, k), stage.combiner.identity[k]));
    }
    Append(OverRow(stage, step.identities));
    std::vector<Stmt> body = step.before;
    for (Stmt& stmt : OverRow(stage, step.combined)) body.push_back(std::move(stmt));
    body.insert(body.end(), step.after.begin(), step.after.end());
    Append(Around(stage.reduce, std::move(body)));
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      if (IsRanked(stage, k)) continue;
      FinishResult(stage, k, Var(AccumulatorName(stage, k), stage.bodies[k].dtype()));
    }
  }

  // Stores of the ranked components over all inner axes.
  std::vector<Stmt> OverRow(const FlatStage& stage, const std::vector<Expr>& values) const {
    FlatStage rows;
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      if (IsRanked(stage, k)) rows.results.push_back(stage.results[k]);
    }
    rows.bodies = values;
    const Bounds bounds = StageBounds(nest_, stage);
    std::vector<Stmt> loops = VectorLoop(
        stage.inner.back(), [&](const Lanes* lanes) { return PointwiseBody(rows, lanes, bounds); });
    return Around({stage.inner.begin(), stage.inner.end() - 1}, std::move(loops));
  }

  void Append(std::vector<Stmt> stmts) {
    for (Stmt& stmt : stmts) out_.push_back(std::move(stmt));
  }

  const Nest& nest_;
  const int lane_count_;
  std::vector<Stmt> out_;
};

}  // namespace

std::vector<Stmt> Around(const std::vector<Axis>& axes, std::vector<Stmt> body) {
  for (size_t i = axes.size(); i-- > 0;) {
    body = {For(axes[i].name, 0, axes[i].extent, std::move(body))};
  }
  return body;
}

std::vector<Stmt> AccumulateElements(const FlatStage& stage,
                                     const std::vector<std::string>& accumulators) {
  Substitution operands;
  std::vector<Stmt> body, assigns;
  const bool single = stage.bodies.size() == 1;
  for (size_t k = 0; k < stage.bodies.size(); ++k) {
    const std::string element = accumulators[k] + "_element";
    const DType dtype = stage.bodies[k].dtype();
    if (!single) body.push_back(Let(element, stage.bodies[k]));
    operands[StrCat("a", k)] = Var(accumulators[k], dtype);
    operands[StrCat("b", k)] = single ? stage.bodies[k] : Var(element, dtype);
  }
  for (size_t k = 0; k < stage.bodies.size(); ++k) {
    const Expr combined = Substitute(stage.combiner.combine[k], operands);
    if (single) return {Assign(accumulators[k], combined)};
    const std::string next = accumulators[k] + "_next";
    body.push_back(Let(next, combined));
    assigns.push_back(Assign(accumulators[k], Var(next, combined.dtype())));
  }
  body.insert(body.end(), assigns.begin(), assigns.end());
  return body;
}

std::vector<Stmt> RowStatements(const Nest& nest, int lane_count) {
  return RowWriter(nest, lane_count).Run();
}

}  // namespace aotc
