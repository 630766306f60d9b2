#include "compiler/canonicalize/infer_and_fold.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/canonicalize/continue_in_branches.h"
#include "compiler/canonicalize/declared_type.h"
#include "compiler/canonicalize/expand_ops.h"
#include "compiler/canonicalize/fold_cap.h"
#include "compiler/canonicalize/infer_control.h"
#include "compiler/canonicalize/infer_repeat.h"
#include "compiler/canonicalize/kernel_checks.h"
#include "compiler/canonicalize/known_elements.h"
#include "compiler/canonicalize/node_hint.h"
#include "compiler/canonicalize/place.h"
#include "compiler/canonicalize/run_sizes.h"
#include "compiler/canonicalize/scaled_weights.h"
#include "compiler/canonicalize/size_sources.h"
#include "compiler/canonicalize/whole_range.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/image_decoder.h"
#include "compiler/ir/kernel_bounds.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/op.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kMostDimTerms = 256;  // longer ones take minutes to reason about
constexpr int kMostForms = 24;          // in turn, of the sequences of a graph
constexpr int kMostContinued = 12;      // Ifs whose branches are continued apart

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

class Inference {
 public:
  // `bounded`: the symbols have the ranges that they will have at run time.
  Inference(const Graph& graph, PassContext& context, bool bounded, Diagnostics& diagnostics)
      : old_(graph),
        diagnostics_(diagnostics),
        cap_(graph, context.Config(kFoldCapBytes)),
        quantized_weights_(QuantizedWeights(graph)),
        scaled_weights_(graph),
        keeps_scaled_(context.target().scales_weights && IsEnabled("fuse", 1, context.options())),
        sizes_{.bounded = bounded, .rooms = ItemRooms(graph)},
        control_(graph, known_, sizes_, diagnostics_) {}

  absl::StatusOr<Graph> Run();
  // Where it asks for more, the walk was of no use.
  const SizeWalk& sizes() const { return sizes_; }

 private:
  // The copy that makes an output, of the graph or a region, of a constant: it must not be folded
  // away.
  bool NamesOutput(const Node& node) const;
  absl::Status Visit(Rebuilder& rebuilder, const Node& node);
  // A Range over floats as one over integers that is cast; false where it stays as it is.
  absl::StatusOr<bool> VisitRange(Rebuilder& rebuilder, const Node& node);
  // Infers the node that was added last, which `node` has become.
  void InferLast(Rebuilder& rebuilder, const Node& node);
  bool InputsAreTyped(const Graph& graph, const Node& node) const;
  void SetTypes(Graph& graph, const NodeKernel& kernel);
  // True where the outputs are constants now and the node is not needed any more.
  bool Fold(Graph& graph, const Node& old_node, const NodeKernel& kernel);
  // True where the node, which was added last, is to stay for its readers.
  bool KeepsScaled(Graph& graph, const Node& old_node, const std::vector<Constant>& inputs) const;
  bool NameElements(Graph& graph, NodeId id, const NodeKernel& kernel);

  bool WantSizes(const Graph& graph, ValueId unknown);
  absl::Status CheckSizes(const Graph& graph, const Kernel& kernel) const;
  absl::StatusOr<NodeKernel> BuildKernel(Graph& graph, NodeId node, RegionId region);
  absl::StatusOr<NodeKernel> CheckedKernel(Rebuilder& rebuilder, NodeId id);

  const Graph& old_;
  Diagnostics& diagnostics_;
  FoldCap cap_;
  const std::set<ValueId> quantized_weights_;
  const ScaledWeights scaled_weights_;
  const bool keeps_scaled_;  // the target wants them, and kernels read what others would write
  KnownElements known_;
  SizeWalk sizes_;
  ControlInference control_;
};

absl::StatusOr<Graph> Inference::Run() {
  AOTC_ASSIGN_OR_RETURN(
      Graph result,
      RebuildGraph(old_, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
        AOTC_RETURN_IF_ERROR(Visit(rebuilder, node));
        return true;
      }));
  AOTC_RETURN_IF_ERROR(diagnostics_.ToStatus());
  return result;
}

absl::Status Inference::Visit(Rebuilder& rebuilder, const Node& node) {
  if (ControlInference::Handles(node)) return control_.Visit(rebuilder, node);
  if (node.op == "Range") {
    AOTC_ASSIGN_OR_RETURN(const bool is_whole, VisitRange(rebuilder, node));
    if (is_whole) return absl::OkStatus();
  }
  AOTC_RETURN_IF_ERROR(rebuilder.Copy(node));
  if (DefinesSizes(node)) return absl::OkStatus();  // it says itself what its elements are
  InferLast(rebuilder, node);
  return absl::OkStatus();
}

