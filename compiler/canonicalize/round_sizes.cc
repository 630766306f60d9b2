#include "compiler/canonicalize/round_sizes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/canonicalize/control_values.h"
#include "compiler/canonicalize/size_sources.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/expr_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;  // of a bound that is worth deriving

}  // namespace

RoundSizes::RoundSizes(SizeWalk& sizes, Rebuilder& rebuilder, const Node& node)
    : sizes_(sizes),
      rebuilder_(rebuilder),
      node_(node),
      old_body_(rebuilder.old_graph().regions[node.regions.at("body")]) {}

RoundSizes::Growth RoundSizes::GrowthOf(size_t k) const {
  Growth growth;
  const std::vector<int64_t> all = node_.attributes.Ints(kGrowth);
  for (size_t i = 0; i + 3 < all.size(); i += 4) {
    if (all[i] != static_cast<int64_t>(k)) continue;
    growth[static_cast<size_t>(all[i + 1])] = {all[i + 2], all[i + 3]};
  }
  const size_t rank = rebuilder_.old_graph().values[old_body_.inputs[k]].type.dims.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    const std::optional<Expr> known = KnownSize(old_body_.inputs[k], axis, kRoundSizes);
    if (!known) continue;
    const Symbol* symbol = FindSymbol(rebuilder_.graph().symbols, (*known)->name);
    growth[axis] = {symbol->min, symbol->max};
  }
  return growth;
}

std::optional<Expr> RoundSizes::KnownSize(ValueId old_value, size_t axis,
                                          const char* attribute) const {
  const Shape& dims = rebuilder_.old_graph().values[old_value].type.dims;
  const bool is_known = axis < dims.size() && IsListed(dims[axis], VariablesIn(node_, attribute));
  return is_known ? std::optional(dims[axis]) : std::nullopt;
}

std::string RoundSizes::NameOf(size_t k, size_t axis) const {
  const ValueId named = node_.outputs[k].valid() ? node_.outputs[k] : old_body_.inputs[k];
  return StrCat(rebuilder_.old_graph().values[named].name, ":", axis);
}

Interval RoundSizes::FirstRange(size_t k, size_t axis) const {
  const Graph& graph = rebuilder_.graph();
  const ValueId first = rebuilder_.Mapped(node_.inputs[RepeatForm::kFirstCarried + k]);
  return RangeOf(graph.values[first].type.dims[axis], BoundsOf(graph.symbols));
}

