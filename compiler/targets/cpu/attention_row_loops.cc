// Attention of single rows: keys are the lanes of the softmax, and both products take keys and
// values as they lie in memory, each once.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/targets/cpu/attention_blocks.h"

namespace aotc {
namespace {

class RowAttention : public AttentionBlocks {
 public:
  RowAttention(const Attention& a, const AttentionTiling& tiling, int lanes)
      : AttentionBlocks(a, tiling, lanes),
        padded_keys_(RoundUp(tiling.keys, lanes)),
        padded_columns_(RoundUp(a.columns, lanes)) {
    bounds_.Add("key", 0, padded_keys_ - 1);
    bounds_.Add("vector", 0, std::max(padded_keys_, padded_columns_) / lanes - 1);
  }

 protected:
  Sums MakeScratch() override {
    query_ = Scratch("query", a_.depth);
    weights_ = Scratch("weights", padded_keys_);
    part_ = Scratch("part", padded_columns_);
    sums_ = Scratch("weighted", padded_columns_);
    top_ = Scratch("largest", 1);
    total_ = Scratch("total", 1);
    return {sums_, total_};
  }

  Statements Start() const override {
    const Expr query = Simplify(Substitute(a_.query, Row()), bounds_);
    const Expr depth = Var(a_.depth_axis);
    return std::vector<Stmt>{
        For(a_.depth_axis, 0, a_.depth, {Store(query_, depth, query)}),
        Store(top_, 0, FloatConst(kLeast)), Store(total_, 0, FloatConst(0)),
        // Lanes behind the last key are computed with the others.
        For("vector", 0, padded_keys_ / lanes_, {Store(weights_, Lane(), InLanes(0))}),
        OverColumns({Store(part_, Lane(), InLanes(0)), Store(sums_, Lane(), InLanes(0))})};
  }

  Expr LeastTop() const override { return Real(top_); }

  Statements KeyBlock() const override {
    const AttentionRows &key = a_.key, &value = a_.value;
    const AttentionRows keys = {key.tensor, KeyOffset(key), key.row_step, key.step};
    const AttentionRows columns = {value.tensor, KeyOffset(value), value.step, value.row_step};
    std::vector<Stmt> body = {Product(keys, query_, weights_, KeyCount(), a_.depth)};
    for (Stmt& stmt : Scores()) body.push_back(std::move(stmt));
    for (Stmt& stmt : Softmax()) body.push_back(std::move(stmt));
    body.push_back(Product(columns, weights_, part_, a_.columns, KeyCount()));
    const Expr scale = InAllLanes(Var("scale", DType::kF32), lanes_);
    body.push_back(
        OverColumns({Store(sums_, Lane(), At(sums_, Lane()) * scale + At(part_, Lane()))}));
    return body;
  }

 private:
  Substitution Row() const { return {{a_.rows().name, Var("first_row")}}; }
  static Expr Real(TensorId buffer) { return Load(buffer, {Expr(0)}, DType::kF32); }
  Expr Lane() const { return Var("vector") * lanes_; }
  Stmt OverColumns(std::vector<Stmt> body) const {
    return For("vector", 0, padded_columns_ / lanes_, std::move(body));
  }
  Stmt OverKeys(std::vector<Stmt> body) const {
    return For("vector", 0, Simplify(CeilDiv(KeyCount(), lanes_), bounds_), std::move(body));
  }

  // y[n] = sum over k of x[k] * matrix(n, k): rows of the matrix along n, its columns along k.
  Stmt Product(const AttentionRows& matrix, TensorId x, TensorId y, const Expr& columns,
               const Expr& terms) const {
    const SchedulePart part = RowProductPart(matrix, tiling_.width);
    const Expr& row_step = matrix.step.IsInt(1) ? matrix.row_step : matrix.step;
    TileCall call{.tile = part.by, .params = part.params, .extents = {1, columns, terms}};
    call.operands = {TileView{x, 0, {terms, 1}},
                     TileView{matrix.tensor, Simplify(matrix.offset, bounds_), {row_step, 1}},
                     TileView{y, 0, {columns, 1}}};
    return Tile(std::move(call));
  }

