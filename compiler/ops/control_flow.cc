// Loop and Scan as Repeat (ir/control_flow.h), and the ops of ours that this takes. A Repeat made
// here has one thing more than that form: attribute `counter`, which says that its first carried
// value counts the iterations from 0, and `stack_axes`, the axes along which it stacks. Type
// inference, which knows counts and ranks, does away with both.
#include "compiler/ir/control_flow.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "compiler/ir/expr_text.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/random_bits.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kBody = "body";

ValueId InputOf(const Node& node, size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : ValueId();
}

// Where states and other values are among the inputs and outputs of a node and its body.
struct LoopForm {
  size_t states = 0;
  size_t node_state = 0;  // input of the node
  size_t body_state = 0;  // input of the body
  size_t body_next = 0;   // output of the body
};

// Builds the Repeat of a Loop or a Scan.
class RepeatBuilder {
 public:
  RepeatBuilder(Rebuilder& rebuilder, const Node& node, const LoopForm& form)
      : rebuilder_(rebuilder),
        node_(node),
        form_(form),
        body_(rebuilder.old_graph().regions[node.regions.at(kBody)]) {}

  // `bind` gives the inputs of the old body that are no states their values; it is called where the
  // nodes of the new body go. The outputs of `node` are replaced.
  absl::Status Build(ValueId trip, ValueId cond, const std::function<void(ValueId counter)>& bind);
  // The stacked values get these axes.
  void SetAxes(std::vector<int64_t> axes) { axes_ = std::move(axes); }

 private:
  const Value& OldValue(ValueId id) const { return rebuilder_.old_graph().values[id]; }
  // A state that the body only passes on is a value from outside.
  bool IsInvariant(size_t state) const;
  ValueId AddInput(RegionId region, std::string_view name, ValueType type);
  absl::Status FillBody(RegionId region, bool has_cond,
                        const std::function<void(ValueId counter)>& bind);
  ValueId AddOutput(ValueId old_output);
  ValueId Number(const char* suffix, int64_t value);
  std::string BaseName() const;

  Rebuilder& rebuilder_;
  const Node& node_;
  const LoopForm form_;
  const Region& body_;
  std::vector<int64_t> axes_;
};

std::string RepeatBuilder::BaseName() const {
  for (ValueId output : node_.outputs) {
    if (output.valid()) return OldValue(output).name;
  }
  return "loop";
}

ValueId RepeatBuilder::Number(const char* suffix, int64_t value) {
  return rebuilder_.graph().AddConstant(StrCat(BaseName(), suffix),
                                        Constant::SplatInt(DType::kI64, {}, value));
}

bool RepeatBuilder::IsInvariant(size_t state) const {
  ValueId value = body_.outputs[form_.body_next + state];
  for (auto id = body_.nodes.rbegin(); id != body_.nodes.rend(); ++id) {
    const Node& node = rebuilder_.old_graph().nodes[*id];
    if (node.op == "Identity" && node.outputs[0] == value) value = node.inputs[0];
  }
  return value == body_.inputs[form_.body_state + state];
}

ValueId RepeatBuilder::AddInput(RegionId region, std::string_view name, ValueType type) {
  const ValueId input = rebuilder_.graph().AddValue(name, std::move(type));
  rebuilder_.graph().regions[region].inputs.push_back(input);
  return input;
}

absl::Status RepeatBuilder::FillBody(RegionId region, bool has_cond,
                                     const std::function<void(ValueId counter)>& bind) {
  const ValueId counter =
      AddInput(region, StrCat(BaseName(), "_iteration"), TensorType(DType::kI64, {}));
  for (size_t k = 0; k < form_.states; ++k) {
    const ValueId old_input = body_.inputs[form_.body_state + k];
    const ValueId state =
        IsInvariant(k) ? rebuilder_.Mapped(node_.inputs[form_.node_state + k])
                       : AddInput(region, OldValue(old_input).name, OldValue(old_input).type);
    rebuilder_.Replace(old_input, state);
  }
  bind(counter);
  AOTC_RETURN_IF_ERROR(rebuilder_.Splice(node_.regions.at(kBody)));
  DrawByNumber(rebuilder_.graph(), region, counter);
  std::vector<ValueId> outputs;
  if (has_cond) outputs.push_back(rebuilder_.Mapped(body_.outputs[0]));
  outputs.push_back(rebuilder_.Emit("Add", {counter, Number("_step", 1)}, {},
                                    TensorType(DType::kI64, {}), node_));
  for (size_t k = form_.body_next; k < body_.outputs.size(); ++k) {
    const size_t state = k - form_.body_next;
    if (state >= form_.states || !IsInvariant(state)) {
      outputs.push_back(rebuilder_.Mapped(body_.outputs[k]));
    }
  }
  rebuilder_.graph().regions[region].outputs = std::move(outputs);
  return absl::OkStatus();
}

