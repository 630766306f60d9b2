#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "compiler/eval/definitions.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/op.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class GraphEvaluator {
 public:
  GraphEvaluator(const Graph& graph, SymbolValues symbols)
      : graph_(graph), symbols_(std::move(symbols)), values_(graph.values.size()) {
    for (ValueId id : graph.values.ids()) values_[id] = graph.values[id].constant;
    for (const Symbol& symbol : graph.symbols) {
      if (symbol.computed) symbols_.erase(symbol.var);
    }
  }

  absl::Status SetInputs(const std::vector<Constant>& inputs);
  // `keep_all` keeps values that nothing reads any more.
  absl::Status Run(bool keep_all);
  const std::optional<Constant>& value(ValueId id) const { return values_[id]; }

 private:
  absl::Status CheckInput(ValueId id, const Constant& input);
  void BindSymbol(const Expr& dim, int64_t value);
  void BindElements(const std::vector<Expr>& elements, const Constant& input);
  // The dims of values as they are, for the variables listed; and what follows from them.
  absl::Status BindDims(const std::vector<std::string>& vars, const std::vector<ValueId>& values);
  // Sizes that are known in the region alone.
  void ForgetSizes(RegionId region);
  absl::Status CheckElements(const Value& value, const Constant& given,
                             std::string_view what) const;
  absl::StatusOr<Constant> ValueOf(ValueId id) const;
  // Runs all nodes of a region.
  absl::Status RunNodes(RegionId region);
  absl::Status RunNode(const Node& node);
  absl::Status CheckIndices(const Node& node) const;
  absl::Status RunKernel(const Node& node);
  absl::Status RunSizes(const Node& node);
  absl::Status RunIf(const Node& node);
  absl::Status RunRepeat(const Node& node);
  // One iteration; false where the condition does not hold any more.
  absl::StatusOr<bool> RunBody(const Node& node, std::vector<Constant>& carried,
                               std::vector<std::vector<Constant>>& stacks);
  absl::Status SetEmpty(ValueId output);
  absl::Status SetStacked(const Node& node, size_t index, const std::vector<Constant>& items);

  const Graph& graph_;
  SymbolValues symbols_;
  IdVector<ValueId, std::optional<Constant>> values_;
};

absl::Status GraphEvaluator::SetInputs(const std::vector<Constant>& inputs) {
  const std::vector<ValueId>& ids = graph_.main_region().inputs;
  if (ids.size() != inputs.size()) {
    return absl::InternalError(
        StrCat("the graph has ", ids.size(), " inputs, got ", inputs.size()));
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const Shape& dims = graph_.values[ids[i]].type.dims;
    for (size_t axis = 0; axis < dims.size() && axis < inputs[i].dims().size(); ++axis) {
      BindSymbol(dims[axis], inputs[i].dims()[axis]);
    }
    if (const auto& elements = graph_.values[ids[i]].elements) BindElements(*elements, inputs[i]);
  }
  AOTC_RETURN_IF_ERROR(WorkOutSizes(graph_.symbols, symbols_));
  for (size_t i = 0; i < ids.size(); ++i) {
    AOTC_RETURN_IF_ERROR(CheckInput(ids[i], inputs[i]));
    values_[ids[i]] = inputs[i];
  }
  return absl::OkStatus();
}

// A dim or element that is a symbol, or a multiple of one, gives the symbol its value.
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

void GraphEvaluator::BindElements(const std::vector<Expr>& elements, const Constant& input) {
  const auto count = static_cast<size_t>(input.element_count());
  for (size_t e = 0; e < std::min(elements.size(), count); ++e) {
    BindSymbol(elements[e], input.IntAt(static_cast<int64_t>(e)));
  }
}

