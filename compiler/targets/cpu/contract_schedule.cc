#include "compiler/targets/cpu/contract_schedule.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/emit/c_expr.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Rows of the largest tile whose accumulators, weights and broadcast fit the registers.
int64_t MostRows(const Isa& isa, int64_t vectors) {
  const int64_t rows = (isa.registers - 1 - vectors) / vectors;
  constexpr int64_t kMostRows = 14;
  return std::clamp<int64_t>(rows, 1, kMostRows);
}

class ContractLoops {
 public:
  ContractLoops(const Kernel& kernel, const TiledContraction& c, const ContractSchedule& schedule,
                const Isa& isa)
      : kernel_(kernel), c_(c), schedule_(schedule), isa_(isa) {
    bounds_ = c.nest.bounds;
    bounds_.Add("panel", 0, Panels() - 1);
    bounds_.Add("group", 0, Groups() - 1);
    bounds_.Add("v", 0, schedule.vectors - 1);
    bounds_.Add("lane", 0, isa.lanes - 1);
  }

  absl::StatusOr<LoopFunction> Build() {
    LoopFunction function = StartFunction(kernel_, c_.nest);
    std::vector<NestAxis> tasks = c_.outer;
    if (!tasks.empty()) {
      NestAxis& last = tasks.back();
      const Expr full = last.extent + last.halo.before + last.halo.after;
      last = {.name = last.name + "_chunk",
              .extent = Simplify(CeilDiv(full, schedule_.chunk), bounds_)};
    }
    if (!c_.is_depthwise) tasks.push_back({.name = "panel", .extent = Panels()});
    function.tasks = CountOf(tasks);
    std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
    if (c_.is_depthwise) body.push_back(Let("panel", 0));
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> inside, ChunkLoop());
    body.insert(body.end(), inside.begin(), inside.end());
    function.body = Block(std::move(body));
    return function;
  }

 private:
  int64_t Panels() const { return (c_.columns + c_.panel - 1) / c_.panel; }
  int64_t Groups() const { return c_.panel / (schedule_.vectors * isa_.lanes); }

  // The iterations of the innermost outer axis that belong to this task.
  absl::StatusOr<std::vector<Stmt>> ChunkLoop() {
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> rows, GroupLoop());
    for (Stmt& fill : FillRowEnds()) rows.push_back(std::move(fill));
    if (c_.outer.empty()) return rows;
    const NestAxis& axis = c_.outer.back();
    if (const Expr interior = Interior(); interior.valid()) {
      rows = {If(interior, std::move(rows), FillPanel())};
    }
    const Expr first = Var(axis.name + "_chunk") * schedule_.chunk - axis.halo.before;
    if (schedule_.chunk == 1) {
      rows.insert(rows.begin(), Let(axis.name, first));
      return rows;
    }
    const Expr count = Min(Expr(schedule_.chunk), axis.extent + axis.halo.after - first);
    return std::vector<Stmt>{For(axis.name, first, Simplify(count, bounds_), std::move(rows))};
  }

  Expr Interior() const {
    Expr condition;
    for (const NestAxis& axis : c_.outer) {
      if (axis.halo == Halo{}) continue;
      const Expr test = And(Le(Expr(0), Var(axis.name)), Lt(Var(axis.name), axis.extent));
      condition = condition.valid() ? And(condition, test) : test;
    }
    return condition;
  }

  // Writes the fill value to the panel's columns of `count` rows from `first`.
  std::vector<Stmt> Fill(const Expr& first, const Expr& count) const {
    std::vector<Stmt> body;
    for (const FlatStage& stage : c_.nest.stages) {
      for (const FlatResult& result : stage.results) {
        if (!result.index.valid()) continue;
        const Expr column = Var("panel") * c_.panel + Var("column");
        const Expr index = Simplify(Substitute(result.index, ColumnsAt(column)), bounds_);
        body.push_back(Store(result.tensor, index, NumberConst(c_.nest.fill, result.dtype)));
      }
    }
    const Expr columns = Min(Expr(c_.panel), Expr(c_.stored_columns) - Var("panel") * c_.panel);
    body = {For("column", 0, Simplify(columns, bounds_), std::move(body))};
    if (c_.row_axis.empty()) return body;
    return {For(c_.row_axis, first, count, std::move(body))};
  }

  // All rows, where an outer axis is in its halo.
  std::vector<Stmt> FillPanel() const {
    return Fill(Expr(-c_.row_halo.before),
                c_.row_extent + (c_.row_halo.before + c_.row_halo.after));
  }

  // The halo at both ends of the rows.
  std::vector<Stmt> FillRowEnds() const {
    std::vector<Stmt> body;
    if (c_.row_halo.before > 0) body = Fill(Expr(-c_.row_halo.before), c_.row_halo.before);
    if (c_.row_halo.after == 0) return body;
    for (Stmt& stmt : Fill(c_.row_extent, c_.row_halo.after)) body.push_back(std::move(stmt));
    return body;
  }

  Substitution ColumnsAt(const Expr& column) const {
    if (c_.column_axes.size() == 1) return {{c_.column_axes[0], column}};
    return {{c_.column_axes[0], FloorDiv(column, c_.column_block)},
            {c_.column_axes[1], Mod(column, c_.column_block)}};
  }

  absl::StatusOr<std::vector<Stmt>> GroupLoop() {
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> rows, RowLoops());
    if (Groups() == 1) {
      rows.insert(rows.begin(), Let("group", 0));
      return std::vector<Stmt>{Block(std::move(rows))};
    }
    return std::vector<Stmt>{For("group", 0, Groups(), std::move(rows))};
  }

  absl::StatusOr<std::vector<Stmt>> RowLoops() {
    std::vector<Stmt> loops;
    const Expr tiles = Simplify(FloorDiv(c_.row_extent, schedule_.rows), bounds_);
    const Expr done = Simplify(tiles * schedule_.rows, bounds_);
    if (!tiles.IsInt(0)) {
      AOTC_ASSIGN_OR_RETURN(Stmt tile, TileOf(Var("tile") * schedule_.rows, schedule_.rows));
      loops.push_back(For("tile", 0, tiles, {tile}));
    }
    const Expr left = Simplify(c_.row_extent - done, bounds_);
    if (left.IsInt(0)) return loops;
    if (std::optional<int64_t> rows = left.AsInt()) {
      AOTC_ASSIGN_OR_RETURN(Stmt tile, TileOf(done, *rows));
      loops.push_back(tile);
      return loops;
    }
    AOTC_ASSIGN_OR_RETURN(Stmt tile, TileOf(Var("row"), 1));
    loops.push_back(For("row", done, left, {tile}));
    return loops;
  }

  // One call: `rows` rows from `first_row`, the columns of (panel, group).
  absl::StatusOr<Stmt> TileOf(const Expr& first_row, int64_t rows) {
    if (c_.is_depthwise) return DepthwiseTileOf(first_row, rows);
    TileCall call{.function = "aotc_contract_tile", .header = "cpu/contract_tile.h"};
    call.template_args = {rows, schedule_.vectors};
    const int64_t split = rows * schedule_.vectors >= 8 ? 1 : schedule_.split;
    if (split > 1) call.template_args.push_back(split);
    call.args.push_back(Rows(first_row));
    const Expr weights = Var("panel") * c_.panel_stride + c_.weight_offset +
                         Var("group") * (schedule_.vectors * isa_.lanes);
    call.args.push_back(
        TileRecord{"aotc_panel<float>", {{TilePointer{c_.weights, Simplify(weights, bounds_)}}}});
    call.args.push_back(NestRecord());
    AOTC_ASSIGN_OR_RETURN(TileObject epilogue, Epilogue(first_row));
    call.args.push_back(std::move(epilogue));
    return Tile(std::move(call));
  }

  absl::StatusOr<Stmt> DepthwiseTileOf(const Expr& first_row, int64_t rows) {
    TileCall call{.function = "aotc_depthwise_tile", .header = "cpu/depthwise_tile.h"};
    call.template_args = {rows, schedule_.vectors};
    for (const ContractLevel& level : c_.levels)
      call.template_args.push_back(level.extent.AsInt().value_or(0));
    call.template_args.push_back(*c_.row_stride.AsInt());
    const Expr lanes = Var("group") * (schedule_.vectors * isa_.lanes);
    const Expr input = Simplify(c_.input_offset + first_row * c_.row_stride + lanes, bounds_);
    const std::string element = CElementType(kernel_.tensors[c_.input].dtype);
    const ContractLevel &h = c_.levels[0], &w = c_.levels[1];
    call.args.push_back(TileRecord{
        StrCat("aotc_window<", element, ">"),
        {{TilePointer{c_.input, input}, h.extent, w.extent, h.input_stride, w.input_stride}}});
    call.args.push_back(
        TileRecord{"aotc_taps<float>",
                   {{TilePointer{c_.weights, Simplify(c_.weight_offset + lanes, bounds_)},
                     h.weight_stride, w.weight_stride}}});
    AOTC_ASSIGN_OR_RETURN(TileObject epilogue, Epilogue(first_row));
    call.args.push_back(std::move(epilogue));
    return Tile(std::move(call));
  }

  TileRecord Rows(const Expr& first_row) const {
    const std::string element = CElementType(kernel_.tensors[c_.input].dtype);
    const TilePointer start = {c_.input,
                               Simplify(c_.input_offset + first_row * c_.row_stride, bounds_)};
    if (std::optional<int64_t> stride = c_.row_stride.AsInt()) {
      return {StrCat("aotc_rows<", element, ", ", *stride, ">"), {{start}}};
    }
    return {StrCat("aotc_rows_strided<", element, ">"), {{start, c_.row_stride}}};
  }

  TileRecord NestRecord() const {
    TileRecord nest{"aotc_nest", {{}, {}, {}}};
    constexpr size_t kLevels = 4;
    for (size_t i = c_.levels.size(); i < kLevels; ++i) {
      nest.groups[0].push_back(Expr(1));
      nest.groups[1].push_back(Expr(0));
      nest.groups[2].push_back(Expr(0));
    }
    for (const ContractLevel& level : c_.levels) {
      nest.groups[0].push_back(level.extent);
      nest.groups[1].push_back(level.input_stride);
      nest.groups[2].push_back(level.weight_stride);
    }
    return nest;
  }

  // The stages after the contraction, for one accumulator vector (m, v).
  absl::StatusOr<TileObject> Epilogue(const Expr& first_row) {
    const FlatStage& contraction = c_.nest.stages[0];
    const Expr column = Var("panel") * c_.panel + Var("group") * (schedule_.vectors * isa_.lanes) +
                        Var("v") * isa_.lanes;
    Nest epilogue = EpilogueNest(first_row, column + Var("lane"));
    TileFunctor method{
        .params = {{"m", DType::kI64}, {"v", DType::kI64}, {"acc", DType::kF32, isa_.lanes}}};
    const Expr acc =
        Expr::Make({.op = ExprOp::kVar, .dtype = DType::kF32, .lanes = isa_.lanes, .name = "acc"});
    Lanes lanes{.var = "lane", .first = 0, .count = isa_.lanes};
    lanes.vectors[contraction.results[0].variable] = acc;
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> whole, Statements(epilogue, lanes));
    const int64_t written = (c_.columns + c_.panel - 1) / c_.panel * c_.panel;
    if (written == c_.stored_columns) {
      method.body = std::move(whole);
    } else {
      const Expr limit = c_.stored_columns;
      lanes.active = Simplify(limit - column, bounds_);
      std::vector<Stmt> masked;
      if (c_.stored_columns % isa_.lanes != 0) {
        AOTC_ASSIGN_OR_RETURN(masked, Statements(epilogue, lanes));
        masked = {If(Lt(column, limit), std::move(masked))};
      }
      method.body = {If(Le(column + isa_.lanes, limit), std::move(whole), std::move(masked))};
    }
    return TileObject{.name = "epilogue", .base = "aotc_epilogue", .methods = {std::move(method)}};
  }

  absl::StatusOr<std::vector<Stmt>> Statements(const Nest& epilogue, const Lanes& lanes) const {
    std::optional<std::vector<Stmt>> body = PointStatements(epilogue, &lanes);
    if (!body) return absl::FailedPreconditionError("the epilogue has no vector form");
    return *std::move(body);
  }

  Nest EpilogueNest(const Expr& first_row, const Expr& column) const {
    Nest nest = c_.nest;
    nest.bounds = bounds_;
    Substitution at = ColumnsAt(column);
    if (!c_.row_axis.empty()) at[c_.row_axis] = first_row + Var("m");
    auto place = [&](Expr& e) {
      if (e.valid()) e = Simplify(Substitute(e, at), bounds_);
    };
    // The accumulator itself is stored where the contraction's result is an output.
    const FlatResult result = nest.stages[0].results[0];
    nest.stages.erase(nest.stages.begin());
    if (result.index.valid()) {
      FlatStage copy{.bodies = {Var(result.variable, DType::kF32)}, .results = {result}};
      copy.results[0].variable += "_stored";
      nest.stages.insert(nest.stages.begin(), copy);
    }
    for (FlatStage& stage : nest.stages) {
      for (Expr& body : stage.bodies) place(body);
      for (FlatResult& stored : stage.results) place(stored.index);
    }
    place(nest.valid);
    return nest;
  }

  const Kernel& kernel_;
  const TiledContraction& c_;
  const ContractSchedule& schedule_;
  const Isa& isa_;
  Bounds bounds_;
};

}  // namespace

