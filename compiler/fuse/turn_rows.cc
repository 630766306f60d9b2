#include "compiler/fuse/turn_rows.h"

#include <algorithm>
#include <utility>

#include "compiler/fuse/copies.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/support/names.h"

namespace aotc {
namespace {

// order[i]: which axis of the source axis i of the copy is; axes of one element, which are read at
// 0, keep their order. Nothing where the copy is no transpose.
std::optional<std::vector<size_t>> OrderOf(const Kernel& copy) {
  const Stage& stage = copy.stages[0];
  const Expr& load = stage.body[0];
  if (load.args().size() != stage.axes.size()) return std::nullopt;
  std::vector<size_t> order;
  for (const Axis& axis : stage.axes) {
    const auto is_source = [&](size_t at) {
      if (std::ranges::count(order, at) > 0) return false;
      if (axis.extent.IsInt(1)) return load.arg(at).IsInt(0);
      return load.arg(at).IsVar() && load.arg(at)->name == axis.name;
    };
    size_t at = 0;
    while (at < load.args().size() && !is_source(at)) ++at;
    if (at == load.args().size()) return std::nullopt;
    const Expr& extent = copy.tensors[load->tensor].shape[at];
    if (!ProveEqual(extent, axis.extent)) return std::nullopt;
    order.push_back(at);
  }
  return order;
}

template <class Items>
void Reorder(const std::vector<size_t>& order, Items& items) {
  const Items old(items.begin(), items.end());
  for (size_t i = 0; i < order.size(); ++i) items[i] = old[order[i]];
}

Expr ReorderLoads(const Kernel& kernel, const std::vector<size_t>& order, const Expr& body) {
  return Transform(body, [&](const Expr& node) {
    if (node.op() != ExprOp::kLoad || !IsDefined(kernel, node->tensor)) return node;
    std::vector<Expr> indices(node.args().begin(), node.args().end());
    Reorder(order, indices);
    return Load(node->tensor, std::move(indices), node.dtype());
  });
}

}  // namespace

std::optional<FusedKernel> TurnRows(const FusedKernel& producer, const FusedKernel& copy,
                                    ValueId value) {
  if (!IsCopy(copy.kernel) ||
      producer.kernel.tensors[producer.kernel.params.back()].role != TensorRole::kOutput) {
    return std::nullopt;
  }
  const auto outputs = std::ranges::count_if(producer.kernel.params, [&](TensorId id) {
    return producer.kernel.tensors[id].role == TensorRole::kOutput;
  });
  std::optional<std::vector<size_t>> order = OrderOf(copy.kernel);
  if (outputs != 1 || producer.args.back() != value || !order) return std::nullopt;
  while (!order->empty() && order->back() + 1 == order->size()) order->pop_back();
  const size_t rank = copy.kernel.stages[0].axes.size();
  const size_t shared = SharedExtents(producer.kernel).size();
  if (order->size() > shared || order->size() >= rank) return std::nullopt;

  FusedKernel turned = producer;
  Kernel& kernel = turned.kernel;
  for (Stage& stage : kernel.stages) {
    Reorder(*order, stage.axes);
    for (Expr& body : stage.body) body = ReorderLoads(producer.kernel, *order, body);
  }
  for (KernelTensor& tensor : kernel.tensors) {
    if (tensor.role == TensorRole::kTemp || tensor.role == TensorRole::kOutput) {
      Reorder(*order, tensor.shape);
    }
  }
  const KernelTensor& result = copy.kernel.tensors[copy.kernel.params.back()];
  KernelTensor& output = kernel.tensors[kernel.params.back()];
  NameTable names;
  for (const KernelTensor& tensor : kernel.tensors) {
    if (&tensor != &output) names.Reserve(tensor.name);
  }
  output.name = names.Unique(result.name);
  output.shape = result.shape;
  turned.args.back() = copy.args.back();
  for (const std::string& source : copy.kernel.sources) kernel.sources.push_back(source);
  return turned;
}

}  // namespace aotc