absl::StatusOr<bool> Inference::VisitRange(Rebuilder& rebuilder, const Node& node) {
  Graph& graph = rebuilder.graph();
  std::vector<ValueId> inputs;
  for (ValueId input : node.inputs) inputs.push_back(rebuilder.Mapped(input));
  const std::optional<WholeRange> range = FindWholeRange(graph, inputs, known_);
  if (!range) return false;
  const DType dtype = graph.values[inputs[0]].type.dtype;
  std::vector<ValueId> ends;
  for (const Expr& end : {range->start, range->limit, range->delta}) {
    ends.push_back(rebuilder.Emit("Elements", {}, {}, TensorType(DType::kI64, {}), node));
    graph.values[ends.back()].elements = {end};
    InferLast(rebuilder, node);
  }
  const ValueId numbers = rebuilder.Emit("Range", ends, {}, UnknownType(), node);
  for (const SizeCheck& check : range->checks) {
    const NodeId last(static_cast<int32_t>(graph.nodes.size()) - 1);
    AOTC_RETURN_IF_ERROR(RequireAt(graph, last, rebuilder.region(), check));
  }
  InferLast(rebuilder, node);
  Attributes to;
  to.Set("to", static_cast<int64_t>(dtype));
  rebuilder.Replace(node.outputs[0], rebuilder.Emit("Cast", {numbers}, to, UnknownType(), node));
  InferLast(rebuilder, node);
  return true;
}

void Inference::InferLast(Rebuilder& rebuilder, const Node& node) {
  Graph& graph = rebuilder.graph();
  NodeId id(static_cast<int32_t>(graph.nodes.size()) - 1);
  // A finding about the producer was enough; with declared types the walk goes on.
  if (!InputsAreTyped(graph, graph.nodes[id])) return;
  sizes_.rooms.Note(graph, graph.nodes[id], node.outputs[0]);
  absl::StatusOr<NodeKernel> kernel = CheckedKernel(rebuilder, id);
  if (!kernel.ok()) {
    if (absl::IsFailedPrecondition(kernel.status())) {
      const auto result = std::ranges::find_if(node.outputs, &ValueId::valid);
      sizes_.expanded[*result] = RanksOf(graph, graph.nodes[id].inputs);
    }
    if (absl::IsInvalidArgument(kernel.status()) && !sizes_.branches.empty()) {
      absl::Status& why = sizes_.branches.back();
      if (why.ok()) why = About(PlaceOf(old_, node).Text(), kernel.status());
      return;
    }
    const bool has_hint = MessageOf(kernel.status()).find("; hint: ") != std::string::npos;
    diagnostics_.Error(PlaceOf(old_, node), kernel.status(),
                       has_hint ? "" : NodeHint(graph, graph.nodes[id], kernel.status()));
    return;
  }
  SetTypes(graph, *kernel);
  if (NamesOutput(node)) return;
  if (Fold(graph, node, *kernel) || NameElements(graph, id, *kernel)) {
    std::vector<NodeId>& nodes = graph.regions[rebuilder.region()].nodes;
    AOTC_CHECK(nodes.back() == id);
    nodes.pop_back();
  }
}

// A value that a node has to know, and does not. False where no symbols would make it known.
bool Inference::WantSizes(const Graph& graph, ValueId unknown) {
  SizeSources sources = SizeSourcesBehind(graph, unknown);
  const bool is_any = !sources.empty();
  sizes_.wanted.merge(sources);
  return is_any;
}

// The kernel of a node, once the graph has the symbols and checks for it.
absl::StatusOr<NodeKernel> Inference::BuildKernel(Graph& graph, NodeId node, RegionId region) {
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round) {
    ValueId unknown;
    absl::StatusOr<NodeKernel> kernel = BuildNodeKernel(graph, graph.nodes[node], &unknown);
    if (!kernel.ok()) {
      if (!unknown.valid() || !WantSizes(graph, unknown)) return kernel;
      // It may need no expansion.
      return absl::Status(absl::StatusCode::kUnimplemented, kernel.status().message());
    }
    AOTC_ASSIGN_OR_RETURN(const bool is_new,
                          SettleSizes(graph, node, *kernel,
                                      {.region = region, .bounded = sizes_.bounded}, diagnostics_));
    if (!is_new) return kernel;
  }
  // A definition asks for sizes, and then for those that depend on them.
  return absl::InternalError("its sizes depend on one another in too many ways");
}

