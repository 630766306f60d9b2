#include "compiler/targets/cpu/ranks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/order.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/lower/row_temps.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/rank_rows.h"

namespace aotc {
namespace {

constexpr int64_t kLeastExtent = 256;  // with less, comparing all is as fast

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// A stage that ranks the elements of a load along one of its inner axes.
struct Ranks {
  size_t axis = 0;  // inner
  Expr load = {};   // of the element that is ranked
  Expr step = {};   // elements from one to the next
  bool greatest_first = true;
};

class Reader {
 public:
  Reader(const Nest& nest, const FlatStage& stage)
      : nest_(nest), stage_(stage), bounds_(StageBounds(nest, stage)) {}

  std::optional<Ranks> Run() const {
    const bool counts = stage_.bodies.size() == 1 && stage_.reduce.size() == 1 &&
                        stage_.combiner.name == "sum" && stage_.results[0].index.valid() &&
                        stage_.results[0].dtype == DType::kI64;
    if (!counts) return std::nullopt;
    for (size_t axis = 0; axis < stage_.inner.size(); ++axis) {
      if (!ProveEqual(stage_.inner[axis].extent, stage_.reduce[0].extent, bounds_)) continue;
      if (std::optional<Ranks> ranks = Along(axis)) return ranks;
    }
    return std::nullopt;
  }

 private:
  std::optional<Ranks> Along(size_t axis) const {
    const std::string &own = stage_.inner[axis].name, &other = stage_.reduce[0].name;
    const std::optional<Expr> written = StepAlong(stage_.results[0].index, own, bounds_);
    const Interval extent = RangeOf(stage_.inner[axis].extent, bounds_);
    if (!written || !written->IsInt(1) || extent.max < kLeastExtent || extent.max > INT32_MAX)
      return std::nullopt;
    for (const Expr& load : LoadsOf(stage_.bodies[0])) {
      const LoopBuffer& buffer = nest_.buffers[load->tensor];
      if (!UsesVar(load.arg(0), own) || load->guarded || !RankRowsOf(buffer.dtype)) continue;
      const std::optional<Expr> step = StepAlong(load.arg(0), own, bounds_);
      if (!step) continue;
      for (const bool greatest_first : {true, false}) {
        const Expr theirs = Simplify(Substitute(load, {{own, Var(other)}}), bounds_);
        const Expr before = ComesBefore(theirs, Var(other), load, Var(own), greatest_first);
        const Expr body = Simplify(Select(before, Expr(1), Expr(0)), bounds_);
        if (Same(body, stage_.bodies[0])) return Ranks{axis, load, *step, greatest_first};
      }
    }
    return std::nullopt;
  }

