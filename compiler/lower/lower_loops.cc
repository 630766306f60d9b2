#include "compiler/lower/lower_loops.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/lower/nest_pieces.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/lower/row_temps.h"
#include "compiler/lower/task_cuts.h"
#include "compiler/lower/updates.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Loops over the axes from `first` on, with the halo's fill around the interior.
class PointLoops {
 public:
  PointLoops(const Nest& nest, int lanes) : nest_(nest), lanes_(lanes), kept_(KeptAxes(nest)) {
    if (nest.HasStatistics() && !Vectors(nest.outer.back())) lanes_ = 1;
  }

  std::vector<Stmt> From(size_t first) {
    if (first != kept_) return Loops(first);  // statistics begin with the axes that they combine
    std::vector<Stmt> body = DeclareStatistics(nest_, lanes_);
    for (Stmt& stmt : Loops(first)) body.push_back(std::move(stmt));
    for (Stmt& stmt : StoreStatistics(nest_, lanes_)) body.push_back(std::move(stmt));
    return body;
  }

  // Writes the fill value over all of the axes from `first` on.
  std::vector<Stmt> Fill(size_t first) const {
    std::vector<Stmt> body = FillStatements(nest_);
    for (size_t i = nest_.outer.size(); i-- > first;) {
      const NestAxis& axis = nest_.outer[i];
      body = {For(axis.name, Expr(-axis.halo.before), FullExtent(axis), std::move(body))};
    }
    return body;
  }

 private:
  std::vector<Stmt> Loops(size_t first) {
    if (first == nest_.outer.size()) return *PointStatements(nest_, nullptr);
    const NestAxis& axis = nest_.outer[first];
    std::vector<Stmt> loops;
    if (axis.halo.before > 0) {
      loops.push_back(For(axis.name, Expr(-axis.halo.before), axis.halo.before, Fill(first + 1)));
    }
    for (Stmt& stmt : Interior(first)) loops.push_back(std::move(stmt));
    if (axis.halo.after > 0) {
      loops.push_back(For(axis.name, axis.extent, axis.halo.after, Fill(first + 1)));
    }
    return loops;
  }

  std::vector<Stmt> Interior(size_t index) {
    const NestAxis& axis = nest_.outer[index];
    if (index + 1 == nest_.outer.size() && lanes_ > 1) {
      if (std::optional<std::vector<Stmt>> loops = Vectors(axis)) return *std::move(loops);
      if (std::optional<std::vector<Stmt>> loops = Pieces(index)) return *std::move(loops);
    }
    return {For(axis.name, 0, axis.extent, From(index + 1))};
  }

  // Points that have no vectors where a choice is made between them, part by part.
  std::optional<std::vector<Stmt>> Pieces(size_t index) {
    if (!PointsHaveVectors(nest_, lanes_)) return std::nullopt;
    const std::optional<NestPieces> pieces = PartAt(nest_, index);
    if (!pieces) return std::nullopt;
    std::vector<Stmt> loops;
    if (!pieces->cut_name.empty()) loops.push_back(Let(pieces->cut_name, pieces->cut_value));
    for (const Nest* piece : {&pieces->before, &pieces->behind}) {
      for (Stmt& stmt : PointLoops(*piece, lanes_).Interior(index))
        loops.push_back(std::move(stmt));
    }
    return loops;
  }

  std::optional<std::vector<Stmt>> Points(const Lanes& lanes) const {
    if (lanes.active.valid()) {
      if (PaddingReadsBeyond(nest_)) return std::nullopt;
      return PointStatements(nest_, &lanes);
    }
    const Expr first =
        nest_.padded.valid() ? Substitute(nest_.padded, {{lanes.var, lanes.first}}) : lanes.first;
    return PaddedStatements(nest_, lanes, {.first = Simplify(first, nest_.bounds)});
  }

  // Whole vectors, then the lanes that are left, masked.
  std::optional<std::vector<Stmt>> Vectors(const NestAxis& axis) {
    const std::optional<int64_t> extent = axis.extent.AsInt();
    if (extent && *extent * 2 < lanes_) return std::nullopt;
    const Expr chunks = Simplify(FloorDiv(axis.extent, lanes_), nest_.bounds);
    const Expr done = Simplify(chunks * lanes_, nest_.bounds);
    const std::string chunk = axis.name + "_v";
    std::vector<Stmt> loops;
    if (!chunks.IsInt(0)) {
      const Expr first = chunks.IsInt(1) ? Expr(0) : Var(chunk) * lanes_;
      auto body = Points({.var = axis.name, .first = first, .count = lanes_});
      if (!body) return std::nullopt;
      if (chunks.IsInt(1)) {
        loops.push_back(Block(*std::move(body)));
      } else {
        loops.push_back(For(chunk, 0, chunks, *std::move(body)));
      }
    }
    const Expr left = Simplify(axis.extent - done, nest_.bounds);
    if (left.IsInt(0)) return loops;
    auto body = Points({.var = axis.name, .first = done, .count = lanes_, .active = left});
    if (body) {
      loops.push_back(left.IsConst() ? Block(*std::move(body))
                                     : If(Lt(Expr(0), left), *std::move(body)));
      return loops;
    }
    if (nest_.HasStatistics()) return std::nullopt;  // its accumulators are vectors, or are not
    loops.push_back(For(axis.name, done, left, From(nest_.outer.size())));
    return loops;
  }

