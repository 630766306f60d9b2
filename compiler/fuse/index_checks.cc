#include "compiler/fuse/index_checks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/fuse/control.h"
#include "compiler/fuse/joiner.h"
#include "compiler/fuse/merge_kernels.h"
#include "compiler/fuse/round_counters.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/op.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Definitions = IdVector<ValueId, NodeId>;  // of values by nodes

// Whether all indices are known to be valid, whatever the sizes; an error where one is known not to
// be.
absl::StatusOr<bool> AreValid(const Graph& graph, const Node& node, const IndexOperand& operand,
                              const Bounds& bounds) {
  const Value& indices = graph.values[node.inputs[operand.input]];
  const ValueType& data = graph.values[operand.DataOf(node)].type;
  if (!indices.constant || !IsKnownType(data) || node.attributes.Has(kIgnored)) return false;
  const Shape dims = operand.flat ? Shape{ElementCount(data.dims)} : data.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = operand.AxisIn(node, rank);
  const Constant& constant = *indices.constant;
  const int64_t depth = operand.positions && !constant.dims().empty() ? constant.dims().back() : 1;
  if (axis < 0 || axis + depth > rank) return false;  // the op itself complains
  bool known = true;
  for (int64_t i = 0; i < constant.element_count(); ++i) {
    const Expr& dim = dims[static_cast<size_t>(axis + i % depth)];
    const int64_t index = constant.IntAt(i);
    const int64_t least = RangeOf(dim, bounds).min;
    const int64_t end = least + int64_t{operand.inclusive};
    if (index >= (operand.from_end ? -least : 0) && index < end) continue;
    if (dim.IsConst()) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("index ", index, " of '", indices.name,
                                 "' is out of range: the axis has ", least, " elements"));
    }
    known = false;
  }
  return known;
}

// Checks that were made, so that indices into several tables of one size are checked once.
class KnownChecks {
 public:
  // True where the check is a new one.
  bool Add(const Graph& graph, const Node& check) {
    const bool equal = std::ranges::any_of(
        checks_, [&](const Node& other) { return Checks(graph, other, check); });
    if (!equal) checks_.push_back(check);
    return !equal;
  }

 private:
  static bool Checks(const Graph& graph, const Node& a, const Node& b) {
    if (a.inputs[0] != b.inputs[0] || !SameAttributes(a.attributes, b.attributes)) return false;
    return a.inputs[1] == b.inputs[1] ||
           SameShape(graph.values[a.inputs[1]].type.dims, graph.values[b.inputs[1]].type.dims);
  }

  std::vector<Node> checks_;
};

std::vector<ValueId> OutputsOf(const FusedKernel& kernel) {
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    const TensorRole role = kernel.kernel.tensors[kernel.kernel.params[i]].role;
    if (role == TensorRole::kOutput) outputs.push_back(kernel.args[i]);
  }
  return outputs;
}

class Adder {
 public:
  Adder(Graph& graph, FusedGraph& fused) : graph_(graph), producers_(Producers(graph)) {
    VisitBodies(graph, fused, [&](const FusedGraph& part, RegionId region) {
      const std::vector<ValueId>& inputs = graph.regions[region].inputs;
      stored_.insert(inputs.begin(), inputs.end());
      for (const ValueView& view : part.views) stored_.insert(view.value);
      for (const FusedKernel& kernel : part.kernels) {
        for (ValueId output : OutputsOf(kernel)) stored_.insert(output);
      }
    });
  }

  absl::Status Add(ValueId result, FusedGraph& fused) {
    AOTC_ASSIGN_OR_RETURN(FusedKernel kernel,
                          KernelOfNode(graph_, graph_.nodes[producers_[result]]));
    kernel.kernel.name = StrCat("check_indices_", count_++);
    AOTC_RETURN_IF_ERROR(Insert(std::move(kernel), result, fused));
    fused.checks.push_back(result);
    return absl::OkStatus();
  }

 private:
  // Behind the kernels that write what this one reads.
  absl::Status Insert(FusedKernel kernel, ValueId result, FusedGraph& fused) {
    stored_.insert(result);
    AOTC_RETURN_IF_ERROR(Complete(kernel, fused));
    const size_t place = PlaceOf(kernel, fused);
    fused.kernels.insert(fused.kernels.begin() + static_cast<int64_t>(place), std::move(kernel));
    return absl::OkStatus();
  }

