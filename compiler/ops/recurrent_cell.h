// One step of LSTM, GRU and RNN as ops of the graph: the gates behind the products.
//
//   CellOps ops(rebuilder, node);
//   ops.Op("MatMul", {h, weights});
//   AOTC_ASSIGN_OR_RETURN(std::vector<Activation> activations, ActivationsOf(node, form, 2));
//   Cell cell = form.prepare(ops, {.recurrence = r, .bias = b, .activations = activations});
//   std::vector<ValueId> next = form.step(ops, cell, x, {h, c});
//
// f16 and bf16 are cast to f32 first and back at the end: states are f32 from step to step.
#ifndef AOTC_COMPILER_OPS_RECURRENT_CELL_H_
#define AOTC_COMPILER_OPS_RECURRENT_CELL_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph_rebuild.h"

namespace aotc {

// Emits ops in place of a node.
class CellOps {
 public:
  CellOps(Rebuilder& rebuilder, const Node& node);

  Rebuilder& rebuilder() { return rebuilder_; }
  const Node& node() const { return node_; }
  // Inputs that are emitted in the braces of the list come in its order.
  ValueId Op(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});
  // Equal parts along an axis.
  std::vector<ValueId> Split(ValueId x, int64_t axis, size_t parts);
  ValueId Concat(std::vector<ValueId> parts, int64_t axis);
  ValueId Ints(const char* suffix, const std::vector<int64_t>& values);
  // A scalar of the type in which cells are computed.
  ValueId Number(double value);
  // From the element type of the node to the one in which cells are computed, and back.
  ValueId Widened(ValueId x);
  ValueId Narrowed(ValueId x);

 private:
  ValueId CastTo(ValueId x, DType type);

  Rebuilder& rebuilder_;
  const Node& node_;
  DType type_ = DType::kUndefined;  // of the operands; undefined where no type is known yet
};

Attributes IntAttributes(std::initializer_list<std::pair<std::string_view, int64_t>> values);

// A function of gates or states, as an op.
struct Activation {
  std::string op;
  std::optional<float> alpha = {};
  std::optional<float> beta = {};
};

// One direction of a node, ready for steps.
struct Cell {
  ValueId recurrence = {};         // [gates * H, H], as given; [H, gates * H] for steps
  ValueId scale = {};              // of a recurrence of bytes, which is given as [H, gates * H]
  ValueId zero_point = {};         // or absent
  ValueId bias = {};               // [2 * gates * H], as given; [gates * H] for the input product
  ValueId peepholes = {};          // [3 * H]; absent as in the node
  ValueId hidden_recurrence = {};  // GRU: [H, H] of the hidden gate, where it has a product alone
  ValueId hidden_bias = {};        // GRU: [H], reset with the product
  std::vector<Activation> activations = {};
};

// x times weights: floats where there is no scale, else bytes, to which x is quantised too.
ValueId Product(CellOps& ops, ValueId x, ValueId weights, ValueId scale, ValueId zero_point);

// What tells LSTM, GRU and RNN apart.
struct CellForm {
  std::string_view op;
  size_t states;  // h, and c of LSTM
  std::vector<const char*> activations;
  Cell (*prepare)(CellOps& ops, Cell given);
  // The next states; `x` is [B, gates * H], the input product with its bias.
  std::vector<ValueId> (*step)(CellOps& ops, const Cell& cell, ValueId x,
                               const std::vector<ValueId>& states);
};

const CellForm& LstmForm();
const CellForm& GruForm();
const CellForm& RnnForm();

// Of all directions, one after the other. Error: unknown names, another count.
absl::StatusOr<std::vector<Activation>> ActivationsOf(const Node& node, const CellForm& form,
                                                      size_t directions);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_RECURRENT_CELL_H_
