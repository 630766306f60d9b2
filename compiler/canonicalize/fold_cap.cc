#include "compiler/canonicalize/fold_cap.h"

#include <algorithm>

#include "compiler/ops/op.h"

namespace aotc {
namespace {

// Inputs of the node that kernels want packed at compile time: from this one on.
size_t FirstWeight(const Node& node) {
  const OpDef* op = FindOp(node.op);
  return op != nullptr && op->first_weight ? *op->first_weight : node.inputs.size();
}

int64_t BytesOf(const KernelTensor& tensor) {
  int64_t bytes = StorageBytes(tensor.dtype, 1);
  for (const Expr& dim : tensor.shape) {
    if (__builtin_mul_overflow(bytes, dim.AsInt().value_or(0), &bytes)) return INT64_MAX;
  }
  return bytes;
}

// All elements of all results are equal: inputs are splats and no body names an axis outside of the
// indices of a load.
bool GivesSplats(const Kernel& kernel, const std::vector<Constant>& inputs) {
  bool splats = std::all_of(inputs.begin(), inputs.end(), [](const Constant& c) {
    return c.is_splat() || c.element_count() == 1;
  });
  if (!splats) return false;
  for (const Stage& stage : kernel.stages) {
    for (const Expr& body : stage.body) {
      Expr bare = Transform(body, [](const Expr& e) {
        return e.op() == ExprOp::kLoad ? NumberConst(0, e.dtype()) : e;
      });
      if (!FreeVars(bare).empty()) return false;
    }
  }
  return true;
}

}  // namespace

FoldCap::FoldCap(const Graph& graph, int64_t cap_bytes)
    : cap_bytes_(cap_bytes), reaches_weight_(graph.values.size(), 0) {
  // Readers have higher numbers, those in regions too.
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    const Node& node = graph.nodes[NodeId(static_cast<int32_t>(id))];
    bool reaches = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
      return output.valid() && reaches_weight_[output] != 0;
    });
    for (size_t i = reaches ? 0 : FirstWeight(node); i < node.inputs.size(); ++i) {
      if (node.inputs[i].valid()) reaches_weight_[node.inputs[i]] = 1;
    }
  }
}

bool FoldCap::Allows(const Node& node, const Kernel& kernel,
                     const std::vector<Constant>& inputs) const {
  int64_t input_bytes = 0;
  for (const Constant& input : inputs) {
    input_bytes += StorageBytes(input.dtype(), input.element_count());
  }
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    if (tensor.role != TensorRole::kOutput) continue;
    int64_t bytes = BytesOf(tensor);
    if (bytes > cap_bytes_ && bytes > input_bytes) {
      bool weight = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
        return output.valid() && reaches_weight_[output] != 0;
      });
      return weight || GivesSplats(kernel, inputs);
    }
  }
  return true;
}

}  // namespace aotc
