// A node as a kernel of its own.
#include "compiler/fuse/fuse.h"
#include "compiler/fuse/merge_kernels.h"
#include "compiler/ops/op.h"
#include "compiler/support/names.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::StatusOr<FusedKernel> KernelOfNode(const Graph& graph, const Node& node) {
  AOTC_ASSIGN_OR_RETURN(NodeKernel built, BuildNodeKernel(graph, node));
  FusedKernel fused{.kernel = std::move(built.kernel), .args = std::move(built.inputs)};
  fused.args.insert(fused.args.end(), built.outputs.begin(), built.outputs.end());
  for (size_t i = 0; i < fused.args.size(); ++i) {
    KernelTensor& tensor = fused.kernel.tensors[fused.kernel.params[i]];
    tensor.layout = graph.values[fused.args[i]].layout;
  }
  fused.kernel.sources.clear();
  for (const Location& location : node.locations) {
    fused.kernel.sources.push_back(StrCat(location.node, " (", location.op, ")"));
  }
  fused.op = CleanIdentifier(node.op);
  if (HasTrait(node.op, kChangesType)) {
    for (ValueId output : node.outputs) {
      const DType dtype = graph.values[output].type.dtype;
      if (ComputeType(dtype) != dtype) fused.rounded.insert(output);
    }
  }
  const std::string name = node.locations.empty() ? node.op : node.locations[0].node;
  fused.kernel.name = CleanIdentifier(name);
  InlineSplats(graph, fused);
  return fused;
}

}  // namespace aotc
