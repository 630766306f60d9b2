// Gradient: the graph between some tensors and another one, differentiated backwards.
//
//   %dx, %dw = ai.onnx.preview.training.Gradient(%x1, %w1, %x, %w, %y) {xs=2}
//
// are the gradients of the sum of %y by %x and %w, taken where these have the values %x1 and %w1.
// Import makes operands of the tensors that the attributes name: first the values for `xs` and
// `zs`, then the tensors themselves, then y. With `xs` of them the derivatives are formed; at the
// others the walk ends too. Where the values are the tensors, as is usual, what lies between is
// computed once; else what depends on the values is computed again.
#include "compiler/ops/gradient.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

void CollectReads(const Graph& graph, const Node& node, std::vector<ValueId>& reads,
                  std::set<ValueId>& inside) {
  for (const ValueId input : node.inputs) {
    if (input.valid()) reads.push_back(input);
  }
  inside.insert(node.outputs.begin(), node.outputs.end());
  for (const auto& [name, id] : node.regions) {
    const Region& region = graph.regions[id];
    inside.insert(region.inputs.begin(), region.inputs.end());
    for (const NodeId inner : region.nodes) CollectReads(graph, graph.nodes[inner], reads, inside);
    reads.insert(reads.end(), region.outputs.begin(), region.outputs.end());
  }
}

// What a node and its regions read of other nodes.
std::vector<ValueId> ReadsOf(const Graph& graph, const Node& node) {
  std::vector<ValueId> reads;
  std::set<ValueId> inside;
  CollectReads(graph, node, reads, inside);
  std::erase_if(reads, [&](ValueId read) { return inside.contains(read); });
  return reads;
}

// Its results vary smoothly with its operands.
bool IsSmooth(const Node& node) {
  if (HasTrait(node.op, kNoDerivative) || HasTrait(node.op, kReadsShapeOnly)) return false;
  const auto to = static_cast<DType>(node.attributes.Int("to"));
  return !HasTrait(node.op, kChangesType) || !node.attributes.Has("to") || IsFloat(to);
}

class Differentiation {
 public:
  Differentiation(Rebuilder& rebuilder, const Node& node)
      : rebuilder_(rebuilder),
        graph_(rebuilder.old_graph()),
        node_(node),
        uses_(UseCounts(graph_)),
        emit_(rebuilder, node) {}

  absl::Status Run();

 private:
  void SetIndependent();
  // The nodes between, each behind those that it reads.
  void Order();
  void ComputeAgain(const Node& node);
  absl::Status GoForward();
  absl::Status GoBack(const Node& node);
  void AddTo(ValueId value, ValueId gradient);
  ValueId Now(ValueId value);
  std::vector<ValueId> AllNow(const std::vector<ValueId>& values);
  ValueId GradientOf(ValueId value) const;
  bool AnyOf(const std::vector<ValueId>& values, const std::set<ValueId>& set) const;
  absl::Status Refuse(const Node& node, std::string_view why) const;

  Rebuilder& rebuilder_;
  const Graph& graph_;
  const Node& node_;
  const IdVector<ValueId, int> uses_;
  Expansion emit_;
  size_t independents_ = 0;
  std::vector<const Node*> between_;
  std::map<ValueId, ValueId> now_;  // what stands for a value, where that is not its own copy
  std::set<ValueId> changed_;       // values that depend on such
  std::set<ValueId> ends_;          // where the walk back ends
  std::set<ValueId> active_;        // values that depend on what is differentiated by
  std::map<ValueId, ValueId> gradients_;
};

bool Differentiation::AnyOf(const std::vector<ValueId>& values,
                            const std::set<ValueId>& set) const {
  return std::ranges::any_of(values, [&](ValueId value) { return set.contains(value); });
}

void Differentiation::SetIndependent() {
  const auto xs = static_cast<size_t>(node_.attributes.Int("xs"));
  for (size_t i = 0; i < independents_; ++i) {
    const ValueId named = node_.inputs[independents_ + i];
    ends_.insert(named);
    if (i < xs) active_.insert(named);
    const ValueId given = rebuilder_.Mapped(node_.inputs[i]);
    if (given == rebuilder_.Mapped(named)) continue;
    now_[named] = given;
    changed_.insert(named);
  }
}