  // What is made of the products in front of the softmax: in vectors of keys, else one by one.
  // Behind the last key there are scores of no weight.
  std::vector<Stmt> Scores() const {
    std::vector<Stmt> body;
    if (a_.scores.stages.size() > 1) {
      const Expr whole = Simplify(FloorDiv(KeyCount(), lanes_), bounds_);
      const Expr left = Simplify(Mod(KeyCount(), lanes_), bounds_);
      const std::optional<std::vector<Stmt>> all = ScoreVector({});
      const std::optional<std::vector<Stmt>> some = ScoreVector(left);
      if (all && some) {
        body.push_back(For("vector", 0, whole, *all));
        std::vector<Stmt> last = {Let("vector", whole)};
        last.insert(last.end(), some->begin(), some->end());
        if (!left.IsInt(0)) body.push_back(If(Lt(Expr(0), left), std::move(last)));
      } else {
        body.push_back(For("key", 0, KeyCount(), EachScore()));
      }
    }
    const Expr padded = Simplify(CeilDiv(KeyCount(), lanes_) * lanes_, bounds_);
    if (!ProveEqual(padded, KeyCount(), bounds_)) {
      const Expr count = Simplify(padded - KeyCount(), bounds_);
      body.push_back(
          For("key", KeyCount(), count, {Store(weights_, Var("key"), FloatConst(kLeast))}));
    }
    return body;
  }

  // The stages behind the product as variables, which is in `product`, at a key of the block.
  Nest StagesAt(const Expr& key) const {
    Nest points = a_.scores;
    for (FlatStage& stage : points.stages) {
      for (FlatResult& result : stage.results) result.index = {};
    }
    Substitution at = Row();
    at[a_.key_axis] = Var("first_key") + key;
    return StagesBehind(points, at, bounds_);
  }
  const std::string& ProductName() const { return a_.scores.stages[0].results[0].variable; }

  std::optional<std::vector<Stmt>> ScoreVector(const Expr& active) const {
    const Nest nest = StagesAt(Lane() + Var("lane"));
    Lanes lanes{.var = "lane", .first = 0, .count = lanes_, .active = active};
    lanes.vectors[ProductName()] = Floats("acc");
    std::optional<std::vector<Stmt>> body = PointStatements(nest, &lanes);
    if (!body) return std::nullopt;
    body->insert(body->begin(), Let("acc", At(weights_, Lane())));
    const FlatResult& last = nest.stages.back().results[0];
    body->push_back(Store(weights_, Lane(), Floats(last.variable)));
    return body;
  }

  std::vector<Stmt> EachScore() const {
    const Nest nest = StagesAt(Var("key"));
    std::vector<Stmt> body = *PointStatements(nest, nullptr);
    body.insert(body.begin(), Let(ProductName(), Load(weights_, {Var("key")}, DType::kF32)));
    const FlatResult& last = nest.stages.back().results[0];
    body.push_back(Store(weights_, Var("key"), Var(last.variable, DType::kF32)));
    return body;
  }

  // The block's weights against its largest score, and what of those before is left.
  std::vector<Stmt> Softmax() const {
    const Expr top = Var("top", DType::kF32), shift = Var("shift", DType::kF32);
    const Expr scale = Var("scale", DType::kF32);
    const Expr most = Floats("most"), sum = Floats("sum"), weight = Floats("weight");
    const Expr at = At(weights_, Lane());
    const auto lane = [](ExprOp op, const Expr& vector) {
      return Expr::Make({.op = op, .dtype = DType::kF32, .args = {vector}});
    };
    // No score so far: a mask takes out all keys, whose weights are 0.
    const Expr finite = Select(Eq(top, FloatConst(kLeast)), FloatConst(0), top);
    return {
        Declare("most", InLanes(kLeast)),
        OverKeys({Assign("most", Max(at, most))}),
        Let("top", Max(Real(top_), lane(ExprOp::kLaneMax, most))),
        Let("shift", finite),
        Let("scale", Exp(Real(top_) - shift)),
        Store(top_, 0, top),
        Declare("sum", InLanes(0)),
        OverKeys({Let("weight", Exp(at - InAllLanes(shift, lanes_))),
                  Store(weights_, Lane(), weight), Assign("sum", sum + weight)}),
        Store(total_, 0, Real(total_) * scale + lane(ExprOp::kLaneSum, sum)),
    };
  }

  const int64_t padded_keys_, padded_columns_;
  TensorId query_, weights_, part_, sums_, top_, total_;
};

}  // namespace

absl::StatusOr<LoopFunction> AttentionOfRow(const Attention& a, const AttentionTiling& tiling,
                                            int lanes) {
  return RowAttention(a, tiling, lanes).Build();
}

}  // namespace aotc
