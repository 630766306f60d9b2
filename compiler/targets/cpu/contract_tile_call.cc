#include "compiler/targets/cpu/contract_tile_call.h"

#include <optional>
#include <utility>

#include "compiler/lower/nest_stages.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Parameters of the epilogue: the accumulator's row and vector of columns in the tile.
constexpr std::string_view kTileRow = "tile_row", kTileVector = "tile_vector";

class TileCallBuilder {
 public:
  TileCallBuilder(const TiledContraction& contraction, const ContractTiling& tiling, int lanes,
                  const TileSite& site)
      : c_(contraction), tiling_(tiling), lanes_(lanes), site_(site) {
    site_.bounds.Add(kTileRow, 0, site.rows - 1);
    site_.bounds.Add(kTileVector, 0, tiling_.vectors - 1);
  }

  absl::StatusOr<Stmt> Build() {
    TileCall call = c_.is_depthwise ? Depthwise() : c_.gathered.valid() ? Gathered() : Matrix();
    call.lanes = lanes_;
    AOTC_ASSIGN_OR_RETURN(TileObject epilogue, Epilogue());
    call.operands.push_back(std::move(epilogue));
    return Tile(std::move(call));
  }

 private:
  static constexpr size_t kLevels = 4;  // of a tile

  int64_t TileColumns() const { return tiling_.vectors * lanes_; }

  // The group's first column in the panel. Where groups do not fill it, the last one computes some
  // columns once more.
  Expr GroupColumn() const {
    const Expr column = Var("group") * TileColumns();
    const int64_t last = c_.panel - TileColumns();
    return c_.panel % TileColumns() == 0 ? column : Min(column, Expr(last));
  }

  TileCall Matrix() const {
    TileCall call{.tile = tiling_.tile, .params = {site_.rows, tiling_.vectors}};
    if (tiling_.tile != kAmxTile) call.params.push_back(SplitOf(c_, tiling_, site_.rows));
    const Expr weights =
        Var("panel") * c_.panel_stride + c_.weight_offset + GroupColumn() * c_.column_stride;
    TileView a{c_.input, Simplify(InputOffset(), site_.bounds), {c_.row_stride}};
    TileView b{c_.weights, Simplify(weights, site_.bounds)};
    std::vector<ContractLevel> levels(kLevels - c_.levels.size(), ContractLevel{1, 0, 0});
    levels.insert(levels.end(), c_.levels.begin(), c_.levels.end());
    for (const ContractLevel& level : levels) AddLevel(level, call, a, b);
    b.strides.push_back(c_.column_stride);
    if (c_.is_integer) {  // a group's steps lie together
      a.strides.push_back(1);
      b.strides.push_back(1);
    }
    call.operands = {std::move(a), std::move(b)};
    if (c_.scales.valid()) call.operands.push_back(OfScales(c_.scales, levels));
    if (c_.zeros.valid()) call.operands.push_back(OfScales(c_.zeros, levels));
    return call;
  }

  // a(tile_row, step) is the element itself.
  TileCall Gathered() const {
    const ContractLevel& level = c_.levels.back();
    const Expr weights =
        Var("panel") * c_.panel_stride + c_.weight_offset + GroupColumn() * c_.column_stride;
    TileFunctor element{.params = {{std::string(kTileRow), DType::kI64},
                                   {.name = "step", .most = level.extent - 1}}};
    const Expr place = InputOffset() + Var(kTileRow) * c_.row_stride + c_.gathered;
    const DType dtype = c_.kernel.tensors[c_.input].dtype;
    Bounds bounds = site_.bounds;
    bounds.Add("step", 0, RangeOf(level.extent, site_.bounds).max - 1);
    element.result = Cast(DType::kF32, Load(c_.input, {Simplify(place, bounds)}, dtype));
    return {.tile = tiling_.tile,
            .params = {site_.rows, tiling_.vectors, SplitOf(c_, tiling_, site_.rows)},
            .extents = {level.extent},
            .operands = {TileObject{.name = "input", .methods = {std::move(element)}},
                         TileView{c_.weights,
                                  Simplify(weights, site_.bounds),
                                  {level.weight_stride, c_.column_stride}}}};
  }

  // Scales or zero points of the tile's columns, for each step of the outer levels.
  TileView OfScales(TensorId tensor, const std::vector<ContractLevel>& levels) const {
    const Expr offset = Var("panel") * c_.scale_panel_stride + c_.scale_offset + GroupColumn();
    TileView view{tensor, Simplify(offset, site_.bounds)};
    for (size_t i = 0; i + 1 < kLevels; ++i) view.strides.push_back(levels[i].scale_stride);
    view.strides.push_back(1);
    return view;
  }