void Differentiation::Order() {
  const IdVector<ValueId, NodeId> producers = Producers(graph_);
  std::set<NodeId> seen;
  std::vector<std::pair<NodeId, bool>> open;  // whether all that it reads has been placed
  auto visit = [&](ValueId value) {
    if (ends_.contains(value) || !producers[value].valid()) return;
    if (!seen.contains(producers[value])) open.emplace_back(producers[value], false);
  };
  visit(node_.inputs.back());
  while (!open.empty()) {
    auto [id, is_placed] = open.back();
    const Node& node = graph_.nodes[id];
    if (is_placed) between_.push_back(&node);
    if (is_placed || !seen.insert(id).second) {
      open.pop_back();
      continue;
    }
    open.back().second = true;
    for (const ValueId read : ReadsOf(graph_, node)) visit(read);
  }
}

ValueId Differentiation::Now(ValueId value) {
  const auto found = now_.find(value);
  return found == now_.end() ? rebuilder_.Mapped(value) : found->second;
}

std::vector<ValueId> Differentiation::AllNow(const std::vector<ValueId>& values) {
  std::vector<ValueId> result;
  for (const ValueId value : values) {
    // Results that nobody reads have no copy.
    result.push_back(value.valid() && uses_[value] > 0 ? Now(value) : ValueId());
  }
  return result;
}

absl::Status Differentiation::Refuse(const Node& node, std::string_view why) const {
  const std::string place =
      node.locations.empty() ? StrCat("'", node.op, "'") : Describe(node.locations.front());
  return AOTC_REFUSAL(Unimplemented, StrCat(place, " cannot be differentiated: ", why));
}

void Differentiation::ComputeAgain(const Node& node) {
  Node again = node;
  again.inputs = AllNow(node.inputs);
  for (ValueId& output : again.outputs) {
    if (!output.valid()) continue;
    const std::string name = graph_.values[output].name;
    changed_.insert(output);
    output = now_[output] = rebuilder_.graph().AddValue(StrCat(name, "_again"), UnknownType());
  }
  rebuilder_.graph().AddNode(rebuilder_.region(), std::move(again));
}

absl::Status Differentiation::GoForward() {
  for (const Node* node : between_) {
    const std::vector<ValueId> reads = ReadsOf(graph_, *node);
    if (AnyOf(reads, changed_)) {
      if (!node->regions.empty()) {
        return Refuse(*node,
                      "its branches and bodies are not computed a second time; hint: let "
                      "the inputs of Gradient be the tensors that 'xs' and 'zs' name");
      }
      ComputeAgain(*node);
    }
    if (IsSmooth(*node) && AnyOf(reads, active_)) {
      active_.insert(node->outputs.begin(), node->outputs.end());
    }
  }
  active_.erase(ValueId());
  return absl::OkStatus();
}

ValueId Differentiation::GradientOf(ValueId value) const {
  const auto found = gradients_.find(value);
  return found == gradients_.end() ? ValueId() : found->second;
}

void Differentiation::AddTo(ValueId value, ValueId gradient) {
  ValueId& sum = gradients_[value];
  sum = sum.valid() ? emit_.Emit("Add", {sum, gradient}) : gradient;
}

absl::Status Differentiation::GoBack(const Node& node) {
  std::vector<ValueId> gradients;
  for (const ValueId output : node.outputs) gradients.push_back(GradientOf(output));
  if (std::ranges::none_of(gradients, [](ValueId gradient) { return gradient.valid(); }) ||
      !AnyOf(ReadsOf(graph_, node), active_)) {
    return absl::OkStatus();
  }
  const OpDef* op = FindOp(node.op);
  if (op == nullptr || op->gradient == nullptr)
    return Refuse(node, "its op has no rule; hint: docs/operators.md says which have one");
  Node origin = {.op = node.op, .outputs = node.outputs, .locations = node_.locations};
  origin.locations.insert(origin.locations.end(), node.locations.begin(), node.locations.end());
  Expansion emit(rebuilder_, origin);
  std::vector<char> active;
  for (const ValueId input : node.inputs) active.push_back(active_.contains(input) ? 1 : 0);
  GradientContext context(node, emit, AllNow(node.inputs), AllNow(node.outputs), gradients, active);
  const absl::Status status = op->gradient(context);
  if (!status.ok()) return Refuse(node, std::string(status.message()));
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (!context.Wants(k)) continue;
    if (!context.IsGiven(k)) return Refuse(node, StrCat("not by its operand ", k));
    if (context.Given(k).valid()) AddTo(node.inputs[k], context.Given(k));
  }
  return absl::OkStatus();
}

