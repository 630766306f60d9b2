// The loops of a convolution by Winograd's algorithm: patches into scratch, weights of each place,
// products, results.
#include <optional>
#include <utility>

#include "compiler/ir/access.h"
#include "compiler/ir/winograd.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/row_tiles.h"
#include "compiler/targets/cpu/winograd.h"

namespace aotc {
namespace {

// Elements between the places of the patches, beside the patches themselves: else all places of one
// vector would fall into one set of the cache.
constexpr int64_t kSkew = 16;

class WinogradLoops {
 public:
  WinogradLoops(const WinogradContraction& c, const WinogradTiling& tiling, int lanes)
      : c_(c), tiling_(tiling), lanes_(lanes), bounds_(c.nest.bounds) {
    bounds_.Add("row_block", 0, RowBlocks() - 1);
    bounds_.Add("column_block", 0, ColumnBlocks() - 1);
    bounds_.Add("part", 0, Parts() - 1);
    bounds_.Add("panel", 0, c_.panels() - 1);
    bounds_.Add("tile_row", 0, tiling_.rows - 1);
    bounds_.Add("tile_column", 0, tiling_.columns - 1);
    bounds_.Add("channel", 0, Channels() - 1);
    bounds_.Add("vector", 0, c_.panel / lanes_ - 1);
    bounds_.Add("group", 0, Groups() - 1);
    bounds_.Add("a", 0, c_.patch() - 1);
    bounds_.Add("b", 0, c_.patch() - 1);
    bounds_.Add("column", 0, kWinogradTaps);
    bounds_.Add("tile", 0, tiling_.Patches() / tiling_.tile_rows);
    bounds_.Add("lane", 0, lanes_ - 1);
  }

  absl::StatusOr<LoopFunction> Build() {
    function_ = StartFunction(c_.kernel, c_.nest);
    patches_ = Scratch(kWinogradPatches, c_.places() * PatchesStep());
    weights_ = Scratch(kWinogradWeights, (kWinogradTaps + 1) * WeightsStep());
    sums_ = Scratch(kWinogradProducts, c_.places() * SumsStep());
    const NestAxis& images = c_.nest.outer[0];
    const std::vector<NestAxis> tasks = {{.name = images.name, .extent = images.extent},
                                         {.name = "row_block", .extent = RowBlocks()},
                                         {.name = "column_block", .extent = ColumnBlocks()},
                                         {.name = "part", .extent = Parts()}};
    function_.tasks = CountOf(tasks);
    std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
    body.push_back(TransformInput());
    AOTC_ASSIGN_OR_RETURN(Stmt output, TransformOutput());
    const Expr first = Var("part") * tiling_.panels;
    const Expr count = Simplify(Min(Expr(tiling_.panels), Expr(c_.panels()) - first), bounds_);
    AOTC_ASSIGN_OR_RETURN(Stmt multiply, Multiply());
    std::vector<Stmt> panel = {std::move(multiply), std::move(output)};
    for (Stmt& fill : FillHalo()) panel.push_back(std::move(fill));
    body.push_back(For("panel", first, count, std::move(panel)));
    function_.body = Block(std::move(body));
    return std::move(function_);
  }

 private:
  int64_t RowBlocks() const { return CeilOf(c_.rows(), tiling_.rows); }
  int64_t ColumnBlocks() const { return CeilOf(c_.columns(), tiling_.columns); }
  int64_t Parts() const { return CeilOf(c_.panels(), tiling_.panels); }
  int64_t Groups() const { return c_.panel / (tiling_.tile_vectors * lanes_); }
  int64_t StoredInputs() const { return RoundUp(c_.size.inputs, 16); }
  int64_t Channels() const { return StoredInputs() / lanes_; }  // vectors of them
  // Scratch: [place][patch][channel], and the same of one panel's columns.
  int64_t PatchesStep() const { return tiling_.Patches() * StoredInputs() + kSkew; }
  int64_t SumsStep() const { return tiling_.Patches() * c_.panel + kSkew; }

  // Of a panel and a place, or of a place's column that is kept.
  int64_t WeightsStep() const { return c_.size.inputs * c_.panel; }

  TensorId Scratch(size_t stage, int64_t elements) {
    const TensorId tensor = c_.kernel.stages[stage].results[0].tensor;
    LoopBuffer& buffer = function_.buffers[tensor];
    buffer.written = true;
    buffer.elements = elements;
    PlaceInScratch(buffer, function_);
    return tensor;
  }

