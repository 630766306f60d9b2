// Rules of differentiation: one per op (OpDef::gradient), which emits the gradients of the operands
// of a node, made of those of its results.
//
//   absl::Status GradientOfTanh(GradientContext& c) {
//     const Quantity y = c.Result();
//     c.Give(0, c.OfResult() * (1 - y * y));
//     return absl::OkStatus();
//   }
//
// The gradient of a tensor has its shape and type: element by element the derivative of the sum of
// what is differentiated. What walks a graph backwards from there is the definition of Gradient
// (gradient.cc). Rules are met before types are inferred: ranks and dims are the business of the
// ops that they emit.
#ifndef AOTC_COMPILER_OPS_GRADIENT_H_
#define AOTC_COMPILER_OPS_GRADIENT_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ops/expansion.h"

namespace aotc {

class GradientContext;

// A value of the graph that is built, as an operand of formulas.
class Quantity {
 public:
  Quantity() = default;
  Quantity(GradientContext* context, ValueId id) : context_(context), id_(id) {}
  bool valid() const { return id_.valid(); }
  ValueId id() const { return id_; }
  GradientContext& context() const { return *context_; }
  // A number of the type of this tensor.
  Quantity Number(double value) const;
  // An op of one operand, or with further ones.
  Quantity To(std::string_view op, const std::vector<Quantity>& others = {},
              const Expansion::NamedValues& attributes = {}) const;

 private:
  GradientContext* context_ = nullptr;
  ValueId id_;
};

Quantity operator+(const Quantity& a, const Quantity& b);
Quantity operator-(const Quantity& a, const Quantity& b);
Quantity operator*(const Quantity& a, const Quantity& b);
Quantity operator/(const Quantity& a, const Quantity& b);
Quantity operator-(const Quantity& a);
inline Quantity operator+(const Quantity& a, double b) { return a + a.Number(b); }
inline Quantity operator+(double a, const Quantity& b) { return b.Number(a) + b; }
inline Quantity operator-(const Quantity& a, double b) { return a - a.Number(b); }
inline Quantity operator-(double a, const Quantity& b) { return b.Number(a) - b; }
inline Quantity operator*(const Quantity& a, double b) { return a * a.Number(b); }
inline Quantity operator*(double a, const Quantity& b) { return b.Number(a) * b; }
// `a` where the condition holds, else `b`, or 0.
Quantity Choose(const Quantity& condition, const Quantity& a, const Quantity& b);
Quantity ChooseOrZero(const Quantity& condition, const Quantity& a);

// What a rule sees of a node.
class GradientContext {
 public:
  // `operands` and `results` stand for those of the node, `gradients` (invalid: 0) for the
  // gradients of its results; `active` says which operands need one.
  GradientContext(const Node& node, Expansion& emit, std::vector<ValueId> operands,
                  std::vector<ValueId> results, std::vector<ValueId> gradients,
                  std::vector<char> active);

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  // All attributes of the node, and further ones.
  Expansion::NamedValues AttributesAnd(Expansion::NamedValues more) const;
  Expansion& emit() { return emit_; }

  size_t OperandCount() const { return operands_.size(); }
  size_t ResultCount() const { return results_.size(); }
  // Absent ones are not valid.
  Quantity Operand(size_t index = 0);
  Quantity Result(size_t index = 0);
  bool HasOfResult(size_t index) const { return gradients_[index].valid(); }
  // The gradient of a result.
  Quantity OfResult(size_t index = 0);
  // Operand `index` depends on what is differentiated by.
  bool Wants(size_t index) const { return index < active_.size() && active_[index] != 0; }

  // The gradient of an operand; where the op broadcasts its operands, in the shape that all have
  // together. Ignored where nobody wants it.
  void Give(size_t index, const Quantity& gradient);
  // It is 0: the results do not depend on the elements of the operand.
  void GiveNothing(size_t index);
  bool IsGiven(size_t index) const { return given_[index] != 0; }
  // Invalid: 0.
  ValueId Given(size_t index) const { return results_of_rule_[index]; }

 private:
  const Node& node_;
  Expansion& emit_;
  const std::vector<ValueId> operands_;
  const std::vector<ValueId> results_;
  const std::vector<ValueId> gradients_;
  const std::vector<char> active_;
  std::vector<char> given_;
  std::vector<ValueId> results_of_rule_;
};

// `x` with what was broadcast summed again, in the shape of `like`.
Quantity SummedTo(const Quantity& x, const Quantity& like);
// The elements of `x` in the shape of `like`.
Quantity ShapedAs(const Quantity& x, const Quantity& like);
// `x` broadcast to the shape of `like`.
Quantity ExpandedTo(const Quantity& x, const Quantity& like);
Quantity ZerosLike(const Quantity& like);
// [C]: the sum of x over all axes but 1, of two at least.
Quantity SummedToChannels(const Quantity& x);

// The rule of an op of one operand x and one result y: kFormula gives the gradient of x by that of
// y, which is `g`.
template <Quantity (*kFormula)(const Quantity& g, const Quantity& x, const Quantity& y)>
absl::Status OfOperand(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, kFormula(c.OfResult(), c.Operand(), c.Result()));
  return absl::OkStatus();
}

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_GRADIENT_H_
