#include "compiler/fuse/control.h"

#include <set>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/image_decoder.h"
#include "compiler/support/names.h"
#include "compiler/support/strings.h"

namespace aotc {

FusedKernel KernelOfControl(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  FusedKernel fused{.op = CleanIdentifier(node.op), .control = id};
  NameTable names;
  std::set<ValueId> known;
  const auto add = [&](ValueId value, TensorRole role) {
    if (!value.valid() || graph.values[value].constant || !known.insert(value).second) return;
    const Value& of = graph.values[value];
    fused.kernel.params.push_back(
        fused.kernel.tensors.Add({.name = names.Unique(ShortIdentifier(of.name)),
                                  .dtype = of.type.dtype,
                                  .shape = of.type.dims,
                                  .role = role}));
    fused.args.push_back(value);
  };
  // What its elements are called is no tensor.
  const bool has_outputs = !DefinesSizes(node);
  fused.gives_sizes = GivesSizes(node);
  // The trip count of a Repeat is an expression of the program, not a value in memory; so are the
  // sizes of an image.
  const size_t first = IsRepeat(node) ? RepeatForm::kTrip + 1 : 0;
  const size_t end = IsHostOp(node) ? 1 : node.inputs.size();
  for (size_t i = first; i < end; ++i) add(node.inputs[i], TensorRole::kInput);
  for (ValueId value : CapturedValues(graph, node)) add(value, TensorRole::kInput);
  if (has_outputs) {
    for (ValueId value : node.outputs) add(value, TensorRole::kOutput);
  }
  for (const Location& location : node.locations) {
    fused.kernel.sources.push_back(StrCat(location.node, " (", location.op, ")"));
  }
  fused.kernel.name = fused.op;
  return fused;
}

}  // namespace aotc