  const Nest& nest_;
  const FlatStage& stage_;
  const Bounds bounds_;
};

std::optional<Ranks> ReadRanks(const Nest& nest, const FlatStage& stage) {
  return Reader(nest, stage).Run();
}

// Stages that are ranked, with those that find the first few of them or all in order, by one call.
struct RankedPart {
  Ranks ranks = {};
  const FlatStage* places = nullptr;
  const FlatStage* chosen = nullptr;  // null: the ranks themselves are wanted
  std::string_view tile = "rank_tile";
};

bool ReadsTensor(const FlatStage& stage, TensorId tensor) {
  return std::ranges::any_of(stage.bodies, [&](const Expr& body) {
    return std::ranges::any_of(LoadsOf(body),
                               [&](const Expr& load) { return load->tensor == tensor; });
  });
}

// Whether a stage finds for each of its elements which has that rank, and it alone asks.
bool Finds(const Nest& nest, const FlatStage& places, const FlatStage& stage) {
  const TensorId tensor = places.results[0].tensor;
  if (places.inner.size() != 1 || stage.inner.size() != 1 || stage.reduce.size() != 1) return false;
  if (stage.bodies.size() != 1 || stage.combiner.name != "max" || !ReadsTensor(stage, tensor))
    return false;
  const Bounds bounds = StageBounds(nest, stage);
  const Expr r = Var(stage.reduce[0].name), own = Var(stage.inner[0].name);
  const Expr rank =
      Load(tensor, {Substitute(places.results[0].index, {{places.inner[0].name, r}})}, DType::kI64);
  const Expr found = Simplify(Select(Eq(rank, own), r, Expr(0)), bounds);
  const std::optional<Expr> written =
      stage.results[0].index.valid()
          ? StepAlong(stage.results[0].index, stage.inner[0].name, bounds)
          : std::nullopt;
  const auto asks = [&](const FlatStage& other) { return ReadsTensor(other, tensor); };
  return Same(found, stage.bodies[0]) && written && written->IsInt(1) &&
         stage.results[0].dtype == DType::kI64 &&
         nest.buffers[tensor].place == BufferPlace::kScratch &&
         ProveEqual(places.inner[0].extent, stage.reduce[0].extent, bounds) &&
         std::ranges::count_if(nest.stages, asks) == 1;
}

std::optional<RankedPart> PartAt(const Nest& nest, size_t index) {
  const FlatStage& stage = nest.stages[index];
  const std::optional<Ranks> ranks = ReadRanks(nest, stage);
  if (!ranks) return std::nullopt;
  RankedPart part{.ranks = *ranks, .places = &stage};
  if (index + 1 == nest.stages.size() || !Finds(nest, stage, nest.stages[index + 1])) return part;
  constexpr int64_t kFew = 8;  // of so many times as many
  const FlatStage& chosen = nest.stages[index + 1];
  const Expr &wanted = chosen.inner[0].extent, &all = chosen.reduce[0].extent;
  if (ProveEqual(wanted, all, nest.bounds)) part.tile = "order_tile";
  if (RangeOf(wanted, nest.bounds).max <= RangeOf(all, nest.bounds).max / kFew)
    part.tile = "select_tile";
  if (part.tile != "rank_tile") part.chosen = &chosen;
  return part;
}

SchedulePart Described(const Nest& nest, const RankedPart& part) {
  const DType type = nest.buffers[part.ranks.load->tensor].dtype;
  return {.memory = StageMemory::kScratch,
          .by = StrCat(part.tile, *RankRowsOf(type)),
          .params = {int64_t{part.ranks.greatest_first}}};
}

Stmt CallOf(const Nest& nest, const RankedPart& part) {
  const FlatStage& stage = *part.places;
  const Axis& axis = stage.inner[part.ranks.axis];
  const FlatStage& last = part.chosen == nullptr ? stage : *part.chosen;
  const Axis& written = part.chosen == nullptr ? axis : last.inner[0];
  const SchedulePart described = Described(nest, part);
  TileCall call{.tile = described.by, .params = described.params, .extents = {axis.extent}};
  if (part.tile == "select_tile") call.extents.push_back(written.extent);
  const auto first = [](const Expr& index, const Axis& of) {
    return Simplify(Substitute(index, {{of.name, 0}}));
  };
  const FlatResult& result = last.results[0];
  call.operands = {
      TileView{part.ranks.load->tensor, first(part.ranks.load.arg(0), axis), {part.ranks.step}},
      TileView{result.tensor, first(result.index, written), {Expr(1)}}};
  Stmt statement = Tile(std::move(call));
  for (size_t i = stage.inner.size(); i-- > 0;) {
    if (i == part.ranks.axis) continue;
    statement = For(stage.inner[i].name, 0, stage.inner[i].extent, {std::move(statement)});
  }
  return statement;
}

// Ranks that only lead to the order need no memory.
void DropPlaces(Nest& nest) {
  for (size_t s = 0; s < nest.stages.size(); ++s) {
    const std::optional<RankedPart> part = PartAt(nest, s);
    if (part && part->chosen != nullptr) nest.buffers[part->places->results[0].tensor].elements = 0;
  }
}

}  // namespace

absl::StatusOr<Nest> RankNest(const Kernel& kernel) {
  const bool counts = std::ranges::any_of(kernel.stages, [](const Stage& stage) {
    return stage.combiner.name == "sum" && stage.body[0].op() == ExprOp::kSelect;
  });
  if (!counts) return Refuse("counts nothing");
  AOTC_ASSIGN_OR_RETURN(const Nest whole, BuildRowNest(kernel, 0));
  size_t shared = kernel.stages.front().axes.size();
  bool any = false;
  for (const FlatStage& stage : whole.stages) {
    const std::optional<Ranks> ranks = ReadRanks(whole, stage);
    any = any || ranks;
    if (ranks) shared = std::min(shared, ranks->axis);
  }
  if (!any) return Refuse("no ranks along a long axis");
  AOTC_ASSIGN_OR_RETURN(Nest nest, BuildRowNest(kernel, shared));
  TidyNest(nest);
  return nest;
}

Schedule ScheduleRanks(const Kernel& kernel, const Nest& nest, int lanes) {
  Schedule schedule{.result = kernel.tensors[MainOutput(kernel)].name};
  for (const NestAxis& axis : nest.outer) schedule.tasks.push_back({axis.walks, 1});
  const FlatStage* chosen = nullptr;  // of the part before
  for (size_t s = 0; s < kernel.stages.size(); ++s) {
    const FlatStage* stage = StageAt(nest, s);
    std::optional<RankedPart> part;
    if (stage != nullptr) part = PartAt(nest, static_cast<size_t>(stage - nest.stages.data()));
    const bool is_rest = stage != nullptr && stage == chosen;
    const bool goes_on = !schedule.parts.empty() && !part && !IsRankTile(schedule.parts.back().by);
    if (part) {
      schedule.parts.push_back(Described(nest, *part));
      chosen = part->chosen;
    } else if (!is_rest && !goes_on) {
      schedule.parts.push_back({.memory = StageMemory::kScratch, .by = "loops", .params = {lanes}});
    }
    for (const StageResult& result : kernel.stages[s].results) {
      schedule.parts.back().results.push_back(kernel.tensors[result.tensor].name);
    }
  }
  return schedule;
}

absl::StatusOr<LoopFunction> ApplyRanks(const Kernel& kernel, const Nest& nest,
                                        const Schedule& schedule) {
  int lanes = 1;
  for (const SchedulePart& part : schedule.parts) {
    if (!IsRankTile(part.by)) lanes = static_cast<int>(part.params[0]);
  }
  const Schedule expected = ScheduleRanks(kernel, nest, lanes);
  if (schedule != expected) return Refuse(StrCat("it should be ", PrintSchedule(expected)));
  std::vector<Stmt> body = DecodeAxes(nest.outer, Var("task"));
  for (size_t s = 0; s < nest.stages.size(); ++s) {
    if (const std::optional<RankedPart> part = PartAt(nest, s)) {
      body.push_back(CallOf(nest, *part));
      if (part->chosen != nullptr) ++s;
      continue;
    }
    Nest rest = nest;
    rest.stages = {nest.stages[s]};
    for (Stmt& stmt : RowStatements(rest, lanes)) body.push_back(std::move(stmt));
  }
  Nest stored = nest;
  DropPlaces(stored);
  LoopFunction function = StartFunction(kernel, stored);
  function.tasks = CountOf(nest.outer);
  function.body = Block(std::move(body));
  return function;
}

}  // namespace aotc
