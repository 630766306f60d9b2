// What plain loops and products of rows should take: operations of scalars or vectors, and bytes
// from the level of memory in which they lie when they come again.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/expr_simplify.h"
#include "compiler/lower/nest_pieces.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/lower/running.h"
#include "compiler/lower/updates.h"
#include "compiler/targets/cpu/estimate.h"
#include "compiler/targets/cpu/step_cycles.h"

namespace aotc {
namespace {

constexpr double kLine = 64;    // bytes that come together
constexpr double kGuess = 0.5;  // of an L1 or L2 that what comes again may fill

struct Loop {
  std::string name;
  double extent;
};

// A load or store of a stage; what it touches by loop, outermost first.
struct Touch {
  TensorId tensor = {};
  bool is_store = false;
  double width = 4;
  std::vector<double> steps = {};  // bytes between neighbours along each loop; 0: the same element
  double tensor_bytes = 0;
};

// The stage in loops of its own.
struct StageLoops {
  const FlatStage* stage = nullptr;
  std::vector<Loop> loops = {};  // outermost first; the nest's, inner ones, reductions
  size_t outer = 0;              // of which are the nest's
  size_t lane_loop = 0;          // along which vectors lie
  bool is_vector = false;
  bool is_product = false;  // by a tile that keeps several rows
  std::vector<Touch> touches = {};

  double Iterations(size_t from = 0) const {
    double count = 1;
    for (size_t i = from; i < loops.size(); ++i) count *= loops[i].extent;
    return count;
  }
};

// Bytes that one run of the loops from `from` on touches.
double BytesFrom(const Touch& touch, const std::vector<Loop>& loops, size_t from) {
  double elements = 1, nearest = kLine;
  for (size_t i = from; i < loops.size(); ++i) {
    if (touch.steps[i] == 0 || loops[i].extent <= 1) continue;
    elements *= loops[i].extent;
    nearest = std::min(nearest, touch.steps[i]);
  }
  return std::min(elements * std::max(elements > 1 ? nearest : touch.width, touch.width),
                  std::max(touch.tensor_bytes, touch.width));
}

double BytesFrom(const StageLoops& stage, size_t from) {
  double bytes = 0;
  for (const Touch& touch : stage.touches) bytes += BytesFrom(touch, stage.loops, from);
  return bytes;
}

class LoopsCost {
 public:
  LoopsCost(const Kernel& kernel, const Nest& nest, const Schedule& schedule, const CpuCore& core)
      : kernel_(kernel), nest_(nest), schedule_(schedule), core_(core) {
    for (const SchedulePart& part : schedule.parts) {
      if (part.by != "loops") rows_ = std::max<double>(rows_, static_cast<double>(part.params[0]));
      if (part.by == "loops") lanes_ = std::max(lanes_, static_cast<int>(part.params[0]));
    }
    if (rows_ > 1) lanes_ = static_cast<int>(core.lanes);
    is_vector_ = lanes_ > 1 && nest.is_point && PointsHaveVectors(nest, lanes_);
    for (const FlatStage& stage : nest.stages) stages_.push_back(LoopsOf(stage));
  }

  CpuEstimate All() {
    double compute = 0, memory = 0;
    for (const StageLoops& stage : stages_) {
      row_bytes_ += BytesFrom(stage, stage.outer);
    }
    for (const StageLoops& stage : stages_) {
      compute += Compute(stage);
      memory += Memory(stage);
    }
    constexpr double kTask = 10;    // cycles to find one's place and to begin
    constexpr double kApart = 0.5;  // of the lesser of the two, what does not come meanwhile
    const double tasks = Tasks();
    return {.cycles = std::max(compute, memory) + kApart * std::min(compute, memory) + core_.task +
                      kTask * tasks,
            .tasks = tasks};
  }

 private:
  // Of the schedule's parts the one that has the stage.
  const SchedulePart& PartOf(const FlatStage& stage) const {
    for (const SchedulePart& part : schedule_.parts) {
      for (const StageResult& result : kernel_.stages[stage.stage].results) {
        const std::string& name = kernel_.tensors[result.tensor].name;
        if (std::ranges::count(part.results, name) > 0) return part;
      }
    }
    return schedule_.parts.front();
  }

  StageLoops LoopsOf(const FlatStage& stage) const {
    StageLoops result{.stage = &stage, .outer = nest_.outer.size()};
    result.is_product = PartOf(stage).by != "loops";
    const Bounds bounds = StageBounds(nest_, stage);
    for (const NestAxis& axis : nest_.outer) {
      result.loops.push_back({axis.name, MostOf(axis.extent, bounds)});
    }
    const std::optional<Updates> updates = ReadUpdates(nest_, stage);
    const bool is_running = ReadRunning(nest_, stage).has_value();
    for (const Axis& axis : stage.inner) {
      // An element that is taken to its place goes to one.
      const bool is_place = updates && updates->HasPlaceOf(axis.name);
      result.loops.push_back({axis.name, is_place ? 1 : MostOf(axis.extent, bounds)});
    }
    for (const Axis& axis : stage.reduce) {
      result.loops.push_back({axis.name, is_running ? 1 : MostOf(axis.extent, bounds)});
    }
    for (const Expr& body : stage.bodies) {
      for (const Expr& load : LoadsOf(body)) {
        AddTouch(load->tensor, load.arg(0), false, bounds, result);
      }
    }
    for (const FlatResult& to : stage.results) {
      if (to.index.valid()) AddTouch(to.tensor, to.index, true, bounds, result);
    }
    ChooseLanes(stage, bounds, result);
    if (updates) result.is_vector = false;
    if (result.is_product) KeepRows(result);
    return result;
  }

