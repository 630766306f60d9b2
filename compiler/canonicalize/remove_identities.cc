#include "compiler/canonicalize/remove_identities.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"

namespace aotc {
namespace {

bool IsCopy(const Kernel& kernel) {
  if (kernel.params.size() != 2 || kernel.stages.size() != 1) return false;
  const Stage& stage = kernel.stages[0];
  if (stage.IsReduction() || stage.body[0].op() != ExprOp::kLoad) return false;
  const Expr& load = stage.body[0];
  if (load->tensor != kernel.params[0] || load.args().size() != stage.axes.size()) return false;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    bool unit = stage.axes[i].extent.IsInt(1) && load.arg(i).IsInt(0);
    if (!unit && !(load.arg(i).IsVar() && load.arg(i)->name == stage.axes[i].name)) return false;
  }
  return SameShape(kernel.tensors[kernel.params[0]].shape, kernel.tensors[kernel.params[1]].shape);
}

// The input that the node's only output equals; invalid where there is none.
ValueId CopiedInput(const Graph& graph, const Node& node) {
  // A product of two operands copies neither; its kernel is dear to build.
  if (HasTrait(node.op, kContraction) && node.inputs.size() > 1) return {};
  auto used = [](ValueId output) { return output.valid(); };
  if (std::count_if(node.outputs.begin(), node.outputs.end(), used) != 1) return {};
  ValueId output = *std::find_if(node.outputs.begin(), node.outputs.end(), used);
  const Value& result = graph.values[output];
  // A change of layout is no copy.
  bool possible = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    if (!input.valid()) return false;
    const Value& value = graph.values[input];
    return SameType(value.type, result.type) && value.layout == result.layout;
  });
  if (!possible) return {};
  absl::StatusOr<NodeKernel> kernel = BuildNodeKernel(graph, node);
  return kernel.ok() && IsCopy(kernel->kernel) ? kernel->inputs[0] : ValueId();
}

// Its elements are those of inputs, or constants: in training it draws them.
bool DropsNothing(const Graph& graph, const Node& dropout) {
  const absl::StatusOr<NodeKernel> kernel = BuildNodeKernel(graph, dropout);
  return kernel.ok() && std::ranges::all_of(kernel->kernel.stages, [](const Stage& stage) {
           return stage.body[0].op() == ExprOp::kLoad || stage.body[0].IsConst();
         });
}

// A Dropout whose mask is read: inference drops nothing, so that all of the mask is true.
bool ReplaceWithMask(Rebuilder& rebuilder, const Node& node) {
  if (node.op != "Dropout" || node.outputs.size() != 2 || !node.outputs[1].valid()) return false;
  const Value& mask = rebuilder.old_graph().values[node.outputs[1]];
  const std::optional<std::vector<int64_t>> dims = StaticDims(mask.type.dims);
  if (!dims || !DropsNothing(rebuilder.old_graph(), node)) return false;
  rebuilder.Replace(node.outputs[0], rebuilder.Mapped(node.inputs[0]));
  Constant kept = Constant::Splat(mask.type.dtype, *dims, 1);
  rebuilder.Replace(node.outputs[1], rebuilder.graph().AddConstant(mask.name, std::move(kept)));
  return true;
}

}  // namespace

absl::StatusOr<Graph> RemoveIdentities(const Graph& graph, PassContext&) {
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (ReplaceWithMask(rebuilder, node)) return true;
    ValueId input = CopiedInput(graph, node);
    if (!input.valid()) return false;
    for (ValueId output : node.outputs) {
      if (output.valid()) rebuilder.Replace(output, rebuilder.Mapped(input));
    }
    return true;
  });
}

}  // namespace aotc
