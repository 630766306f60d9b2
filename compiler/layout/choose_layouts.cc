#include "compiler/layout/choose_layouts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kChannelAxis = 1;

// What the phase knows of one node.
struct NodeFacts {
  std::optional<NodeKernel> kernel;  // none where the op has no compute definition
  bool is_convolution = false;
};

Expr LoadUnder(const Expr& e) {
  if (e.op() == ExprOp::kLoad) return e;
  if (e.op() == ExprOp::kCast) return LoadUnder(e.arg(0));
  return e.op() == ExprOp::kSelect ? LoadUnder(e.arg(1)) : Expr();
}

const Stage* ContractionOf(const Kernel& kernel) {
  for (const Stage& stage : kernel.stages) {
    if (IsContraction(stage)) return &stage;
  }
  return nullptr;
}

// Output columns on axis 1 and at least one axis behind them that slides over the input.
bool IsConvolution(const Graph& graph, const NodeKernel& node) {
  const Stage* stage = ContractionOf(node.kernel);
  if (stage == nullptr || stage->axes.size() < 3 || node.inputs.size() < 2) return false;
  if (!graph.values[node.inputs[1]].constant) return false;
  const Expr weights = LoadUnder(stage->body[0].arg(1));
  return weights.valid() && IsOwnIndex(weights.arg(0), stage->axes[kChannelAxis]) &&
         !UsesVar(weights, stage->axes.back().name);
}

// Every read of `tensor` is at the reader's own axis 1, of the same extent.
bool KeepsChannels(const Kernel& kernel, TensorId tensor) {
  for (const Stage& stage : kernel.stages) {
    for (const Expr& body : stage.body) {
      for (const Expr& load : LoadsOf(body)) {
        if (load->tensor != tensor) continue;
        if (stage.axes.size() <= kChannelAxis || load.args().size() != stage.axes.size())
          return false;
        const Axis& axis = stage.axes[kChannelAxis];
        const Expr& index = load.arg(kChannelAxis);
        if (!index.IsVar() || index->name != axis.name) return false;
        if (!ProveEqual(kernel.tensors[tensor].shape[kChannelAxis], axis.extent)) return false;
      }
    }
  }
  return true;
}

// The kernel can write its output in any layout. The columns of a matrix product have to lie
// innermost, without a halo.
bool WritesAnyLayout(const NodeFacts& facts) {
  const NodeKernel& node = *facts.kernel;
  if (!facts.is_convolution && ContractionOf(node.kernel) != nullptr) return false;
  return node.outputs.size() == 1 && IsPointNest(node.kernel);
}

// How far the contraction reads beyond its input, per axis. Nothing where that is not bounded.
std::optional<std::vector<Halo>> ReachOf(const Kernel& kernel, const Stage& stage,
                                         const Expr& load) {
  const Bounds bounds = StageBounds(kernel, stage);
  std::vector<Axis> axes = stage.axes;
  axes.insert(axes.end(), stage.reduce_axes.begin(), stage.reduce_axes.end());
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  std::vector<Halo> reach;
  for (size_t i = 0; i < load.args().size(); ++i) {
    const std::optional<Affine> affine = AsAffine(load.arg(i), names, bounds);
    if (!affine) return std::nullopt;
    Expr low = affine->rest, high = affine->rest;
    for (const Axis& axis : axes) {
      auto found = affine->coefficients.find(axis.name);
      if (found == affine->coefficients.end()) continue;
      if (found->second.AsInt().value_or(-1) < 0) return std::nullopt;
      high = high + found->second * (axis.extent - 1);
    }
    const Expr beyond = high - kernel.tensors[load->tensor].shape[i] + 1;
    const Interval before = RangeOf(Simplify(low, bounds), bounds);
    const Interval after = RangeOf(Simplify(beyond, bounds), bounds);
    constexpr int64_t kWidestHalo = 64;
    if (before.min < -kWidestHalo || after.max > kWidestHalo) return std::nullopt;
    reach.push_back({std::max<int64_t>(0, -before.min), std::max<int64_t>(0, after.max)});
  }
  return reach;
}

class LayoutChooser {
 public:
  LayoutChooser(const Graph& graph, const LayoutOptions& options)
      : graph_(graph), options_(options), uses_(UseCounts(graph)) {}

  absl::StatusOr<Graph> Run() {
    Analyze();
    return RebuildGraph(graph_, [&](Rebuilder& r, const Node& node) { return Rebuild(r, node); });
  }

