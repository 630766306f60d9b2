#include "compiler/ops/op.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string KernelName(const Node& node) {
  std::string name = node.locations.empty() ? std::string() : node.locations[0].node;
  return TensorBuilder("").UniqueName(name.empty() ? node.op : name);
}

// "which node 'shape_of' (Shape, opset 13) computes at run time", for a value that is not known.
std::string WhyUnknown(const Graph& graph, ValueId value) {
  NodeId producer = Producers(graph)[value];
  if (!producer.valid()) {
    const bool is_inner = std::ranges::any_of(graph.regions, [&](const Region& region) {
      return &region != &graph.main_region() && std::ranges::count(region.inputs, value) > 0;
    });
    return is_inner ? "which is an input of a subgraph" : "which is an input of the graph";
  }
  const Node& node = graph.nodes[producer];
  if (node.locations.empty()) return StrCat("which a node ", node.op, " computes at run time");
  return StrCat("which ", Describe(node.locations[0]), " computes at run time");
}

// What a node of a branch or body knows of the symbols besides; nothing where there is nothing that
// not all nodes know.
std::optional<std::vector<Symbol>> OwnSymbols(const Graph& graph, const Node& node) {
  const bool differ = std::ranges::any_of(
      graph.symbols, [](const Symbol& symbol) { return symbol.computed && symbol.value.valid(); });
  return differ ? std::optional(SymbolsAt(graph, node)) : std::nullopt;
}

bool HasDim(const ValueType& type, const Expr& side) {
  return std::ranges::any_of(type.dims, [&](const Expr& dim) { return Same(dim, side); });
}

// The first of the operands, `but` one, that has a dim like that.
const Value* OperandWithDim(const std::vector<const Value*>& operands, const Expr& side,
                            const Value* but) {
  const auto found = std::ranges::find_if(operands, [&](const Value* operand) {
    return operand != but && HasDim(operand->type, side);
  });
  return found == operands.end() ? nullptr : *found;
}

// "'x' f32[n, 6] and 'y' f32[m, 6]": the operands that a condition compares a dim of, or all where
// it is about something else.
std::string OperandsIn(const Graph& graph, const Node& node, const Expr& condition) {
  std::vector<const Value*> operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!aotc::HasInput(node, i)) continue;
    const Value* operand = &graph.values[node.inputs[i]];
    if (std::ranges::count(operands, operand) == 0) operands.push_back(operand);
  }
  if (condition.args().size() == 2) {
    const Value* first = OperandWithDim(operands, condition.arg(0), nullptr);
    const Value* second = OperandWithDim(operands, condition.arg(1), first);
    if (first != nullptr && second != nullptr) operands = {first, second};
  }
  return StrJoin(operands, " and ", [](const Value* operand) {
    return StrCat("'", operand->name, "' ", PrintType(operand->type));
  });
}

bool HasArithmetic(DType type) { return type == DType::kBool || IsInteger(type) || IsFloat(type); }

}  // namespace

OpContext::OpContext(const Graph& graph, const Node& node)
    : graph_(graph),
      node_(node),
      own_symbols_(OwnSymbols(graph, node)),
      builder_(KernelName(node), bounds()) {}

bool OpContext::HasInput(size_t index) const { return aotc::HasInput(node_, index); }

bool OpContext::WantsOutput(size_t index) const {
  return index < node_.outputs.size() && node_.outputs[index].valid();
}

std::string OpContext::DescribeInput(size_t index) const {
  std::string text = StrCat("input ", index);
  if (HasInput(index)) StrAppend(&text, " ('", graph_.values[node_.inputs[index]].name, "')");
  return text;
}

const ValueType& OpContext::InputType(size_t index) const {
  static const ValueType kAbsent = {.ranked = false};
  return HasInput(index) ? graph_.values[node_.inputs[index]].type : kAbsent;
}

const ValueType& OpContext::OutputType(size_t index) const {
  static const ValueType kAbsent = {.ranked = false};
  return WantsOutput(index) ? graph_.values[node_.outputs[index]].type : kAbsent;
}

absl::StatusOr<Tensor> OpContext::Input(size_t index) {
  if (!HasInput(index)) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("needs ", DescribeInput(index)));
  }
  ValueId value = node_.inputs[index];
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (node_.inputs[operands_[i]] == value) return operand_tensors_[i];
  }
  const ValueType& type = InputType(index);
  if (type.kind != ValueKind::kTensor || !type.ranked) {
    return absl::InternalError(StrCat(DescribeInput(index), " is not a tensor of known rank"));
  }
  if (!HasArithmetic(type.dtype)) {
    return AOTC_REFUSAL(Unimplemented,
                        StrCat(DescribeInput(index), " has element type ", DTypeName(type.dtype),
                               ", which this op does not support"));
  }
  operands_.push_back(index);
  operand_tensors_.push_back(builder_.Input(graph_.values[value].name, type.dtype, type.dims));
  return operand_tensors_.back();
}

absl::StatusOr<std::vector<Expr>> OpContext::IntElements(size_t index) const {
  if (!HasInput(index)) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("needs ", DescribeInput(index)));
  }
  const Value& value = graph_.values[node_.inputs[index]];
  if (value.elements) return *value.elements;
  if (!value.constant) {
    unknown_ = node_.inputs[index];
    return AOTC_REFUSAL(Unimplemented, StrCat("needs ", DescribeInput(index), " at compile time, ",
                                              WhyUnknown(graph_, node_.inputs[index])));
  }
  if (!IsInteger(value.constant->dtype()) && value.constant->dtype() != DType::kBool) {
    return AOTC_REFUSAL(InvalidArgument, StrCat(DescribeInput(index), " must hold integers"));
  }
  std::vector<Expr> elements;
  for (int64_t element : value.constant->AsInts()) elements.push_back(Expr(element));
  return elements;
}