  // Merges in what computes the values that no kernel writes; what cannot be merged gets a kernel
  // of its own.
  absl::Status Complete(FusedKernel& kernel, FusedGraph& fused) {
    while (true) {
      const auto missing = std::ranges::find_if(kernel.args, [&](ValueId id) {
        return !stored_.contains(id) && !graph_.values[id].constant && producers_[id].valid();
      });
      if (missing == kernel.args.end()) return absl::OkStatus();
      AOTC_ASSIGN_OR_RETURN(const FusedKernel producer,
                            KernelOfNode(graph_, graph_.nodes[producers_[*missing]]));
      const std::string name = kernel.kernel.name;
      absl::StatusOr<FusedKernel> merged = MergeKernels(producer, kernel, *missing);
      if (!merged.ok()) {
        const ValueId value = *missing;
        AOTC_RETURN_IF_ERROR(Insert(ResultAlone(producer, value), value, fused));
        continue;
      }
      kernel = *std::move(merged);
      kernel.kernel.name = name;
    }
  }

  // The kernel of a node without its other results, which another kernel may write.
  FusedKernel ResultAlone(const FusedKernel& producer, ValueId value) {
    Joiner joiner(producer, {value});
    joiner.Add(producer);
    FusedKernel alone = joiner.Finish(StrCat("source_of_indices_", count_++));
    alone.op = producer.op;
    return alone;
  }

  // Of the symbols of a kernel, those that the run computes, or of which others come.
  std::set<std::string> ComputedSizes(const Kernel& kernel) const {
    std::set<std::string> used;
    for (const Symbol& symbol : kernel.symbols) used.insert(symbol.var);
    for (auto symbol = graph_.symbols.rbegin(); symbol != graph_.symbols.rend(); ++symbol) {
      if (used.contains(symbol->var) && symbol->value.valid()) used.merge(FreeVars(symbol->value));
    }
    std::erase_if(used, [&](const std::string& var) {
      const Symbol* symbol = FindSymbol(graph_.symbols, var);
      return symbol == nullptr || !symbol->computed;
    });
    return used;
  }

  bool Defines(const FusedKernel& kernel, const std::set<std::string>& sizes) const {
    if (sizes.empty() || !kernel.gives_sizes) return false;
    const Node& node = graph_.nodes[kernel.control];
    const auto is_used = [&](const std::string& var) { return sizes.contains(var); };
    if (!DefinesSizes(node)) return std::ranges::any_of(VariablesIn(node, kSizes), is_used);
    return std::ranges::any_of(*graph_.values[node.outputs[0]].elements,
                               [&](const Expr& element) { return NamesAny(element, sizes); });
  }

  // Behind the last kernel that writes what this one reads, or defines its sizes.
  size_t PlaceOf(const FusedKernel& check, const FusedGraph& fused) const {
    const std::set<std::string> sizes = ComputedSizes(check.kernel);
    std::set<ValueId> read(check.args.begin(), check.args.end());
    for (const ValueView& view : fused.views) {
      if (read.contains(view.value)) read.insert(view.base);
    }
    for (size_t i = fused.kernels.size(); i > 0; --i) {
      const std::vector<ValueId> written = OutputsOf(fused.kernels[i - 1]);
      const bool feeds =
          std::ranges::any_of(written, [&](ValueId id) { return read.contains(id); });
      if (feeds || Defines(fused.kernels[i - 1], sizes)) return i;
    }
    return 0;
  }

  Graph& graph_;
  const Definitions producers_;
  std::set<ValueId> stored_;  // values that have memory
  int count_ = 0;
};

// What is known where a region runs: checks that have been made, and loops that it is in.
struct Known {
  KnownChecks checks = {};
  RoundCounters counters = {};
};

// What the elements of a constant are below, if none is negative and they are few enough to look.
std::optional<Expr> EndOf(const Constant& table) {
  constexpr int64_t kMostElements = 1 << 16;
  const int64_t count = table.is_splat() ? 1 : table.element_count();
  if (IsFloat(table.dtype()) || table.element_count() == 0 || count > kMostElements) {
    return std::nullopt;
  }
  int64_t most = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (table.IntAt(i) < 0) return std::nullopt;
    most = std::max(most, table.IntAt(i));
  }
  return Expr(most) + 1;
}

