// Kernels that read along another axis than they write along: tiles of 32x32 elements turn in
// shared memory.
#include <optional>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

constexpr int64_t kTile = 32;
constexpr int64_t kLeastExtent = 16;  // of either axis: half of a tile

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

class TransposeRule {
 public:
  explicit TransposeRule(const Kernel& kernel) : kernel_(kernel) {}

  absl::Status Read() {
    AOTC_ASSIGN_OR_RETURN(nest_, BuildNest(kernel_));
    if (!nest_.is_point || nest_.outer.size() < 2) return Refuse("no two axes");
    MergeAxes(nest_);
    AOTC_RETURN_IF_ERROR(FindLoad());
    return FindAxis();
  }

  std::string Reason() const {
    return StrCat("read along ", columns_.name, ", written along ", rows_.name);
  }

  Schedule ScheduleOf() const {
    std::vector<Cut> cuts;
    for (const NestAxis& axis : nest_.outer) {
      const bool turns = axis.name == rows_.name || axis.name == columns_.name;
      cuts.push_back({axis.walks, turns ? kTile : 1});
    }
    return WholeKernel(kernel_, std::move(cuts), StageMemory::kFragment, "transpose_tile",
                       {thread_rows_});
  }

  std::vector<std::vector<int64_t>> Variations() const { return {{4}, {16}, {32}}; }

  absl::Status Set(const std::vector<int64_t>& params) {
    thread_rows_ = params[0];
    return absl::OkStatus();
  }

  LoopFunction Loops() const {
    LoopFunction function = StartFunction(kernel_, nest_);
    std::vector<NestAxis> tasks;
    for (const NestAxis& axis : nest_.outer) {
      if (axis.name != rows_.name && axis.name != columns_.name) tasks.push_back(axis);
    }
    tasks.push_back({.name = "tile_row", .extent = Simplify(CeilDiv(rows_.extent, kTile))});
    tasks.push_back({.name = "tile_column", .extent = Simplify(CeilDiv(columns_.extent, kTile))});
    function.tasks = CountOf(tasks);
    function.threads = kTile * thread_rows_;
    std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
    const std::vector<FunctorParam> place = {{.name = rows_.name, .most = rows_.extent - 1},
                                             {.name = columns_.name, .most = columns_.extent - 1}};
    TileFunctor store{.params = place};
    store.params.push_back({"element", load_.dtype()});
    store.body = StoreStatements();
    TileCall call{.tile = "transpose_tile",
                  .params = {thread_rows_},
                  .extents = {Var("tile_row") * kTile, Var("tile_column") * kTile, rows_.extent,
                              columns_.extent}};
    call.operands = {TileObject{.name = "load", .methods = {{.params = place, .result = load_}}},
                     TileObject{.name = "store", .methods = {std::move(store)}}};
    body.push_back(Tile(std::move(call)));
    function.body = Block(std::move(body));
    return function;
  }

 private:
  // Elements between neighbours along the axis, 0 where the index does not move or not evenly.
  int64_t StepAlong(const Expr& index, const std::string& axis) const {
    const auto affine = AsAffine(index, {axis}, nest_.bounds);
    if (!affine || affine->coefficients.count(axis) == 0) return 0;
    return affine->coefficients.at(axis).AsInt().value_or(2);
  }

  // The one load whose neighbours along the written axis lie apart.
  absl::Status FindLoad() {
    rows_ = nest_.outer.back();
    for (const FlatStage& stage : nest_.stages) {
      if (!stage.reduce.empty()) return Refuse("a reduction");
      for (const Expr& body : stage.bodies) {
        for (const Expr& load : LoadsOf(body)) {
          if (StepAlong(load.arg(0), rows_.name) <= 1) continue;
          if (load->guarded) return Refuse("the load is guarded");
          const bool other = load_.valid() && !Same(load, load_);
          if (other) return Refuse("several loads turn");
          load_ = load;
        }
      }
    }
    return load_.valid() ? absl::OkStatus() : Refuse("reads and writes have one order");
  }

  absl::Status FindAxis() {
    for (const NestAxis& axis : nest_.outer) {
      if (axis.name != rows_.name && StepAlong(load_.arg(0), axis.name) == 1) columns_ = axis;
    }
    if (columns_.name.empty()) return Refuse("the load has no contiguous axis");
    for (const NestAxis& axis : {rows_, columns_}) {
      if (RangeOf(axis.extent, nest_.bounds).max < kLeastExtent) return Refuse("an axis is short");
    }
    return absl::OkStatus();
  }

  // All stages at one point, with the turned element in a variable.
  std::vector<Stmt> StoreStatements() const {
    Nest nest = nest_;
    for (FlatStage& stage : nest.stages) {
      for (Expr& body : stage.bodies) {
        body = Transform(body, [&](const Expr& e) {
          return e.op() == ExprOp::kLoad && Same(e, load_) ? Var("element", load_.dtype()) : e;
        });
      }
    }
    return *PointStatements(nest, nullptr);
  }

  const Kernel& kernel_;
  Nest nest_;
  NestAxis rows_, columns_;  // written along, read along
  Expr load_;
  int64_t thread_rows_ = 8;
};

}  // namespace

absl::StatusOr<CudaWay> TransposeTileOnCuda(const Kernel& kernel, const CudaOptions& /*options*/) {
  TransposeRule rule(kernel);
  AOTC_RETURN_IF_ERROR(rule.Read());
  return WayOf("transpose_tile", rule.Reason(), rule);
}

}  // namespace aotc