absl::StatusOr<NodeKernel> Inference::CheckedKernel(Rebuilder& rebuilder, NodeId id) {
  Graph& graph = rebuilder.graph();
  AOTC_ASSIGN_OR_RETURN(NodeKernel kernel, BuildKernel(graph, id, rebuilder.region()));
  AOTC_RETURN_IF_ERROR(CheckSizes(graph, kernel.kernel));
  const bool always_runs = rebuilder.region() == graph.main;
  if (sizes_.bounded) AOTC_RETURN_IF_ERROR(CheckReads(kernel.kernel, always_runs));
  return kernel;
}

absl::Status Inference::CheckSizes(const Graph& graph, const Kernel& kernel) const {
  const Bounds bounds = BoundsOf(graph.symbols);
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    const std::optional<std::vector<int64_t>> dims = StaticDims(tensor.shape);
    if (tensor.role != TensorRole::kOutput || (!dims && !sizes_.bounded)) continue;
    for (const Expr& dim : tensor.shape) {
      const int64_t terms = TermCount(dim);
      if (terms <= kMostDimTerms) continue;
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("a dim of its result is an expression of ", terms,
                                 " terms over the symbolic dims, more than ", kMostDimTerms,
                                 ": pin one of them, such as --dim ", graph.symbols[0].name, "=",
                                 graph.symbols[0].max));
    }
    const std::string result =
        StrCat("its result is ", PrintType(TensorType(tensor.dtype, tensor.shape)));
    if (const std::optional<std::string> at = NegativeAt(tensor.shape, graph.symbols)) {
      const std::string where = at->empty() ? "" : StrCat(" where ", *at, kLargerSize);
      return AOTC_REFUSAL(InvalidArgument, StrCat(result, ", with a negative dim", where));
    }
    const std::optional<int64_t> most = MaxElements(tensor.shape, bounds);
    if (most && *most <= kMaxElements) continue;
    return AOTC_REFUSAL(InvalidArgument, StrCat(result, ", which is too large for any machine"));
  }
  return absl::OkStatus();
}

bool Inference::NamesOutput(const Node& node) const {
  return node.op == "Identity" && control_.IsRegionOutput(node.outputs[0]);
}

bool Inference::InputsAreTyped(const Graph& graph, const Node& node) const {
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return !input.valid() || IsKnownType(graph.values[input].type);
  });
}

void Inference::SetTypes(Graph& graph, const NodeKernel& kernel) {
  size_t next = 0;
  for (TensorId id : kernel.kernel.params) {
    const KernelTensor& tensor = kernel.kernel.tensors[id];
    if (tensor.role != TensorRole::kOutput) continue;
    ReplaceDeclaredType(graph.values[kernel.outputs[next++]],
                        TensorType(tensor.dtype, tensor.shape), diagnostics_);
  }
}

bool Inference::Fold(Graph& graph, const Node& old_node, const NodeKernel& kernel) {
  if (!kernel.kernel.symbols.empty() || IsHostOp(old_node)) return false;
  std::vector<Constant> inputs;
  for (ValueId input : kernel.inputs) {
    if (!graph.values[input].constant) return false;
    inputs.push_back(*graph.values[input].constant);
  }
  if (keeps_scaled_ && KeepsScaled(graph, old_node, inputs)) return false;
  if (!cap_.Allows(old_node, kernel.kernel, inputs)) return false;
  if (quantized_weights_.contains(old_node.outputs[0]) && IsByte(inputs[0].dtype())) return false;
  absl::StatusOr<std::vector<Constant>> outputs = EvaluateKernel(kernel.kernel, inputs);
  if (!outputs.ok()) {
    diagnostics_.Error(PlaceOf(old_, old_node), outputs.status());
    return false;
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    graph.values[kernel.outputs[i]].constant = std::move((*outputs)[i]);
    graph.values[kernel.outputs[i]].elements.reset();
  }
  return true;
}