// The elements that sizes depend on are what the symbols, within their ranges, make of them.
absl::Status GraphEvaluator::CheckElements(const Value& value, const Constant& input,
                                           std::string_view what) const {
  const Bounds bounds = BoundsOf(graph_.symbols);
  for (size_t e = 0; e < value.elements->size(); ++e) {
    const Expr& element = (*value.elements)[e];
    const Symbol* symbol = element.IsVar() ? FindSymbol(graph_.symbols, element->name) : nullptr;
    if (symbol != nullptr && symbol->clamps) continue;
    const int64_t given = input.IntAt(static_cast<int64_t>(e));
    const Interval range = RangeOf(element, bounds);
    const bool fits = range.min <= given && given <= range.max;
    const std::optional<int64_t> needed = EvaluateInt(element, symbols_);
    if (fits && needed == given) continue;
    const std::string why = !fits    ? StrCat("not within ", range.min, " .. ", range.max)
                            : needed ? StrCat("the other inputs need ", *needed)
                                     : StrCat("not of the form ", PrintExpr(element));
    return AOTC_REFUSAL(OutOfRange, StrCat("element ", e, " of ", what, " '", value.name, "' is ",
                                           given, ", ", why));
  }
  return absl::OkStatus();
}

absl::Status GraphEvaluator::CheckInput(ValueId id, const Constant& input) {
  const Value& value = graph_.values[id];
  bool fits = value.type.dtype == input.dtype() && value.type.dims.size() == input.dims().size();
  for (size_t axis = 0; fits && axis < input.dims().size(); ++axis) {
    fits = EvaluateInt(value.type.dims[axis], symbols_) == input.dims()[axis];
  }
  if (fits) return value.elements ? CheckElements(value, input, "input") : absl::OkStatus();
  const std::string wanted = StrJoin(value.type.dims, ", ", [&](const Expr& dim) {
    return StrCat(EvaluateInt(dim, symbols_).value_or(0));
  });
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("input '", value.name, "' is ", DTypeName(input.dtype()), "[",
                             StrJoin(input.dims(), ", "), "], the model takes ",
                             DTypeName(value.type.dtype), "[", wanted, "] here"));
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

// The elements are the symbols that the result names, and what follows from these is worked out.
absl::Status GraphEvaluator::RunSizes(const Node& node) {
  const Value& named = graph_.values[node.outputs[0]];
  if (node.inputs.empty()) {
    std::vector<int64_t> sizes;
    for (const Expr& size : *named.elements) symbols_[size->name] = 0;  // until it is worked out
    AOTC_RETURN_IF_ERROR(WorkOutSizes(graph_.symbols, symbols_));
    for (const Expr& size : *named.elements) sizes.push_back(symbols_.at(size->name));
    values_[node.outputs[0]] = Constant::Ints(sizes);
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(const Constant given, ValueOf(node.inputs[0]));
  BindElements(*named.elements, given);
  AOTC_RETURN_IF_ERROR(CheckElements(named, given, "value"));
  AOTC_RETURN_IF_ERROR(WorkOutSizes(graph_.symbols, symbols_));
  values_[node.outputs[0]] = given;
  return absl::OkStatus();
}

absl::Status GraphEvaluator::BindDims(const std::vector<std::string>& vars,
                                      const std::vector<ValueId>& values) {
  for (ValueId id : values) {
    if (!id.valid() || vars.empty()) continue;
    const Shape& dims = graph_.values[id].type.dims;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (IsListed(dims[axis], vars)) symbols_[dims[axis]->name] = values_[id]->dims()[axis];
    }
  }
  return vars.empty() ? absl::OkStatus() : WorkOutSizes(graph_.symbols, symbols_);
}

void GraphEvaluator::ForgetSizes(RegionId region) {
  for (NodeId id : graph_.regions[region].nodes) {
    const Node& node = graph_.nodes[id];
    for (const std::string& var : VariablesIn(node, kSizes)) symbols_.erase(var);
    if (!DefinesSizes(node)) continue;
    for (const Expr& size : *graph_.values[node.outputs[0]].elements) {
      for (const std::string& var : FreeVars(size)) symbols_.erase(var);
    }
  }
}

absl::StatusOr<bool> Truth(const Constant& condition) {
  if (condition.dtype() == DType::kBool && condition.element_count() == 1) {
    return condition.IntAt(0) != 0;
  }
  return absl::InternalError("its condition is not one bool");
}

