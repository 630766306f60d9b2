#include "compiler/optimize/transpose_regions.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/optimize/permutation.h"
#include "compiler/optimize/transposable.h"

namespace aotc {
namespace {

class RegionSurvey {
 public:
  RegionSurvey(const Graph& graph, const GraphFacts& facts)
      : graph_(graph),
        facts_(facts),
        bounds_(BoundsOf(graph.symbols)),
        readers_(graph.values.size()),
        perms_(graph.values.size()),
        joined_(graph.values.size()),
        gains_(graph.values.size()) {
    for (const RegionId region : graph.regions.ids()) {
      for (const NodeId id : graph.regions[region].nodes) {
        for (const ValueId input : graph.nodes[id].inputs) {
          if (input.valid() && facts.regions[input] == region) readers_[input].push_back(id);
        }
      }
    }
  }

  absl::flat_hash_set<ValueId> Survey() {
    for (const Region& region : graph_.regions) {
      for (const NodeId id : region.nodes) Visit(graph_.nodes[id]);
    }
    for (const ValueId value : graph_.values.ids()) {
      if (perms_[value]) gains_[Find(value)] += Gain(value);
    }
    absl::flat_hash_set<ValueId> sinkable;
    for (const ValueId value : graph_.values.ids()) {
      if (perms_[value] && gains_[Find(value)] > 0) sinkable.insert(value);
    }
    return sinkable;
  }

 private:
  const Shape& DimsOf(ValueId value) const { return graph_.values[value].type.dims; }

  // By which the value of an input is transposed; nothing where it comes from around the region.
  std::optional<Permutation> PermAt(const Node& node, size_t index) const {
    const ValueId value = node.inputs[index];
    if (!value.valid() || facts_.regions[value] != facts_.regions[node.outputs[0]])
      return std::nullopt;
    return perms_[value];
  }

  // The transpose that a node's result has after all; nothing where the node is not passed.
  std::optional<Permutation> PermOf(const Node& node) const {
    const Shape& result = DimsOf(node.outputs[0]);
    if (node.op == "Transpose") {
      Permutation perm = PermutationOf(node, result.size());
      const bool is_moved = PermAt(node, 0).has_value();  // they become one, of another permutation
      if (is_moved || KeepsOrder(DimsOf(node.inputs[0]), perm, bounds_)) return std::nullopt;
      return perm;
    }
    return PermutationPassed(graph_, node, result, [&](size_t i) { return PermAt(node, i); });
  }

  // A reduction reads the value that would reduce other axes than the last ones.
  bool IsAnchored(ValueId value, const Permutation& perm) const {
    return std::ranges::any_of(readers_[value], [&](NodeId reader) {
      const Node& node = graph_.nodes[reader];
      const std::optional<Permutation> axes = ReducedAxes(graph_, node, perm.size());
      return axes && std::ranges::any_of(*axes, [&](int64_t axis) {
               return perm[static_cast<size_t>(axis)] <
                      static_cast<int64_t>(perm.size() - axes->size());
             });
    });
  }

  void Visit(const Node& node) {
    if (!node.regions.empty() || node.outputs.size() != 1 || !node.outputs[0].valid()) return;
    const ValueId result = node.outputs[0];
    const std::optional<Permutation> perm = PermOf(node);
    if (!perm || IsAnchored(result, *perm)) return;
    perms_[result] = perm;
    if (node.op == "Transpose") return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (PermAt(node, i) != perm) continue;
      const ValueId root = Find(node.inputs[i]);
      if (root != result) joined_[root] = result;
    }
  }

  // The value that stands for the region of a value; halves the way there.
  ValueId Find(ValueId value) {
    while (joined_[value].valid()) {
      const ValueId next = joined_[value];
      if (joined_[next].valid()) joined_[value] = joined_[next];
      value = next;
    }
    return value;
  }

  // Transposes that vanish at a value, less those that come to be.
  int Gain(ValueId value) const {
    int inside = 0, cancelled = 0;
    for (const NodeId id : readers_[value]) {
      const Node& reader = graph_.nodes[id];
      const bool takes_in = ReducedAxes(graph_, reader, perms_[value]->size()).has_value();
      if (reader.op == "Transpose") {
        const Permutation perm = PermutationOf(reader, perms_[value]->size());
        cancelled += IsIdentityPermutation(Compose(*perms_[value], perm)) ? 1 : 0;
      }
      inside += reader.op == "Transpose" || takes_in || Passes(reader, *perms_[value]) ? 1 : 0;
    }
    const bool all_inside = inside == facts_.uses[value];
    const bool is_transpose = graph_.nodes[facts_.producers[value]].op == "Transpose";
    if (is_transpose) return cancelled + (all_inside ? 1 : 0);
    return cancelled - (all_inside ? 0 : 1);
  }

  bool Passes(const Node& node, const Permutation& perm) const {
    return node.outputs.size() == 1 && perms_[node.outputs[0]] == perm;
  }

  const Graph& graph_;
  const GraphFacts& facts_;
  const Bounds bounds_;
  IdVector<ValueId, std::vector<NodeId>> readers_;  // in its region, once for each input
  IdVector<ValueId, std::optional<Permutation>> perms_;
  IdVector<ValueId, ValueId> joined_;  // another value of the region: see Find
  IdVector<ValueId, int> gains_;       // of the region that a value stands for
};

}  // namespace

absl::flat_hash_set<ValueId> SinkableValues(const Graph& graph, const GraphFacts& facts) {
  return RegionSurvey(graph, facts).Survey();
}

}  // namespace aotc
