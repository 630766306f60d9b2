// The loops around the tiles of a contraction: tasks, chunks, panels, groups, rows.
#include <optional>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contract_tile_call.h"
#include "compiler/targets/cpu/row_tiles.h"

namespace aotc {
namespace {

using Statements = absl::StatusOr<std::vector<Stmt>>;

class ContractLoops {
 public:
  ContractLoops(const TiledContraction& contraction, const ContractTiling& tiling, int lanes)
      : c_(contraction),
        tiling_(tiling),
        lanes_(lanes),
        row_count_(c_.row_extent),
        first_panel_(Var("panel_chunk") * tiling.panels) {
    bounds_ = c_.nest.bounds;
    bounds_.Add("panel", 0, Panels() - 1);
    bounds_.Add("group", 0, Groups() - 1);
    bounds_.Add("lane", 0, lanes_ - 1);
  }

  absl::StatusOr<LoopFunction> Build() {
    function_ = StartFunction(c_.kernel, c_.nest);
    std::vector<NestAxis> tasks = TaskAxes(c_);
    for (NestAxis& axis : tasks) {
      if (axis.name == c_.outer.back().name)
        axis = {.name = axis.name + "_chunk", .extent = Chunks()};
    }
    ChunkRows(tasks);
    ChunkPanels(tasks);
    function_.tasks = CountOf(tasks);
    std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
    if (c_.is_depthwise) body.push_back(Let("panel", 0));
    if (has_row_chunks_ && !row_count_.IsConst()) {
      const Expr left = c_.row_extent - Var("row_chunk") * tiling_.chunk;
      body.push_back(Let("row_count", Min(Expr(tiling_.chunk), left)));
    }
    MakeAccumulators();
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> inside, ChunkLoop());
    body.insert(body.end(), inside.begin(), inside.end());
    function_.body = Block(std::move(body));
    return std::move(function_);
  }

  // All iterations, in the middle of a task that has the band.
  Statements Band(const NestBand& band) {
    AOTC_RETURN_IF_ERROR(CheckBand(band));
    first_panel_ = 0;
    if (band.axis == c_.row_axis) {
      starts_ = Eq(band.first, 0);
      ends_ = Eq(band.first + band.count, band.all);
    }
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> body, PanelLoop());
    for (size_t i = c_.outer.size(); i-- > 0;) {
      const NestAxis& axis = c_.outer[i];
      body = {For(axis.name, 0, axis.extent, std::move(body))};
      if (axis.name == band.axis) FillBandEnds(axis, band, body);
    }
    if (PanelsAreTasks()) body.insert(body.begin(), Let("panel", 0));
    return std::vector<Stmt>{Block(std::move(body))};
  }

 private:
  int64_t Panels() const { return CeilOf(c_.columns, c_.panel); }
  int64_t Groups() const { return CeilOf(c_.panel, tiling_.vectors * lanes_); }

  absl::Status CheckBand(const NestBand& band) const {
    if (c_.nest.HasStatistics()) {
      return absl::FailedPreconditionError("statistics take whole rows");
    }
    for (const NestAxis& axis : c_.outer) {
      const bool may = axis.halo == Halo{} || (axis.name == band.axis && &axis == &c_.outer.back());
      if (!may) return absl::FailedPreconditionError(StrCat(axis.name, " has a halo"));
    }
    return absl::OkStatus();
  }

  // The halo above the first band, and that below the last.
  void FillBandEnds(const NestAxis& axis, const NestBand& band, std::vector<Stmt>& body) const {
    const auto fill = [&](const Expr& from, int64_t extent) {
      return For(axis.name, from, extent, OverPanels(FillPanel()));
    };
    if (const int64_t before = axis.halo.before; before > 0) {
      body.insert(body.begin(), If(Eq(band.first, 0), {fill(Expr(-before), before)}));
    }
    if (axis.halo.after > 0) {
      body.push_back(
          If(Eq(band.first + band.count, band.all), {fill(axis.extent, axis.halo.after)}));
    }
  }

