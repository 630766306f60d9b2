#include <utility>

#include "compiler/ops/gradient.h"
#include "compiler/ops/op.h"

namespace aotc {

GradientContext::GradientContext(const Node& node, Expansion& emit, std::vector<ValueId> operands,
                                 std::vector<ValueId> results, std::vector<ValueId> gradients,
                                 std::vector<char> active)
    : node_(node),
      emit_(emit),
      operands_(std::move(operands)),
      results_(std::move(results)),
      gradients_(std::move(gradients)),
      active_(std::move(active)),
      given_(operands_.size(), 0),
      results_of_rule_(operands_.size()) {}

Expansion::NamedValues GradientContext::AttributesAnd(Expansion::NamedValues more) const {
  for (const auto& [name, value] : node_.attributes) more.emplace_back(name, value);
  return more;
}

Quantity GradientContext::Operand(size_t index) {
  return {this, index < operands_.size() ? operands_[index] : ValueId()};
}

Quantity GradientContext::Result(size_t index) { return {this, results_[index]}; }

Quantity GradientContext::OfResult(size_t index) {
  return HasOfResult(index) ? Quantity(this, gradients_[index]) : ZerosLike(Result(index));
}

void GradientContext::Give(size_t index, const Quantity& gradient) {
  if (!Wants(index)) return;
  const bool broadcasts = HasTrait(node_.op, kBroadcasts);
  given_[index] = 1;
  results_of_rule_[index] = broadcasts ? SummedTo(gradient, Operand(index)).id() : gradient.id();
}

void GradientContext::GiveNothing(size_t index) {
  if (index < given_.size()) given_[index] = 1;
}

// Of any float type: f64 holds it best.
Quantity Quantity::Number(double value) const {
  Expansion& emit = context_->emit();
  const ValueId number = emit.Number("number", DType::kF64, value);
  return {context_, emit.Emit("CastLike", {number, id_})};
}

Quantity Quantity::To(std::string_view op, const std::vector<Quantity>& others,
                      const Expansion::NamedValues& attributes) const {
  std::vector<ValueId> operands = {id_};
  for (const Quantity& other : others) operands.push_back(other.id());
  return {context_, context_->emit().Emit(op, std::move(operands), attributes)};
}

Quantity operator+(const Quantity& a, const Quantity& b) { return a.To("Add", {b}); }
Quantity operator-(const Quantity& a, const Quantity& b) { return a.To("Sub", {b}); }
Quantity operator*(const Quantity& a, const Quantity& b) { return a.To("Mul", {b}); }
Quantity operator/(const Quantity& a, const Quantity& b) { return a.To("Div", {b}); }
Quantity operator-(const Quantity& a) { return a.To("Neg"); }

Quantity Choose(const Quantity& condition, const Quantity& a, const Quantity& b) {
  return condition.To("Where", {a, b});
}

Quantity ChooseOrZero(const Quantity& condition, const Quantity& a) {
  return Choose(condition, a, a.Number(0));
}

Quantity SummedTo(const Quantity& x, const Quantity& like) { return x.To("SumTo", {like}); }

Quantity ShapedAs(const Quantity& x, const Quantity& like) {
  return x.To("Reshape", {like.To("Shape")}, {{"allowzero", int64_t{1}}});
}

Quantity ExpandedTo(const Quantity& x, const Quantity& like) {
  return x.To("Expand", {like.To("Shape")});
}

Quantity ZerosLike(const Quantity& like) { return ExpandedTo(like.Number(0), like); }

Quantity SummedToChannels(const Quantity& x) {
  Expansion& emit = x.context().emit();
  const Quantity shape(&x.context(), emit.Ints("shape", {0, 0, -1}));
  const Quantity axes(&x.context(), emit.Ints("axes", {0, 2}));
  return x.To("Reshape", {shape}).To("ReduceSum", {axes}, {{"keepdims", int64_t{0}}});
}

}  // namespace aotc