void RoundSizes::Grow(size_t k, size_t axis, Interval range) {
  const Graph& old = rebuilder_.old_graph();
  const auto ids = old.nodes.ids();
  const NodeId id =
      *std::find_if(ids.begin(), ids.end(), [&](NodeId i) { return &old.nodes[i] == &node_; });
  std::vector<int64_t>& growth =
      sizes_.growth.try_emplace(id, node_.attributes.Ints(kGrowth)).first->second;
  const std::vector<int64_t> entry = {static_cast<int64_t>(k), static_cast<int64_t>(axis),
                                      range.min, range.max};
  for (size_t i = 0; i + 3 < growth.size(); i += 4) {
    if (growth[i] != entry[0] || growth[i + 1] != entry[1]) continue;
    std::ranges::copy(entry, growth.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  growth.insert(growth.end(), entry.begin(), entry.end());
}

void RoundSizes::EnterRound(size_t k, Shape& dims) {
  Graph& graph = rebuilder_.graph();
  for (const auto& [axis, range] : GrowthOf(k)) {
    if (const std::optional<Expr> known = KnownSize(old_body_.inputs[k], axis, kRoundSizes)) {
      dims[axis] = *known;
    } else {
      // Until a bound is found any range will do that is no point: what the sizes of a round are
      // does not depend on it.
      const int64_t most =
          range.max < 0 ? std::max<int64_t>(FirstRange(k, axis).max, 1) : range.max;
      dims[axis] = AddSymbol(
          graph, {.name = NameOf(k, axis), .min = range.min, .max = most, .computed = true});
    }
    round_sizes_.push_back(dims[axis]->name);
  }
}

void RoundSizes::NoteRoundSizes(Node& copy) const {
  copy.attributes.Erase(kGrowth);
  copy.attributes.Erase(kSizes);
  copy.attributes.Erase(kRoundSizes);
  for (const std::string& var : round_sizes_) AddVariable(copy, kRoundSizes, var);
}

void RoundSizes::Limit(RegionId body, size_t index, size_t axis, Interval range, std::string name) {
  Graph& graph = rebuilder_.graph();
  const ValueId value = graph.regions[body].outputs[index];
  const ValueType one = TensorType(DType::kI64, {Expr(1)});
  const ValueId end = rebuilder_.Emit(kDefineSizes, {}, {}, one, node_);
  const Expr size = AddSymbol(graph, {.name = std::move(name),
                                      .min = range.min,
                                      .max = range.max,
                                      .computed = true,
                                      .value = graph.values[value].type.dims[axis]});
  graph.values[end].elements = {size};
  Attributes given;
  given.Set(kGiven, size->name);
  const Prefix prefix = {.name = graph.values[value].name,
                         .axis = axis,
                         .end = end,
                         .size = Simplify(size, BoundsOf(graph.symbols))};
  graph.regions[body].outputs[index] =
      EmitPrefix(rebuilder_, node_, value, prefix, std::move(given));
}

void RoundSizes::LimitNext(RegionId body, size_t k) {
  const Graph& graph = rebuilder_.graph();
  for (const auto& [axis, range] : GrowthOf(k)) {
    const ValueType& type = graph.values[graph.regions[body].outputs[k]].type;
    if (range.max < 0 || !IsKnownType(type) || axis >= type.dims.size()) continue;
    const Interval next = RangeOf(type.dims[axis], BoundsOf(graph.symbols));
    if (next.min < range.min || next.max > range.max) Limit(body, k, axis, range, NameOf(k, axis));
  }
}

void RoundSizes::LimitStacked(RegionId body, size_t index, ValueId old_result) {
  const Graph& graph = rebuilder_.graph();
  if (!old_result.valid()) return;
  const Value& result = rebuilder_.old_graph().values[old_result];
  const ValueType type = graph.values[graph.regions[body].outputs[index]].type;
  if (!IsKnownType(type) || result.type.dims.size() != type.dims.size() + 1) return;
  const std::set<std::string> own = SizesOfRegion(graph, body);
  for (size_t axis = 0; axis < type.dims.size(); ++axis) {
    const std::optional<int64_t> dim = result.type.dims[axis + 1].AsInt();
    if (!dim || !NamesAny(type.dims[axis], own)) continue;
    Limit(body, index, axis, {*dim, *dim}, StrCat(result.name, ":", axis + 1));
  }
}

bool RoundSizes::IsDeclaredToStay(size_t k, size_t axis) const {
  const ValueType& declared = rebuilder_.old_graph().values[old_body_.inputs[k]].type;
  if (!declared.ranked || axis >= declared.dims.size()) return false;
  const std::optional<int64_t> dim = declared.dims[axis].AsInt();
  const Interval first = FirstRange(k, axis);
  return dim && first.min == *dim && first.max == *dim;
}

absl::Status RoundSizes::LeaveRounds(NodeId copy, size_t k, const Shape& next,
                                     const std::optional<Expr>& count, Shape& dims) {
  Graph& graph = rebuilder_.graph();
  const Growth growth = GrowthOf(k);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const auto changes = growth.find(axis);
    if (changes == growth.end()) {
      const std::optional<bool> stays = Prove(Eq(dims[axis], next[axis]), BoundsOf(graph.symbols));
      const bool has_to = IsDeclaredToStay(k, axis) && !stays;
      if (stays != true) Grow(k, axis, has_to ? FirstRange(k, axis) : Interval{0, -1});
      continue;
    }
    Interval range = changes->second;
    if (range.max < 0) {
      AOTC_ASSIGN_OR_RETURN(range.max, BoundOf(k, axis, next[axis], dims[axis], count));
      Grow(k, axis, range);
    }
    if (graph.nodes[copy].outputs[k].valid()) dims[axis] = SizeBehind(copy, k, axis, range);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RoundSizes::BoundOf(size_t k, size_t axis, const Expr& next,
                                            const Expr& size,
                                            const std::optional<Expr>& count) const {
  const std::optional<int64_t> found = MostOf(k, axis, next, size, count);
  if (found || !sizes_.bounded) return found.value_or(INT32_MAX);
  return AOTC_REFUSAL(
      InvalidArgument,
      StrCat("only a run knows how large '", NameOf(k, axis), "' becomes, which is ",
             PrintExpr(next), " after an iteration; hint: give the most that it may be, ",
             "such as --bound ", NameOf(k, axis), "=64"));
}

std::optional<int64_t> RoundSizes::MostOf(size_t k, size_t axis, const Expr& next, const Expr& size,
                                          const std::optional<Expr>& count) const {
  const Bounds bounds = BoundsOf(rebuilder_.graph().symbols);
  const int64_t first = FirstRange(k, axis).max;
  std::optional<int64_t> declared;
  for (ValueId id : {node_.outputs[k], old_body_.inputs[k]}) {
    if (!id.valid()) continue;
    const auto& limits = rebuilder_.old_graph().values[id].limits;
    const auto limit = limits.find(static_cast<int>(axis));
    if (limit == limits.end()) continue;
    const int64_t most = std::max(first, limit->second.most);
    if (!limit->second.declared) return most;
    if (!declared) declared = most;
  }
  const int64_t fixed = RangeOf(next, bounds).max;
  if (!UsesVar(next, size->name) && fixed <= kMost) return std::max(first, fixed);
  if (Prove(Le(next, size), bounds) == true) return first;
  const Interval added = RangeOf(next - size, bounds);
  if (!count || added.max > kMost) return declared;
  const int64_t rounds = std::max<int64_t>(RangeOf(*count, bounds).max, 0);
  if (added.max > 0 && rounds > kMost / added.max) return declared;
  return first + rounds * std::max<int64_t>(added.max, 0);
}

Expr RoundSizes::SizeBehind(NodeId copy, size_t k, size_t axis, Interval range) {
  Graph& graph = rebuilder_.graph();
  std::optional<Expr> size;
  if (node_.outputs[k].valid()) size = KnownSize(node_.outputs[k], axis, kSizes);
  if (!size) {
    size = AddSymbol(
        graph, {.name = NameOf(k, axis), .min = range.min, .max = range.max, .computed = true});
  }
  AddVariable(graph.nodes[copy], kSizes, (*size)->name);
  return *size;
}

}  // namespace aotc
