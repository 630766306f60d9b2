// The loops of attention in one pass: queries into lanes, blocks of keys, results.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/lower/vectorize.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/attention.h"
#include "compiler/targets/cpu/row_tiles.h"

namespace aotc {
namespace {

constexpr double kLeast = -std::numeric_limits<double>::infinity();

class AttentionLoops {
 public:
  AttentionLoops(const Attention& a, const AttentionTiling& tiling, int lanes)
      : a_(a), tiling_(tiling), lanes_(lanes), bounds_(a.scores.bounds) {
    const Expr blocks = CeilDiv(Rows(), tiling_.block);
    bounds_.Add("row_block", 0, blocks - 1);
    bounds_.Add("first_row", 0, Rows() - 1);
    bounds_.Add("row_count", 1, tiling_.block);
    bounds_.Add("row", 0, tiling_.block - 1);
    bounds_.Add("block", 0, KeyBlocks() - 1);
    bounds_.Add("first_key", 0, a.keys - 1);
    bounds_.Add("key_count", 1, tiling_.keys);
    for (const char* name : {"tile", "rows_done", "rows_left", "in_tile"}) {
      bounds_.Add(name, 0, std::max(tiling_.keys, a.columns));
    }
    bounds_.Add("vector", 0, tiling_.vectors - 1);
    bounds_.Add("lane", 0, lanes_ - 1);
    bounds_.Add(a.depth_axis, 0, a.depth - 1);
  }

  absl::StatusOr<LoopFunction> Build() {
    Nest all = a_.result;
    for (LoopBuffer& buffer : all.buffers) {
      const bool is_param = buffer.place == BufferPlace::kParam;
      if (is_param && !IsParam(buffer.name)) buffer.place = BufferPlace::kScratch;
      if (buffer.place == BufferPlace::kScratch) buffer.written = true;  // it takes no memory
    }
    function_ = StartFunction(a_.kernel, all);
    queries_ = Scratch("queries", a_.depth * tiling_.block);
    weights_ = Scratch("weights", tiling_.keys * tiling_.block);
    sums_ = Scratch("weighted", a_.columns * tiling_.block);
    top_ = Scratch("largest", tiling_.block);
    total_ = Scratch("total", tiling_.block);
    shrink_ = Scratch("shrink", tiling_.block);
    std::vector<NestAxis> tasks(a_.scores.outer.begin(), a_.scores.outer.end() - 1);
    tasks[a_.row] = {.name = "row_block", .extent = CeilDiv(Rows(), tiling_.block)};
    function_.tasks = CountOf(tasks);
    std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
    body.push_back(Let("first_row", Var("row_block") * tiling_.block));
    if (!HasWholeBlocks()) {
      body.push_back(Let("row_count", Min(Expr(tiling_.block), Rows() - Var("first_row"))));
    }
    AOTC_ASSIGN_OR_RETURN(Stmt queries, PackQueries());
    body.push_back(std::move(queries));
    for (Stmt& stmt : Start()) body.push_back(std::move(stmt));
    AOTC_ASSIGN_OR_RETURN(Stmt keys, KeyLoop());
    body.push_back(std::move(keys));
    body.push_back(Results());
    function_.body = Block(std::move(body));
    return std::move(function_);
  }

 private:
  const Expr& Rows() const { return a_.rows().extent; }
  Expr KeyBlocks() const { return Simplify(CeilDiv(a_.keys, tiling_.keys), a_.scores.bounds); }
  bool HasWholeBlocks() const { return ProveDivisible(Rows(), tiling_.block, a_.scores.bounds); }
  bool HasWholeKeys() const { return ProveDivisible(a_.keys, tiling_.keys, a_.scores.bounds); }
  Expr RowCount() const { return HasWholeBlocks() ? Expr(tiling_.block) : Var("row_count"); }
  Expr KeyCount() const { return HasWholeKeys() ? Expr(tiling_.keys) : Var("key_count"); }

