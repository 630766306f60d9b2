#include "compiler/canonicalize/size_sources.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/loop_names.h"
#include "compiler/ops/op.h"
#include "compiler/support/names.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kMostElement = INT32_MAX;
constexpr int64_t kFarthestPosition = int64_t{1} << 46;  // beyond every axis

bool IsKnown(const Value& value) { return value.constant || value.elements; }

std::string FreshVar(const Graph& graph, const std::string& name) {
  NameTable taken = TakenByLowering();
  for (const Symbol& symbol : graph.symbols) taken.Reserve(symbol.var);
  return UniqueSymbolVar(taken, name, "");
}

// Whether all that reads a value takes its elements as positions on an axis.
bool IsPositionOnly(const Graph& graph, ValueId value) {
  for (const Region& region : graph.regions) {
    if (std::ranges::count(region.outputs, value) > 0) return false;
  }
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != value) continue;
      const OpDef* op = FindOp(node.op);
      if (op == nullptr || i >= 32 || (op->clamped >> i & 1) == 0) return false;
    }
  }
  return true;
}

// Finds what elements are computed of, from the back.
class SourceFinder {
 public:
  explicit SourceFinder(const Graph& graph) : graph_(graph), producers_(Producers(graph)) {}

  // Nothing where the value depends on data that is no size, and is none itself.
  std::optional<SizeSources> Find(ValueId id) {
    if (!id.valid() || IsKnown(graph_.values[id])) return SizeSources();
    const auto [seen, is_new] = found_.try_emplace(id);
    if (is_new) {
      std::optional<SizeSources> sources = FindBehind(id);
      // All behind it is known, and yet it is not: it cannot be worked out.
      if (!sources || sources->empty()) sources = Itself(id);
      found_[id] = std::move(sources);
    }
    return found_[id];
  }

 private:
  std::optional<SizeSources> Itself(ValueId id) const {
    if (!HoldsSizes(graph_.values[id].type)) return std::nullopt;
    return SizeSources{{graph_.values[id].name, {graph_.values[id].type, RangeOfElements(id)}}};
  }

  // Counts are not negative, and places on an axis end with it.
  Interval RangeOfElements(ValueId id) const {
    constexpr Interval kAny = {-kMostElement, kMostElement};
    const OpDef* op = producers_[id].valid() ? FindOp(graph_.nodes[producers_[id]].op) : nullptr;
    if (op == nullptr) return kAny;
    if ((op->traits & kCounts) != 0) return {0, kMostElement};
    const Node& node = graph_.nodes[producers_[id]];
    if (!op->places || node.outputs[op->places->output] != id) return kAny;
    const Shape& dims = graph_.values[node.inputs[0]].type.dims;
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = node.attributes.Int("axis", op->places->axis);
    const int64_t place = axis < 0 ? axis + rank : axis;
    if (place < 0 || place >= rank) return kAny;
    const int64_t end = RangeOf(dims[static_cast<size_t>(place)], BoundsOf(graph_.symbols)).max;
    return {0, std::clamp<int64_t>(end - 1, 0, kMostElement)};
  }

  std::optional<SizeSources> FindBehind(ValueId id) {
    if (!producers_[id].valid()) return std::nullopt;
    const Node& node = graph_.nodes[producers_[id]];
    if (!node.regions.empty() || HasTrait(node.op, kCounts)) return std::nullopt;
    SizeSources all;
    if (HasTrait(node.op, kReadsShapeOnly)) return all;
    for (ValueId input : node.inputs) {
      std::optional<SizeSources> sources = Find(input);
      if (!sources) return std::nullopt;
      all.merge(*sources);
    }
    return all;
  }

  const Graph& graph_;
  const IdVector<ValueId, NodeId> producers_;
  std::map<ValueId, std::optional<SizeSources>> found_;
};

// Each element is a symbol such as `like`, which is called after the value.
void SetElements(Graph& graph, ValueId id, const Symbol& like) {
  const std::vector<int64_t> dims = *StaticDims(graph.values[id].type.dims);
  size_t count = 1;
  for (int64_t dim : dims) count *= static_cast<size_t>(dim);
  std::vector<Expr> elements;
  for (size_t e = 0; e < count; ++e) {
    Symbol symbol = like;
    symbol.name = ElementName(like.name, dims.size(), e);
    elements.push_back(AddSymbol(graph, std::move(symbol)));
  }
  graph.values[id].elements = std::move(elements);
}

void ReadInstead(Graph& graph, ValueId old_value, ValueId new_value) {
  for (Node& node : graph.nodes) std::ranges::replace(node.inputs, old_value, new_value);
}

