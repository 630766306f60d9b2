#include "compiler/targets/cpu/transpose.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/task_cuts.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kLeastExtent = 8;  // of either axis: with less, loops move it as fast
constexpr int64_t kTaskRows = 64;    // lines of a task along either axis

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// The one load that a stage of the nest moves.
absl::StatusOr<Expr> MovedLoad(const Nest& nest) {
  if (!nest.is_point || nest.outer.size() < 2) return Refuse("no two axes");
  if (nest.stages.size() != 1 || nest.stages[0].bodies.size() != 1) return Refuse("several stages");
  const FlatStage& stage = nest.stages[0];
  const Expr& load = stage.bodies[0];
  if (!stage.reduce.empty() || load.op() != ExprOp::kLoad) return Refuse("no mere copy");
  if (load->guarded || nest.valid.valid()) return Refuse("not all elements exist");
  const DType dtype = nest.buffers[load->tensor].dtype;
  if (stage.results[0].dtype != dtype || load.dtype() != dtype) return Refuse("types differ");
  if (IsSubByte(dtype)) return Refuse("elements share bytes");
  const bool has_halo = std::ranges::any_of(
      nest.outer, [](const NestAxis& axis) { return axis.halo.before + axis.halo.after > 0; });
  return has_halo ? Refuse("an axis has a halo") : absl::StatusOr<Expr>(load);
}

std::optional<Expr> StepAlong(const Nest& nest, const Expr& index, size_t axis) {
  return StepAlong(index, nest.outer[axis].name, nest.bounds);
}

// The axis along which the index moves by one element.
std::optional<size_t> DenseAxis(const Nest& nest, const Expr& index) {
  for (size_t axis = 0; axis < nest.outer.size(); ++axis) {
    const std::optional<Expr> step = StepAlong(nest, index, axis);
    if (step && step->IsInt(1) && !nest.outer[axis].extent.IsInt(1)) return axis;
  }
  return std::nullopt;
}

Schedule ScheduleOf(const Kernel& kernel, const Transpose& t, const TransposeTiling& tiling) {
  std::vector<Cut> cuts;
  for (size_t axis = 0; axis < t.nest.outer.size(); ++axis) {
    const int64_t block = axis == t.row ? tiling.rows : axis == t.column ? tiling.columns : 1;
    cuts.push_back({t.nest.outer[axis].walks, block});
  }
  return WholeKernel(kernel, std::move(cuts), StageMemory::kFragment, kTransposeTile,
                     {tiling.block});
}

int64_t ExtentOf(const Transpose& t, size_t axis) {
  return std::max<int64_t>(RangeOf(t.nest.outer[axis].extent, t.nest.bounds).max, 1);
}

TransposeTiling TilingFor(const Transpose& t, int64_t lines, int64_t block) {
  TransposeTiling tiling{.block = block};
  tiling.rows = std::min(ExtentOf(t, t.row), lines);
  tiling.columns = std::min(ExtentOf(t, t.column),
                            std::max(lines, RoundUp(CeilOf(kTaskPoints, tiling.rows), block)));
  tiling.rows =
      std::min(ExtentOf(t, t.row),
               std::max(tiling.rows, RoundUp(CeilOf(kTaskPoints, tiling.columns), block)));
  return tiling;
}

// The part of an axis that a task has.
struct Chunk {
  NestAxis task = {};
  Expr first = {}, count = {};
};

Chunk ChunkOf(const NestAxis& axis, int64_t size, Bounds& bounds) {
  const std::string name = StrCat(axis.name, "_chunk");
  const Expr chunks = Simplify(CeilDiv(axis.extent, size), bounds);
  bounds.Add(name, 0, chunks - 1);
  Chunk chunk{.task = {.name = name, .extent = chunks}};
  chunk.first = chunks.IsInt(1) ? Expr(0) : Var(name) * size;
  chunk.count = ProveDivisible(axis.extent, size, bounds)
                    ? Expr(size)
                    : Simplify(Min(axis.extent - chunk.first, size), bounds);
  return chunk;
}

}  // namespace

