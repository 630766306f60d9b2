// Attention of blocks of rows, which are the lanes.
#include <optional>
#include <string>
#include <utility>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/attention_blocks.h"
#include "compiler/targets/cpu/row_tiles.h"

namespace aotc {
namespace {

class LaneAttention : public AttentionBlocks {
 public:
  LaneAttention(const Attention& a, const AttentionTiling& tiling, int lanes)
      : AttentionBlocks(a, tiling, lanes) {
    bounds_.Add("vector", 0, tiling_.vectors - 1);
  }

 protected:
  Sums MakeScratch() override {
    queries_ = Scratch("queries", a_.depth * tiling_.block);
    weights_ = Scratch("weights", tiling_.keys * tiling_.block);
    sums_ = Scratch("weighted", a_.columns * tiling_.block);
    top_ = Scratch("largest", tiling_.block);
    total_ = Scratch("total", tiling_.block);
    shrink_ = Scratch("shrink", tiling_.block);
    return {sums_, total_};
  }

  Statements Start() const override {
    AOTC_ASSIGN_OR_RETURN(Stmt queries, PackQueries());
    const Expr column = Var("column") * tiling_.block + Lane();
    return std::vector<Stmt>{
        std::move(queries),
        For("vector", 0, tiling_.vectors,
            {Store(top_, Lane(), InLanes(kLeast)), Store(total_, Lane(), InLanes(0)),
             For("column", 0, a_.columns, {Store(sums_, column, InLanes(0))})})};
  }

  Expr LeastTop() const override {
    Expr least = At(top_, 0);
    for (int64_t v = 1; v < tiling_.vectors; ++v) least = Min(least, At(top_, v * lanes_));
    return Expr::Make({.op = ExprOp::kLaneMin, .dtype = DType::kF32, .args = {least}});
  }

  Statements KeyBlock() const override {
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> body, ScoreTiles());
    for (Stmt& largest : Largest()) body.push_back(std::move(largest));
    body.push_back(Softmax());
    AOTC_ASSIGN_OR_RETURN(const std::vector<Stmt> values, ValueTiles());
    body.insert(body.end(), values.begin(), values.end());
    return body;
  }

 private:
  // Of a vector of rows.
  Expr Lane() const { return Var("vector") * lanes_; }

  // Lanes along the rows of vector `vector`: those beyond the last row are not read.
  Lanes RowLanes(const Expr& vector) const {
    Lanes lanes{.var = "lane", .first = 0, .count = lanes_};
    if (!HasWholeBlocks()) {
      const Expr left = RowCount() - vector * lanes_;
      lanes.active = Min(Max(left, 0), Expr(lanes_));
    }
    return lanes;
  }
  Substitution RowAt(const Expr& vector) const {
    return {{a_.rows().name, Var("first_row") + vector * lanes_ + Var("lane")}};
  }

  // --- Queries ----------------------------------------------------------------------------------

  absl::StatusOr<Stmt> PackQueries() const {
    const Expr query = Simplify(Substitute(a_.query, RowAt(Var("vector"))), bounds_);
    std::optional<Expr> rows = VectorizeExpr(query, RowLanes(Var("vector")), bounds_);
    if (!rows) return absl::FailedPreconditionError("queries have no vector form");
    if (rows->lanes() == 1) rows = InAllLanes(*rows, lanes_);
    const Expr index = Var(a_.depth_axis) * tiling_.block + Lane();
    return For(a_.depth_axis, 0, a_.depth,
               {For("vector", 0, tiling_.vectors, {Store(queries_, index, *rows)})});
  }

  // --- Blocks of keys ---------------------------------------------------------------------------

  absl::StatusOr<std::vector<Stmt>> ScoreTiles() const {
    return RowTiles(KeyCount(), tiling_.score_rows, bounds_,
                    [&](const Expr& first, int64_t rows) { return ScoreTile(first, rows); });
  }

  // Sums over `steps` of rows as they lie times what is packed.
  TileCall TileOf(int64_t rows, TileView from, const Expr& steps, TensorId packed) const {
    from.offset = Simplify(from.offset, bounds_);
    return {.tile = "contract_tile",
            .params = {rows, tiling_.vectors, 1},
            .lanes = lanes_,
            .extents = {1, 1, 1, steps},
            .operands = {std::move(from), TileView{packed, 0, {0, 0, 0, tiling_.block, 1}}}};
  }

  std::vector<FunctorParam> TileParams(const char* row) const {
    return {{row, DType::kI64}, {"vector", DType::kI64}, {"acc", DType::kF32, lanes_}};
  }