ValueId RepeatBuilder::AddOutput(ValueId old_output) {
  if (!old_output.valid()) return {};
  const ValueId output =
      rebuilder_.graph().AddValue(OldValue(old_output).name, OldValue(old_output).type);
  rebuilder_.graph().values[output].limits = OldValue(old_output).limits;
  rebuilder_.Replace(old_output, output);
  return output;
}

absl::Status RepeatBuilder::Build(ValueId trip, ValueId cond,
                                  const std::function<void(ValueId counter)>& bind) {
  Node repeat = {.op = "Repeat", .locations = node_.locations};
  AOTC_ASSIGN_OR_RETURN(repeat.regions[kBody], rebuilder_.BuildRegion([&](RegionId region) {
    return FillBody(region, cond.valid(), bind);
  }));
  repeat.inputs = {trip, cond, Number("_first", 0)};
  repeat.outputs = {
      rebuilder_.graph().AddValue(StrCat(BaseName(), "_iterations"), TensorType(DType::kI64, {}))};
  for (size_t k = 0; k < node_.outputs.size(); ++k) {
    if (k < form_.states) {
      const ValueId initial = rebuilder_.Mapped(node_.inputs[form_.node_state + k]);
      if (IsInvariant(k)) {
        rebuilder_.Replace(node_.outputs[k], initial);
        continue;
      }
      repeat.inputs.push_back(initial);
    }
    repeat.outputs.push_back(AddOutput(node_.outputs[k]));
  }
  repeat.attributes.Set("counter", int64_t{1});
  if (!axes_.empty()) repeat.attributes.Set(kStackAxes, axes_);
  rebuilder_.graph().AddNode(rebuilder_.region(), std::move(repeat));
  return absl::OkStatus();
}

// Counts of inputs and outputs, and that all states are given.
absl::Status CheckLoop(const Graph& graph, const Node& node, const LoopForm& form,
                       size_t body_inputs) {
  const auto found = node.regions.find(kBody);
  if (found == node.regions.end()) return absl::InternalError("has no body");
  const Region& body = graph.regions[found->second];
  if (body.inputs.size() != body_inputs || node.outputs.size() < form.states ||
      body.outputs.size() != form.body_next + node.outputs.size()) {
    return absl::InternalError("its inputs and outputs are not those of its body");
  }
  for (size_t i = form.node_state; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) return AOTC_REFUSAL(InvalidArgument, StrCat("needs input ", i));
  }
  return absl::OkStatus();
}

// ONNX Loop, opset 1 to 24. In the body the condition holds. Where the first one is not given the
// ones from the body count all the same, as in onnxruntime, though the text of the standard ignores
// them.
absl::Status Loop(Rebuilder& rebuilder, const Node& node) {
  constexpr size_t kFirstState = 2, kIteration = 0, kGoOn = 1;
  const Graph& old = rebuilder.old_graph();
  const LoopForm form = {.states = node.inputs.size() - std::min(node.inputs.size(), kFirstState),
                         .node_state = kFirstState,
                         .body_state = kFirstState,
                         .body_next = 1};
  AOTC_RETURN_IF_ERROR(CheckLoop(old, node, form, form.states + kFirstState));
  const Region& body = old.regions[node.regions.at(kBody)];
  Graph& graph = rebuilder.graph();
  auto yes = [&] {
    return graph.AddConstant(StrCat(old.values[body.inputs[kGoOn]].name, "_holds"),
                             Constant::SplatInt(DType::kBool, {}, 1));
  };
  const ValueId cond = InputOf(node, 1);
  RepeatBuilder builder(rebuilder, node, form);
  return builder.Build(rebuilder.Mapped(InputOf(node, 0)),
                       cond.valid() ? rebuilder.Mapped(cond) : yes(), [&](ValueId counter) {
                         rebuilder.Replace(body.inputs[kIteration], counter);
                         rebuilder.Replace(body.inputs[kGoOn], yes());
                       });
}

// Lists of a Scan: `count` numbers, 0 where they are not given.
absl::StatusOr<std::vector<int64_t>> ListOf(const Node& node, const char* name, size_t count) {
  std::vector<int64_t> list = node.attributes.Ints(name);
  if (list.empty()) list.resize(count, 0);
  if (list.size() == count) return list;
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("attribute '", name, "' has ", list.size(), " elements, not ", count));
}

// The directions of the inputs or outputs: 1 for backwards.
absl::StatusOr<std::vector<int64_t>> DirectionsOf(const Node& node, const char* name,
                                                  size_t count) {
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> directions, ListOf(node, name, count));
  for (int64_t direction : directions) {
    if (direction != 0 && direction != 1) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("attribute '", name, "' holds other numbers than 0 and 1"));
    }
  }
  return directions;
}

// %y backwards along an axis.
void Reverse(Rebuilder& rebuilder, const Node& node, ValueId old_output, int64_t axis) {
  Graph& graph = rebuilder.graph();
  const ValueId value = rebuilder.Mapped(old_output);
  const std::string name = graph.values[value].name;
  graph.Rename(value, StrCat(name, "_backwards"));
  auto number = [&](const char* suffix, int64_t number) {
    return graph.AddConstant(StrCat(name, suffix), Constant::Ints({number}));
  };
  const std::vector<ValueId> inputs = {value, number("_start", -1),
                                       number("_end", std::numeric_limits<int64_t>::min()),
                                       number("_axis", axis), number("_step", -1)};
  rebuilder.Replace(old_output, rebuilder.Emit("Slice", inputs, {}, UnknownType(), node));
}