absl::StatusOr<Transpose> ReadTranspose(Nest nest) {
  AOTC_ASSIGN_OR_RETURN(const Expr load, MovedLoad(nest));
  const Expr& index = nest.stages[0].results[0].index;
  const std::optional<size_t> row = DenseAxis(nest, index), column = DenseAxis(nest, load.arg(0));
  if (!row || !column) return Refuse("neighbours of one side lie nowhere together");
  if (*row == *column) return Refuse("reads and writes have one order");
  const std::optional<Expr> read_step = StepAlong(nest, load.arg(0), *row),
                            written_step = StepAlong(nest, index, *column);
  if (!read_step || !written_step) return Refuse("rows lie at no equal distance");
  Transpose transpose{.nest = std::move(nest),
                      .row = *row,
                      .column = *column,
                      .load = load,
                      .read_step = *read_step,
                      .written_step = *written_step};
  if (std::min(ExtentOf(transpose, *row), ExtentOf(transpose, *column)) < kLeastExtent)
    return Refuse("an axis is short");
  return transpose;
}

absl::StatusOr<TransposeTiling> TransposeTilingOf(const Kernel& kernel, const Transpose& transpose,
                                                  const Schedule& schedule) {
  const Cut* rows = FindCut(schedule, transpose.nest.outer[transpose.row].walks);
  const Cut* columns = FindCut(schedule, transpose.nest.outer[transpose.column].walks);
  if (rows == nullptr || columns == nullptr || schedule.parts[0].by != kTransposeTile)
    return Refuse("a copy has blocks of both axes by transpose_tile");
  const TransposeTiling tiling{
      .rows = rows->block, .columns = columns->block, .block = schedule.parts[0].params[0]};
  if (schedule == ScheduleOf(kernel, transpose, tiling)) return tiling;
  return Refuse(StrCat("it should be ", PrintSchedule(ScheduleOf(kernel, transpose, tiling))));
}

std::vector<Schedule> TransposeCandidates(const Kernel& kernel, const Transpose& transpose) {
  std::vector<Schedule> schedules;
  for (const int64_t block : {16, 8, 32}) {
    for (const int64_t lines : {kTaskRows, kTaskRows / 2, kTaskRows * 2})
      schedules.push_back(ScheduleOf(kernel, transpose, TilingFor(transpose, lines, block)));
  }
  return schedules;
}

absl::StatusOr<LoopFunction> ApplyTranspose(const Kernel& kernel, const Transpose& transpose,
                                            const Schedule& schedule) {
  AOTC_ASSIGN_OR_RETURN(const TransposeTiling tiling,
                        TransposeTilingOf(kernel, transpose, schedule));
  const Nest& nest = transpose.nest;
  Bounds bounds = nest.bounds;
  const Chunk rows = ChunkOf(nest.outer[transpose.row], tiling.rows, bounds),
              columns = ChunkOf(nest.outer[transpose.column], tiling.columns, bounds);
  std::vector<NestAxis> tasks;
  for (size_t axis = 0; axis < nest.outer.size(); ++axis) {
    tasks.push_back(axis == transpose.row      ? rows.task
                    : axis == transpose.column ? columns.task
                                               : nest.outer[axis]);
  }
  const auto first = [&](const Expr& index) {
    return Simplify(Substitute(index, {{nest.outer[transpose.row].name, rows.first},
                                       {nest.outer[transpose.column].name, columns.first}}),
                    bounds);
  };
  const FlatResult& result = nest.stages[0].results[0];
  TileCall call{.tile = std::string(kTransposeTile),
                .params = {tiling.block},
                .extents = {rows.count, columns.count}};
  call.operands = {
      TileView{transpose.load->tensor, first(transpose.load.arg(0)), {transpose.read_step, 1}},
      TileView{result.tensor, first(result.index), {transpose.written_step, 1}}};
  LoopFunction function = StartFunction(kernel, nest);
  function.tasks = CountOf(tasks);
  std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
  body.push_back(Tile(std::move(call)));
  function.body = Block(std::move(body));
  return function;
}

}  // namespace aotc