  static void AddLevel(const ContractLevel& level, TileCall& call, TileView& a, TileView& b) {
    call.extents.push_back(level.extent);
    a.strides.push_back(level.input_stride);
    b.strides.push_back(level.weight_stride);
  }

  TileCall Depthwise() const {
    TileCall call{.tile = tiling_.tile, .params = {site_.rows, tiling_.vectors}};
    const Expr lanes = GroupColumn();
    TileView a{c_.input, Simplify(InputOffset() + lanes, site_.bounds), {c_.row_stride}};
    const Expr weights = c_.weight_offset + lanes * c_.column_stride;
    TileView b{c_.weights, Simplify(weights, site_.bounds)};
    for (const ContractLevel& level : c_.levels) AddLevel(level, call, a, b);
    a.strides.push_back(1);
    b.strides.push_back(c_.column_stride);
    if (c_.is_integer) b.strides.push_back(1);  // four taps lie together
    call.operands = {std::move(a), std::move(b)};
    return call;
  }

  Expr InputOffset() const { return c_.input_offset + site_.first_row * c_.row_stride; }

  // The stages after the contraction, for one accumulator vector.
  absl::StatusOr<TileObject> Epilogue() const {
    const FlatResult& accumulator = c_.nest.stages[0].results[0];
    const DType dtype = c_.is_integer ? DType::kI32 : DType::kF32;
    const Expr column = Var("panel") * c_.panel + GroupColumn() + Var(kTileVector) * lanes_;
    const Nest nest = EpilogueNest(column + Var("lane"));
    Lanes lanes{.var = "lane", .first = 0, .count = lanes_};
    lanes.vectors[accumulator.variable] = VectorVar("acc", dtype, lanes_);
    LaneRange range{.first = column};
    const int64_t written = RoundUp(c_.columns, c_.panel);
    if (written != c_.stored_columns) range.stored = c_.stored_columns;
    std::optional<std::vector<Stmt>> body = PaddedStatements(nest, lanes, range);
    if (!body) return absl::FailedPreconditionError("the epilogue has no vector form");
    TileFunctor method{.params = {{std::string(kTileRow), DType::kI64},
                                  {std::string(kTileVector), DType::kI64},
                                  {"acc", dtype, lanes_}}};
    method.body = WithAccumulators(nest, *std::move(body));
    return TileObject{.name = "epilogue", .methods = {std::move(method)}};
  }

  // Fetches the row's accumulators before `body` and keeps them behind it.
  std::vector<Stmt> WithAccumulators(const Nest& nest, std::vector<Stmt> body) const {
    if (site_.accumulators.empty()) return body;
    const Expr row = Simplify(site_.task_row + Var(kTileRow), site_.bounds);
    std::vector<Stmt> all, stores;
    size_t next = 0;
    for (const FlatStage& stage : nest.stages) {
      for (size_t k = 0; k < stage.results.size() && !stage.over.empty(); ++k) {
        const TensorId memory = site_.accumulators[next++];
        const std::string& name = stage.results[k].variable;
        const Expr value = LoadAccumulators(memory, row, lanes_);
        all.push_back(Declare(name, value));
        stores.push_back(Store(memory, value.arg(0), VectorVar(name, value.dtype(), lanes_)));
      }
    }
    for (Stmt& stmt : body) all.push_back(std::move(stmt));
    for (Stmt& stmt : stores) all.push_back(std::move(stmt));
    return all;
  }

  Nest EpilogueNest(const Expr& column) const {
    Substitution at = ColumnsAt(c_, column);
    if (!c_.row_axis.empty()) at[c_.row_axis] = site_.first_row + Var(kTileRow);
    return StagesBehind(c_.nest, at, site_.bounds);
  }

  const TiledContraction& c_;
  const ContractTiling& tiling_;
  const int lanes_;
  TileSite site_;
};

}  // namespace

Substitution ColumnsAt(const TiledContraction& c, const Expr& column) {
  if (c.column_axes.size() == 1) return {{c.column_axes[0], column}};
  return {{c.column_axes[0], FloorDiv(column, c.column_block)},
          {c.column_axes[1], Mod(column, c.column_block)}};
}

Expr LoadAccumulators(TensorId accumulators, const Expr& task_row, int lanes) {
  return VectorLoad(accumulators, task_row * lanes, DType::kF32, lanes);
}

absl::StatusOr<Stmt> ContractTileCall(const TiledContraction& contraction,
                                      const ContractTiling& tiling, int lanes,
                                      const TileSite& site) {
  return TileCallBuilder(contraction, tiling, lanes, site).Build();
}

}  // namespace aotc
