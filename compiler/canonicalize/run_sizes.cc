#include "compiler/canonicalize/run_sizes.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/canonicalize/node_hint.h"
#include "compiler/canonicalize/place.h"
#include "compiler/canonicalize/size_sources.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/expr_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kMostSizeTerms = 200;          // more are slow to reason about
constexpr int64_t kMostSize = int64_t{1} << 30;  // of a bound that is worth deriving

bool IsStated(const Graph& graph, const Symbol& symbol) {
  return !symbol.value.valid() && !symbol.clamps && DependsOnRun(graph, Var(symbol.var));
}

// Narrows the range of an element to where the condition holds; false where the condition is more
// than a range of one element.
bool Narrow(Graph& graph, const Expr& condition) {
  if (condition.op() == ExprOp::kAnd) {
    const std::set<std::string> vars = FreeVars(condition);
    if (vars.size() != 1) return false;
    const bool first = Narrow(graph, condition.arg(0)), second = Narrow(graph, condition.arg(1));
    return first && second;
  }
  if (condition.op() != ExprOp::kLe && condition.op() != ExprOp::kLt) return false;
  const Expr &low = condition.arg(0), &high = condition.arg(1);
  const Expr& var = low.IsVar() ? low : high;
  const std::optional<int64_t> limit = low.IsVar() ? high.AsInt() : low.AsInt();
  if (!var.IsVar() || !limit) return false;
  const auto symbol = std::ranges::find(graph.symbols, var->name, &Symbol::var);
  if (symbol == graph.symbols.end() || !IsStated(graph, *symbol)) return false;
  const int64_t strict = condition.op() == ExprOp::kLt ? 1 : 0;
  Interval range = {symbol->min, symbol->max};
  if (low.IsVar()) {
    range.max = std::min(range.max, *limit - strict);
  } else {
    range.min = std::max(range.min, *limit + strict);
  }
  if (range.min > range.max) return false;
  symbol->min = range.min;
  symbol->max = range.max;
  return true;
}

// The sentence for a run, which names the node.
std::string Sentence(const Graph& graph, const Node& node, const std::string& text) {
  return StrCat(PlaceOf(graph, node).Text(), ": ", text);
}

// Where a run looks at it as soon as the sizes are known.
absl::Status AddCheck(Graph& graph, const Node& node, const SizeCheck& check) {
  if (Narrow(graph, check.holds)) return absl::OkStatus();
  const SizeCheck said = {check.holds, Sentence(graph, node, check.text)};
  const bool is_added = AddCheckOver(graph.symbols, said);
  return is_added ? absl::OkStatus() : AOTC_REFUSAL(InvalidArgument, check.text);
}

// Whether all nodes of the region run where the expression is known.
bool BelongsTo(const Graph& graph, RegionId region, const Expr& e) {
  if (region == graph.main) return true;
  return NamesAny(e, SizesOfRegion(graph, region));
}

// Whether it names what branches or rounds have set: a value of that size is in memory before a run
// could look at it, so that nothing may be taken for granted of the size itself.
bool NamesJoined(const Graph& graph, const Expr& e) {
  const std::set<std::string> vars = FreeVars(e);
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    return std::ranges::any_of(VariablesIn(node, kSizes),
                               [&](const std::string& var) { return vars.contains(var); });
  });
}

// Gives the node what a DefineSizes in front of it works out or looks at already; false where there
// is no such.
bool Reuse(Graph& graph, RegionId region, NodeId node,
           const std::function<bool(const Symbol&)>& is_it) {
  for (NodeId id : graph.regions[region].nodes) {
    const Node& define = graph.nodes[id];
    if (!DefinesSizes(define) || !define.inputs.empty()) continue;
    for (const Expr& size : *graph.values[define.outputs[0]].elements) {
      const Symbol* symbol = FindSymbol(graph.symbols, size->name);
      if (symbol == nullptr || !is_it(*symbol)) continue;
      AddVariable(graph.nodes[node], kGiven, size->name);
      return true;
    }
  }
  return false;
}