bool Inference::KeepsScaled(Graph& graph, const Node& old_node,
                            const std::vector<Constant>& inputs) const {
  if (old_node.op != "DequantizeLinear") return false;
  if (old_node.attributes.Has(kStoredWeights)) return true;
  const std::optional<StoredScales> scales = scaled_weights_.Stay(old_node, inputs);
  if (!scales) return false;
  const NodeId id(static_cast<int32_t>(graph.nodes.size()) - 1);
  const std::string name = graph.values[graph.nodes[id].outputs[0]].name;
  std::vector<ValueId> params = graph.nodes[id].inputs;
  params.resize(1 + scales->params.size());
  for (size_t i = 1; i < params.size(); ++i) {
    const Constant& param = scales->params[i - 1];
    const Constant& now = *graph.values[params[i]].constant;
    if (!now.is_splat() && now.SameValue(param)) continue;
    params[i] = graph.AddConstant(StrCat(name, i == 1 ? "_scale" : "_zero"), param);
  }
  graph.nodes[id].inputs = std::move(params);
  graph.nodes[id].attributes.Set("axis", scales->axis);
  graph.nodes[id].attributes.Set(kStoredWeights, int64_t{1});
  return true;
}

// A value over symbols alone needs no other value: its node becomes Elements. Returns true where
// the node can go because all elements are numbers.
bool Inference::NameElements(Graph& graph, NodeId id, const NodeKernel& kernel) {
  if (!known_.Infer(graph, kernel) || kernel.outputs.size() != 1) return false;
  Value& value = graph.values[kernel.outputs[0]];
  if (std::optional<Constant> numbers = NumbersOf(value)) {
    value.constant = std::move(numbers);
    value.elements.reset();
    return true;
  }
  Node& node = graph.nodes[id];
  node.op = "Elements";
  node.inputs.clear();
  node.attributes = {};
  return false;
}

// Walks until no further input has to have symbols for its elements.
absl::StatusOr<Graph> Infer(Graph graph, PassContext& context, bool bounded) {
  // What a loop carries for nothing would be in the way of what it carries.
  if (std::ranges::any_of(graph.nodes, IsRepeat)) graph = DropDead(graph);
  BoundOperands(graph);
  int forms = 0;  // of sequences, that have been changed
  int continued = 0;
  for (bool narrowed = !bounded || !HasBounds(graph);;) {
    Diagnostics findings;
    Inference inference(graph, context, bounded, findings);
    absl::StatusOr<Graph> result = inference.Run();
    bool named = false;
    for (const auto& [name, source] : inference.sizes().wanted)
      named |= NameElements(graph, name, source);
    // Items that grow with each iteration have no form that is large enough.
    if (forms < kMostForms && inference.sizes().rooms.Apply(graph)) {
      ++forms;
      continue;  // what changes in a round is known once all have one
    }
    if (inference.sizes().of_two_ranks.valid() && continued++ < kMostContinued) {
      AOTC_ASSIGN_OR_RETURN(const bool is_apart,
                            ContinueInBranches(graph, inference.sizes().of_two_ranks));
      if (is_apart) continue;
    }
    for (const auto& [node, growth] : inference.sizes().growth) {
      named = true;
      graph.nodes[node].attributes.Set(kGrowth, growth);
    }
    AOTC_ASSIGN_OR_RETURN(const bool expanded,
                          ExpandNodes(graph, inference.sizes().expanded, context));
    named |= expanded;
    if (!named && result.ok() && HasBounds(graph)) {
      // What a run computes has the room that follows from that, and a sentence of its result.
      named = NarrowStatedSizes(graph, result->symbols, /*computed=*/false);
    }
    // Without ranges all dims are there, so that --bound of an output bounds what it is made of.
    if (!named && !result.ok() && !std::exchange(narrowed, true)) {
      Diagnostics ignored;
      const absl::StatusOr<Graph> free = Inference(graph, context, false, ignored).Run();
      named = free.ok() && NarrowStatedSizes(graph, free->symbols, /*computed=*/true);
    }
    if (!named) {
      for (const Diagnostic& finding : findings.Sorted()) context.diagnostics().Add(finding);
      if (result.ok()) {
        for (Value& value : result->values) value.limits.clear();
      }
      return result;
    }
  }
}

}  // namespace

void ComplainOfInputs(const Graph& graph, Diagnostics& diagnostics) {
  for (ValueId input : graph.main_region().inputs) {
    const Value& value = graph.values[input];
    if (IsKnownType(value.type)) continue;
    diagnostics.Error({},
                      AOTC_REFUSAL(InvalidArgument, StrCat("input '", value.name,
                                                           "' has no known rank and element type")),
                      StrCat("give its shape with --shape ", value.name, "=..."));
  }
}

absl::StatusOr<Graph> InferAndFold(const Graph& graph, PassContext& context) {
  ComplainOfInputs(graph, context.diagnostics());
  return Infer(graph, context, /*bounded=*/true);
}

absl::StatusOr<Graph> InferWhatIsKnown(const Graph& graph, PassContext& context) {
  return Infer(graph, context, /*bounded=*/false);
}

}  // namespace aotc