  const Nest& nest_;
  int lanes_;
  const size_t kept_;  // leading axes that no statistic is combined over; none: no such place
};

// Cuts axis `index` into blocks: axis -> (axis_c, axis). The blocks are counted at place `at`; what
// is within one stays where it is.
void SplitAxis(Nest& nest, size_t index, int64_t block, size_t at) {
  NestAxis& axis = nest.outer[index];
  const Expr extent = axis.extent;
  const std::string name = axis.name, chunk = name + "_c";
  const Substitution split = {{name, Var(chunk) * block + Var(name)}};
  for (FlatStage& stage : nest.stages) {
    for (Expr& body : stage.bodies) body = Substitute(body, split);
    for (FlatResult& result : stage.results) {
      if (result.index.valid()) result.index = Substitute(result.index, split);
    }
  }
  for (Expr* e : {&nest.valid, &nest.padded}) {
    if (e->valid()) *e = Substitute(*e, split);
  }
  const Expr chunks = Simplify(CeilDiv(extent, block), nest.bounds);
  const bool is_even = ProveDivisible(extent, block, nest.bounds);
  axis.extent = is_even ? Expr(block) : Min(Expr(block), extent - Var(chunk) * block);
  nest.bounds.Add(chunk, 0, chunks - 1);
  nest.bounds.Add(name, 0, block - 1);
  nest.outer.insert(nest.outer.begin() + static_cast<std::ptrdiff_t>(at),
                    NestAxis{.name = chunk, .extent = chunks});
}

absl::Status Refuse(const NestAxis& axis, std::string_view reason) {
  return absl::FailedPreconditionError(StrCat(StrJoin(axis.walks, "*"), " ", reason));
}

// Brings the nest's axes in the order of tasks and loops: those of tasks, cut as the schedule says,
// then those that a task has whole. How many are of tasks.
absl::StatusOr<size_t> CutTasks(Nest& nest, const Schedule& schedule) {
  size_t count = 0;
  for (const Cut& cut : schedule.tasks) {
    const auto found = std::ranges::find(nest.outer, cut.axes, &NestAxis::walks);
    if (found == nest.outer.end()) {
      return absl::FailedPreconditionError(
          StrCat(StrJoin(cut.axes, "*"), " are not walked as one axis"));
    }
    const auto index = static_cast<size_t>(found - nest.outer.begin());
    const bool is_combined =
        nest.HasStatistics() && std::ranges::count(nest.stages.back().over, found->name) > 0;
    if (is_combined) return Refuse(*found, "is combined over");
    if (index < count) return Refuse(*found, "is cut twice");
    if (cut.block > 1) {
      if (HasHalo(*found)) return Refuse(*found, "has a halo");
      SplitAxis(nest, index, cut.block, count);
    } else {
      std::rotate(nest.outer.begin() + static_cast<std::ptrdiff_t>(count), found, found + 1);
    }
    ++count;
  }
  return count;
}

// Condition that all the given axes are in their interior; null where that always holds.
Expr InInterior(const std::vector<NestAxis>& axes) {
  Expr condition;
  for (const NestAxis& axis : axes) {
    for (const Expr& test : {Le(Expr(0), Var(axis.name)), Lt(Var(axis.name), axis.extent)}) {
      if (HasHalo(axis)) condition = condition.valid() ? And(condition, test) : test;
    }
  }
  return condition;
}

}  // namespace

Expr CountOf(const std::vector<NestAxis>& axes) {
  Shape shape;
  for (const NestAxis& axis : axes) shape.push_back(FullExtent(axis));
  return ElementCount(shape);
}

std::vector<Stmt> DecodeAxes(const std::vector<NestAxis>& axes, const Expr& number) {
  std::vector<Stmt> lets;
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::vector<NestAxis> rest(axes.begin() + static_cast<long>(i) + 1, axes.end());
    const Expr extent = FullExtent(axes[i]);
    Expr value = CountOf(rest).IsInt(1) ? number : Div(number, CountOf(rest));
    if (extent.IsInt(1)) {
      value = 0;
    } else if (i > 0) {
      value = Binary(ExprOp::kTruncMod, value, extent);
    }
    lets.push_back(Let(axes[i].name, value - axes[i].halo.before));
  }
  return lets;
}

LoopFunction StartFunction(const Kernel& kernel, const Nest& nest) {
  LoopFunction function{.name = kernel.name,
                        .buffers = nest.buffers,
                        .params = kernel.params,
                        .symbols = kernel.symbols};
  for (LoopBuffer& buffer : function.buffers) {
    if (buffer.place == BufferPlace::kScratch) PlaceInScratch(buffer, function);
  }
  return function;
}