// The name of the first output that somebody wants, for what is made beside it.
const std::string& NameOfNode(const Graph& graph, NodeId node) {
  const std::vector<ValueId>& outputs = graph.nodes[node].outputs;
  const auto wanted = std::ranges::find_if(outputs, [](ValueId id) { return id.valid(); });
  return graph.values[*wanted].name;
}

class SizeNamer {
 public:
  SizeNamer(Graph& graph, NodeId node, SizeScope scope, Diagnostics& diagnostics)
      : graph_(graph), node_(node), scope_(scope), diagnostics_(diagnostics) {}

  absl::Status Name(const OpenSize& open) {
    const std::string name = StrCat(NameOf(open.output), ":", open.axis);
    const auto is_it = [&](const Symbol& symbol) { return Same(symbol.value, open.size); };
    const bool belongs = BelongsTo(graph_, scope_.region, open.size);
    if (!belongs && Reuse(graph_, scope_.region, node_, is_it)) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(const int64_t most, MostOf(open));
    Symbol symbol = {.name = name, .min = 0, .max = most, .value = open.size};
    if (belongs) {
      AddSymbol(graph_, std::move(symbol));
    } else {
      DefineInFront(graph_, scope_.region, node_, std::move(symbol));
    }
    return absl::OkStatus();
  }

 private:
  // Of an output; where nobody wants it, after one that is there.
  std::string NameOf(size_t output) const {
    const ValueId id = graph_.nodes[node_].outputs[output];
    if (id.valid()) return graph_.values[id].name;
    return StrCat(NameOfNode(graph_, node_), "_beside_", output);
  }

  absl::StatusOr<int64_t> MostOf(const OpenSize& open) const {
    const Bounds bounds = BoundsOf(graph_.symbols);
    int64_t derived = RangeOf(open.size, bounds).max;
    if (open.most.valid()) derived = std::min(derived, RangeOf(open.most, bounds).max);
    const ValueId output = graph_.nodes[node_].outputs[open.output];
    if (!output.valid()) return std::clamp<int64_t>(derived, 0, kMostSize);
    const Value& value = graph_.values[output];
    const auto limit = value.limits.find(open.axis);
    const bool is_given = limit != value.limits.end() && !limit->second.declared;
    if (is_given) return std::max<int64_t>(0, std::min(derived, limit->second.most));
    if (derived <= kMostSize || !scope_.bounded) return std::clamp<int64_t>(derived, 0, kMostSize);
    const std::string axis = StrCat("axis ", open.axis, " of '", value.name, "'");
    if (limit != value.limits.end()) {
      diagnostics_.Note(PlaceOf(graph_, graph_.nodes[node_]),
                        StrCat(axis, " has at most the ", limit->second.most,
                               " elements that the model declares"),
                        StrCat("--bound ", value.name, ":", open.axis, "=N gives another bound"));
      return limit->second.most;
    }
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat("only a run knows the size of ", axis, ", which is ", PrintExpr(open.size),
               "; hint: give the most that it may be, such as --bound ", value.name, ":", open.axis,
               "=64"));
  }

  Graph& graph_;
  const NodeId node_;
  const SizeScope scope_;
  Diagnostics& diagnostics_;
};

// Whether --bound gives an expression less room than it may take.
bool IsLimited(const Value& value, size_t axis, const Expr& dim, const Bounds& bounds) {
  const auto limit = value.limits.find(static_cast<int>(axis));
  if (limit == value.limits.end() || limit->second.declared || dim.IsVar()) return false;
  return RangeOf(dim, bounds).max > limit->second.most;
}

// A size that has a symbol already, of which --bound says that it is less: the symbol takes that
// range, and the name under which the user knows it. True where one has changed.
bool NarrowToLimits(Graph& graph, const NodeKernel& kernel) {
  bool changed = false;
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const Value& value = graph.values[kernel.outputs[i]];
    const size_t param = kernel.kernel.params.size() - kernel.outputs.size() + i;
    const Shape& dims = kernel.kernel.tensors[kernel.kernel.params[param]].shape;
    for (const auto& [axis, limit] : value.limits) {
      const auto place = static_cast<size_t>(axis);
      if (limit.declared || place >= dims.size() || !dims[place].IsVar()) continue;
      const auto symbol = std::ranges::find(graph.symbols, dims[place]->name, &Symbol::var);
      if (symbol == graph.symbols.end() || !symbol->value.valid()) continue;
      if (symbol->max <= limit.most) continue;
      symbol->max = std::max(symbol->min, limit.most);
      symbol->name = StrCat(value.name, ":", axis);
      changed = true;
    }
  }
  return changed;
}