  // A task has one panel, which its number says; else it walks those that it has.
  bool PanelsAreTasks() const {
    return c_.is_depthwise || (!c_.nest.HasStatistics() && tiling_.panels == 1);
  }

  // Tasks along the innermost outer axis. Its halo belongs to the first and to the last of them.
  Expr Chunks() const {
    return Simplify(Max(CeilDiv(c_.outer.back().extent, tiling_.chunk), 1), bounds_);
  }

  // Without an outer axis the rows are what tasks share.
  void ChunkRows(std::vector<NestAxis>& tasks) {
    has_row_chunks_ = c_.outer.empty() && tiling_.chunk > 0;
    if (!has_row_chunks_) return;
    const Expr chunks = Simplify(CeilDiv(c_.row_extent, tiling_.chunk), bounds_);
    tasks.push_back({.name = "row_chunk", .extent = chunks});
    bounds_.Add("row_chunk", 0, chunks - 1);
    bounds_.Add("row_count", 1, tiling_.chunk);
    first_row_ = Var("row_chunk") * tiling_.chunk;
    row_count_ = Var("row_count");
    if (ProveDivisible(c_.row_extent, tiling_.chunk)) row_count_ = tiling_.chunk;
  }

  void ChunkPanels(std::vector<NestAxis>& tasks) {
    if (c_.is_depthwise || c_.nest.HasStatistics()) return;
    const int64_t parts = CeilOf(Panels(), tiling_.panels);
    const NestAxis axis{.name = PanelsAreTasks() ? "panel" : "panel_chunk", .extent = parts};
    tasks.insert(RowsComeFirst(c_) ? tasks.end() : tasks.begin(), axis);
    bounds_.Add("panel_chunk", 0, parts - 1);
  }

  // Scratch for the statistics: a vector for each row of a task.
  void MakeAccumulators() {
    const int64_t rows = has_row_chunks_ ? tiling_.chunk : RangeOf(row_count_, bounds_).max;
    for (const FlatStage& stage : c_.nest.stages) {
      for (size_t k = 0; k < stage.results.size() && !stage.over.empty(); ++k) {
        LoopBuffer buffer{.name = StrCat(function_.buffers[stage.results[k].tensor].name, "_lanes"),
                          .written = true,
                          .elements = rows * lanes_};
        PlaceInScratch(buffer, function_);
        accumulators_.push_back(function_.buffers.Add(std::move(buffer)));
      }
    }
  }