  bool IsParam(const std::string& name) const {
    for (const TensorId id : a_.kernel.params) {
      if (a_.kernel.tensors[id].name == name) return true;
    }
    return false;
  }

  TensorId Scratch(std::string name, int64_t elements) {
    while (std::ranges::find(function_.buffers, name, &LoopBuffer::name) !=
           function_.buffers.end()) {
      name += "_";
    }
    LoopBuffer buffer{.name = std::move(name), .written = true, .elements = elements};
    PlaceInScratch(buffer, function_);
    return function_.buffers.Add(std::move(buffer));
  }

  Expr At(TensorId buffer, const Expr& index) const {
    return VectorLoad(buffer, Simplify(index, bounds_), DType::kF32, lanes_);
  }
  Expr Floats(std::string_view name) const { return VectorVar(name, DType::kF32, lanes_); }
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

  std::vector<Stmt> Start() const {
    const Expr zero = InAllLanes(FloatConst(0), lanes_);
    const Expr least = InAllLanes(FloatConst(kLeast), lanes_);
    const Expr column = Var("column") * tiling_.block + Lane();
    return {For("vector", 0, tiling_.vectors,
                {Store(top_, Lane(), least), Store(total_, Lane(), zero),
                 For("column", 0, a_.columns, {Store(sums_, column, zero)})})};
  }

  // --- Blocks of keys ---------------------------------------------------------------------------

  absl::StatusOr<Stmt> KeyLoop() const {
    std::vector<Stmt> body = {Let("first_key", Var("block") * tiling_.keys)};
    if (!HasWholeKeys()) {
      body.push_back(Let("key_count", Min(Expr(tiling_.keys), a_.keys - Var("first_key"))));
    }
    const auto lets = static_cast<std::ptrdiff_t>(body.size());
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> scores, ScoreTiles());
    for (Stmt& stmt : scores) body.push_back(std::move(stmt));
    body.push_back(Softmax());
    AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> values, ValueTiles());
    for (Stmt& stmt : values) body.push_back(std::move(stmt));
    const Expr reached = IsReached();
    if (!reached.IsInt(1)) {
      std::vector<Stmt> inside(body.begin() + lets, body.end());
      body.erase(body.begin() + lets, body.end());
      body.push_back(If(reached, std::move(inside)));
    }
    return For("block", 0, KeyBlocks(), std::move(body));
  }

  // Whether a mask by position, such as keys up to the row, leaves any key of the block to any of
  // the rows: all weights of others are 0.
  Expr IsReached() const {
    const Expr& scores = a_.scores.stages.back().bodies[0];
    Expr reached = Bool(true);
    if (scores.op() != ExprOp::kSelect || !IsLeast(scores.arg(2))) return reached;
    std::vector<Expr> conditions = {scores.arg(0)};
    while (!conditions.empty()) {
      const Expr condition = conditions.back();
      conditions.pop_back();
      if (condition.op() == ExprOp::kAnd) {
        conditions.insert(conditions.end(), condition.args().begin(), condition.args().end());
      } else if (const Expr most = MostSlack(condition); most.valid()) {
        reached = And(reached, Le(Expr(0), most));
      }
    }
    return Simplify(reached, bounds_);
  }

  static bool IsLeast(const Expr& e) { return e.IsConst() && e->float_value == kLeast; }

  // The largest of b - a (or b - a - 1) over the block, for a condition a <= b (or a < b) whose
  // sides are affine in row and key; null for others.
  Expr MostSlack(const Expr& condition) const {
    const bool is_strict = condition.op() == ExprOp::kLt;
    if (condition.op() != ExprOp::kLe && !is_strict) return {};
    if (condition.arg(0).dtype() != DType::kI64) return {};
    const Expr slack = condition.arg(1) - condition.arg(0) - (is_strict ? 1 : 0);
    const std::string& row = a_.rows().name;
    const std::optional<Affine> affine = AsAffine(slack, {row, a_.key_axis}, a_.scores.bounds);
    if (!affine) return {};
    Expr most = affine->rest;
    for (const auto& [name, coefficient] : affine->coefficients) {
      const std::optional<int64_t> step = coefficient.AsInt();
      if (!step) return {};
      const bool is_row = name == row;
      const Expr first = Var(is_row ? "first_row" : "first_key");
      const Expr last = first + (is_row ? RowCount() : KeyCount()) - 1;
      most = most + (*step > 0 ? last : first) * *step;
    }
    return Simplify(most, bounds_);
  }

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