absl::StatusOr<std::vector<int64_t>> OpContext::ConstInts(size_t index) const {
  absl::StatusOr<std::vector<Expr>> elements = IntElements(index);
  unknown_ = {};  // elements of the run would be of no use here
  AOTC_RETURN_IF_ERROR(elements.status());
  std::vector<int64_t> values;
  for (const Expr& element : *elements) {
    std::optional<int64_t> value = Simplify(element, bounds()).AsInt();
    if (!value) {
      return absl::InternalError(StrCat(DescribeInput(index), " is no number"));
    }
    values.push_back(*value);
  }
  return values;
}

const std::vector<Expr>* OpContext::OutputElements(size_t index) const {
  if (!WantsOutput(index)) return nullptr;
  const Value& value = graph_.values[node_.outputs[index]];
  return value.elements ? &*value.elements : nullptr;
}

const Constant* OpContext::ConstInput(size_t index) const {
  if (!HasInput(index)) return nullptr;
  const Value& value = graph_.values[node_.inputs[index]];
  return value.constant ? &*value.constant : nullptr;
}

absl::StatusOr<int> OpContext::NormalizeAxis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("axis ", axis, " is out of range for rank ", rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<int> OpContext::Axis(std::string_view name, int64_t fallback, int rank) const {
  return NormalizeAxis(attributes().Int(name, fallback), rank);
}

absl::Status OpContext::Require(const Expr& condition, const std::string& text) {
  const std::optional<bool> holds = Prove(condition, bounds());
  if (holds == true) return absl::OkStatus();
  if (holds == false) return AOTC_REFUSAL(InvalidArgument, text);
  const Expr simple = Simplify(condition);
  for (const Symbol& symbol : symbols()) {
    for (const SizeCheck& check : symbol.checks) {
      if (Same(check.holds, simple)) return absl::OkStatus();
    }
  }
  // Behind an open size the condition is about what will have another name.
  if (!open_sizes_.empty()) return absl::OkStatus();
  checks_.push_back({simple, StrCat(text, ", of ", OperandsIn(graph_, node_, condition))});
  return absl::OkStatus();
}

absl::Status OpContext::RequireEqual(const Expr& a, const Expr& b, const std::string& text) {
  return ProveEqual(a, b, bounds()) ? absl::OkStatus() : Require(Eq(a, b), text);
}

Expr OpContext::Size(const Expr& size, size_t output, int axis, const Expr& most) {
  const Bounds known = bounds();
  const Expr named = NamedSize(Simplify(size, known), symbols());
  if (named.IsConst() || !IsOpenSize(named, known) || !IsOfRun(named)) return named;
  open_sizes_.push_back({.output = output, .axis = axis, .size = named, .most = most});
  return named;
}

void OpContext::SetOutput(size_t index, const Tensor& tensor) {
  if (!WantsOutput(index)) return;
  builder_.SetOutput(index, tensor, graph_.values[node_.outputs[index]].name);
}

Kernel OpContext::Finish() {
  std::vector<std::string> names;  // of all operands, before unused ones are dropped
  for (const Tensor& operand : operand_tensors_)
    names.push_back(builder_.tensor(operand.id()).name);
  Kernel kernel = builder_.Finish(symbols());
  std::set<std::string> used;
  for (TensorId id : kernel.params) used.insert(kernel.tensors[id].name);
  std::vector<size_t> kept;
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (used.count(names[i]) != 0) kept.push_back(operands_[i]);
  }
  operands_ = std::move(kept);
  for (const Location& location : node_.locations) {
    kernel.sources.push_back(StrCat(location.node, " (", location.op, ")"));
  }
  return kernel;
}

absl::StatusOr<NodeKernel> BuildNodeKernel(const Graph& graph, const Node& node, ValueId* unknown) {
  const OpDef* op = FindOp(node.op);
  if (op == nullptr || op->compute == nullptr) {
    return AOTC_REFUSAL(Unimplemented, StrCat("op ", node.op, " is not supported"));
  }
  OpContext context(graph, node);
  const absl::Status status = op->compute(context);
  if (unknown != nullptr) *unknown = context.unknown();
  AOTC_RETURN_IF_ERROR(status);
  for (const DimPair& pair : context.b().unproved()) {
    AOTC_RETURN_IF_ERROR(context.RequireEqual(
        pair.first, pair.second,
        StrCat("dims of the operands that have to be equal are not: ", PrintExpr(pair.first),
               " and ", PrintExpr(pair.second))));
  }
  NodeKernel result;
  result.checks = context.checks();
  result.open_sizes = context.open_sizes();
  result.kernel = context.Finish();
  for (size_t operand : context.operands()) result.inputs.push_back(node.inputs[operand]);
  for (ValueId output : node.outputs) {
    if (output.valid()) result.outputs.push_back(output);
  }
  size_t params = result.inputs.size() + result.outputs.size();
  if (result.kernel.params.size() != params) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat(node.op, " does not have ", node.outputs.size(), " outputs"));
  }
  return result;
}

}  // namespace aotc
