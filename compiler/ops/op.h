// Op definitions: one per op, from which everything else is derived.
//
//   absl::Status Relu(OpContext& op) {
//     Tensor x;
//     AOTC_RETURN_IF_ERROR(op.Input(0, x));
//     op.SetOutput(0, op.b().Map({x}, [](const auto& v) {
//       return Max(v[0], NumberConst(0, v[0].dtype()));
//     }));
//     return absl::OkStatus();
//   }
//   const OpDef kOps[] = {{.name = "Relu", .compute = Relu, .summary = "max(x, 0)"}};
//
// Forms, in this order of preference: `compute` (tensor expressions; shapes, dtypes, evaluation,
// fusion class, loops and cost follow), `expand` (in terms of other ops; of an op with both, where
// `compute` is FailedPrecondition). Definitions follow the newest opset; import rewrites others.
#ifndef AOTC_COMPILER_OPS_OP_H_
#define AOTC_COMPILER_OPS_OP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/index_operand.h"
#include "compiler/ops/tensor_builder.h"

namespace aotc {

// A size of an output that has to become a symbol.
struct OpenSize {
  size_t output = 0;
  int axis = 0;
  Expr size = {};
  Expr most = {};  // invalid where the size alone bounds it
};

// What a definition sees of one node: types of inputs, attributes, known values; and where it puts
// results.
class OpContext {
 public:
  OpContext(const Graph& graph, const Node& node);

  TensorBuilder& b() { return builder_; }
  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }

  size_t InputCount() const { return node_.inputs.size(); }
  bool HasInput(size_t index) const;
  bool WantsOutput(size_t index) const;
  // The tensor of an input as an operand of the kernel; the same one for inputs that read one
  // value. Error: absent, not a ranked tensor, an element type that has no arithmetic (strings,
  // complex numbers).
  absl::StatusOr<Tensor> Input(size_t index);
  const ValueType& InputType(size_t index) const;
  // Elements of a small integer input (shape operand) as expressions; error where unknown at
  // compile time, naming the input and what made it dynamic. Such inputs do not become operands of
  // the kernel.
  absl::StatusOr<std::vector<Expr>> IntElements(size_t index) const;
  // As numbers; error where one is symbolic.
  absl::StatusOr<std::vector<int64_t>> ConstInts(size_t index) const;
  // The type of an output as far as it is known.
  const ValueType& OutputType(size_t index) const;
  // Elements of an output that are known already; null where they are not.
  const std::vector<Expr>* OutputElements(size_t index) const;
  // The constant of an input, or null.
  const Constant* ConstInput(size_t index) const;
  // Attribute "axis"-like value in [-rank, rank) made non-negative.
  absl::StatusOr<int> Axis(std::string_view name, int64_t fallback, int rank) const;
  absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank) const;
  Bounds bounds() const { return BoundsOf(symbols()); }
  // An error with that text where the condition on sizes holds in no run. Where it does not hold in
  // all, it becomes a check of the run, and a fact for the kernel that is then built anew.
  absl::Status Require(const Expr& condition, const std::string& text);
  // The same of two sizes that are equal.
  absl::Status RequireEqual(const Expr& a, const Expr& b, const std::string& text);
  // What an axis of an output has. A size that only a run knows becomes a symbol, whose bound is
  // the greatest value of the size, or of `most` where that is less; the kernel is then built anew.
  Expr Size(const Expr& size, size_t output, int axis, const Expr& most = {});
  // Whether only a run knows an expression over the symbols.
  bool IsOfRun(const Expr& e) const { return DependsOnRun(graph_, e); }

  void SetOutput(size_t index, const Tensor& tensor);

  // The kernel; its params are the inputs used, in order of operands(), then all outputs set.
  Kernel Finish();
  // The node input that each input param of the kernel reads.
  const std::vector<size_t>& operands() const { return operands_; }
  // What was required and does not hold in all runs, and sizes without a symbol yet.
  const std::vector<SizeCheck>& checks() const { return checks_; }
  const std::vector<OpenSize>& open_sizes() const { return open_sizes_; }
  // The input whose elements were asked for and are not known; invalid where there is none.
  ValueId unknown() const { return unknown_; }

 private:
  std::string DescribeInput(size_t index) const;
  // Those of the graph, as the node sees them.
  const std::vector<Symbol>& symbols() const {
    return own_symbols_ ? *own_symbols_ : graph_.symbols;
  }

  const Graph& graph_;
  const Node& node_;
  const std::optional<std::vector<Symbol>> own_symbols_;  // where they differ
  TensorBuilder builder_;
  std::vector<size_t> operands_;
  std::vector<Tensor> operand_tensors_;  // of operands_
  std::vector<SizeCheck> checks_;
  std::vector<OpenSize> open_sizes_;
  mutable ValueId unknown_;
};

