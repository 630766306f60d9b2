// Of loops what they stack: how many values there may be and were, their type and axis.
#include <algorithm>
#include <utility>

#include "compiler/canonicalize/control_values.h"
#include "compiler/canonicalize/declared_type.h"
#include "compiler/canonicalize/infer_repeat.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kBody = "body";

}  // namespace

// The one value that there is to stack.
void RepeatInference::StackOne(ValueId old_output, ValueId item, int64_t axis) {
  Graph& graph = rebuilder_.graph();
  ValueType type = TypeOf(item);
  if (IsKnownType(type)) {
    const auto rank = static_cast<int64_t>(type.dims.size()) + 1;
    if (axis < -rank || axis >= rank) ComplainOfAxis(axis, rank);
    axis = std::clamp(axis < 0 ? axis + rank : axis, int64_t{0}, rank - 1);
    type.dims.insert(type.dims.begin() + axis, Expr(1));
  }
  const ValueId place =
      graph.AddConstant(StrCat(graph.values[item].name, "_axes"), Constant::Ints({axis}));
  rebuilder_.Replace(old_output,
                     rebuilder_.Emit("Unsqueeze", {item, place}, {}, std::move(type), node_));
}

void RepeatInference::ComplainOfAxis(int64_t axis, int64_t rank) const {
  Complain(
      AOTC_REFUSAL(InvalidArgument,
                   StrCat("axis ", axis, " of what it stacks is out of range for rank ", rank)));
}

// A round more than there may be shows that there are too many; a count that is greater does not,
// as the condition may end the loop before.
void RepeatInference::BoundRounds() {
  const Graph& old = rebuilder_.old_graph();
  for (size_t j = 0; j < form_.stacked; ++j) {
    const ValueId stacked = node_.outputs[form_.carried + j];
    if (!stacked.valid()) continue;
    const auto limit = old.values[stacked].limits.find(0);
    if (limit == old.values[stacked].limits.end()) continue;
    if (trip_.valid() && limit->second.declared) continue;  // what a model declares may be stale
    most_rounds_ = std::min(most_rounds_.value_or(INT32_MAX), limit->second.most);
  }
  if (!most_rounds_) return;
  Graph& graph = rebuilder_.graph();
  const Bounds bounds = BoundsOf(graph.symbols);
  if (trip_.valid() && Prove(Le(*count_, *most_rounds_), bounds) == true) {
    most_rounds_.reset();
    return;
  }
  const Expr one_more(*most_rounds_ + 1);
  given_trip_ = {.value = trip_, .count = count_};
  const Expr trip = count_ ? Simplify(Min(*count_, one_more), bounds) : one_more;
  if (const std::optional<int64_t> number = trip.AsInt()) {
    trip_ = graph.AddConstant("most_rounds", Constant::SplatInt(DType::kI64, {}, *number));
  } else {
    trip_ = rebuilder_.Emit("Elements", {}, {}, TensorType(DType::kI64, {}), node_);
    graph.values[trip_].elements = {trip};
  }
  count_ = one_more;
}

// As nothing but the count ends the loop.
void RepeatInference::RestoreCount() {
  trip_ = given_trip_.value;
  count_ = given_trip_.count;
  most_rounds_.reset();
}

std::optional<Expr> RepeatInference::MostRounds(NodeId copy, size_t j) {
  const SizeScope scope = {.region = rebuilder_.region(), .bounded = sizes_.bounded};
  const OpenSize size = {.output = form_.carried + j, .size = Max(*count_, 0)};
  const absl::StatusOr<Expr> rounds =
      SettledSize(rebuilder_.graph(), copy, size, scope, diagnostics_);
  if (rounds.ok()) return *rounds;
  Complain(rounds.status());
  return std::nullopt;
}

void RepeatInference::LearnRounds(NodeId copy, size_t j, const Expr& most) {
  Graph& graph = rebuilder_.graph();
  const ValueId rounds = graph.nodes[copy].outputs[0];
  const int64_t end = std::max<int64_t>(RangeOf(most, BoundsOf(graph.symbols)).max, 0);
  const ValueId stacked = graph.nodes[copy].outputs[form_.carried + j];
  const std::string name = graph.values[most_rounds_ ? stacked : rounds].name;
  const Expr size = AddSymbol(graph, {.name = most_rounds_ ? StrCat(name, ":0") : name,
                                      .min = 0,
                                      .max = most_rounds_.value_or(end),
                                      .computed = true});
  if (!most.IsConst()) {
    graph.symbols.back().checks.push_back(
        {Le(size, most), "a loop had more rounds than its count"});
  }
  rounds_ = rebuilder_.Emit(kDefineSizes, {rounds}, {}, TensorType(DType::kI64, {}), node_);
  graph.values[rounds_].elements = {size};
}

