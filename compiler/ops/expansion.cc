#include "compiler/ops/expansion.h"

#include <algorithm>

#include "compiler/ops/op.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

bool Expansion::HasInput(size_t index) const {
  return index < node_.inputs.size() && node_.inputs[index].valid();
}

bool Expansion::WantsOutput(size_t index) const {
  return index < node_.outputs.size() && node_.outputs[index].valid();
}

ValueId Expansion::Input(size_t index) const {
  return HasInput(index) ? rebuilder_.Mapped(node_.inputs[index]) : ValueId();
}

const Constant* Expansion::ConstInput(size_t index) const {
  if (!HasInput(index)) return nullptr;
  const Value& value = rebuilder_.old_graph().values[node_.inputs[index]];
  return value.constant ? &*value.constant : nullptr;
}

const ValueType& Expansion::InputType(size_t index) const {
  static const ValueType kAbsent = {.ranked = false};
  return HasInput(index) ? rebuilder_.old_graph().values[node_.inputs[index]].type : kAbsent;
}

std::vector<int64_t> RanksOf(const Graph& graph, const std::vector<ValueId>& operands) {
  std::vector<int64_t> ranks;
  for (const ValueId value : operands) {
    ranks.push_back(value.valid() ? std::ssize(graph.values[value].type.dims) : -1);
  }
  return ranks;
}

int64_t Expansion::Rank(size_t index) const {
  const std::vector<int64_t> ranks = attributes().Ints(kRanks);
  return index < ranks.size() ? ranks[index] : -1;
}

absl::Status Expansion::RequireInputs(std::initializer_list<size_t> indices) const {
  for (size_t index : indices) {
    if (!HasInput(index)) return AOTC_REFUSAL(InvalidArgument, StrCat("needs input ", index));
  }
  return absl::OkStatus();
}

std::string Expansion::BaseName() const {
  for (ValueId output : node_.outputs) {
    if (output.valid()) return rebuilder_.old_graph().values[output].name;
  }
  return node_.op;
}

std::vector<ValueId> Expansion::EmitSeveral(std::string_view op, std::vector<ValueId> inputs,
                                            size_t outputs, const NamedValues& attributes) {
  Node made = {.op = std::string(op), .inputs = std::move(inputs), .locations = node_.locations};
  while (!made.inputs.empty() && !made.inputs.back().valid()) made.inputs.pop_back();
  for (const auto& [name, value] : attributes) made.attributes.Set(name, value);
  for (size_t i = 0; i < outputs; ++i) {
    made.outputs.push_back(rebuilder_.graph().AddValue(StrCat(BaseName(), "_", op), UnknownType()));
  }
  std::vector<ValueId> results = made.outputs;
  rebuilder_.graph().AddNode(rebuilder_.region(), std::move(made));
  return results;
}

ValueId Expansion::Emit(std::string_view op, std::vector<ValueId> inputs,
                        const NamedValues& attributes) {
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  Attributes set;
  for (const auto& [name, value] : attributes) set.Set(name, value);
  return rebuilder_.Emit(op, std::move(inputs), std::move(set), UnknownType(), node_);
}

absl::StatusOr<ValueId> Expansion::EmitLoop(ValueId times, ValueId first, const LoopBody& body) {
  Graph& graph = rebuilder_.graph();
  Node loop = {.op = "Loop", .locations = node_.locations};
  AOTC_ASSIGN_OR_RETURN(loop.regions["body"], rebuilder_.BuildRegion([&](RegionId region) {
    auto input = [&](const char* name, ValueType type) {
      const ValueId value = graph.AddValue(StrCat(BaseName(), name), std::move(type));
      graph.regions[region].inputs.push_back(value);
      return value;
    };
    const ValueId round = input("_iteration", TensorType(DType::kI64, {}));
    const ValueId go_on = input("_go_on", TensorType(DType::kBool, {}));
    const ValueId state = input("_state", UnknownType());
    graph.regions[region].outputs = {go_on, body(round, state)};
    return absl::OkStatus();
  }));
  loop.inputs = {times, {}, first};
  loop.outputs = {graph.AddValue(StrCat(BaseName(), "_loop"), UnknownType())};
  const ValueId result = loop.outputs[0];
  graph.AddNode(rebuilder_.region(), std::move(loop));
  return result;
}

ValueId Expansion::Add(std::string_view name, Constant constant) {
  return rebuilder_.graph().AddConstant(StrCat(BaseName(), "_", name), std::move(constant));
}

ValueId Expansion::Ints(std::string_view name, const std::vector<int64_t>& values) {
  return Add(name, Constant::Ints(values));
}

ValueId Expansion::Number(std::string_view name, DType type, double value) {
  return Add(name, Constant::Splat(type, {}, value));
}

ValueId Expansion::Numbers(std::string_view name, DType type, std::vector<int64_t> dims,
                           const std::vector<double>& values) {
  std::vector<uint8_t> bytes(values.size() * static_cast<size_t>(ByteWidth(type)));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(type, bytes.data(), static_cast<int64_t>(i), values[i]);
  }
  return Add(name, Constant::Dense(type, std::move(dims), std::move(bytes)));
}

void Expansion::SetOutput(size_t index, ValueId value) {
  if (WantsOutput(index)) rebuilder_.Replace(node_.outputs[index], value);
}

bool IsDefinedByOthers(const Node& node) {
  const OpDef* op = FindOp(node.op);
  return op != nullptr && op->compute == nullptr && op->expand != nullptr;
}

absl::StatusOr<Graph> ExpandRound(const Graph& graph, const NodeVisitor& expand) {
  bool takes_last = std::ranges::none_of(graph.nodes, [](const Node& node) {
    return IsDefinedByOthers(node) && !HasTrait(node.op, kExpandsLast);
  });
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (!IsDefinedByOthers(node)) return false;
    if (HasTrait(node.op, kExpandsLast) && !std::exchange(takes_last, false)) return false;
    return expand(rebuilder, node);
  });
}

}  // namespace aotc