// What holds of every node of an op.
enum OpTrait : uint32_t {
  // Each element of a result is made of the operands' elements at its place, after broadcasting:
  // whatever renames the places of all operands alike can as well be done behind it.
  kElementwise = 1 << 0,
  kBroadcasts = 1 << 1,      // operands of any shapes that broadcast to one another
  kCommutative = 1 << 2,     // the order of the operands changes no bit of the result
  kContraction = 1 << 3,     // a sum of products with which elementwise ops can be computed
  kReducesAxes = 1 << 4,     // along the axes that input 1 lists
  kMovesElements = 1 << 5,   // the elements of output 0 are elements of input 0
  kChangesType = 1 << 6,     // it is there to give elements another type
  kReadsShapeOnly = 1 << 7,  // results depend on the dims of the inputs, not on their elements
  kCounts = 1 << 8,  // its result is a size by itself: nothing is gained by what it was counted of
  kMovesOperands = 1 << 9,  // elements of its results are elements of its operands: so with strings
  kNoDerivative = 1 << 10,  // where it has a derivative that is 0, or it gives no floats
  kExpandsLast = 1 << 11,   // `expand` reads the nodes behind its operands, in their final terms
  kOwn = 1 << 12,           // the compiler makes it, trusting its operands: no model may name it
  kMustHold = 1 << 13,      // its result is one bool; a run fails where that is false
  kKeepsOrder = 1 << 14,    // the elements of output 0 are those of input 0 in row-major order
  kReorders = 1 << 15,      // it is there to put elements in another order in memory
  kAlongAxis = 1 << 16,     // each row of its one input along the attribute `axis` by itself
  kConvolves = 1 << 17,     // input, weights and attributes are those of Conv
};

struct OpDef {
  std::string_view name;
  absl::Status (*compute)(OpContext& op) = nullptr;
  // Emits an equivalent of `node` through the rebuilder and replaces its outputs.
  absl::Status (*expand)(class Rebuilder& rebuilder, const Node& node) = nullptr;
  std::string_view summary = {};
  uint32_t traits = 0;                       // of OpTrait
  std::optional<size_t> first_weight = {};   // kernels want inputs from this one on packed
  std::optional<IndexOperand> indices = {};  // an input whose elements are indices
  std::optional<PlacesResult> places = {};   // an output whose elements are indices
  uint32_t clamped = 0;  // bits of inputs whose elements are positions that end with an axis
  // Emits the gradients of a node's operands, made of those of its results; absent: it cannot be
  // differentiated (ops/gradient.h).
  absl::Status (*gradient)(class GradientContext& context) = nullptr;
};

// The definition of an op, or null. Names of other domains carry their prefix.
const OpDef* FindOp(std::string_view name);
// False for names of no op.
bool HasTrait(std::string_view op, OpTrait trait);
// It has a definition, or is control flow (ir/control_flow.h), which needs none.
bool IsSupportedOp(std::string_view name);
// All ops by name, sorted: for the operator table and messages.
std::vector<const OpDef*> AllOps();

// A node's kernel with the map from its params to the node's inputs and outputs.
struct NodeKernel {
  Kernel kernel;
  std::vector<ValueId> inputs;   // one per input param
  std::vector<ValueId> outputs;  // one per output param
  // What the graph's symbols have to say before the kernel can be used; both empty otherwise.
  std::vector<SizeCheck> checks;
  std::vector<OpenSize> open_sizes;
};
// Runs the op's compute definition. Error: unknown op, or the definition's complaint, without
// place; `unknown` is then the input that it has to know at compile time and does not.
absl::StatusOr<NodeKernel> BuildNodeKernel(const Graph& graph, const Node& node,
                                           ValueId* unknown = nullptr);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_OP_H_