// The sizes that the op names, else dims of the outputs that may be anything.
std::vector<OpenSize> OpenSizesOf(const Graph& graph, const Node& node, const NodeKernel& kernel) {
  if (!kernel.open_sizes.empty()) return kernel.open_sizes;
  std::vector<OpenSize> open;
  const Bounds bounds = BoundsOf(graph.symbols);
  size_t output = 0;  // of the node; the kernel has those that are wanted
  for (TensorId id : kernel.kernel.params) {
    const KernelTensor& tensor = kernel.kernel.tensors[id];
    if (tensor.role != TensorRole::kOutput) continue;
    while (!node.outputs[output].valid()) ++output;
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      const Expr& dim = tensor.shape[axis];
      const Value& value = graph.values[node.outputs[output]];
      const bool is_open = IsOpenSize(dim, bounds) || IsLimited(value, axis, dim, bounds) ||
                           TermCount(dim) > kMostSizeTerms;
      if (dim.IsConst() || !is_open || !DependsOnRun(graph, dim)) continue;
      open.push_back({.output = output, .axis = static_cast<int>(axis), .size = dim});
    }
    ++output;
  }
  return open;
}

// A number of the symbol above which the value is always greater than `limit`: the least that is
// found in steps of twice as many. The greatest of the symbol where there is none.
int64_t MostWithin(const Expr& value, int64_t limit, const Symbol& symbol,
                   const std::vector<Symbol>& symbols) {
  for (int64_t most = std::max<int64_t>(limit, 0); most < symbol.max; most = 2 * most + 1) {
    Bounds above = BoundsOf(symbols);
    above.Add(symbol.var, most + 1, symbol.max);
    if (Prove(Lt(limit, Simplify(value, above)), above) == true) return most;
  }
  return symbol.max;
}

// A size that is an element of an input, or of what a run computes, has no need of another symbol
// where only that it is not negative is unknown. Every run comes to it.
bool NarrowToSize(Graph& graph, const Expr& size) {
  if (!size.IsVar()) return false;
  const auto symbol = std::ranges::find(graph.symbols, size->name, &Symbol::var);
  if (symbol == graph.symbols.end() || !IsStated(graph, *symbol)) return false;
  if (symbol->min >= 0 || symbol->max < 0 || symbol->max > kMostSize) return false;
  symbol->min = 0;
  return true;
}

// What is given of a value holds of another one of its shape.
void CopyLimits(const Value& from, Value& to) {
  for (const auto& [axis, limit] : from.limits) {
    if (!limit.declared) to.limits.try_emplace(axis, limit);
  }
}

// What a branch gives is what the If gives, unless it is there without the branch.
void BoundResults(Graph& graph, const Node& node, RegionId branch) {
  const IdVector<ValueId, NodeId> producers = Producers(graph);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueId result = graph.regions[branch].outputs[k];
    const bool is_own = std::ranges::count(graph.regions[branch].nodes, producers[result]) > 0;
    if (is_own && node.outputs[k].valid()) {
      CopyLimits(graph.values[node.outputs[k]], graph.values[result]);
    }
  }
}

void BoundOperandsIn(Graph& graph, RegionId region) {
  const std::vector<NodeId>& nodes = graph.regions[region].nodes;
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
    const Node& node = graph.nodes[*id];
    if (node.inputs.size() == 1 && HasTrait(node.op, kElementwise)) {
      CopyLimits(graph.values[node.outputs[0]], graph.values[node.inputs[0]]);
    }
    for (const auto& [name, inner] : node.regions) {
      if (IsIf(node)) BoundResults(graph, node, inner);
      BoundOperandsIn(graph, inner);
    }
  }
}

}  // namespace