absl::Status Differentiation::Run() {
  independents_ = (node_.inputs.size() - 1) / 2;
  SetIndependent();
  Order();
  AOTC_RETURN_IF_ERROR(GoForward());
  Node none;
  GradientContext own(none, emit_, {}, {}, {}, {});
  const ValueId y = node_.inputs.back();
  const Quantity value(&own, Now(y));
  if (active_.contains(y)) gradients_[y] = ExpandedTo(value.Number(1), value).id();
  for (auto node = between_.rbegin(); node != between_.rend(); ++node) {
    AOTC_RETURN_IF_ERROR(GoBack(**node));
  }
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    if (!node_.outputs[i].valid()) continue;
    const ValueId named = node_.inputs[independents_ + i];
    const Quantity by(&own, Now(named)), gradient(&own, GradientOf(named));
    const Quantity result = gradient.valid() ? gradient : ZerosLike(by);
    rebuilder_.Replace(node_.outputs[i], SummedTo(result, by).id());
  }
  return absl::OkStatus();
}

absl::Status Gradient(Rebuilder& rebuilder, const Node& node) {
  const int64_t xs = node.attributes.Int("xs");
  const bool is_complete = std::ranges::all_of(node.inputs, [](ValueId v) { return v.valid(); });
  const auto independents = static_cast<int64_t>(node.inputs.size() / 2);
  if (node.inputs.size() % 2 != 1 || !is_complete || xs < 1 || xs > independents) {
    return AOTC_REFUSAL(InvalidArgument,
                        "needs a value for each tensor that 'xs' and 'zs' name, and y");
  }
  if (static_cast<int64_t>(node.outputs.size()) > xs) {
    return AOTC_REFUSAL(InvalidArgument, "has more outputs than tensors in 'xs'");
  }
  return Differentiation(rebuilder, node).Run();
}

// The gradient of what was broadcast to the shape of input 0 from that of input 1: a sum over what
// was repeated. Ours.
absl::Status SumTo(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor like, op.Input(1));
  if (!IsFloat(x.dtype()) || x.dtype() != like.dtype()) {
    return AOTC_REFUSAL(
        InvalidArgument,
        "differentiates, or differentiates by, a tensor that holds no floats; hint: "
        "cast it to float in front of what is differentiated");
  }
  const int added = x.rank() - like.rank();
  std::vector<int> leading, repeated;
  for (int d = 0; d < x.rank(); ++d) {
    if (d < added) {
      leading.push_back(d);
    } else if (like.dim(d - added).IsInt(1)) {
      if (!x.dim(d).IsInt(1)) repeated.push_back(d - added);
    } else {
      AOTC_RETURN_IF_ERROR(
          op.RequireEqual(like.dim(d - added), x.dim(d),
                          StrCat("axis ", d - added,
                                 " has 1 or more elements in turn, which its gradient "
                                 "does not support")));
    }
  }
  Tensor sum = x;
  if (!leading.empty()) sum = op.b().ReduceAxes("sum", sum, leading, /*keep_dims=*/false);
  if (!repeated.empty()) sum = op.b().ReduceAxes("sum", sum, repeated, /*keep_dims=*/true);
  op.SetOutput(
      0, op.b().Compute(x.dtype(), like.shape(), [&](const Indices& i) { return sum.Stored(i); }));
  return absl::OkStatus();
}

// Of what SumTo sums, all elements count alike.
absl::Status GradientOfSumTo(GradientContext& c) {
  c.Give(0, ExpandedTo(c.OfResult(), c.Operand(0)));
  c.GiveNothing(1);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "SumTo",
     .compute = SumTo,
     .summary = "sums what was broadcast, to the shape of another tensor",
     .traits = kOwn,
     .gradient = GradientOfSumTo},
    {.name = "ai.onnx.preview.training.Gradient",
     .expand = Gradient,
     .summary = "derivatives of a tensor by others, of the graph between them",
     .traits = kExpandsLast},
};

}  // namespace

std::span<const OpDef> GradientOps() { return kOps; }

}  // namespace aotc
