#include "compiler/import/node_order.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Collects the names that a node reads from outside: its inputs, what its subgraphs capture and
// its attributes name.
void CollectReads(const pb::NodeProto& node, absl::flat_hash_set<std::string>& reads);

void CollectCaptures(const pb::GraphProto& graph, absl::flat_hash_set<std::string>& reads) {
  absl::flat_hash_set<std::string> inside;
  for (const pb::NodeProto& node : graph.node()) CollectReads(node, inside);
  for (const pb::ValueInfoProto& output : graph.output()) inside.insert(output.name());
  for (const pb::ValueInfoProto& input : graph.input()) inside.erase(input.name());
  for (const pb::TensorProto& constant : graph.initializer()) inside.erase(constant.name());
  for (const pb::SparseTensorProto& constant : graph.sparse_initializer()) {
    inside.erase(constant.values().name());
  }
  for (const pb::NodeProto& node : graph.node()) {
    for (const std::string& output : node.output()) inside.erase(output);
  }
  reads.insert(inside.begin(), inside.end());
}

void CollectReads(const pb::NodeProto& node, absl::flat_hash_set<std::string>& reads) {
  for (const std::string& input : node.input()) {
    if (!input.empty()) reads.insert(input);
  }
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) CollectCaptures(attribute.g(), reads);
  }
  if (const std::optional<NamedTensors> named = TensorsNamedBy(node)) {
    reads.insert(named->xs.begin(), named->xs.end());
    reads.insert(named->zs.begin(), named->zs.end());
    reads.insert(named->y);
  }
}

using Definitions = absl::flat_hash_map<std::string, int>;

absl::StatusOr<Definitions> CollectDefinitions(const NodeList& nodes) {
  Definitions defined_by;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty()) continue;
      auto [found, added] = defined_by.emplace(output, i);
      if (added) continue;
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("value '", DisplayName(output), "' is defined twice, by node '",
                 NodeName(nodes[found->second]), "' and by node '", NodeName(nodes[i]), "'"));
    }
  }
  return defined_by;
}

}  // namespace

std::optional<NamedTensors> TensorsNamedBy(const pb::NodeProto& node) {
  if (node.op_type() != "Gradient" || node.domain() != "ai.onnx.preview.training") {
    return std::nullopt;
  }
  NamedTensors named;
  for (const pb::AttributeProto& attribute : node.attribute()) {
    const auto& strings = attribute.strings();
    if (attribute.name() == "xs") named.xs.assign(strings.begin(), strings.end());
    if (attribute.name() == "zs") named.zs.assign(strings.begin(), strings.end());
    if (attribute.name() == "y") named.y = attribute.s();
  }
  return named;
}

std::set<std::string> ReadsOf(const pb::NodeProto& node) {
  absl::flat_hash_set<std::string> reads;
  CollectReads(node, reads);
  return {reads.begin(), reads.end()};
}

std::string NodeName(const pb::NodeProto& node) {
  if (!node.name().empty()) return DisplayName(node.name());
  for (const std::string& output : node.output()) {
    if (!output.empty()) return DisplayName(output);
  }
  return "";
}

absl::StatusOr<std::vector<int>> TopologicalOrder(const NodeList& nodes) {
  AOTC_ASSIGN_OR_RETURN(Definitions defined_by, CollectDefinitions(nodes));
  std::vector<std::vector<int>> readers(static_cast<size_t>(nodes.size()));
  std::vector<int> missing(static_cast<size_t>(nodes.size()), 0);
  for (int i = 0; i < nodes.size(); ++i) {
    absl::flat_hash_set<std::string> reads;
    CollectReads(nodes[i], reads);
    for (const std::string& name : reads) {
      auto found = defined_by.find(name);
      if (found == defined_by.end()) continue;
      readers[static_cast<size_t>(found->second)].push_back(i);
      ++missing[static_cast<size_t>(i)];
    }
  }
  std::set<int> ready;  // smallest index first
  for (int i = 0; i < nodes.size(); ++i) {
    if (missing[static_cast<size_t>(i)] == 0) ready.insert(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    int next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (int reader : readers[static_cast<size_t>(next)]) {
      if (--missing[static_cast<size_t>(reader)] == 0) ready.insert(reader);
    }
  }
  if (static_cast<int>(order.size()) == nodes.size()) return order;
  for (int i = 0; i < nodes.size(); ++i) {
    if (missing[static_cast<size_t>(i)] > 0) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("node '", NodeName(nodes[i]), "' (",
                                                  DisplayName(nodes[i].op_type()),
                                                  ") takes part in a cycle or reads from one"));
    }
  }
  return order;
}

}  // namespace aotc
