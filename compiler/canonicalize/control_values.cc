#include "compiler/canonicalize/control_values.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/graph_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::StatusOr<ValueId> AsScalar(Rebuilder& rebuilder, const Node& origin, ValueId value,
                                 DType dtype, std::string_view what) {
  const ValueType type = rebuilder.graph().values[value].type;
  const bool fits = type.kind == ValueKind::kTensor && type.dtype == dtype &&
                    std::ranges::all_of(type.dims, [](const Expr& dim) { return dim.IsInt(1); });
  if (!fits) {
    return AOTC_REFUSAL(InvalidArgument, StrCat(what, " has to be one ", DTypeName(dtype),
                                                " and is ", PrintType(type)));
  }
  if (type.dims.empty()) return value;
  Graph& graph = rebuilder.graph();
  const Value given = graph.values[value];
  if (given.constant) return graph.AddConstant(given.name, given.constant->Reshaped({}));
  if (given.elements) {
    const ValueId scalar = rebuilder.Emit("Elements", {}, {}, TensorType(dtype, {}), origin);
    graph.values[scalar].elements = given.elements;
    return scalar;
  }
  const ValueId shape = graph.AddConstant(StrCat(given.name, "_shape"), Constant::Ints({}));
  return rebuilder.Emit("Reshape", {value, shape}, {}, TensorType(dtype, {}), origin);
}

bool IsSameType(const ValueType& a, const ValueType& b, const Bounds& bounds) {
  if (a.kind != ValueKind::kTensor || b.kind != ValueKind::kTensor || a.dtype != b.dtype ||
      a.dims.size() != b.dims.size()) {
    return false;
  }
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (!ProveEqual(a.dims[i], b.dims[i], bounds)) return false;
  }
  return true;
}

ValueId CopiedFrom(const Graph& graph, RegionId region, ValueId value) {
  const std::vector<NodeId>& nodes = graph.regions[region].nodes;
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
    const Node& node = graph.nodes[*id];
    if (node.op == "Identity" && node.outputs[0] == value) value = node.inputs[0];
  }
  return value;
}

NodeId LastNode(const Graph& graph) { return NodeId(static_cast<int32_t>(graph.nodes.size()) - 1); }

ValueId EmitPrefix(Rebuilder& rebuilder, const Node& origin, ValueId value, const Prefix& prefix,
                   Attributes attributes) {
  Graph& graph = rebuilder.graph();
  ValueType type = graph.values[value].type;
  type.dims[prefix.axis] = prefix.size;
  const auto place = static_cast<int64_t>(prefix.axis);
  const ValueId first = graph.AddConstant(StrCat(prefix.name, "_first"), Constant::Ints({0}));
  const ValueId axis =
      place == 0 ? first : graph.AddConstant(StrCat(prefix.name, "_axis"), Constant::Ints({place}));
  return rebuilder.Emit("Slice", {value, first, prefix.end, axis}, std::move(attributes),
                        std::move(type), origin);
}

}  // namespace aotc