// What elements of the value are below, and not negative: where an op gives places on an axis, its
// dim; of a constant, what is beyond its largest one; also behind nodes that only move them, such
// as lookups in a table. Nothing elsewhere.
std::optional<Expr> PlacesBelow(const Graph& graph, const Definitions& producers, ValueId value) {
  while (producers[value].valid()) {
    const Node& node = graph.nodes[producers[value]];
    const OpDef* op = FindOp(node.op);
    if (op == nullptr) return std::nullopt;
    if (op->places && node.outputs[op->places->output] == value) {
      const Shape& dims = graph.values[node.inputs[0]].type.dims;
      const int64_t axis = node.attributes.Int("axis", op->places->axis);
      const int64_t place = axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
      if (place < 0 || place >= static_cast<int64_t>(dims.size())) return std::nullopt;
      return dims[static_cast<size_t>(place)];
    }
    const bool moves = (op->traits & kMovesElements) != 0 && node.outputs[0] == value;
    if (!moves) return std::nullopt;
    value = node.inputs[0];
  }
  const std::optional<Constant>& constant = graph.values[value].constant;
  return constant ? EndOf(*constant) : std::nullopt;
}

// Whether the axis of the data has room for indices that are not negative and below `end`.
bool HasRoom(const Graph& graph, const Node& node, const IndexOperand& operand, const Expr& end,
             const Bounds& bounds) {
  if (operand.positions || operand.flat) return false;
  const Shape& dims = graph.values[node.inputs[0]].type.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = operand.AxisIn(node, rank);
  if (axis < 0 || axis >= rank) return false;  // the op itself complains
  return Prove(Le(end, dims[static_cast<size_t>(axis)]), bounds) == true;
}

// The checks of one region.
absl::StatusOr<std::vector<ValueId>> AddToRegion(Graph& graph, const Definitions& producers,
                                                 RegionId region, Known& known) {
  std::vector<ValueId> results;
  const Bounds bounds = BoundsOf(graph.symbols);
  const std::vector<NodeId> nodes = graph.regions[region].nodes;
  for (NodeId id : nodes) {
    const Node node = graph.nodes[id];
    const OpDef* op = FindOp(node.op);
    if (op == nullptr || !op->indices || !HasInput(node, op->indices->input)) continue;
    const IndexOperand& operand = *op->indices;
    absl::StatusOr<bool> valid = AreValid(graph, node, operand, bounds);
    if (!valid.ok()) {
      const std::string place = node.locations.empty() ? node.op : Describe(node.locations[0]);
      return About(place, valid.status());
    }
    const ValueId indices = node.inputs[operand.input];
    const auto round = known.counters.find(indices);
    const std::optional<Expr> end = round == known.counters.end()
                                        ? PlacesBelow(graph, producers, indices)
                                        : std::optional(round->second);
    if (*valid || (end && HasRoom(graph, node, operand, *end, bounds))) continue;
    Node check = IndexCheckNode(node, operand);
    if (!known.checks.Add(graph, check)) continue;
    const std::string& data = graph.values[indices].name;
    results.push_back(graph.AddValue(StrCat(data, "_valid"), TensorType(DType::kBool, {})));
    check.outputs = {results.back()};
    graph.AddNode(region, std::move(check));
  }
  return results;
}

// Those of a region and of the regions in it. A check within a branch says nothing outside.
absl::Status AddToAll(Graph& graph, const Definitions& producers, RegionId region, Known known,
                      RegionChecks& checks) {
  AOTC_ASSIGN_OR_RETURN(checks[region], AddToRegion(graph, producers, region, known));
  const std::vector<NodeId> nodes = graph.regions[region].nodes;
  for (NodeId id : nodes) {
    const std::map<std::string, RegionId> inner = graph.nodes[id].regions;
    AddRoundCounters(graph, graph.nodes[id], known.counters);
    for (const auto& [name, body] : inner) {
      AOTC_RETURN_IF_ERROR(AddToAll(graph, producers, body, known, checks));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RegionChecks> AddIndexCheckNodes(Graph& graph) {
  RegionChecks checks;
  AOTC_RETURN_IF_ERROR(AddToAll(graph, Producers(graph), graph.main, {}, checks));
  return checks;
}

absl::Status AddIndexChecks(Graph& graph, FusedGraph& fused) {
  AOTC_ASSIGN_OR_RETURN(const RegionChecks checks, AddIndexCheckNodes(graph));
  Adder adder(graph, fused);
  absl::Status status;
  VisitBodies(graph, fused, [&](FusedGraph& part, RegionId region) {
    for (ValueId result : checks.at(region)) {
      if (status.ok()) status = adder.Add(result, part);
    }
  });
  return status;
}

}  // namespace aotc
