#include "compiler/lower/running.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lower/nest_stages.h"

namespace aotc {
namespace {

constexpr std::string_view kBlock = "block", kPlace = "place";

// A condition in its parts.
void Split(const Expr& condition, std::vector<Expr>& parts) {
  if (condition.op() != ExprOp::kAnd) return parts.push_back(condition);
  Split(condition.arg(0), parts);
  Split(condition.arg(1), parts);
}

class Reader {
 public:
  Reader(const Nest& nest, const FlatStage& stage)
      : nest_(nest), stage_(stage), bounds_(StageBounds(nest, stage)) {}

  std::optional<RunningStage> Run() const {
    const bool in_memory = stage_.bodies.size() == 1 && stage_.reduce.size() == 1 &&
                           stage_.bodies[0].op() == ExprOp::kSelect && within().extent.AsInt() &&
                           stage_.results[0].index.valid();
    if (!in_memory || !Same(stage_.bodies[0].arg(2), stage_.combiner.identity[0]))
      return std::nullopt;
    std::vector<Expr> conditions;
    Split(stage_.bodies[0].arg(0), conditions);
    for (size_t c = 0; c < conditions.size(); ++c) {
      const Expr& upto = conditions[c];
      if (upto.op() != ExprOp::kLe && upto.op() != ExprOp::kLt) continue;
      for (size_t axis = 0; axis < stage_.inner.size(); ++axis) {
        if (!upto.arg(1).IsVar() || upto.arg(1)->name != stage_.inner[axis].name) continue;
        if (!Same(upto.arg(0), PlaceIn(axis))) continue;
        Expr element = stage_.bodies[0].arg(1);
        for (size_t other = 0; other < conditions.size(); ++other) {
          if (other == c) continue;
          element = Select(conditions[other], element, stage_.combiner.identity[0]);
        }
        return Along(axis, element, upto.op() == ExprOp::kLt);
      }
    }
    return std::nullopt;
  }

 private:
  const Axis& within() const { return stage_.reduce[0]; }

  // The place on the axis of step r of its block.
  Expr PlaceIn(size_t axis) const {
    const Expr own = Var(stage_.inner[axis].name), &block = within().extent;
    return Simplify(FloorDiv(own, block) * block + Var(within().name), bounds_);
  }

  // An element of a block is the same for all places of the block.
  std::optional<RunningStage> Along(size_t axis, const Expr& element, bool from_next) const {
    const Axis& cut = stage_.inner[axis];
    const Expr &block = within().extent, first = Var(kBlock) * block, step = Var(within().name);
    RunningStage running{.stage = stage_, .counts_from_next = from_next};
    running.stage.inner[axis] = {std::string(kBlock), CeilDiv(cut.extent, block)};
    running.stage.reduce[0].extent = Simplify(Min(block, cut.extent - first), bounds_);
    Bounds bounds = StageBounds(nest_, running.stage);
    bounds.Add(std::string(kPlace), 0, block - 1);
    const Expr shared = Simplify(Substitute(element, {{cut.name, first + Var(kPlace)}}), bounds);
    if (UsesVar(shared, kPlace)) return std::nullopt;
    const Expr counted = from_next ? Substitute(shared, {{within().name, step - 1}}) : shared;
    running.stage.bodies[0] = Simplify(counted, bounds);
    Expr& index = running.stage.results[0].index;
    index = Simplify(Substitute(index, {{cut.name, first + step}}), bounds);
    return running;
  }

  const Nest& nest_;
  const FlatStage& stage_;
  const Bounds bounds_;
};

}  // namespace

std::optional<RunningStage> ReadRunning(const Nest& nest, const FlatStage& stage) {
  return Reader(nest, stage).Run();
}

}  // namespace aotc
