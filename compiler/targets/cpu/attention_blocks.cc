#include "compiler/targets/cpu/attention_blocks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/support/status.h"
#include "compiler/targets/attention_reach.h"

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
  AOTC_ASSIGN_OR_RETURN(const std::vector<Stmt> keys, KeyLoop());
  body.insert(body.end(), keys.begin(), keys.end());
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

// Over the blocks that a mask by position leaves some key of to any of the rows.
absl::StatusOr<std::vector<Stmt>> AttentionBlocks::KeyLoop() const {
  std::vector<Stmt> body = {Let("first_key", Var("block") * tiling_.keys)};
  if (!HasWholeKeys()) {
    body.push_back(Let("key_count", Min(Expr(tiling_.keys), a_.keys - Var("first_key"))));
  }
  AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> inside, KeyBlock());
  if (std::optional<std::vector<Stmt>> unless_hidden = UnlessHidden(inside)) {
    inside = *std::move(unless_hidden);
  }
  body.insert(body.end(), inside.begin(), inside.end());
  const KeyRange reached = ReachedKeys(a_, Var("first_row"), RowCount());
  const Expr first = Simplify(FloorDiv(reached.begin, tiling_.keys), bounds_);
  const Expr end = Simplify(CeilDiv(reached.end, tiling_.keys), bounds_);
  if (first.IsInt(0) && Same(end, KeyBlocks()))
    return std::vector<Stmt>{For("block", 0, end, std::move(body))};
  return std::vector<Stmt>{Let("first_block", first), Let("end_block", end),
                           For("block", Var("first_block"),
                               Max(Var("end_block") - Var("first_block"), 0), std::move(body))};
}

// The block, left out where a mask of elements hides all of it: for each row, until one sees a key,
// whether it sees any, in vectors of keys. Nothing where there is no such mask, or none in vectors.
std::optional<std::vector<Stmt>> AttentionBlocks::UnlessHidden(
    const std::vector<Stmt>& block) const {
  const std::optional<MaskOfElements> mask = ReadMaskOfElements(a_);
  if (!mask) return std::nullopt;
  Bounds bounds = bounds_;
  bounds.Add("strip", 0, CeilDiv(tiling_.keys, lanes_) - 1);
  const Expr row = Simplify(Var("first_row") + Var("row"), bounds);
  const Expr key = Var("first_key") + Var("strip") * lanes_ + Var("lane");
  const Expr seen = Substitute(mask->seen, {{a_.rows().name, row}, {a_.key_axis, key}});
  const auto note = [&](const Expr& active) {
    const Expr exists = active.valid() ? Lt(Var("lane"), active) : Bool(true);
    const Expr noted =
        Select(Simplify(And(exists, seen), bounds), FloatConst(1), Var("seen", DType::kF32));
    Lanes lanes{.var = "lane", .first = 0, .count = lanes_, .active = active};
    lanes.vectors["seen"] = Floats("seen");
    return VectorizeExpr(noted, lanes, bounds);
  };
  const Expr whole = Simplify(FloorDiv(KeyCount(), lanes_), bounds);
  const Expr left = Simplify(Mod(KeyCount(), lanes_), bounds);
  const std::optional<Expr> all = note({}), some = note(left);
  if (!all || !some) return std::nullopt;
  const Expr is_seen =
      Lt(FloatConst(0),
         Expr::Make({.op = ExprOp::kLaneMax, .dtype = DType::kF32, .args = {Floats("seen")}}));
  std::vector<Stmt> look = {For("strip", 0, whole, {Assign("seen", *all)})};
  if (!left.IsInt(0)) {
    look.push_back(If(Lt(Expr(0), left), {Let("strip", whole), Assign("seen", *some)}));
  }
  if (UsesVar(seen, "row")) look = {For("row", 0, RowCount(), {If(Not(is_seen), std::move(look))})};
  std::vector<Stmt> result = {Declare("seen", InLanes(0))};
  result.insert(result.end(), look.begin(), look.end());
  result.push_back(If(Or(is_seen, Not(IsFarBelow(mask->hidden, LeastTop()))), block));
  return result;
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