  Expr Patch() const { return Var("tile_row") * tiling_.columns + Var("tile_column"); }
  // The first of the result that the patch makes.
  Expr FirstRow() const { return (Var("row_block") * tiling_.rows + Var("tile_row")) * c_.m(); }
  Expr FirstColumn() const {
    return (Var("column_block") * tiling_.columns + Var("tile_column")) * c_.m();
  }
  // Only the last task of an axis that its blocks do not divide has patches too many.
  Stmt OverPatches(std::vector<Stmt> body) const {
    const auto count = [&](const char* block, int64_t size, int64_t all) {
      return Simplify(Min(Expr(size), Expr(all) - Var(block) * size), bounds_);
    };
    const Expr columns = count("column_block", tiling_.columns, c_.columns());
    return For("tile_row", 0, count("row_block", tiling_.rows, c_.rows()),
               {For("tile_column", 0, columns, std::move(body))});
  }

  // --- Input ------------------------------------------------------------------------------------

  const KernelTensor& Input() const { return c_.kernel.tensors[c_.anchor.input]; }
  Halo HaloOf(size_t axis) const {
    const Layout& layout = Input().layout;
    return layout.halo.empty() || layout.fill != 0 ? Halo{} : layout.halo[axis];
  }

  // Of a vector of channels at a row and a column, which may lie in the halo.
  Expr InputOffset(const Expr& row, const Expr& column) const {
    return Access(c_.kernel).Offset(
        c_.anchor.input, {Var(c_.nest.outer[0].name), Var("channel") * lanes_, row, column},
        bounds_);
  }
  Expr StepOf(const Expr& row, const Expr& column) const {
    return Simplify(InputOffset(row, column) - InputOffset(0, 0), bounds_);
  }

  // All of the patch lies in storage.
  Expr IsInside(size_t axis, const Expr& first) const {
    const Halo halo = HaloOf(axis);
    const Expr end = Input().shape[axis] + halo.after;
    return And(Le(Expr(-halo.before), first), Le(first + c_.patch(), end));
  }
  Expr Exists(size_t axis, const Expr& at) const {
    return And(Le(Expr(0), at), Lt(at, Input().shape[axis]));
  }

  TileView PatchesView() const {
    const Expr offset = Patch() * StoredInputs() + Var("channel") * lanes_;
    return {patches_, Simplify(offset, bounds_), {c_.patch() * PatchesStep(), PatchesStep(), 1}};
  }

  Stmt InputTile(TileView x) const {
    return Tile({.tile = std::string(kWinogradInputTile),
                 .params = {c_.m()},
                 .lanes = lanes_,
                 .operands = {std::move(x), PatchesView()}});
  }

  // A patch over the border, with zeros for what is beyond it.
  std::vector<Stmt> CopyPatch(TensorId border) const {
    const Expr row = Var("first_row") + Var("i"), column = Var("first_column") + Var("j");
    const Expr to = (Var("i") * c_.patch() + Var("j")) * lanes_;
    const Expr from = InputOffset(row, column);
    const DType dtype = function_.buffers[c_.anchor.input].dtype;
    Stmt copy = If(And(Exists(2, row), Exists(3, column)),
                   {Store(border, to, VectorLoad(c_.anchor.input, from, dtype, lanes_))},
                   {Store(border, to, InAllLanes(FloatConst(0), lanes_))});
    return {For("i", 0, c_.patch(), {For("j", 0, c_.patch(), {std::move(copy)})})};
  }

  Stmt TransformInput() {
    LoopBuffer made{.name = "border", .written = true, .elements = c_.places() * lanes_};
    PlaceInScratch(made, function_);
    const TensorId border = function_.buffers.Add(std::move(made));
    const Expr row = Var("first_row"), column = Var("first_column");
    const TileView x{c_.anchor.input, InputOffset(row, column), {StepOf(1, 0), StepOf(0, 1), 1}};
    std::vector<Stmt> edge = CopyPatch(border);
    edge.push_back(InputTile({border, 0, {c_.patch() * lanes_, lanes_, 1}}));
    std::vector<Stmt> body = {
        Let("first_row", Simplify(FirstRow() + c_.anchor.first_row, bounds_)),
        Let("first_column", Simplify(FirstColumn() + c_.anchor.first_column, bounds_)),
        If(And(IsInside(2, row), IsInside(3, column)), {InputTile(x)}, std::move(edge))};
    return For("channel", 0, Channels(), {OverPatches(std::move(body))});
  }