// At that position of the region.
void DefineSizesAt(Graph& graph, RegionId region, size_t position, ValueId value,
                   const SizeSource& source) {
  std::vector<NodeId>& nodes = graph.regions[region].nodes;
  const NodeId near = nodes[position > 0 ? position - 1 : 0];
  const std::vector<Location> locations = graph.nodes[near].locations;
  const ValueId sizes = graph.AddValue(StrCat(graph.values[value].name, "_known"), source.type);
  ReadInstead(graph, value, sizes);
  const NodeId node = graph.nodes.Add({.op = std::string(kDefineSizes),
                                       .inputs = {value},
                                       .outputs = {sizes},
                                       .locations = locations});
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(position), node);
  SetElements(graph, sizes,
              {.name = graph.values[value].name,
               .min = source.range.min,
               .max = source.range.max,
               .computed = true});
}

// Behind the node of the region that gives the value of that name, or in front of all where it is
// an input of the region. False where it is neither.
bool DefineSizesIn(Graph& graph, RegionId region, const std::string& name,
                   const SizeSource& source) {
  const auto is_named = [&](ValueId id) { return id.valid() && graph.values[id].name == name; };
  const std::vector<ValueId>& inputs = graph.regions[region].inputs;
  const std::vector<NodeId>& nodes = graph.regions[region].nodes;
  const auto input = std::ranges::find_if(inputs, is_named);
  if (input != inputs.end() && !nodes.empty()) {
    DefineSizesAt(graph, region, 0, *input, source);
    return true;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<ValueId>& outputs = graph.nodes[nodes[i]].outputs;
    const auto output = std::ranges::find_if(outputs, is_named);
    if (output == outputs.end()) continue;
    DefineSizesAt(graph, region, i + 1, *output, source);
    return true;
  }
  return false;
}

// Those that a node makes known behind it.
std::set<std::string> SizesBehind(const Graph& graph, const Node& node) {
  std::set<std::string> vars;
  if (DefinesSizes(node)) {
    for (const Expr& size : *graph.values[node.outputs[0]].elements) vars.merge(FreeVars(size));
  }
  for (const std::string& var : VariablesIn(node, kSizes)) vars.insert(var);
  return vars;
}

}  // namespace

Expr AddSymbol(Graph& graph, Symbol symbol) {
  symbol.var = FreshVar(graph, symbol.name);
  graph.symbols.push_back(std::move(symbol));
  return Var(graph.symbols.back().var);
}

SizeSources SizeSourcesBehind(const Graph& graph, ValueId value) {
  return SourceFinder(graph).Find(value).value_or(SizeSources());
}

bool NameElements(Graph& graph, const std::string& name, const SizeSource& source) {
  const std::vector<ValueId>& inputs = graph.main_region().inputs;
  const auto input = std::ranges::find(
      inputs, name, [&](ValueId id) -> const std::string& { return graph.values[id].name; });
  if (input != inputs.end()) {
    const bool clamps = IsPositionOnly(graph, *input);
    const int64_t most = clamps ? kFarthestPosition : kMostElement;
    SetElements(graph, *input, {.name = name, .min = -most, .max = most, .clamps = clamps});
    return true;
  }
  for (RegionId region : graph.regions.ids()) {
    if (DefineSizesIn(graph, region, name, source)) return true;
  }
  return false;
}

std::set<std::string> SizesOfRegion(const Graph& graph, RegionId region) {
  std::set<std::string> vars, of_nodes;
  for (const Node& node : graph.nodes) of_nodes.merge(SizesBehind(graph, node));
  for (NodeId node : graph.regions[region].nodes) vars.merge(SizesBehind(graph, graph.nodes[node]));
  // What no node makes known, a round begins with.
  for (ValueId input : graph.regions[region].inputs) {
    for (const Expr& dim : graph.values[input].type.dims) {
      for (const std::string& var : FreeVars(dim)) {
        const Symbol* symbol = FindSymbol(graph.symbols, var);
        if (symbol != nullptr && symbol->computed && !of_nodes.contains(var)) vars.insert(var);
      }
    }
  }
  for (const Symbol& symbol : graph.symbols) {
    const bool follows = symbol.value.valid() && !symbol.computed && NamesAny(symbol.value, vars);
    if (follows) vars.insert(symbol.var);
  }
  return vars;
}

Expr DefineInFront(Graph& graph, RegionId region, NodeId node, Symbol symbol) {
  symbol.computed = true;
  const std::string name = symbol.name;
  const Expr var = AddSymbol(graph, std::move(symbol));
  const ValueId sizes = graph.AddValue(StrCat(name, "_known"), TensorType(DType::kI64, {Expr(1)}));
  graph.values[sizes].elements = {var};
  const NodeId define = graph.nodes.Add({.op = std::string(kDefineSizes),
                                         .outputs = {sizes},
                                         .locations = graph.nodes[node].locations});
  std::vector<NodeId>& nodes = graph.regions[region].nodes;
  nodes.insert(std::ranges::find(nodes, node), define);
  AddVariable(graph.nodes[node], kGiven, var->name);
  return var;
}

}  // namespace aotc
