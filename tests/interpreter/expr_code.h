// Expressions of Loops, made ready to be evaluated many times: variables are slots, lanes arrays.
//
//   ExprCode code;
//   const int root = code.Add(stmt->value);
//   code.Evaluate(root, frame, value);       // value[0] .. value[lanes - 1]
#ifndef AOTC_TESTS_INTERPRETER_EXPR_CODE_H_
#define AOTC_TESTS_INTERPRETER_EXPR_CODE_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"
#include "tests/interpreter/frame.h"

namespace aotc {

class ExprCode {
 public:
  // The number of the expression.
  int Add(const Expr& e);
  // Of the variable; one slot for all variables of a name.
  size_t SlotOf(const std::string& name);
  size_t slots() const { return slots_.size(); }
  int LanesOf(int node) const { return nodes_[static_cast<size_t>(node)].lanes; }
  DType DTypeOf(int node) const { return nodes_[static_cast<size_t>(node)].dtype; }

  // Loads out of bounds, and integer operators without a result, fail the frame.
  void Evaluate(int node, Frame& frame, LaneValues& out) const;
  int64_t Integer(int node, Frame& frame) const;

 private:
  struct Node {
    ExprOp op = ExprOp::kConst;
    DType dtype = DType::kI64;
    DType operand = DType::kI64;  // dtype of the first operand
    int lanes = 1;
    int args[3] = {-1, -1, -1};
    size_t index = 0;  // slot or buffer
    Lane constant = {.i = 0};
  };

  void EvaluateLoad(const Node& node, Frame& frame, LaneValues& out) const;
  void EvaluateSelect(const Node& node, Frame& frame, LaneValues& out) const;
  void EvaluateUnary(const Node& node, Frame& frame, LaneValues& out) const;
  void EvaluateBinary(const Node& node, Frame& frame, LaneValues& out) const;
  void EvaluateLanes(const Node& node, Frame& frame, LaneValues& out) const;

  std::vector<Node> nodes_;
  std::map<std::string, size_t> slots_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_INTERPRETER_EXPR_CODE_H_
