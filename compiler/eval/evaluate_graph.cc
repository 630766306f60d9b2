#include <utility>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/control_flow.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class GraphEvaluator {
 public:
  GraphEvaluator(const Graph& graph, SymbolValues symbols)
      : graph_(graph), symbols_(std::move(symbols)), values_(graph.values.size()) {
    for (ValueId id : graph.values.ids()) values_[id] = graph.values[id].constant;
  }

  absl::Status SetInputs(const std::vector<Constant>& inputs);
  // `keep_all` keeps values that nothing reads any more.
  absl::Status Run(bool keep_all);
  const std::optional<Constant>& value(ValueId id) const { return values_[id]; }

 private:
  absl::Status CheckInput(ValueId id, const Constant& input);
  void BindSymbol(const Expr& dim, int64_t value);
  absl::StatusOr<Constant> ValueOf(ValueId id) const;
  // Runs all nodes of a region.
  absl::Status RunNodes(RegionId region);
  absl::Status RunNode(const Node& node);
  absl::Status RunKernel(const Node& node);
  absl::Status RunIf(const Node& node);

  const Graph& graph_;
  SymbolValues symbols_;
  IdVector<ValueId, std::optional<Constant>> values_;
};

absl::Status GraphEvaluator::SetInputs(const std::vector<Constant>& inputs) {
  const std::vector<ValueId>& ids = graph_.main_region().inputs;
  if (ids.size() != inputs.size()) {
    return absl::InvalidArgumentError(
        StrCat("the graph has ", ids.size(), " inputs, got ", inputs.size()));
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const Shape& dims = graph_.values[ids[i]].type.dims;
    for (size_t axis = 0; axis < dims.size() && axis < inputs[i].dims().size(); ++axis) {
      BindSymbol(dims[axis], inputs[i].dims()[axis]);
    }
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    AOTC_RETURN_IF_ERROR(CheckInput(ids[i], inputs[i]));
    values_[ids[i]] = inputs[i];
  }
  return absl::OkStatus();
}

// A dim that is a symbol, or a multiple of one, gives the symbol its value.
void GraphEvaluator::BindSymbol(const Expr& dim, int64_t value) {
  if (dim.IsVar()) symbols_.try_emplace(dim->name, value);
  if (dim.op() != ExprOp::kMul) return;
  for (int side : {0, 1}) {
    std::optional<int64_t> step = dim.arg(1 - side).AsInt();
    if (dim.arg(side).IsVar() && step && *step != 0 && value % *step == 0) {
      symbols_.try_emplace(dim.arg(side)->name, value / *step);
    }
  }
}

absl::Status GraphEvaluator::CheckInput(ValueId id, const Constant& input) {
  const Value& value = graph_.values[id];
  bool fits = value.type.dtype == input.dtype() && value.type.dims.size() == input.dims().size();
  for (size_t axis = 0; fits && axis < input.dims().size(); ++axis) {
    fits = EvaluateInt(value.type.dims[axis], symbols_) == input.dims()[axis];
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("input '", value.name, "' got ",
                                           DTypeName(input.dtype()), "[",
                                           StrJoin(input.dims(), ", "), "]"));
}

absl::StatusOr<Constant> GraphEvaluator::ValueOf(ValueId id) const {
  if (values_[id]) return *values_[id];
  return absl::InternalError(StrCat("'", graph_.values[id].name, "' has no value"));
}

absl::Status GraphEvaluator::RunKernel(const Node& node) {
  std::vector<std::optional<Constant>> inputs;
  for (ValueId input : node.inputs) {
    inputs.emplace_back();
    if (!input.valid()) continue;
    AOTC_ASSIGN_OR_RETURN(inputs.back(), ValueOf(input));
  }
  AOTC_ASSIGN_OR_RETURN(std::vector<Constant> outputs,
                        EvaluateNode(graph_, node, inputs, symbols_));
  size_t next = 0;
  for (ValueId output : node.outputs) {
    if (output.valid()) values_[output] = std::move(outputs[next++]);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Truth(const Constant& condition) {
  if (condition.dtype() == DType::kBool && condition.element_count() == 1) {
    return condition.IntAt(0) != 0;
  }
  return absl::InvalidArgumentError("its condition is not one bool");
}

absl::Status GraphEvaluator::RunIf(const Node& node) {
  if (node.inputs.empty() || !node.inputs[0].valid()) {
    return absl::InvalidArgumentError("has no condition");
  }
  AOTC_ASSIGN_OR_RETURN(const Constant condition, ValueOf(node.inputs[0]));
  AOTC_ASSIGN_OR_RETURN(const bool taken, Truth(condition));
  const RegionId branch = node.regions.at(taken ? "then_branch" : "else_branch");
  AOTC_RETURN_IF_ERROR(RunNodes(branch));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    AOTC_ASSIGN_OR_RETURN(values_[node.outputs[i]], ValueOf(graph_.regions[branch].outputs[i]));
  }
  return absl::OkStatus();
}

absl::Status GraphEvaluator::RunNode(const Node& node) {
  const absl::Status status = IsIf(node) ? RunIf(node) : RunKernel(node);
  if (status.ok()) return status;
  std::string place = node.locations.empty() ? node.op : Describe(node.locations[0]);
  return absl::Status(status.code(), StrCat(place, ": ", status.message()));
}

absl::Status GraphEvaluator::RunNodes(RegionId region) {
  for (NodeId id : graph_.regions[region].nodes) {
    AOTC_RETURN_IF_ERROR(RunNode(graph_.nodes[id]));
  }
  return absl::OkStatus();
}

absl::Status GraphEvaluator::Run(bool keep_all) {
  IdVector<ValueId, int> uses = UseCounts(graph_);
  for (NodeId id : graph_.main_region().nodes) {
    const Node& node = graph_.nodes[id];
    AOTC_RETURN_IF_ERROR(RunNode(node));
    for (ValueId input : node.inputs) {
      if (input.valid() && --uses[input] == 0 && !keep_all) values_[input].reset();
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Constant>> EvaluateGraph(const Graph& graph,
                                                    const std::vector<Constant>& inputs,
                                                    const SymbolValues& symbols) {
  GraphEvaluator evaluator(graph, symbols);
  AOTC_RETURN_IF_ERROR(evaluator.SetInputs(inputs));
  AOTC_RETURN_IF_ERROR(evaluator.Run(/*keep_all=*/false));
  std::vector<Constant> outputs;
  for (ValueId output : graph.main_region().outputs) outputs.push_back(*evaluator.value(output));
  return outputs;
}

absl::StatusOr<std::map<std::string, Constant>> EvaluateAllValues(
    const Graph& graph, const std::vector<Constant>& inputs, const SymbolValues& symbols) {
  GraphEvaluator evaluator(graph, symbols);
  AOTC_RETURN_IF_ERROR(evaluator.SetInputs(inputs));
  AOTC_RETURN_IF_ERROR(evaluator.Run(/*keep_all=*/true));
  std::map<std::string, Constant> all;
  for (ValueId id : graph.values.ids()) {
    if (evaluator.value(id)) all[graph.values[id].name] = *evaluator.value(id);
  }
  return all;
}

}  // namespace aotc