 private:
  void Analyze() {
    wanted_ = IdVector<ValueId, Layout>(graph_.values.size());
    for (const Region& region : graph_.regions) {
      outputs_.insert(region.outputs.begin(), region.outputs.end());
    }
    // Nodes of regions stand before the node that has them: what they read has been seen.
    for (const Node& node : graph_.nodes) {
      NodeFacts facts;
      if (absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph_, node); built.ok()) {
        facts.kernel = *std::move(built);
        facts.is_convolution = IsConvolution(graph_, *facts.kernel);
        ChooseOutput(facts);
      }
      facts_[&node] = std::move(facts);
    }
    for (const Node& node : graph_.nodes) WantHalo(facts_.at(&node));
  }

  bool CanBlock(ValueId id) const {
    const Shape& dims = graph_.values[id].type.dims;
    return dims.size() >= 3 && dims[kChannelAxis].AsInt().value_or(0) >= options_.least_channels;
  }

  Layout Blocked(ValueId id) const {
    return BlockedLayout(static_cast<int>(graph_.values[id].type.dims.size()),
                         static_cast<int>(kChannelAxis), options_.block);
  }

  // Blocks where a convolution makes the value, or where the op passes on the blocks of an input.
  void ChooseOutput(const NodeFacts& facts) {
    const NodeKernel& node = *facts.kernel;
    if (!WritesAnyLayout(facts)) return;
    bool blocked = facts.is_convolution;
    if (!blocked && !CanBlock(node.outputs[0])) return;
    if (!blocked) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (wanted_[node.inputs[i]].axes.empty()) continue;
        if (!KeepsChannels(node.kernel, node.kernel.params[i])) return;
        blocked = true;
      }
    }
    if (blocked) wanted_[node.outputs[0]] = Blocked(node.outputs[0]);
  }

  // The convolution's input gets the halo that its taps reach into.
  void WantHalo(const NodeFacts& facts) {
    if (!facts.is_convolution) return;
    const Stage* stage = ContractionOf(facts.kernel->kernel);
    const Expr load = LoadUnder(stage->body[0].arg(0));
    const ValueId input = facts.kernel->inputs[0];
    Layout layout = wanted_[input];
    if (layout.axes.empty() && CanBlock(input)) layout = Blocked(input);
    const std::optional<std::vector<Halo>> reach = ReachOf(facts.kernel->kernel, *stage, load);
    if (!reach) return;
    const bool any =
        std::any_of(reach->begin(), reach->end(), [](const Halo& h) { return h != Halo{}; });
    auto& need = convolution_input_[input];
    if (need.axes.empty()) need = layout;
    if (!any) return;
    if (need.halo.empty()) need.halo.resize(reach->size());
    for (size_t i = 0; i < reach->size(); ++i) {
      need.halo[i].before = std::max(need.halo[i].before, (*reach)[i].before);
      need.halo[i].after = std::max(need.halo[i].after, (*reach)[i].after);
    }
  }

  // The layout in which the producer writes a value.
  Layout Produced(ValueId id, const NodeFacts& facts) const {
    if (!facts.kernel || !WritesAnyLayout(facts)) return {};
    auto need = convolution_input_.find(id);
    // Blocks come from the producer; the halo is welcome in any case.
    if (need == convolution_input_.end()) return wanted_[id];
    return need->second;
  }

  absl::StatusOr<bool> Rebuild(Rebuilder& r, const Node& node) {
    AOTC_RETURN_IF_ERROR(PrepareInput(r, node));
    if (!node.regions.empty()) PrepareOperands(r, node);
    AOTC_RETURN_IF_ERROR(r.Copy(node));
    for (ValueId output : node.outputs) {
      if (!output.valid() || uses_[output] == 0) continue;
      const ValueId now = r.Mapped(output);
      r.graph().values[now].layout = Produced(output, FactsOf(node));
      if (outputs_.contains(output)) KeepOutput(r, node, output, now);
    }
    return true;
  }

  // An output of the graph or a region is row-major under its own name; nodes may read it in
  // another layout.
  void KeepOutput(Rebuilder& r, const Node& node, ValueId output, ValueId now) {
    ValueId outer = now;
    if (!r.graph().values[now].layout.IsPlain()) {
      outer = r.Emit("Relayout", {now}, {}, r.graph().values[now].type, node);
      std::swap(r.graph().values[now].name, r.graph().values[outer].name);
    }
    r.ReplaceAsOutput(output, outer);
  }

  // What a loop carries is row-major.
  void PrepareOperands(Rebuilder& r, const Node& node) {
    for (ValueId input : node.inputs) {
      if (!input.valid()) continue;
      const ValueId now = r.Mapped(input);
      if (r.graph().values[now].layout.IsPlain()) continue;
      r.Replace(input, r.Emit("Relayout", {now}, {}, r.graph().values[now].type, node));
    }
  }

  const NodeFacts& FactsOf(const Node& node) const { return facts_.at(&node); }

  // A convolution whose input is not laid out as it wants reads a relaid copy.
  absl::Status PrepareInput(Rebuilder& r, const Node& node) {
    const NodeFacts& facts = FactsOf(node);
    if (!facts.is_convolution) return absl::OkStatus();
    const ValueId input = facts.kernel->inputs[0];
    auto need = convolution_input_.find(input);
    if (need == convolution_input_.end()) return absl::OkStatus();
    const ValueId now = r.Mapped(input);
    if (r.graph().values[now].layout == need->second) return absl::OkStatus();
    const ValueType type = r.graph().values[now].type;
    const ValueId copy = r.Emit("Relayout", {now}, {}, type, node);
    r.graph().values[copy].layout = need->second;
    r.Replace(input, copy);
    return absl::OkStatus();
  }

  const Graph& graph_;
  const LayoutOptions& options_;
  const IdVector<ValueId, int> uses_;
  IdVector<ValueId, Layout> wanted_;
  std::map<const Node*, NodeFacts> facts_;
  std::set<ValueId> outputs_;  // of all regions
  std::map<ValueId, Layout> convolution_input_;
};

}  // namespace

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, const LayoutOptions& options) {
  if (options.block == 0) return graph;
  return LayoutChooser(graph, options).Run();
}

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, PassContext& context) {
  const bool chosen = std::any_of(graph.values.begin(), graph.values.end(),
                                  [](const Value& value) { return !value.layout.IsPlain(); });
  if (chosen) return graph;
  return ChooseLayouts(graph, {.block = context.target().channel_block,
                               .least_channels = context.Config(kLeastChannels)});
}

}  // namespace aotc
