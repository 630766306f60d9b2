#include "compiler/canonicalize/node_hint.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/shape.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// A slice of 100 rows to the length of a sequence is min(length, 100) long: longer ones than the
// model has rows for meet no partner. Gives the range that fits; "" where no dim is of that form.
std::string SmallerRange(const Graph& graph, const Node& node) {
  for (ValueId input : node.inputs) {
    if (!input.valid()) continue;
    for (const Expr& dim : graph.values[input].type.dims) {
      if (dim.op() != ExprOp::kMin || !dim.arg(0).IsVar() || !dim.arg(1).IsConst()) continue;
      const int64_t most = *dim.arg(1).AsInt();
      for (const Symbol& symbol : graph.symbols) {
        if (symbol.name != dim.arg(0)->name || most < symbol.min) continue;
        return StrCat("the model has room for '", symbol.name, "' up to ", most, ": --dim ",
                      symbol.name, "=", symbol.min, "..", most);
      }
    }
  }
  return "";
}

// Exporters may name dims apart that are one, such as the batches of two inputs. Gives the flag
// that says so of the first two inputs with such dims along one axis; "" where there are none.
std::string EqualSymbols(const Graph& graph, const Node& node) {
  const auto named = [&](const Expr& dim) {
    return std::ranges::find_if(graph.symbols, [&](const Symbol& symbol) {
      return dim.IsVar() && dim->name == symbol.var;
    });
  };
  const Shape* first = nullptr;
  for (ValueId input : node.inputs) {
    if (!input.valid()) continue;
    const Shape& dims = graph.values[input].type.dims;
    if (first == nullptr) first = &dims;
    for (size_t i = 0; i < dims.size() && first->size() == dims.size(); ++i) {
      const auto a = named((*first)[i]), b = named(dims[i]);
      if (a == b || a == graph.symbols.end() || b == graph.symbols.end()) continue;
      return StrCat("where '", b->name, "' always equals '", a->name, "': --dim ", b->name, "=",
                    a->name);
    }
  }
  return "";
}

// Sizes, places, flags and the like: what an op may have to know.
bool IsParameter(const ValueType& type) {
  return (IsInteger(type.dtype) || type.dtype == DType::kBool) && type.dims.size() <= 1;
}

bool IsUnknown(const Value& value) { return !value.constant && !value.elements; }

// A few elements, the same number in each run: what a file can give.
bool CanBeBound(const ValueType& type) {
  constexpr int64_t kMost = 8;
  const std::optional<int64_t> count = MaxElements(type.dims, {});
  return type.kind == ValueKind::kTensor && type.ranked && count && *count <= kMost;
}

// The input of the graph whose value `value` is computed from; invalid where there is none, or none
// but through its dims.
ValueId InputBehind(const Graph& graph, ValueId value) {
  const IdVector<ValueId, NodeId> producers = Producers(graph);
  const std::vector<ValueId>& inputs = graph.main_region().inputs;
  std::vector<ValueId> left = {value};
  std::set<ValueId> seen;
  while (!left.empty()) {
    const ValueId id = left.back();
    left.pop_back();
    if (!id.valid() || !IsUnknown(graph.values[id]) || !seen.insert(id).second) continue;
    const bool is_input = std::ranges::count(inputs, id) > 0;
    if (is_input && CanBeBound(graph.values[id].type)) return id;
    if (!producers[id].valid()) continue;
    const Node& node = graph.nodes[producers[id]];
    if (HasTrait(node.op, kReadsShapeOnly)) continue;
    left.insert(left.end(), node.inputs.rbegin(), node.inputs.rend());
  }
  return {};
}

// What makes the first parameter known that is not; "" where all are.
std::string KnownParameter(const Graph& graph, const Node& node) {
  for (ValueId input : node.inputs) {
    if (!input.valid()) continue;
    const Value& value = graph.values[input];
    if (!IsParameter(value.type) || !IsUnknown(value)) continue;
    if (const ValueId given = InputBehind(graph, input); given.valid()) {
      const std::string& name = graph.values[given].name;
      const ValueType& type = graph.values[given].type;
      std::string ways =
          StrCat("--bind ", name, "=FILE gives '", name, "' its value at compile time");
      if (IsStatic(type.dims) && HoldsShape(type.dtype)) {
        StrAppend(&ways, ", --dim '", ElementName(name, type.dims.size(), 0),
                  "=1..8' the range that it has in a run");
      }
      return ways;
    }
    if (!IsInteger(value.type.dtype)) continue;
    return "fix the dims that it is computed from with --shape, or bound them with --dim";
  }
  return "";
}

// What fixes the first dim of the inputs that a run gives; "" where all are known.
std::string FixedDim(const Graph& graph, const Node& node) {
  for (ValueId input : node.inputs) {
    if (!input.valid()) continue;
    for (const Expr& dim : graph.values[input].type.dims) {
      for (const Symbol& symbol : graph.symbols) {
        if (!UsesVar(dim, symbol.var) || symbol.computed || symbol.value.valid()) continue;
        return StrCat("--dim ", symbol.name, "=N fixes '", symbol.name, "'");
      }
    }
  }
  return "";
}

}  // namespace

std::string SizesHint(const Graph& graph, const Node& node) {
  for (auto hint_of : {SmallerRange, EqualSymbols}) {
    if (std::string hint = hint_of(graph, node); !hint.empty()) return hint;
  }
  return "--dim NAME=OTHER says that two dims are one, --dim NAME=8 pins one";
}

std::string NodeHint(const Graph& graph, const Node& node, const absl::Status& refusal) {
  if (!IsSupportedOp(node.op)) return "docs/operators.md lists what is supported";
  for (auto hint_of : {SmallerRange, EqualSymbols}) {
    if (std::string hint = hint_of(graph, node); !hint.empty()) return hint;
  }
  if (absl::IsUnimplemented(refusal)) {
    std::string hint = KnownParameter(graph, node);
    return hint.empty() ? FixedDim(graph, node) : hint;
  }
  // Of operators of other domains ONNX knows nothing.
  const bool is_foreign =
      !node.locations.empty() && node.locations[0].op.starts_with("com.microsoft.");
  if (is_foreign) return "";
  return "onnx.shape_inference.infer_shapes(model, strict_mode=True) shows what ONNX makes of it";
}

}  // namespace aotc