Attributes ItemAttributes(int64_t axis, int64_t direction) {
  Attributes attributes;
  attributes.Set("axis", axis);
  if (direction != 0) attributes.Set("reverse", direction);
  return attributes;
}

// ONNX Scan, opset 9 to 25.
absl::Status Scan(Rebuilder& rebuilder, const Node& node) {
  const int64_t scanned = node.attributes.Int("num_scan_inputs");
  if (scanned < 1 || static_cast<size_t>(scanned) > node.inputs.size()) {
    return AOTC_REFUSAL(InvalidArgument, "attribute 'num_scan_inputs' is out of range");
  }
  const auto items = static_cast<size_t>(scanned);
  const LoopForm form = {.states = node.inputs.size() - items};
  AOTC_RETURN_IF_ERROR(CheckLoop(rebuilder.old_graph(), node, form, node.inputs.size()));
  const size_t stacked = node.outputs.size() - form.states;
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, ListOf(node, "scan_input_axes", items));
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> directions,
                        DirectionsOf(node, "scan_input_directions", items));
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> stack_axes, ListOf(node, "scan_output_axes", stacked));
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> stack_directions,
                        DirectionsOf(node, "scan_output_directions", stacked));
  std::vector<ValueId> sources;
  for (size_t j = 0; j < items; ++j) {
    sources.push_back(rebuilder.Mapped(node.inputs[form.states + j]));
  }
  Attributes length;
  length.Set("axes", axes);
  const ValueId trip =
      rebuilder.Emit("ScanLength", sources, std::move(length), UnknownType(), node);
  const Region& body = rebuilder.old_graph().regions[node.regions.at(kBody)];
  RepeatBuilder builder(rebuilder, node, form);
  builder.SetAxes(stack_axes);
  AOTC_RETURN_IF_ERROR(builder.Build(trip, {}, [&](ValueId counter) {
    for (size_t j = 0; j < items; ++j) {
      const ValueId item =
          rebuilder.Emit("ScanItem", {sources[j], counter}, ItemAttributes(axes[j], directions[j]),
                         UnknownType(), node);
      rebuilder.Replace(body.inputs[form.states + j], item);
    }
  }));
  for (size_t j = 0; j < stacked; ++j) {
    const ValueId output = node.outputs[form.states + j];
    if (output.valid() && stack_directions[j] != 0) Reverse(rebuilder, node, output, stack_axes[j]);
  }
  return absl::OkStatus();
}

// The dim that all inputs have along their axes (attribute `axes`), as i64 []. Ours: how often the
// body of a Scan runs.
absl::Status ScanLength(OpContext& op) {
  const std::vector<int64_t> axes = op.attributes().Ints("axes");
  Expr length;
  for (size_t j = 0; j < axes.size(); ++j) {
    const ValueType& type = op.InputType(j);
    if (!type.ranked) return AOTC_REFUSAL(InvalidArgument, "scans a value of no known rank");
    AOTC_ASSIGN_OR_RETURN(const int axis,
                          op.NormalizeAxis(axes[j], static_cast<int>(type.dims.size())));
    const Expr& dim = type.dims[static_cast<size_t>(axis)];
    if (!length.valid()) length = dim;
    AOTC_RETURN_IF_ERROR(op.RequireEqual(
        length, dim,
        StrCat("scans inputs of different lengths, ", PrintExpr(length), " and ", PrintExpr(dim))));
  }
  if (!length.valid()) return absl::InternalError("scans nothing");
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) { return length; }));
  return absl::OkStatus();
}

// [dims without `axis`], element `i` of n along it; n - 1 - i where attribute `reverse` is 1. Ours:
// the counter of a Scan is always in range, so that nothing checks it.
absl::Status ScanItem(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  AOTC_ASSIGN_OR_RETURN(Tensor counter, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(counter, 0, 0));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", 0, x.rank()));
  const Expr last = x.dim(axis) - 1;
  const bool reverse = op.attributes().Int("reverse") != 0;
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    const Expr place = Clamp(counter({}), 0, last);
    Indices indices = i;
    indices.insert(indices.begin() + axis, reverse ? last - place : place);
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Loop",
     .expand = Loop,
     .summary = "a body run a number of times, or while it says so"},
    {.name = "Scan", .expand = Scan, .summary = "a body run for each element along an axis"},
    {.name = "ScanItem",
     .compute = ScanItem,
     .summary = "one element along an axis, by its number",
     .traits = kOwn},
    {.name = "ScanLength",
     .compute = ScanLength,
     .summary = "how often the body of a Scan runs",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> ControlFlowOps() { return kOps; }

}  // namespace aotc