absl::Status RequireAt(Graph& graph, NodeId node, RegionId region, const SizeCheck& check) {
  if (BelongsTo(graph, region, check.holds) && !NamesJoined(graph, check.holds)) {
    return AddCheck(graph, graph.nodes[node], check);
  }
  const auto is_it = [&](const Symbol& symbol) {
    return std::ranges::any_of(
        symbol.checks, [&](const SizeCheck& other) { return Same(other.holds, check.holds); });
  };
  if (Reuse(graph, region, node, is_it)) return absl::OkStatus();
  const std::string name = StrCat(NameOfNode(graph, node), "_sizes");
  const std::string text = Sentence(graph, graph.nodes[node], check.text);
  DefineInFront(graph, region, node, {.name = name, .value = 1, .checks = {{check.holds, text}}});
  return absl::OkStatus();
}

absl::StatusOr<bool> SettleSizes(Graph& graph, NodeId node, const NodeKernel& kernel,
                                 SizeScope scope, Diagnostics& diagnostics) {
  if (!kernel.checks.empty()) {
    for (const SizeCheck& check : kernel.checks) {
      AOTC_RETURN_IF_ERROR(RequireAt(graph, node, scope.region, check));
      if (DependsOnRun(graph, check.holds)) continue;
      // Of dims alone: what a caller may not expect.
      diagnostics.Note(PlaceOf(graph, graph.nodes[node]),
                       "ends a run with a status where " + check.text,
                       SizesHint(graph, graph.nodes[node]));
    }
    return true;
  }
  const std::vector<OpenSize> open = OpenSizesOf(graph, graph.nodes[node], kernel);
  std::set<std::string> named;  // outputs may share a size
  for (const OpenSize& size : open) {
    if (!named.insert(PrintExpr(size.size)).second) continue;
    if (scope.region == graph.main && NarrowToSize(graph, size.size)) continue;
    AOTC_RETURN_IF_ERROR(SizeNamer(graph, node, scope, diagnostics).Name(size));
  }
  return !open.empty() || NarrowToLimits(graph, kernel);
}

bool HasBounds(const Graph& graph) {
  return std::ranges::any_of(graph.values, [](const Value& value) {
    return std::ranges::any_of(value.limits,
                               [](const auto& limit) { return !limit.second.declared; });
  });
}

void BoundOperands(Graph& graph) { BoundOperandsIn(graph, graph.main); }

bool NarrowStatedSizes(Graph& graph, const std::vector<Symbol>& others, bool computed) {
  Substitution values;  // over symbols that have none
  for (const Symbol& other : others) {
    if (other.value.valid()) values[other.var] = Substitute(other.value, values);
  }
  bool changed = false;
  for (const Symbol& other : others) {
    if (!other.value.valid() || other.max >= kMostSize) continue;  // no bound at all
    if (other.computed) continue;  // of a branch, which a run may not take
    for (const std::string& var : FreeVars(values[other.var])) {
      const auto symbol = std::ranges::find(graph.symbols, var, &Symbol::var);
      if (symbol == graph.symbols.end() || !IsStated(graph, *symbol)) continue;
      if (symbol->computed && !computed) continue;
      const int64_t most = MostWithin(values[other.var], other.max, *symbol, graph.symbols);
      if (most >= symbol->max) continue;
      symbol->max = std::max(symbol->min, most);
      changed = true;
    }
  }
  return changed;
}

absl::StatusOr<Expr> SettledSize(Graph& graph, NodeId node, OpenSize open, SizeScope scope,
                                 Diagnostics& diagnostics) {
  const auto named = [&] {
    const std::vector<Symbol> symbols = SymbolsAt(graph, graph.nodes[node]);
    return NamedSize(Simplify(open.size, BoundsOf(symbols)), symbols);
  };
  open.size = named();
  const Bounds bounds = BoundsOf(graph.symbols);
  if (open.size.IsConst() || !IsOpenSize(open.size, bounds) || !DependsOnRun(graph, open.size)) {
    return open.size;
  }
  AOTC_RETURN_IF_ERROR(SizeNamer(graph, node, scope, diagnostics).Name(open));
  return named();
}

}  // namespace aotc