  // --- Products ---------------------------------------------------------------------------------

  Expr Accumulator() const { return VectorVar("acc", DType::kF32, lanes_); }

  Expr Place() const { return Var("a") * c_.patch() + Var("b"); }

  // Row or column `row` of the weights, of three that are `step` apart.
  Stmt Spread(const Expr& row, TileView kept, int64_t step, TileView to) const {
    kept.strides = {step, 1};
    to.strides = {1};
    return Tile({.tile = std::string(kWinogradWeightsTile),
                 .params = {c_.m()},
                 .lanes = lanes_,
                 .extents = {row, step / lanes_},
                 .operands = {std::move(kept), std::move(to)}});
  }

  // The sums of `rows` patches, for the columns of a group and a place.
  Stmt ProductTile(const Expr& first, int64_t rows) const {
    const int64_t inputs = c_.size.inputs, columns = tiling_.tile_vectors * lanes_;
    const int64_t split = SplitOfTile(rows, tiling_.tile_rows, tiling_.tile_vectors, tiling_.split);
    const Expr weights = Var("column") * WeightsStep() + Var("group") * columns;
    const Expr sums = Place() * SumsStep() + (first + Var("tile_patch")) * c_.panel +
                      Var("group") * columns + Var("tile_vector") * lanes_;
    TileFunctor method{.params = {{"tile_patch", DType::kI64},
                                  {"tile_vector", DType::kI64},
                                  {"acc", DType::kF32, lanes_}}};
    method.body = {Store(sums_, Simplify(sums, bounds_), Accumulator())};
    const Expr a = Place() * PatchesStep() + first * StoredInputs();
    return Tile(
        {.tile = "contract_tile",
         .params = {rows, tiling_.tile_vectors, split},
         .lanes = lanes_,
         .extents = {1, 1, 1, inputs},
         .operands = {TileView{patches_, Simplify(a, bounds_), {StoredInputs(), 0, 0, 0, 1}},
                      TileView{weights_, Simplify(weights, bounds_), {0, 0, 0, c_.panel, 1}},
                      TileObject{.name = "epilogue", .methods = {std::move(method)}}}});
  }

  // A row of places at a time, of whose weights three columns are kept; one that is made of these
  // lies behind them.
  absl::StatusOr<Stmt> Multiply() const {
    const int64_t step = WeightsStep();
    const Expr b = Var("b"), panel = Var("panel") * (kWinogradTaps * kWinogradTaps * step);
    const Expr is_made = And(Lt(Expr(1), b), Le(b, c_.m()));
    const auto tile = [&](const Expr& first, int64_t rows) { return ProductTile(first, rows); };
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> tiles,
                          RowTiles(tiling_.Patches(), tiling_.tile_rows, bounds_, tile));
    std::vector<Stmt> place = {
        If(is_made, {Spread(b, {weights_, 0}, step, {weights_, kWinogradTaps * step})}),
        Let("column", Select(is_made, kWinogradTaps, Min(b, kWinogradTaps - 1))),
        For("group", 0, Groups(), std::move(tiles))};
    return For("a", 0, c_.patch(),
               {Spread(Var("a"), {c_.anchor.weights, panel}, kWinogradTaps * step, {weights_, 0}),
                For("b", 0, c_.patch(), std::move(place))});
  }

  // --- Results ----------------------------------------------------------------------------------

  // The result's axes at channel `column` of row and column `h` and `w`.
  Nest EpilogueAt(const Expr& column, const Expr& h, const Expr& w) const {
    const std::vector<NestAxis>& axes = c_.nest.outer;
    const int64_t block = *axes.back().extent.AsInt();
    return StagesBehind(c_.nest,
                        {{axes[1].name, FloorDiv(column, block)},
                         {axes[2].name, h},
                         {axes[3].name, w},
                         {axes[4].name, Mod(column, block)}},
                        bounds_);
  }