  void AddTouch(TensorId tensor, const Expr& index, bool is_store, const Bounds& bounds,
                StageLoops& stage) const {
    const LoopBuffer& buffer = nest_.buffers[tensor];
    Touch touch{.tensor = tensor, .is_store = is_store};
    touch.width = std::max(BitWidth(buffer.dtype) / 8.0, 0.5);
    for (const double step : StepsOf(index, stage.loops, bounds)) {
      touch.steps.push_back(step * touch.width);
    }
    if (buffer.place == BufferPlace::kScratch) {
      touch.tensor_bytes = static_cast<double>(buffer.elements) * touch.width * rows_;
    } else {
      double elements = 1;
      for (const Expr& extent : kernel_.tensors[tensor].shape) elements *= MostOf(extent, bounds);
      touch.tensor_bytes = elements * touch.width;
    }
    stage.touches.push_back(std::move(touch));
  }

  // Elements that the index moves on by along each loop, from their beginning.
  std::vector<double> StepsOf(const Expr& index, const std::vector<Loop>& loops,
                              const Bounds& bounds) const {
    std::map<std::string, int64_t, std::less<>> at;
    for (const Symbol& symbol : kernel_.symbols) {
      at[symbol.var] = static_cast<int64_t>(MostOf(Var(symbol.var), bounds));
    }
    for (const Loop& loop : loops) at[loop.name] = 0;
    const std::optional<int64_t> origin = EvaluateInt(index, at);
    std::vector<double> steps;
    for (const Loop& loop : loops) {
      double step = 0;
      if (UsesVar(index, loop.name)) {
        at[loop.name] = 1;
        const std::optional<int64_t> next = EvaluateInt(index, at);
        at[loop.name] = 0;
        step = origin && next ? std::abs(static_cast<double>(*next - *origin)) : kLine;
      }
      steps.push_back(step);
    }
    return steps;
  }

  // A stage of points has lanes along the innermost of them, one of a row along its own innermost
  // axis, or along the reduction where that reads neighbours.
  void ChooseLanes(const FlatStage& stage, const Bounds& bounds, StageLoops& result) const {
    result.lane_loop = result.loops.empty() ? 0 : result.loops.size() - 1;
    if (result.loops.empty()) return;
    if (nest_.is_point) {
      if (!nest_.outer.empty()) result.lane_loop = nest_.outer.size() - 1;
      result.is_vector = is_vector_;
      return;
    }
    if (stage.inner.empty() && stage.reduce.empty()) return;
    if (!stage.reduce.empty() && !stage.inner.empty() && !ReadsNeighbours(result)) {
      result.lane_loop = nest_.outer.size() + stage.inner.size() - 1;
    }
    const Lanes lanes{
        .var = result.loops[result.lane_loop].name, .first = Var("first"), .count = lanes_};
    const bool is_combined = stage.reduce.empty() ||
                             (stage.bodies.size() == 1 && stage.bodies[0].dtype() == DType::kF32 &&
                              LaneCombiner(stage.combiner).has_value());
    result.is_vector =
        result.is_product ||
        (lanes_ > 1 && is_combined && std::ranges::all_of(stage.bodies, [&](const Expr& body) {
           return VectorizeExpr(body, lanes, bounds).has_value();
         }));
  }

  bool ReadsNeighbours(const StageLoops& stage) const {
    return std::ranges::all_of(stage.touches, [&](const Touch& touch) {
      return touch.is_store || touch.steps.back() <= touch.width;
    });
  }

  // A tile walks what several rows share once for all of them: the innermost loop is over those.
  void KeepRows(StageLoops& stage) const {
    for (size_t i = nest_.outer.size(); i-- > 0;) {
      const Cut* cut = FindCut(schedule_, nest_.outer[i].walks);
      if (cut == nullptr || cut->block <= 1) continue;
      const double rows = std::min(rows_, stage.loops[i].extent);
      stage.loops[i].extent = std::ceil(stage.loops[i].extent / rows);
      stage.loops.push_back({stage.loops[i].name, rows});
      for (Touch& touch : stage.touches) {
        touch.steps.push_back(touch.steps[i]);
        touch.steps[i] *= rows;
      }
      return;
    }
  }

  // Steps of vectors and of scalars, along the loop that has the lanes.
  double Compute(const StageLoops& stage) const {
    if (stage.loops.empty()) return Step(stage, false);
    const double extent = stage.loops[stage.lane_loop].extent;
    const double others = stage.Iterations() / std::max(extent, 1.0);
    if (!stage.is_vector) return others * extent * Step(stage, false);
    double whole = std::floor(extent / lanes_), left = extent - whole * lanes_;
    if (nest_.is_point || stage.is_product) {  // what is left is one more vector
      whole += std::ceil(left / lanes_);
      left = 0;
    }
    return others * (whole * Step(stage, true) + left * Step(stage, false));
  }

