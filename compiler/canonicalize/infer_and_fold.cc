#include "compiler/canonicalize/infer_and_fold.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kMostElements = 64;  // of a tensor whose elements are kept as expressions

Place PlaceOf(const Node& node) {
  if (node.locations.empty()) return NodePlace(node.op, node.op, 0);
  const Location& location = node.locations.front();
  return NodePlace(location.node, location.op, location.opset);
}

std::optional<std::vector<Expr>> ElementsOf(const Value& value) {
  if (value.elements) return value.elements;
  if (!value.constant || !IsInteger(value.constant->dtype())) return std::nullopt;
  if (value.constant->element_count() > kMostElements) return std::nullopt;
  std::vector<Expr> elements;
  for (const int64_t element : value.constant->AsInts()) elements.emplace_back(element);
  return elements;
}

class Inference {
 public:
  Inference(const Graph& graph, Diagnostics& diagnostics, int64_t fold_bytes)
      : graph_(graph), diagnostics_(diagnostics), fold_bytes_(fold_bytes) {}

  absl::StatusOr<Graph> Run() {
    for (NodeId id : graph_.main_region().nodes) Visit(graph_.nodes[id]);
    AOTC_RETURN_IF_ERROR(diagnostics_.ToStatus());
    return RebuildGraph(graph_, [this](Rebuilder&, const Node& node) -> absl::StatusOr<bool> {
      return std::all_of(node.outputs.begin(), node.outputs.end(), [this](ValueId id) {
        return !id.valid() || graph_.values[id].constant.has_value();
      });
    });
  }

 private:
  void Visit(const Node& node) {
    for (ValueId input : node.inputs) {
      // An error was reported where the input is made.
      if (input.valid() && graph_.values[input].type.dtype == DType::kUndefined) return;
    }
    absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph_, node);
    if (!built.ok()) return diagnostics_.AddStatus(built.status(), PlaceOf(node));
    SetTypes(*built);
    Fold(node, *built);
    KeepElements(*built);
  }

  void SetTypes(const NodeKernel& node) {
    size_t output = 0;
    for (TensorId id : node.kernel.params) {
      const KernelTensor& tensor = node.kernel.tensors[id];
      if (tensor.role != TensorRole::kOutput) continue;
      graph_.values[node.outputs[output++]].type = TensorType(tensor.dtype, tensor.shape);
    }
  }

  bool FitsFolded(const NodeKernel& node) const {
    int64_t largest_input = 0, outputs = 0;
    for (ValueId id : node.inputs) {
      largest_input = std::max(largest_input, graph_.values[id].constant->element_count());
    }
    for (ValueId id : node.outputs) {
      const auto dims = StaticDims(graph_.values[id].type.dims);
      if (!dims) return false;
      int64_t count = 1;
      for (const int64_t dim : *dims) count *= dim;
      outputs += count * std::max(1, ByteWidth(graph_.values[id].type.dtype));
    }
    return outputs <= fold_bytes_ || outputs <= largest_input;
  }

  void Fold(const Node& node, const NodeKernel& built) {
    if (!built.kernel.symbols.empty()) return;  // its value depends on the sizes of a run
    std::vector<Constant> inputs;
    for (ValueId id : built.inputs) {
      if (!graph_.values[id].constant) return;
      inputs.push_back(*graph_.values[id].constant);
    }
    if (!FitsFolded(built)) return;
    absl::StatusOr<std::vector<Constant>> results = EvaluateKernel(built.kernel, inputs);
    if (!results.ok()) return diagnostics_.AddStatus(results.status(), PlaceOf(node));
    for (size_t i = 0; i < results->size(); ++i) {
      graph_.values[built.outputs[i]].constant = std::move((*results)[i]);
    }
  }

  void KeepElements(const NodeKernel& node) {
    for (ValueId id : node.outputs) {
      const Value& value = graph_.values[id];
      if (value.constant || !IsInteger(value.type.dtype)) return;
      const auto count = MaxElements(value.type.dims, {});
      if (!IsStatic(value.type.dims) || count.value_or(kMostElements + 1) > kMostElements) return;
    }
    std::vector<std::vector<Expr>> inputs;
    for (ValueId id : node.inputs) {
      std::optional<std::vector<Expr>> elements = ElementsOf(graph_.values[id]);
      if (!elements) return;
      inputs.push_back(*std::move(elements));
    }
    auto results = EvaluateSymbolically(node.kernel, inputs);
    if (!results.ok()) return;
    for (size_t i = 0; i < results->size(); ++i)
      SetElements(node.outputs[i], std::move((*results)[i]));
  }

  // Elements that are all numbers make a constant.
  void SetElements(ValueId id, std::vector<Expr> elements) {
    Value& value = graph_.values[id];
    std::vector<uint8_t> bytes(elements.size() * static_cast<size_t>(ByteWidth(value.type.dtype)));
    bool constant = true;
    for (size_t i = 0; i < elements.size(); ++i) {
      const std::optional<int64_t> number = elements[i].AsInt();
      constant = constant && number.has_value();
      if (number) StoreIntElement(value.type.dtype, bytes.data(), static_cast<int64_t>(i), *number);
    }
    value.elements = std::move(elements);
    if (constant) {
      value.constant =
          Constant::Dense(value.type.dtype, *StaticDims(value.type.dims), std::move(bytes));
    }
  }

  Graph graph_;
  Diagnostics& diagnostics_;
  const int64_t fold_bytes_;
};

}  // namespace

absl::StatusOr<Graph> InferAndFold(const Graph& graph, Diagnostics& diagnostics,
                                   int64_t fold_bytes) {
  return Inference(graph, diagnostics, fold_bytes).Run();
}

}  // namespace aotc