void PlaceInScratch(LoopBuffer& buffer, LoopFunction& function) {
  constexpr int64_t kAlign = 64;
  buffer.place = BufferPlace::kScratch;
  buffer.offset = function.scratch_bytes;
  function.scratch_bytes += RoundUp(buffer.elements * ByteWidth(buffer.dtype), kAlign);
}

absl::StatusOr<Nest> LoopNest(const Kernel& kernel) {
  std::optional<Nest> updates = UpdateNest(kernel);
  AOTC_ASSIGN_OR_RETURN(Nest nest, updates ? *std::move(updates) : BuildNest(kernel));
  TidyNest(nest);
  return nest;
}

Schedule ScheduleLoops(const Kernel& kernel, const Nest& nest, int lanes) {
  std::vector<Cut> cuts;
  if (nest.is_point) {
    cuts = PointCuts(nest);
  } else {
    for (const NestAxis& axis : nest.outer) cuts.push_back({axis.walks, 1});
  }
  const StageMemory memory = nest.is_point ? StageMemory::kFragment : StageMemory::kScratch;
  return WholeKernel(kernel, std::move(cuts), memory, "loops", {lanes});
}

std::vector<Schedule> LoopCandidates(const Kernel& kernel, const Nest& nest, int lanes) {
  std::vector<Schedule> schedules = {ScheduleLoops(kernel, nest, lanes)};
  if (!nest.is_point || nest.outer.empty()) return schedules;
  const std::optional<int64_t> extent = nest.outer.back().extent.AsInt();
  for (const int64_t parts : {1, 2, 4, 8}) {
    if (extent.value_or(0) < parts) continue;
    Schedule other = schedules[0];
    other.tasks.clear();
    for (size_t i = 0; i + 1 < nest.outer.size(); ++i) {
      other.tasks.push_back({nest.outer[i].walks, 1});
    }
    if (parts > 1) other.tasks.push_back({nest.outer.back().walks, CeilOf(*extent, parts)});
    Nest cut = nest;
    if (other != schedules[0] && CutTasks(cut, other).ok()) schedules.push_back(std::move(other));
  }
  return schedules;
}

absl::StatusOr<LoopFunction> LowerToLoops(const Kernel& kernel, Nest nest,
                                          const Schedule& schedule) {
  if (schedule.parts.size() != 1 || schedule.parts[0].by != "loops") {
    return absl::FailedPreconditionError("all stages are one part, by loops");
  }
  const int lanes = static_cast<int>(schedule.parts[0].params[0]);
  AOTC_ASSIGN_OR_RETURN(const size_t count, CutTasks(nest, schedule));
  if (!nest.is_point && count != nest.outer.size()) {
    return absl::FailedPreconditionError("a task has one row");
  }
  LoopFunction function = StartFunction(kernel, nest);
  const std::vector<NestAxis> task_axes(nest.outer.begin(),
                                        nest.outer.begin() + static_cast<long>(count));
  function.tasks = CountOf(task_axes);
  std::vector<Stmt> body = DecodeAxes(task_axes, Var("task"));
  PointLoops loops(nest, lanes);
  std::vector<Stmt> inside = nest.is_point ? loops.From(count) : RowStatements(nest, lanes);
  const Expr interior = InInterior(task_axes);
  if (interior.valid()) inside = {If(interior, std::move(inside), loops.Fill(count))};
  body.insert(body.end(), inside.begin(), inside.end());
  function.body = Block(std::move(body));
  return function;
}

std::vector<Stmt> PointLoopsFrom(const Nest& nest, size_t first, int lanes) {
  return PointLoops(nest, lanes).From(first);
}

absl::StatusOr<LoopFunction> LowerToThreads(const Kernel& kernel, int64_t threads) {
  AOTC_ASSIGN_OR_RETURN(Nest nest, BuildNest(kernel));
  TidyNest(nest);
  LoopFunction function = StartFunction(kernel, nest);
  const size_t kept = std::min(KeptAxes(nest), nest.outer.size());
  const std::vector<NestAxis> threads_axes(nest.outer.begin(),
                                           nest.outer.begin() + static_cast<long>(kept));
  const Expr count = CountOf(threads_axes);
  function.threads = threads;
  function.tasks = Simplify(CeilDiv(count, threads), nest.bounds);
  std::vector<Stmt> body = DecodeAxes(threads_axes, Var("point"));
  PointLoops loops(nest, 1);
  std::vector<Stmt> inside = nest.is_point ? loops.From(kept) : RowStatements(nest, 1);
  const Expr interior = InInterior(threads_axes);
  if (interior.valid()) inside = {If(interior, std::move(inside), loops.Fill(kept))};
  body.insert(body.end(), inside.begin(), inside.end());
  function.body = Block({Let("point", Var("task") * threads + Var("thread")),
                         If(Lt(Var("point"), count), std::move(body))});
  return function;
}

}  // namespace aotc
