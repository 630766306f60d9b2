// A graph whose nodes were put together into kernels: what fusion gives and lowering takes.
//
//   fused.kernels[0].kernel  // conv1_relu1: acc = sum ...; y = max(acc + b, 0)
//   fused.kernels[0].args    // the graph values that its params stand for
//   fused.views              // values that need no kernel
#ifndef AOTC_COMPILER_IR_FUSED_GRAPH_H_
#define AOTC_COMPILER_IR_FUSED_GRAPH_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/kernel.h"

namespace aotc {

// A kernel and the graph value that each of its params stands for; or a node with regions, which
// stands among the kernels as one without stages: its params are what it reads, captured values
// included, and what it gives.
struct FusedKernel {
  Kernel kernel = {};
  std::vector<ValueId> args = {};
  std::string op = {};  // of the last node in it, for names
  // Results that are small floats because the model casts to them, not because it computes in them.
  std::set<ValueId> rounded = {};
  NodeId control = {};       // the node with regions; its bodies are those of the fused graph
  bool gives_sizes = false;  // behind the control node symbols are known that were not before
};

// `value` is the storage of `base` from an element offset on, or a box in it: its readers, and the
// kernel that makes it where there is one, reach it in the memory of `base`.
struct ValueView {
  ValueId value = {};
  ValueId base = {};
  Expr offset = 0;
  // Of a box: where it begins, per storage axis of `base`, whose strides it has.
  std::vector<Expr> start = {};
  std::vector<int64_t> step = {};  // from one element to the next; empty: 1 along every axis

  bool IsBox() const { return !start.empty(); }
};

// An output of the graph that lies in the memory of an input.
struct Alias {
  ValueId output = {};
  ValueId input = {};
  // Where the output is the input and new elements behind it: the axis that grows, and a value
  // that no node makes, with room for the largest, in which both are boxes. Else they are of one
  // type.
  std::optional<size_t> axis = {};
  ValueId root = {};
  // Of one type: what makes the output would destroy what is still read. It is made elsewhere, and
  // copied when all is done.
  bool copied = false;
};

struct FusedGraph {
  std::vector<FusedKernel> kernels = {};  // in execution order
  std::vector<ValueView> views = {};      // base is never itself a view
  std::vector<ValueId> checks = {};       // bools that must be true after a run
  std::vector<Alias> aliases = {};        // of the main graph
  std::vector<std::string> decisions = {};
  // Per node with regions: a graph for each region, by name.
  std::map<NodeId, std::vector<FusedGraph>> bodies = {};
};

// Values of enclosing regions that the regions of `node` read, nested ones included; each once, in
// the order in which they are met. Constants are none of them.
std::vector<ValueId> CapturedValues(const Graph& graph, const Node& node);

// Calls `visit` for every graph of kernels: `fused`, then the bodies in it. The region that it
// belongs to comes along.
void VisitBodies(const Graph& graph, FusedGraph& fused,
                 const std::function<void(FusedGraph&, RegionId)>& visit);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_FUSED_GRAPH_H_
