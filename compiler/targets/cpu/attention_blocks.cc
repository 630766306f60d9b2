#include "compiler/targets/cpu/attention_blocks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/support/status.h"

namespace aotc {

AttentionBlocks::AttentionBlocks(const Attention& a, const AttentionTiling& tiling, int lanes)
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
  bounds_.Add("lane", 0, lanes_ - 1);
  bounds_.Add(a.depth_axis, 0, a.depth - 1);
}

absl::StatusOr<LoopFunction> AttentionBlocks::Build() {
  Nest all = a_.result;
  for (LoopBuffer& buffer : all.buffers) {
    const bool is_param = buffer.place == BufferPlace::kParam;
    if (is_param && !IsParam(buffer.name)) buffer.place = BufferPlace::kScratch;
    if (buffer.place == BufferPlace::kScratch) buffer.written = true;  // it takes no memory
  }
  function_ = StartFunction(a_.kernel, all);
  const Sums sums = MakeScratch();
  std::vector<NestAxis> tasks(a_.scores.outer.begin(), a_.scores.outer.end() - 1);
  tasks[a_.row] = {.name = "row_block", .extent = CeilDiv(Rows(), tiling_.block)};
  function_.tasks = CountOf(tasks);
  std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
  body.push_back(Let("first_row", Var("row_block") * tiling_.block));
  if (!HasWholeBlocks()) {
    body.push_back(Let("row_count", Min(Expr(tiling_.block), Rows() - Var("first_row"))));
  }
  AOTC_ASSIGN_OR_RETURN(const std::vector<Stmt> start, Start());
  body.insert(body.end(), start.begin(), start.end());
  AOTC_ASSIGN_OR_RETURN(Stmt keys, KeyLoop());
  body.push_back(std::move(keys));
  body.push_back(Results(sums));
  function_.body = Block(std::move(body));
  return std::move(function_);
}

Expr AttentionBlocks::KeyBlocks() const {
  return Simplify(CeilDiv(a_.keys, tiling_.keys), a_.scores.bounds);
}
bool AttentionBlocks::HasWholeBlocks() const {
  return ProveDivisible(Rows(), tiling_.block, a_.scores.bounds);
}
bool AttentionBlocks::HasWholeKeys() const {
  return ProveDivisible(a_.keys, tiling_.keys, a_.scores.bounds);
}
Expr AttentionBlocks::RowCount() const {
  return HasWholeBlocks() ? Expr(tiling_.block) : Var("row_count");
}
Expr AttentionBlocks::KeyCount() const {
  return HasWholeKeys() ? Expr(tiling_.keys) : Var("key_count");
}

bool AttentionBlocks::IsParam(const std::string& name) const {
  return std::ranges::any_of(a_.kernel.params,
                             [&](TensorId id) { return a_.kernel.tensors[id].name == name; });
}

TensorId AttentionBlocks::Scratch(std::string name, int64_t elements) {
  while (std::ranges::find(function_.buffers, name, &LoopBuffer::name) != function_.buffers.end()) {
    name += "_";
  }
  LoopBuffer buffer{.name = std::move(name), .written = true, .elements = elements};
  PlaceInScratch(buffer, function_);
  return function_.buffers.Add(std::move(buffer));
}

Expr AttentionBlocks::At(TensorId buffer, const Expr& index) const {
  return VectorLoad(buffer, Simplify(index, bounds_), DType::kF32, lanes_);
}

Expr AttentionBlocks::KeyOffset(const AttentionRows& rows) const {
  const Expr offset = Substitute(rows.offset, {{a_.rows().name, Var("first_row")}});
  return offset + Var("first_key") * rows.row_step;
}

absl::StatusOr<Stmt> AttentionBlocks::KeyLoop() const {
  std::vector<Stmt> body = {Let("first_key", Var("block") * tiling_.keys)};
  if (!HasWholeKeys()) {
    body.push_back(Let("key_count", Min(Expr(tiling_.keys), a_.keys - Var("first_key"))));
  }
  AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> inside, KeyBlock());
  if (const Expr reached = IsReached(); !reached.IsInt(1)) {
    inside = {If(reached, std::move(inside))};
  }
  body.insert(body.end(), inside.begin(), inside.end());
  return For("block", 0, KeyBlocks(), std::move(body));
}

// Whether a mask by position, such as keys up to the row, leaves any key of the block to any of
// the rows: all weights of others are 0.
Expr AttentionBlocks::IsReached() const {
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

// The largest of b - a (or b - a - 1) over the block, for a condition a <= b (or a < b) whose
// sides are affine in row and key; null for others.
Expr AttentionBlocks::MostSlack(const Expr& condition) const {
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

Stmt AttentionBlocks::Results(const Sums& sums) const {
  Nest nest = a_.result;
  nest.bounds = bounds_;
  Rename(nest);
  nest.bounds.Add("column", 0, a_.columns - 1);
  FlatStage& first = nest.stages[0];
  const Expr column = Var("column") * tiling_.block + Var("row");
  first.bodies = {
      Div(Load(sums.weighted, {column}, DType::kF32), Load(sums.total, {Var("row")}, DType::kF32))};
  first.reduce = {};
  std::vector<Stmt> body = {Let(a_.rows().name, Var("first_row") + Var("row"))};
  for (Stmt& stmt : PointLoopsFrom(nest, nest.outer.size() - 1, lanes_)) {
    body.push_back(std::move(stmt));
  }
  return For("row", 0, RowCount(), std::move(body));
}

// Gives the leading axes the names that the tasks know them by, all at once: names of one stage
// may stand for other axes in another.
void AttentionBlocks::Rename(Nest& nest) const {
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

absl::StatusOr<LoopFunction> ApplyAttention(const Attention& attention, const Schedule& schedule,
                                            int lanes) {
  AOTC_ASSIGN_OR_RETURN(const AttentionTiling tiling,
                        AttentionTilingOf(attention, schedule, lanes));
  return tiling.block == 1 ? AttentionOfRow(attention, tiling, lanes)
                           : AttentionOfLanes(attention, tiling, lanes);
}

}  // namespace aotc
