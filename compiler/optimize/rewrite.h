// Local rewrites: rules that look at a node and at what defines its inputs, applied until none
// fires.
//
//   bool DoubleNegation(RewriteSite& site) {
//     if (site.node().op != "Neg") return false;
//     const Node* inner = site.Producer(0);
//     if (inner == nullptr || inner->op != "Neg") return false;
//     return site.ReplaceBy(inner->inputs[0]);
//   }
//   constexpr RewriteRule kRules[] = {DoubleNegation};
//   return RewriteUntilDone(graph, kRules);
//
// A rule sees a typed node with one output and no regions, as it stands in the graph in work: what
// rules made of the nodes before it is what it finds. In a branch or a body it sees the producers
// in there only: what it made of others would run in every iteration.
#ifndef AOTC_COMPILER_OPTIMIZE_REWRITE_H_
#define AOTC_COMPILER_OPTIMIZE_REWRITE_H_

#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/graph_rebuild.h"

namespace aotc {

// Node that defines each value of a graph that grows.
class ProducerIndex {
 public:
  // Invalid for inputs and constants.
  NodeId Find(const Graph& graph, ValueId value);

 private:
  std::vector<NodeId> producer_;
  size_t seen_ = 0;  // nodes entered so far
};

// Of the graph that a round begins with.
struct GraphFacts {
  explicit GraphFacts(const Graph& graph);
  IdVector<ValueId, NodeId> producers;
  IdVector<ValueId, int> uses;
  IdVector<ValueId, RegionId> regions;  // of the producers
};

// What rules ask of more than a node and what is above it: which values of that graph have a
// property that only the whole graph shows.
using Survey = absl::flat_hash_set<ValueId> (*)(const Graph& graph, const GraphFacts& facts);

// The outputs of a node of the old graph that anything reads.
std::vector<ValueId> UsedOutputs(const Node& node);

class RewriteSite {
 public:
  // `marked` are the values that the pass's survey found, if it makes one.
  RewriteSite(Rebuilder& rebuilder, ProducerIndex& producers, const GraphFacts& facts,
              const absl::flat_hash_set<ValueId>& marked, const Node& old);

  // The node with the inputs that it would have in the graph in work.
  const Node& node() const { return node_; }
  const Graph& graph() const { return rebuilder_.graph(); }
  Bounds bounds() const { return BoundsOf(rebuilder_.graph().symbols); }
  // Of the node's one output.
  const ValueType& type() const { return rebuilder_.old_graph().values[output_].type; }

  bool HasInput(size_t index) const;
  const ValueType& TypeOf(ValueId value) const { return graph().values[value].type; }
  const ValueType& InputType(size_t index) const { return TypeOf(node_.inputs[index]); }
  // Null where the input is absent or no constant.
  const Constant* ConstantInput(size_t index) const;
  const Constant* ConstantOf(ValueId value) const;
  // The node and the graph as they were when the round began, for patterns that need to know who
  // else reads what is inside of them; and what became of a value of that graph.
  const Graph& before() const { return rebuilder_.old_graph(); }
  const Node& node_before() const { return old_; }
  ValueId Now(ValueId value_before) const { return rebuilder_.Mapped(value_before); }
  const Node* ProducerBefore(ValueId value_before) const;
  int ReadersBefore(ValueId value_before) const { return facts_.uses[value_before]; }
  // How many read what this node reads there, this node included.
  int Readers(size_t index) const { return facts_.uses[old_.inputs[index]]; }
  bool IsMarked(size_t index) const { return marked_.contains(old_.inputs[index]); }
  // The node whose first output an input is; null for inputs of the graph, constants and other
  // outputs, which patterns know nothing of. Only until the next Emit.
  const Node* Producer(size_t index) const;
  const Node* ProducerOf(ValueId value) const;

  // Adds a node, or a constant, for the result. What reads constants only becomes one itself.
  ValueId Emit(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
               ValueType type);
  ValueId EmitConstant(std::string_view suffix, Constant constant);
  // A vector of sizes: a constant where all are numbers.
  ValueId EmitSizes(std::string_view suffix, const Shape& sizes);
  // `value` under another shape of as many elements; `value` itself where it has that shape.
  ValueId EmitReshape(ValueId value, const Shape& dims);

  // Ends the node: its readers read `value` from now on. True, so that rules end with it.
  bool ReplaceBy(ValueId value);
  bool ReplaceBy(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});

 private:
  Rebuilder& rebuilder_;
  ProducerIndex& producers_;
  const GraphFacts& facts_;
  const absl::flat_hash_set<ValueId>& marked_;
  const Node& old_;
  Node node_;
  ValueId output_;  // in the old graph
};

// True where the rule has replaced the node.
using RewriteRule = bool (*)(RewriteSite& site);

// Each round leaves a valid graph: rules that go round in circles, which tests would show as a
// second run that changes something, are stopped after many.
absl::StatusOr<Graph> RewriteUntilDone(const Graph& graph, std::span<const RewriteRule> rules,
                                       Survey survey = nullptr);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_REWRITE_H_