absl::Status GraphEvaluator::RunIf(const Node& node) {
  if (node.inputs.empty() || !node.inputs[0].valid()) {
    return absl::InternalError("has no condition");
  }
  AOTC_ASSIGN_OR_RETURN(const Constant condition, ValueOf(node.inputs[0]));
  AOTC_ASSIGN_OR_RETURN(const bool taken, Truth(condition));
  const RegionId branch = node.regions.at(taken ? "then_branch" : "else_branch");
  AOTC_RETURN_IF_ERROR(RunNodes(branch));
  ForgetSizes(branch);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    AOTC_ASSIGN_OR_RETURN(values_[node.outputs[i]], ValueOf(graph_.regions[branch].outputs[i]));
  }
  return BindDims(VariablesIn(node, kSizes), node.outputs);
}

absl::StatusOr<bool> GraphEvaluator::RunBody(const Node& node, std::vector<Constant>& carried,
                                             std::vector<std::vector<Constant>>& stacks) {
  const RepeatForm form = FormOf(graph_, node);
  const RegionId id = node.regions.at("body");
  const Region& body = graph_.regions[id];
  for (size_t k = 0; k < form.carried; ++k) values_[body.inputs[k]] = carried[k];
  AOTC_RETURN_IF_ERROR(BindDims(VariablesIn(node, kRoundSizes), body.inputs));
  AOTC_RETURN_IF_ERROR(RunNodes(id));
  ForgetSizes(id);
  for (const std::string& var : VariablesIn(node, kRoundSizes)) symbols_.erase(var);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    AOTC_ASSIGN_OR_RETURN(Constant value, ValueOf(body.outputs[form.first_next + k]));
    if (k < form.carried) {
      carried[k] = std::move(value);
    } else {
      stacks[k - form.carried].push_back(std::move(value));
    }
  }
  if (form.first_next == 0) return true;
  AOTC_ASSIGN_OR_RETURN(const Constant condition, ValueOf(body.outputs[0]));
  return Truth(condition);
}

absl::Status GraphEvaluator::RunRepeat(const Node& node) {
  const RepeatForm form = FormOf(graph_, node);
  int64_t trips = std::numeric_limits<int64_t>::max();
  bool more = true;
  if (const ValueId trip = node.inputs[RepeatForm::kTrip]; trip.valid()) {
    AOTC_ASSIGN_OR_RETURN(const Constant count, ValueOf(trip));
    if (count.element_count() != 1) return absl::InternalError("its count is not a number");
    trips = count.IntAt(0);
  }
  if (const ValueId cond = node.inputs[RepeatForm::kCond]; cond.valid()) {
    AOTC_ASSIGN_OR_RETURN(const Constant condition, ValueOf(cond));
    AOTC_ASSIGN_OR_RETURN(more, Truth(condition));
  }
  std::vector<Constant> carried;
  for (size_t k = 0; k < form.carried; ++k) {
    AOTC_ASSIGN_OR_RETURN(carried.emplace_back(),
                          ValueOf(node.inputs[RepeatForm::kFirstCarried + k]));
  }
  std::vector<std::vector<Constant>> stacks(form.stacked);
  for (int64_t i = 0; i < trips && more; ++i) {
    AOTC_ASSIGN_OR_RETURN(more, RunBody(node, carried, stacks));
  }
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.outputs[k].valid()) continue;
    if (k < form.carried) {
      values_[node.outputs[k]] = std::move(carried[k]);
    } else {
      AOTC_RETURN_IF_ERROR(SetStacked(node, k - form.carried, stacks[k - form.carried]));
    }
  }
  return BindDims(VariablesIn(node, kSizes), node.outputs);
}