  absl::StatusOr<TileObject> Epilogue() const {
    const Expr column = Var("panel") * c_.panel + Var("vector") * lanes_;
    const Expr h = FirstRow() + Var("down"), w = FirstColumn() + Var("across");
    const Nest nest = EpilogueAt(column + Var("lane"), h, w);
    Lanes lanes{.var = "lane", .first = 0, .count = lanes_};
    lanes.vectors[c_.nest.stages[0].results[0].variable] = Accumulator();
    LaneRange range{.first = column};
    if (c_.panels() * c_.panel != c_.stored_columns) range.stored = c_.stored_columns;
    std::optional<std::vector<Stmt>> body = PaddedStatements(nest, lanes, range);
    if (!body) return absl::FailedPreconditionError("the epilogue has no vector form");
    const Expr exists = Simplify(And(Lt(h, c_.size.height), Lt(w, c_.size.width)), bounds_);
    TileFunctor method{.params = {{"down", DType::kI64},
                                  {"across", DType::kI64},
                                  {"one", DType::kI64},
                                  {"acc", DType::kF32, lanes_}}};
    method.body = {If(exists, *std::move(body))};
    return TileObject{.name = "epilogue", .methods = {std::move(method)}};
  }

  absl::StatusOr<Stmt> TransformOutput() {
    bounds_.Add("down", 0, c_.m() - 1);
    bounds_.Add("across", 0, c_.m() - 1);
    AOTC_ASSIGN_OR_RETURN(TileObject epilogue, Epilogue());
    const Expr offset = Patch() * c_.panel + Var("vector") * lanes_;
    TileView sums{sums_, Simplify(offset, bounds_), {c_.patch() * SumsStep(), SumsStep(), 1}};
    std::vector<Stmt> tile = {Tile({.tile = std::string(kWinogradOutputTile),
                                    .params = {c_.m()},
                                    .lanes = lanes_,
                                    .operands = {std::move(sums), std::move(epilogue)}})};
    return For("vector", 0, c_.panel / lanes_, {OverPatches(std::move(tile))});
  }

  // --- Halo of the result -----------------------------------------------------------------------

  Stmt Fill(const Expr& row, const Expr& rows, const Expr& column, const Expr& columns) const {
    Nest nest =
        EpilogueAt(Var("panel") * c_.panel + Var("fill_lane"), Var("fill_row"), Var("fill_column"));
    const Expr lanes = Min(Expr(c_.panel), Expr(c_.stored_columns) - Var("panel") * c_.panel);
    return For("fill_row", row, rows,
               {For("fill_column", column, columns,
                    {For("fill_lane", 0, Simplify(lanes, bounds_), FillStatements(nest))})});
  }

  // Above and below by the first tasks of a row of them, left and right by those at the ends.
  std::vector<Stmt> FillHalo() {
    const Halo rows = c_.nest.outer[2].halo, columns = c_.nest.outer[3].halo;
    const int64_t height = c_.size.height, width = c_.size.width;
    const Expr first = Var("row_block") * (tiling_.rows * c_.m());
    const Expr count = Min(Expr(tiling_.rows * c_.m()), height - first);
    const Expr is_top = Eq(Var("row_block"), 0), is_left = Eq(Var("column_block"), 0);
    const Expr is_bottom = Eq(Var("row_block"), RowBlocks() - 1);
    const Expr is_right = Eq(Var("column_block"), ColumnBlocks() - 1);
    bounds_.Add("fill_row", -rows.before, height + rows.after - 1);
    bounds_.Add("fill_column", -columns.before, width + columns.after - 1);
    bounds_.Add("fill_lane", 0, c_.panel - 1);
    const int64_t all = columns.before + width + columns.after;
    std::vector<Stmt> fills;
    const auto add = [&](int64_t size, const Expr& condition, Stmt fill) {
      if (size > 0) fills.push_back(If(condition, {std::move(fill)}));
    };
    add(rows.before, And(is_top, is_left), Fill(-rows.before, rows.before, -columns.before, all));
    add(rows.after, And(is_bottom, is_left), Fill(height, rows.after, -columns.before, all));
    add(columns.before, is_left, Fill(first, count, -columns.before, columns.before));
    add(columns.after, is_right, Fill(first, count, width, columns.after));
    return fills;
  }

  const WinogradContraction& c_;
  const WinogradTiling tiling_;
  const int lanes_;
  Bounds bounds_;
  LoopFunction function_;
  TensorId patches_, weights_, sums_;
};

}  // namespace

absl::StatusOr<LoopFunction> ApplyWinogradSchedule(const WinogradContraction& contraction,
                                                   const Schedule& schedule, int lanes) {
  AOTC_ASSIGN_OR_RETURN(const WinogradTiling tiling,
                        WinogradTilingOf(contraction, schedule, lanes));
  return WinogradLoops(contraction, tiling, lanes).Build();
}

}  // namespace aotc