std::string PrintSchedule(const ContractSchedule& schedule) {
  return StrCat(schedule.name, "{rows=", schedule.rows, ", vectors=", schedule.vectors,
                ", split=", schedule.split, ", chunk=", schedule.chunk, "}");
}

ContractSchedule ChooseContractSchedule(const TiledContraction& c, const Isa& isa) {
  ContractSchedule schedule;
  schedule.name = c.is_depthwise ? "depthwise_tile" : "contract_tile";
  const int64_t panel_vectors = c.panel / isa.lanes;
  // Three vectors of columns suit the wide register file; two the narrow ones.
  schedule.vectors = isa.registers >= 32 ? panel_vectors : (panel_vectors % 2 == 0 ? 2 : 1);
  if (c.is_depthwise) schedule.vectors = 1;
  // Pixels of a depthwise tile share no weights across columns: few are enough to hide latency.
  constexpr int64_t kMostPixels = 7;
  const int64_t most =
      std::min(MostRows(isa, schedule.vectors), c.is_depthwise ? kMostPixels : INT64_MAX);
  const std::optional<int64_t> extent = c.row_extent.AsInt();
  if (extent) {
    const int64_t tiles = (*extent + most - 1) / most;
    schedule.rows = (*extent + tiles - 1) / tiles;
    if (*extent % most == 0) schedule.rows = most;
  } else {
    schedule.rows = most;
  }
  if (schedule.rows * schedule.vectors < 8) schedule.split = 4;
  if (c.outer.empty()) return schedule;
  // Enough rows per panel visit that a weight fetched from an outer cache is used often.
  constexpr int64_t kRowsPerVisit = 64;
  const int64_t rows = std::max<int64_t>(extent.value_or(most), 1);
  const int64_t axis = c.outer.back().extent.AsInt().value_or(kRowsPerVisit);
  schedule.chunk =
      std::clamp<int64_t>((kRowsPerVisit + rows - 1) / rows, 1, std::max<int64_t>(axis, 1));
  return schedule;
}

absl::StatusOr<LoopFunction> ApplyContractSchedule(const Kernel& kernel,
                                                   const TiledContraction& contraction,
                                                   const ContractSchedule& schedule,
                                                   const Isa& isa) {
  return ContractLoops(kernel, contraction, schedule, isa).Build();
}

}  // namespace aotc