  // The iterations of the innermost outer axis that belong to this task.
  Statements ChunkLoop() const {
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> rows, PanelLoop());
    if (c_.outer.empty()) return rows;
    const NestAxis& axis = c_.outer.back();
    if (const Expr interior = Interior(); interior.valid()) {
      rows = {If(interior, std::move(rows), OverPanels(FillPanel()))};
    }
    const Expr chunk = Var(axis.name + "_chunk"), first = chunk * tiling_.chunk;
    const Expr count = Min(Expr(tiling_.chunk), axis.extent - first);
    std::vector<Stmt> loops = {For(axis.name, first, Simplify(count, bounds_), std::move(rows))};
    const auto fill = [&](const Expr& from, int64_t extent) {
      return For(axis.name, from, extent, OverPanels(FillPanel()));
    };
    if (const int64_t before = axis.halo.before; before > 0) {
      loops.insert(loops.begin(), If(Eq(chunk, 0), {fill(Expr(-before), before)}));
    }
    if (axis.halo.after > 0) {
      loops.push_back(If(Eq(chunk, Chunks() - 1), {fill(axis.extent, axis.halo.after)}));
    }
    return loops;
  }

  // All of the task's panels; with statistics those of its rows, which are then finished.
  Statements PanelLoop() const {
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> rows, GroupLoop());
    for (Stmt& fill : FillRowEnds()) rows.push_back(std::move(fill));
    if (!c_.nest.HasStatistics()) return OverPanels(std::move(rows));
    std::vector<Stmt> body = {OverTaskRows(StartStatistics())};
    for (Stmt& stmt : OverPanels(std::move(rows))) body.push_back(std::move(stmt));
    body.push_back(OverTaskRows(FinishStatistics()));
    return body;
  }

  std::vector<Stmt> OverPanels(std::vector<Stmt> body) const {
    if (PanelsAreTasks()) return body;
    if (c_.nest.HasStatistics()) return {For("panel", 0, Panels(), std::move(body))};
    const Expr count = Simplify(Min(Expr(tiling_.panels), Panels() - first_panel_), bounds_);
    return {For("panel", first_panel_, count, std::move(body))};
  }

  Stmt OverTaskRows(std::vector<Stmt> body) const {
    return For("task_row", 0, row_count_, std::move(body));
  }

  // Calls `make` with each statistic's result, its combiner and its accumulators of `task_row`.
  template <class Make>
  std::vector<Stmt> ForStatistics(const Make& make) const {
    std::vector<Stmt> body;
    size_t next = 0;
    for (const FlatStage& stage : c_.nest.stages) {
      for (size_t k = 0; k < stage.results.size() && !stage.over.empty(); ++k) {
        body.push_back(
            make(stage, k, LoadAccumulators(accumulators_[next++], Var("task_row"), lanes_)));
      }
    }
    return body;
  }

  std::vector<Stmt> StartStatistics() const {
    return ForStatistics([&](const FlatStage& stage, size_t k, const Expr& memory) {
      const Expr identity = InAllLanes(stage.combiner.identity[k], lanes_);
      return Store(memory->tensor, memory.arg(0), identity);
    });
  }

  std::vector<Stmt> FinishStatistics() const {
    return ForStatistics([&](const FlatStage& stage, size_t k, const Expr& memory) {
      const FlatResult& result = stage.results[k];
      const Expr all = Expr::Make(
          {.op = *LaneCombiner(stage.combiner), .dtype = memory.dtype(), .args = {memory}});
      Expr index = result.index;
      if (!c_.row_axis.empty()) {
        index = Substitute(index, {{c_.row_axis, first_row_ + Var("task_row")}});
      }
      return Store(result.tensor, Simplify(index, bounds_), Cast(result.dtype, all));
    });
  }

  // No outer axis but the innermost is in its halo; null where none has one.
  Expr Interior() const {
    Expr condition;
    for (size_t i = 0; i + 1 < c_.outer.size(); ++i) {
      const NestAxis& axis = c_.outer[i];
      if (axis.halo == Halo{}) continue;
      const Expr test = And(Le(Expr(0), Var(axis.name)), Lt(Var(axis.name), axis.extent));
      condition = condition.valid() ? And(condition, test) : test;
    }
    return condition;
  }

  // Writes the fill value to the panel's columns of `count` rows from `first`.
  std::vector<Stmt> Fill(const Expr& first, const Expr& count) const {
    Nest nest = c_.nest;
    const Expr column = Var("panel") * c_.panel + Var("column");
    const Bounds bounds = WithHalos(nest, bounds_);
    for (FlatStage& stage : nest.stages) {
      for (FlatResult& result : stage.results) {
        if (!result.index.valid()) continue;
        result.index = Simplify(Substitute(result.index, ColumnsAt(c_, column)), bounds);
      }
    }
    const Expr columns = Min(Expr(c_.panel), Expr(c_.stored_columns) - Var("panel") * c_.panel);
    std::vector<Stmt> body = {For("column", 0, Simplify(columns, bounds_), FillStatements(nest))};
    if (c_.row_axis.empty()) return body;
    return {For(c_.row_axis, first, count, std::move(body))};
  }

  // All rows, where an outer axis is in its halo.
  std::vector<Stmt> FillPanel() const {
    return Fill(Expr(-c_.row_halo.before),
                c_.row_extent + (c_.row_halo.before + c_.row_halo.after));
  }

  // The halo at both ends of the rows, by the tasks that have the first and the last row.
  std::vector<Stmt> FillRowEnds() const {
    std::vector<Stmt> body;
    const Expr is_first = starts_.valid() ? starts_ : Eq(first_row_, 0),
               is_last = ends_.valid() ? ends_ : Eq(first_row_ + row_count_, c_.row_extent);
    if (c_.row_halo.before > 0) {
      body.push_back(If(is_first, Fill(Expr(-c_.row_halo.before), c_.row_halo.before)));
    }
    if (c_.row_halo.after > 0) {
      body.push_back(If(is_last, Fill(c_.row_extent, c_.row_halo.after)));
    }
    return body;
  }

  Statements GroupLoop() const {
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> rows, RowLoops());
    if (Groups() == 1) {
      rows.insert(rows.begin(), Let("group", 0));
      return std::vector<Stmt>{Block(std::move(rows))};
    }
    return std::vector<Stmt>{For("group", 0, Groups(), std::move(rows))};
  }

  Statements RowLoops() const {
    const auto tile = [&](const Expr& first, int64_t rows) { return TileOf(first, rows); };
    if (!row_count_.IsConst() && c_.row_extent.IsConst()) {
      AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> tiles,
                            WholeRowTiles(row_count_, tiling_.rows, bounds_, tile));
      AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> last, LastTile());
      tiles.insert(tiles.end(), last.begin(), last.end());
      return tiles;
    }
    return RowTiles(row_count_, tiling_.rows, bounds_, tile);
  }

  // Rows that fill no tile, all in the last of the chunks.
  Statements LastTile() const {
    const int64_t extent = *c_.row_extent.AsInt(), left = extent % tiling_.rows;
    if (left == 0) return std::vector<Stmt>{};
    const int64_t last_chunk = (extent - 1) / tiling_.chunk;
    const int64_t task_row = extent - left - last_chunk * tiling_.chunk;
    AOTC_ASSIGN_OR_RETURN(Stmt tile, TileOf(task_row, left));
    return std::vector<Stmt>{If(Eq(Var("row_chunk"), last_chunk), {tile})};
  }

  // One call: `rows` rows from `task_row` of the task, the columns of (panel, group).
  absl::StatusOr<Stmt> TileOf(const Expr& task_row, int64_t rows) const {
    TileSite site{.first_row = first_row_ + task_row,
                  .task_row = task_row,
                  .rows = rows,
                  .bounds = bounds_,
                  .accumulators = accumulators_};
    const int64_t most = has_row_chunks_ ? tiling_.chunk : RangeOf(row_count_, bounds_).max;
    for (const char* name : kRowTileNames) site.bounds.Add(name, 0, most);
    return ContractTileCall(c_, tiling_, lanes_, site);
  }

  const TiledContraction& c_;
  const ContractTiling tiling_;
  const int lanes_;
  Bounds bounds_;
  LoopFunction function_;
  bool has_row_chunks_ = false;
  Expr first_row_ = 0;            // of the task
  Expr row_count_;                // rows of the task
  Expr first_panel_;              // of the task
  Expr starts_ = {}, ends_ = {};  // the task has the first row, the last; null: as its rows say
  std::vector<TensorId> accumulators_;
};

}  // namespace

absl::StatusOr<LoopFunction> ApplyContractSchedule(const TiledContraction& contraction,
                                                   const Schedule& schedule, int lanes) {
  AOTC_ASSIGN_OR_RETURN(const ContractTiling tiling, TilingOf(contraction, schedule, lanes));
  return ContractLoops(contraction, tiling, lanes).Build();
}

absl::StatusOr<std::vector<Stmt>> ContractBand(const TiledContraction& contraction,
                                               const ContractTiling& tiling, int lanes,
                                               const NestBand& band) {
  return ContractLoops(contraction, tiling, lanes).Band(band);
}

}  // namespace aotc