  // Scores of `rows` keys, with what is made of them in front of the softmax.
  absl::StatusOr<Stmt> ScoreTile(const Expr& first, int64_t rows) const {
    const Expr key = first + Var("in_tile");
    Nest points = a_.scores;
    for (FlatStage& stage : points.stages) {
      for (FlatResult& result : stage.results) result.index = {};  // they stay variables
    }
    Substitution at = RowAt(Var("vector"));
    at[a_.key_axis] = Var("first_key") + key;
    const Nest nest = StagesBehind(points, at, bounds_);
    Lanes lanes = RowLanes(Var("vector"));
    lanes.vectors[points.stages[0].results[0].variable] = Floats("acc");
    std::optional<std::vector<Stmt>> body = PointStatements(nest, &lanes);
    if (!body) return absl::FailedPreconditionError("scores have no vector form");
    const Expr value =
        nest.stages.empty() ? Floats("acc") : Floats(nest.stages.back().results[0].variable);
    body->push_back(Store(weights_, Simplify(key * tiling_.block + Lane(), bounds_), value));
    const AttentionRows& keys = a_.key;
    const TileView from{
        keys.tensor, KeyOffset(keys) + first * keys.row_step, {keys.row_step, 0, 0, 0, keys.step}};
    TileCall call = TileOf(rows, from, a_.depth, queries_);
    TileFunctor method{.params = TileParams("in_tile"), .body = *std::move(body)};
    call.operands.push_back(TileObject{.name = "epilogue", .methods = {std::move(method)}});
    return Tile(std::move(call));
  }

  // The largest scores so far, in place of factors that come after them. A maximum waits for the
  // one before: those of all vectors go side by side.
  std::vector<Stmt> Largest() const {
    std::vector<Stmt> begin, step, end;
    for (int64_t v = 0; v < tiling_.vectors; ++v) {
      const std::string name = StrCat("top_", v);
      const Expr score = At(weights_, Var("key") * tiling_.block + v * lanes_);
      begin.push_back(Declare(name, At(top_, v * lanes_)));
      step.push_back(Assign(name, Max(score, Floats(name))));
      end.push_back(Store(shrink_, v * lanes_, Floats(name)));
    }
    begin.push_back(For("key", 0, KeyCount(), std::move(step)));
    begin.insert(begin.end(), end.begin(), end.end());
    return begin;
  }

  // The block's weights against its largest score, and what of those before is left.
  Stmt Softmax() const {
    const Expr at = Simplify(Var("key") * tiling_.block + Lane(), bounds_);
    const Expr top = Floats("top"), total = Floats("sum"), least = InLanes(kLeast);
    // No score so far: those of a row that a mask takes out whole, whose weights are 0.
    const Expr finite = Select(Eq(At(shrink_, Lane()), least), InLanes(0), At(shrink_, Lane()));
    return For(
        "vector", 0, tiling_.vectors,
        {Let("top", finite), Let("scale", Exp(At(top_, Lane()) - top)),
         Store(top_, Lane(), At(shrink_, Lane())), Store(shrink_, Lane(), Floats("scale")),
         Declare("sum", At(total_, Lane()) * Floats("scale")),
         For("key", 0, KeyCount(),
             {Let("weight", Exp(At(weights_, at) - top)), Store(weights_, at, Floats("weight")),
              Assign("sum", total + Floats("weight"))}),
         Store(total_, Lane(), total)});
  }

  absl::StatusOr<std::vector<Stmt>> ValueTiles() const {
    return RowTiles(a_.columns, tiling_.value_rows, bounds_,
                    [&](const Expr& first, int64_t rows) { return ValueTile(first, rows); });
  }

  // The block's part of `rows` columns of the values.
  absl::StatusOr<Stmt> ValueTile(const Expr& first, int64_t rows) const {
    const Expr index =
        Simplify((first + Var("in_tile")) * tiling_.block + Var("vector") * lanes_, bounds_);
    const AttentionRows& values = a_.value;
    const TileView from{values.tensor,
                        KeyOffset(values) + first * values.step,
                        {values.step, 0, 0, 0, values.row_step}};
    TileCall call = TileOf(rows, from, KeyCount(), weights_);
    TileFunctor store{.params = TileParams("in_tile"),
                      .body = {Store(sums_, index, Floats("acc"))}};
    TileFunctor initial{.method = "initial",
                        .params = {{"in_tile", DType::kI64}, {"vector", DType::kI64}},
                        .result = At(sums_, index) * At(shrink_, Var("vector") * lanes_)};
    call.operands.push_back(
        TileObject{.name = "epilogue", .methods = {std::move(store), std::move(initial)}});
    return Tile(std::move(call));
  }

  TensorId queries_, weights_, sums_, top_, total_, shrink_;
};

}  // namespace

absl::StatusOr<LoopFunction> AttentionOfLanes(const Attention& a, const AttentionTiling& tiling,
                                              int lanes) {
  return LaneAttention(a, tiling, lanes).Build();
}

}  // namespace aotc