// The items one after the other, as one tensor.
absl::StatusOr<Constant> Stack(const std::vector<Constant>& items) {
  std::vector<int64_t> dims = items[0].dims();
  std::vector<uint8_t> bytes;
  if (IsSubByte(items[0].dtype())) return absl::InternalError("stacks elements below a byte");
  for (const Constant& item : items) {
    if (item.dims() != items[0].dims()) {
      return absl::InternalError("stacks values of different sizes");
    }
    const Constant dense = item.Expanded();
    bytes.insert(bytes.end(), dense.bytes().begin(), dense.bytes().end());
  }
  dims.insert(dims.begin(), static_cast<int64_t>(items.size()));
  return Constant::Dense(items[0].dtype(), std::move(dims), std::move(bytes));
}

absl::Status GraphEvaluator::SetStacked(const Node& node, size_t index,
                                        const std::vector<Constant>& items) {
  const RepeatForm form = FormOf(graph_, node);
  const ValueId output = node.outputs[form.carried + index];
  if (items.empty()) return SetEmpty(output);
  AOTC_ASSIGN_OR_RETURN(Constant stacked, Stack(items));
  const std::vector<int64_t> axes = node.attributes.Ints(kStackAxes);
  const auto rank = static_cast<int64_t>(stacked.dims().size());
  const int64_t axis = axes.empty() ? 0 : (axes[index] + rank) % rank;
  std::vector<int64_t> perm;
  for (int64_t d = 1; d < rank; ++d) perm.push_back(d);
  perm.insert(perm.begin() + axis, 0);
  const Node transpose = TransposeNode(output, output, std::move(perm));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> moved,
                        EvaluateNode(graph_, transpose, {stacked}, symbols_));
  values_[output] = moved[0];
  return absl::OkStatus();
}

// What no iteration has added to has the dims of its type.
absl::Status GraphEvaluator::SetEmpty(ValueId output) {
  const ValueType& type = graph_.values[output].type;
  if (!IsKnownType(type)) return absl::InternalError("stacks nothing, of unknown type");
  std::vector<int64_t> dims;
  for (const Expr& dim : type.dims) dims.push_back(EvaluateInt(dim, symbols_).value_or(0));
  values_[output] = Constant::SplatInt(type.dtype, std::move(dims), 0).Expanded();
  return absl::OkStatus();
}

absl::Status GraphEvaluator::RunNode(const Node& node) {
  const absl::Status status = IsIf(node)           ? RunIf(node)
                              : IsRepeat(node)     ? RunRepeat(node)
                              : DefinesSizes(node) ? RunSizes(node)
                                                   : RunKernel(node);
  absl::Status checked = status.ok() ? CheckIndices(node) : status;
  const std::string place = node.locations.empty() ? node.op : Describe(node.locations[0]);
  if (checked.ok() || absl::StartsWith(checked.message(), place)) return checked;
  return absl::Status(checked.code(), StrCat(place, ": ", checked.message()));
}

// As the compiled program: a check that fails is an error of the run.
absl::Status GraphEvaluator::CheckIndices(const Node& node) const {
  const bool fails = HasTrait(node.op, kMustHold) && values_[node.outputs[0]]->IntAt(0) == 0;
  if (!fails) return absl::OkStatus();
  return AOTC_REFUSAL(
      OutOfRange, StrCat("an index of '", graph_.values[node.inputs[0]].name, "' is out of range"));
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
  if (NeedsDefinitions(graph)) {
    AOTC_ASSIGN_OR_RETURN(const Graph defined, WithDefinitions(graph));
    return EvaluateGraph(defined, inputs, symbols);
  }
  GraphEvaluator evaluator(graph, symbols);
  AOTC_RETURN_IF_ERROR(evaluator.SetInputs(inputs));
  AOTC_RETURN_IF_ERROR(evaluator.Run(/*keep_all=*/false));
  std::vector<Constant> outputs;
  for (ValueId output : graph.main_region().outputs) outputs.push_back(*evaluator.value(output));
  return outputs;
}

absl::StatusOr<std::map<std::string, Constant>> EvaluateAllValues(
    const Graph& graph, const std::vector<Constant>& inputs, const SymbolValues& symbols) {
  if (NeedsDefinitions(graph)) {
    AOTC_ASSIGN_OR_RETURN(const Graph defined, WithDefinitions(graph));
    return EvaluateAllValues(defined, inputs, symbols);
  }
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
