#include "compiler/optimize/common_subexpressions.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Copies stay: an output that copies another one is made of one. What has no definition may draw
// numbers: two such nodes draw two.
bool MayMerge(const Node& node) {
  return node.regions.empty() && node.op != "Identity" && FindOp(node.op) != nullptr;
}

bool SameElements(const Value& a, const Value& b) {
  if (a.elements.has_value() != b.elements.has_value()) return false;
  return !a.elements || Same(*a.elements, *b.elements);
}

// As far as readers can tell.
bool SameResult(const Value& a, const Value& b) {
  return SameType(a.type, b.type) && a.layout == b.layout && SameElements(a, b);
}

class Merger {
 public:
  explicit Merger(const Graph& graph) : old_(graph) {}

  bool Visit(Rebuilder& rebuilder, const Node& node);

 private:
  void MergeConstants(Rebuilder& rebuilder, const Node& node);
  // What two nodes must share to be compared at all.
  std::string KeyOf(Rebuilder& rebuilder, const Node& node) const;
  // `earlier` of the new graph gives all that `node` of the old one does.
  bool Covers(const Graph& graph, const Node& earlier, const Node& node) const;

  struct Candidate {
    NodeId node = {};
    RegionId region = {};
  };
  const Graph& old_;
  absl::flat_hash_map<std::string, std::vector<Candidate>> candidates_;
  absl::flat_hash_map<uint64_t, std::vector<ValueId>> constants_;  // of the old graph, by content
};

bool Merger::Visit(Rebuilder& rebuilder, const Node& node) {
  MergeConstants(rebuilder, node);
  if (!MayMerge(node)) return false;
  std::vector<Candidate>& candidates = candidates_[KeyOf(rebuilder, node)];
  Graph& graph = rebuilder.graph();
  for (const Candidate& candidate : candidates) {
    Node& earlier = graph.nodes[candidate.node];
    if (!rebuilder.IsOpen(candidate.region) || !Covers(graph, earlier, node)) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      rebuilder.Replace(node.outputs[i], earlier.outputs[i]);
    }
    earlier.locations.insert(earlier.locations.end(), node.locations.begin(), node.locations.end());
    return true;
  }
  absl::Status copied = rebuilder.Copy(node);
  AOTC_CHECK(copied.ok()) << copied.ToString();  // without regions nothing can fail
  candidates.push_back({NodeId(static_cast<int32_t>(graph.nodes.size()) - 1), rebuilder.region()});
  return true;
}

void Merger::MergeConstants(Rebuilder& rebuilder, const Node& node) {
  for (ValueId input : node.inputs) {
    if (!input.valid() || !old_.values[input].constant) continue;
    const Constant& constant = *old_.values[input].constant;
    std::vector<ValueId>& equal = constants_[constant.ContentHash()];
    auto first = std::find_if(equal.begin(), equal.end(), [&](ValueId other) {
      return other == input || (constant.SameValue(*old_.values[other].constant) &&
                                SameResult(old_.values[input], old_.values[other]));
    });
    if (first == equal.end()) {
      equal.push_back(input);
    } else if (*first != input) {
      rebuilder.Replace(input, rebuilder.Mapped(*first));
    }
  }
}

std::string Merger::KeyOf(Rebuilder& rebuilder, const Node& node) const {
  std::vector<int32_t> inputs;
  for (ValueId input : node.inputs) inputs.push_back(rebuilder.Mapped(input).index());
  if (HasTrait(node.op, kCommutative)) std::sort(inputs.begin(), inputs.end());
  return StrCat(node.op, "(", StrJoin(inputs, ",", [](int32_t id) { return StrCat(id); }), ")");
}

bool Merger::Covers(const Graph& graph, const Node& earlier, const Node& node) const {
  if (earlier.outputs.size() != node.outputs.size()) return false;
  if (!SameAttributes(earlier.attributes, node.attributes)) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    if (!earlier.outputs[i].valid()) return false;
    if (!SameResult(graph.values[earlier.outputs[i]], old_.values[node.outputs[i]])) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Graph> CommonSubexpressions(const Graph& graph, PassContext&) {
  Merger merger(graph);
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    return merger.Visit(rebuilder, node);
  });
}

}  // namespace aotc