  Expr KeyOffset(const AttentionRows& rows) const {
    const Expr offset = Substitute(rows.offset, {{a_.rows().name, Var("first_row")}});
    return offset + Var("first_key") * rows.row_step;
  }

  // The block's weights against its largest score, and what of those before is left.
  Stmt Softmax() const {
    const Expr at = Simplify(Var("key") * tiling_.block + Lane(), bounds_);
    const Expr least = InAllLanes(FloatConst(kLeast), lanes_);
    const Expr top = Floats("top"), total = Floats("sum"), shrink = Floats("scale");
    // No score so far: those of a row that a mask takes out whole.
    const Expr none = Eq(top, least);
    const Expr zero = InAllLanes(FloatConst(0), lanes_);
    const Expr weight = Select(none, zero, Exp(At(weights_, at) - top));
    return For(
        "vector", 0, tiling_.vectors,
        {Declare("top", At(top_, Lane())),
         For("key", 0, KeyCount(), {Assign("top", Max(top, At(weights_, at)))}),
         Let("scale", Select(none, zero, Exp(At(top_, Lane()) - top))), Store(top_, Lane(), top),
         Store(shrink_, Lane(), shrink), Declare("sum", At(total_, Lane()) * shrink),
         For("key", 0, KeyCount(),
             {Let("weight", weight), Store(weights_, at, Floats("weight")),
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

  // --- Results ----------------------------------------------------------------------------------

  Stmt Results() const {
    Nest nest = a_.result;
    nest.bounds = bounds_;
    Rename(nest);
    nest.bounds.Add("column", 0, a_.columns - 1);
    FlatStage& first = nest.stages[0];
    const Expr column = Var("column") * tiling_.block + Var("row");
    first.bodies = {
        Div(Load(sums_, {column}, DType::kF32), Load(total_, {Var("row")}, DType::kF32))};
    first.reduce = {};
    std::vector<Stmt> body = {Let(a_.rows().name, Var("first_row") + Var("row"))};
    for (Stmt& stmt : PointLoopsFrom(nest, nest.outer.size() - 1, lanes_)) {
      body.push_back(std::move(stmt));
    }
    return For("row", 0, RowCount(), std::move(body));
  }

  // Gives the leading axes the names that the tasks know them by, all at once: names of one stage
  // may stand for other axes in another.
  void Rename(Nest& nest) const {
    Substitution names;
    for (size_t i = 0; i < nest.outer.size(); ++i) {
      const bool is_column = i + 1 == nest.outer.size();
      std::string name = is_column ? "column" : a_.scores.outer[i].name;
      names[nest.outer[i].name] = Var(name);
      nest.outer[i].name = std::move(name);
    }
    for (FlatStage& stage : nest.stages) {
      for (Expr& body : stage.bodies) body = Substitute(body, names);
      for (FlatResult& result : stage.results) {
        if (result.index.valid()) result.index = Substitute(result.index, names);
      }
    }
  }

  const Attention& a_;
  const AttentionTiling tiling_;
  const int lanes_;
  Bounds bounds_;
  LoopFunction function_;
  TensorId queries_, weights_, sums_, top_, total_, shrink_;
};

}  // namespace

absl::StatusOr<LoopFunction> ApplyAttention(const Attention& attention, const Schedule& schedule,
                                            int lanes) {
  AOTC_ASSIGN_OR_RETURN(const AttentionTiling tiling,
                        AttentionTilingOf(attention, schedule, lanes));
  return AttentionLoops(attention, tiling, lanes).Build();
}

}  // namespace aotc
