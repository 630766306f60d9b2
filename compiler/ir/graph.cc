#include "compiler/ir/graph.h"

#include <utility>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

ValueType TensorType(DType dtype, Shape dims) { return {.dtype = dtype, .dims = std::move(dims)}; }

ValueType UnknownType() { return {.ranked = false}; }

bool IsKnownType(const ValueType& type) {
  if (type.kind == ValueKind::kTensor) return type.dtype != DType::kUndefined && type.ranked;
  for (const ValueType& child : type.children) {
    if (!IsKnownType(child)) return false;
  }
  return !type.children.empty();
}

bool HoldsSizes(const ValueType& type) {
  if (type.kind != ValueKind::kTensor || !type.ranked || !HoldsShape(type.dtype)) return false;
  const std::optional<std::vector<int64_t>> dims = StaticDims(type.dims);
  return dims && AreFewElements(*dims);
}

bool SameType(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.ranked != b.ranked) return false;
  if (a.max_items != b.max_items || a.children.size() != b.children.size()) return false;
  if (!SameShape(a.dims, b.dims)) return false;
  for (size_t i = 0; i < a.children.size(); ++i) {
    if (!SameType(a.children[i], b.children[i])) return false;
  }
  return true;
}

std::string Graph::UniqueName(std::string_view name) {
  std::string base = name.empty() ? "value" : std::string(name);
  if (names_.try_emplace(base, 1).second) return base;
  for (int suffix = names_[base] + 1;; ++suffix) {
    std::string candidate = StrCat(base, "_", suffix);
    if (!names_.try_emplace(candidate, 1).second) continue;
    names_[base] = suffix;
    return candidate;
  }
}

ValueId Graph::AddValue(std::string_view name, ValueType type) {
  return values.Add({.name = UniqueName(name), .type = std::move(type)});
}

ValueId Graph::AddConstant(std::string_view name, Constant constant) {
  ValueId id = AddValue(name, TensorType(constant.dtype(), MakeShape(constant.dims())));
  values[id].constant = std::move(constant);
  return id;
}

NodeId Graph::AddNode(RegionId region, Node node) {
  for (ValueId output : node.outputs) AOTC_CHECK(!output.valid() || values.Contains(output));
  NodeId id = nodes.Add(std::move(node));
  regions[region].nodes.push_back(id);
  return id;
}

void Graph::Rename(ValueId value, std::string_view name) {
  if (values[value].name == name) return;
  names_.erase(values[value].name);
  values[value].name = UniqueName(name);
}

void Graph::ClaimName(ValueId value, std::string_view name) {
  for (ValueId other : values.ids()) {
    if (other != value && values[other].name == name) Rename(other, StrCat(name, "_inner"));
  }
  Rename(value, name);
}

IdVector<ValueId, NodeId> Producers(const Graph& graph) {
  IdVector<ValueId, NodeId> producers(graph.values.size());
  for (NodeId id : graph.nodes.ids()) {
    for (ValueId output : graph.nodes[id].outputs) {
      if (output.valid()) producers[output] = id;
    }
  }
  return producers;
}

IdVector<ValueId, int> UseCounts(const Graph& graph) {
  IdVector<ValueId, int> counts(graph.values.size(), 0);
  auto count = [&counts](const std::vector<ValueId>& values) {
    for (ValueId value : values) {
      if (value.valid()) ++counts[value];
    }
  };
  for (const Node& node : graph.nodes) count(node.inputs);
  for (const Region& region : graph.regions) count(region.outputs);
  return counts;
}

bool DependsOnRun(const Graph& graph, const Expr& size) {
  const auto is_of_run = [&](const std::string& var) {
    const Symbol* symbol = FindSymbol(graph.symbols, var);
    if (symbol != nullptr && (symbol->value.valid() || symbol->computed)) return true;
    return std::ranges::any_of(graph.main_region().inputs, [&](ValueId input) {
      const auto& elements = graph.values[input].elements;
      return elements &&
             std::ranges::any_of(*elements, [&](const Expr& e) { return UsesVar(e, var); });
    });
  };
  return std::ranges::any_of(FreeVars(size), is_of_run);
}

std::string Describe(const Location& location) {
  std::string opset = location.opset > 0 ? StrCat(", opset ", location.opset) : "";
  return StrCat("node '", location.node, "' (", location.op, opset, ")");
}

}  // namespace aotc