  // Cycles of one.
  double Step(const StageLoops& stage, bool is_vector) const {
    constexpr double kLoop = 0.5, kLongReduction = 16;
    if (stage.is_product) return kProduct;
    double operations = 0, moves = 0;
    const std::set<std::string> fixed = FixedIn(stage);
    for (const Expr& body : stage.stage->bodies) operations += StepCycles(body, fixed, is_vector);
    for (const Expr& e : stage.stage->combiner.combine) {
      operations += StepCycles(e, fixed, is_vector);
    }
    for (const Touch& touch : stage.touches) moves += Moves(stage, touch, is_vector);
    double step = std::max(operations, moves) + kLoop;
    double reduced = 1;
    for (const Axis& axis : stage.stage->reduce) reduced *= MostOf(axis.extent, nest_.bounds);
    if (reduced >= kLongReduction) step = std::max(step, core_.latency);
    return step;
  }

  // Symbols, and counters of loops around that which has the lanes, but for reductions.
  std::set<std::string> FixedIn(const StageLoops& stage) const {
    std::set<std::string> fixed;
    for (const Symbol& symbol : kernel_.symbols) fixed.insert(symbol.var);
    for (size_t i = 0; i < stage.lane_loop && i < stage.outer + stage.stage->inner.size(); ++i) {
      fixed.insert(stage.loops[i].name);
    }
    return fixed;
  }

  // Cycles of loads and stores of a step.
  double Moves(const StageLoops& stage, const Touch& touch, bool is_vector) const {
    constexpr double kElement = 0.75;
    if (!is_vector) return 1 / core_.loads;
    const double step = touch.steps[stage.lane_loop];
    if (step > touch.width) return lanes_ * kElement;
    // What is stored behind a reduction, or read at one place, is not moved in every step.
    return touch.is_store && !stage.stage->reduce.empty() ? 0 : 1 / core_.loads;
  }

  double Memory(const StageLoops& stage) {
    size_t inner = 0;  // from this loop on all stays in L1
    while (inner < stage.loops.size() && BytesFrom(stage, inner) > kGuess * core_.l1_bytes) ++inner;
    double cycles = 0;
    for (const Touch& touch : stage.touches) cycles += Memory(stage, touch, inner);
    return cycles;
  }

  double Memory(const StageLoops& stage, const Touch& touch, size_t inner) {
    const double once = BytesFrom(touch, stage.loops, 0);
    double all = BytesFrom(touch, stage.loops, inner);
    size_t again = inner;  // the innermost loop around that comes back to the same lines
    for (size_t i = 0; i < inner; ++i) {
      all *= touch.steps[i] > 0 && touch.steps[i] < kLine && inner == stage.loops.size()
                 ? stage.loops[i].extent * touch.steps[i] / kLine
                 : stage.loops[i].extent;
      if (touch.steps[i] < kLine) again = i + 1;
    }
    const double repeated = std::max(all - once, 0.0) / RateOf(BytesFrom(stage, again));
    if (nest_.buffers[touch.tensor].place == BufferPlace::kScratch) {
      const double rows = stage.Iterations() / stage.Iterations(stage.outer);
      return once * rows / RateOf(row_bytes_) + repeated;
    }
    const bool is_first = touched_.emplace(touch.tensor, true).second;
    const double first =
        is_first ? core_.RateOf(touch.tensor_bytes) : RateOf(nest_.is_point ? 0 : row_bytes_);
    return once / first + repeated;
  }

  // Bytes a cycle from the level that holds as many.
  double RateOf(double bytes) const {
    if (bytes <= kGuess * core_.l1_bytes) return std::numeric_limits<double>::infinity();
    return core_.RateOf(bytes);
  }

  double Tasks() const {
    double tasks = 1;
    for (const NestAxis& axis : nest_.outer) {
      const Cut* cut = FindCut(schedule_, axis.walks);
      if (cut == nullptr) continue;
      tasks *= std::ceil(MostOf(axis.extent, nest_.bounds) / static_cast<double>(cut->block));
    }
    return tasks;
  }

  static constexpr double kProduct = 1.5;  // cycles of a multiply-add of a vector, loads included

  const Kernel& kernel_;
  const Nest& nest_;
  const Schedule& schedule_;
  const CpuCore& core_;
  double rows_ = 1;  // that a task has at once
  int lanes_ = 1;
  bool is_vector_ = false;  // points are
  double row_bytes_ = 0;    // that an iteration of the nest touches
  std::vector<StageLoops> stages_;
  std::map<TensorId, bool> touched_;  // params that came already
};

}  // namespace

CpuEstimate EstimateNest(const Kernel& kernel, const Nest& nest, const Schedule& schedule,
                         const CpuCore& core) {
  return LoopsCost(kernel, nest, schedule, core).All();
}

}  // namespace aotc