void RepeatInference::Shorten(ValueId old_output) {
  Graph& graph = rebuilder_.graph();
  const ValueId all = rebuilder_.Mapped(old_output);
  const std::string name = graph.values[all].name;
  graph.Rename(all, StrCat(name, "_room"));
  const ValueId end =
      rebuilder_.Emit("Elements", {}, {}, TensorType(DType::kI64, {Expr(1)}), node_);
  const std::vector<Expr> rounds = *graph.values[rounds_].elements;
  graph.values[end].elements = rounds;
  const Prefix prefix = {.name = name, .axis = 0, .end = end, .size = rounds.front()};
  rebuilder_.Replace(old_output, EmitPrefix(rebuilder_, node_, all, prefix));
}

void RepeatInference::TypeStacked(NodeId copy, size_t j, const Expr& rounds) {
  Graph& graph = rebuilder_.graph();
  const ValueId output = graph.nodes[copy].outputs[form_.carried + j];
  const RegionId body = graph.nodes[copy].regions.at(kBody);
  const ValueId item = graph.regions[body].outputs[form_.carried + j];
  ValueType type = TypeOf(item);
  if (!IsKnownType(type)) return;
  for (Expr& dim : type.dims) {
    dim = Simplify(dim, BoundsOf(graph.symbols));
    if (!NamesAny(dim, SizesOfRegion(graph, body))) continue;
    return Complain(
        AOTC_REFUSAL(Unimplemented, StrCat("stacks values of ", PrintType(type),
                                           ", whose sizes differ from one iteration to the next")),
        "carry a tensor that grows instead");
  }
  if (IsSubByte(type.dtype)) {
    return Complain(
        AOTC_REFUSAL(Unimplemented, StrCat("stacks elements of type ", DTypeName(type.dtype),
                                           ", several of which share a byte")),
        "cast what it stacks to a type of 8 bits or more");
  }
  type.dims.insert(type.dims.begin(), rounds);
  const std::vector<int64_t> axes = node_.attributes.Ints(kStackAxes);
  const int64_t axis = axes.empty() ? 0 : axes[j];
  const auto rank = static_cast<int64_t>(type.dims.size());
  if (axis < -rank || axis >= rank) {
    return ComplainOfAxis(axis, rank);
  }
  const std::optional<int64_t> most = MaxElements(type.dims, BoundsOf(graph.symbols));
  if (!most || *most > kMaxElements) {
    return Complain(AOTC_REFUSAL(InvalidArgument, StrCat("stacks values to ", PrintType(type),
                                                         ", which is too large for any machine")));
  }
  const bool is_first = axis == 0 || axis == -rank;
  if (is_first && !rounds_.valid()) {
    ReplaceDeclaredType(graph.values[output], std::move(type), diagnostics_);
    return;
  }
  graph.values[output].type = std::move(type);
  if (rounds_.valid()) Shorten(node_.outputs[form_.carried + j]);
  if (is_first) return;
  MoveStackedAxis(node_.outputs[form_.carried + j], axis < 0 ? axis + rank : axis);
}

// From axis 0 to `axis`.
void RepeatInference::MoveStackedAxis(ValueId old_output, int64_t axis) {
  Graph& graph = rebuilder_.graph();
  const ValueId stacked = rebuilder_.Mapped(old_output);
  graph.Rename(stacked, StrCat(graph.values[stacked].name, "_stacked"));
  ValueType type = TypeOf(stacked);
  std::vector<int64_t> perm;
  for (int64_t d = 1; d < static_cast<int64_t>(type.dims.size()); ++d) perm.push_back(d);
  perm.insert(perm.begin() + axis, 0);
  std::rotate(type.dims.begin(), type.dims.begin() + 1, type.dims.begin() + axis + 1);
  Attributes attributes;
  attributes.Set("perm", std::move(perm));
  rebuilder_.Replace(old_output, rebuilder_.Emit("Transpose", {stacked}, std::move(attributes),
                                                 std::move(type), node_));
}

}  // namespace aotc
