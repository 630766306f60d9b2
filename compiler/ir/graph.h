// Graph: tensors and ops, as the model states them. Ids into arenas; passes rebuild
// (graph_rebuild.h).
//
//   graph @main(%x: f32[batch, 16, 28, 28]) -> (%z) {
//     symbol batch in 1..8
//     const %w: f32[32, 16, 3, 3] = random(seed=1)
//     %y: f32[batch, 32, 28, 28] = Conv(%x, %w) {pads=[1, 1, 1, 1]} loc("conv1 (Conv)")
//     %z: f32[batch, 32, 28, 28] = Relu(%y) loc("relu1 (Relu)")
//   }
//
// A node's regions see the values of the enclosing regions. Nodes of a region are in topological
// order. An input that is absent is an invalid ValueId.
#ifndef AOTC_COMPILER_IR_GRAPH_H_
#define AOTC_COMPILER_IR_GRAPH_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/ir/attributes.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/contract.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/shape.h"
#include "compiler/support/ids.h"

namespace aotc {

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;
using RegionId = Id<struct RegionTag>;

enum class ValueKind : uint8_t { kTensor = 0, kSequence = 1, kOptional = 2, kMap = 3 };

// Type of a value. `children` as in aotc_value_info: the element of a sequence or optional, key and
// value tensors of a map. `ranked` is false where not even the rank is known yet.
struct ValueType {
  ValueKind kind = ValueKind::kTensor;
  DType dtype = DType::kUndefined;
  bool ranked = true;
  Shape dims = {};
  std::vector<ValueType> children = {};
  int64_t max_items = 0;  // of a sequence
};

ValueType TensorType(DType dtype, Shape dims);
// Nothing is known of it: what an importer gives to values that inference has not reached.
ValueType UnknownType();
// Element type and rank (and those of all children) are known.
bool IsKnownType(const ValueType& type);
bool SameType(const ValueType& a, const ValueType& b);
// A tensor of integers, always of as many, and few: what a shape operand may be.
bool HoldsSizes(const ValueType& type);

// The most that an axis of a value may have in a run, where inference derives no bound.
struct DimLimit {
  int64_t most = 0;
  bool declared = false;  // by the model, which may be wrong; else by --bound
  friend bool operator==(const DimLimit&, const DimLimit&) = default;
};

struct Value {
  std::string name = {};  // as in the model where it has one; unique in the graph
  ValueType type = {};
  Layout layout = {};
  std::optional<Constant> constant = {};
  // Of a graph output that the model calls as it calls an input.
  std::string output_name = {};
  // Elements of a small integer tensor as expressions over the symbols: the result of shape
  // arithmetic, or of a graph input that sizes depend on.
  std::optional<std::vector<Expr>> elements = {};
  std::map<int, DimLimit> limits = {};  // by axis; until types are inferred
};

// Where a node came from, for messages and comments.
struct Location {
  std::string node = {};  // ONNX name, or the name of its first output
  std::string op = {};    // ONNX op_type
  int opset = 0;          // of its domain in the model
};

struct Node {
  std::string op = {};  // "Conv"; other domains than ai.onnx: "com.microsoft.Gelu"
  std::vector<ValueId> inputs = {};
  std::vector<ValueId> outputs = {};  // unused optional outputs are invalid
  Attributes attributes = {};
  std::map<std::string, RegionId> regions = {};  // "body", "then_branch", "else_branch"
  std::vector<Location> locations = {};          // more than one after a merge
  // How its sum of products is to be computed; nothing where that is open, or there is none.
  std::optional<Contract> contract = {};
};

// Optional inputs are left out at the end, or invalid.
inline bool HasInput(const Node& node, size_t index) {
  return index < node.inputs.size() && node.inputs[index].valid();
}

struct Region {
  std::vector<ValueId> inputs = {};
  std::vector<ValueId> outputs = {};
  std::vector<NodeId> nodes = {};
};

// A function of the model, kept until it is inlined; its region takes the formal inputs.
struct Function {
  std::string name = {};
  RegionId region = {};
};

struct Graph {
  std::string name = "main";
  IdVector<ValueId, Value> values = {};
  IdVector<NodeId, Node> nodes = {};
  IdVector<RegionId, Region> regions = {};
  RegionId main = {};
  std::vector<Symbol> symbols = {};
  std::vector<Function> functions = {};

  Graph() : main(regions.Add({})) {}
  Region& main_region() { return regions[main]; }
  const Region& main_region() const { return regions[main]; }

  // The name is made unique: "value" where empty, `_2`, `_3` ... appended where taken.
  ValueId AddValue(std::string_view name, ValueType type);
  ValueId AddConstant(std::string_view name, Constant constant);
  // Appends to `region`; output values must exist.
  NodeId AddNode(RegionId region, Node node);
  // Gives a value another name, made unique likewise; its old name becomes free.
  void Rename(ValueId value, std::string_view name);
  // Gives a value exactly this name; a value that has it gets another.
  void ClaimName(ValueId value, std::string_view name);

 private:
  std::string UniqueName(std::string_view name);
  // Names in use, each with the last suffix tried for it.
  absl::flat_hash_map<std::string, int> names_;
};

// Node that defines each value; invalid for inputs and constants. Rebuilt on demand by passes.
IdVector<ValueId, NodeId> Producers(const Graph& graph);
// Uses of each value: node inputs, region outputs and captures count one each.
IdVector<ValueId, int> UseCounts(const Graph& graph);
// Whether only a run knows more of a size than its bound: it names an element of an input, or a
// symbol that is computed or worked out.
bool DependsOnRun(const Graph& graph, const Expr& size);
// "node 'conv1' (Conv, opset 13)" for diagnostics and comments.
std::string Describe(const Location& location);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_GRAPH_H_
