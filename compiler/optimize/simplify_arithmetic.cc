// Neutral operands, powers, negations.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/ops/tensor_builder.h"
#include "compiler/optimize/simplify_rules.h"

namespace aotc {
namespace {

bool IsUniform(const RewriteSite& site, size_t index, double value) {
  std::optional<double> uniform = UniformInput(site, index);
  return uniform == value;
}

// The sign of zero matters to floats.
bool IsZero(const RewriteSite& site, size_t index, bool negative) {
  std::optional<double> uniform = UniformInput(site, index);
  if (uniform != 0.0) return false;
  return !IsFloat(site.type().dtype) || std::signbit(*uniform) == negative;
}

// x * 1, 1 * x, x / 1, x - 0, x + -0.0 and -0.0 + x; x + 0 on integers.
bool NeutralOperand(RewriteSite& site) {
  const std::string& op = site.node().op;
  if (site.node().inputs.size() != 2) return false;
  const bool right = ((op == "Mul" || op == "Div") && IsUniform(site, 1, 1)) ||
                     (op == "Sub" && IsZero(site, 1, false)) ||
                     (op == "Add" && IsZero(site, 1, true)) ||
                     (op == "Pow" && IsUniform(site, 1, 1));
  if (right) return ReplaceByInput(site, 0);
  // The least float changes no maximum, not that of NaN either.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double neutral = op == "Max" ? -kInfinity : kInfinity;
  const bool extreme = (op == "Max" || op == "Min") && IsFloat(site.type().dtype);
  if (extreme && IsUniform(site, 1, neutral)) return ReplaceByInput(site, 0);
  if (extreme && IsUniform(site, 0, neutral)) return ReplaceByInput(site, 1);
  const bool left =
      (op == "Mul" && IsUniform(site, 0, 1)) || (op == "Add" && IsZero(site, 0, true));
  return left && ReplaceByInput(site, 1);
}

// Neg and Not undo themselves; Abs, Floor, Relu ... of what they gave change nothing.
bool TwiceInARow(RewriteSite& site) {
  const Node* inner = site.Producer(0);
  if (inner == nullptr || inner->op != site.node().op || site.node().inputs.size() != 1)
    return false;
  for (std::string_view op : {"Neg", "Not", "BitwiseNot"}) {
    if (inner->op == op) return site.ReplaceBy(inner->inputs[0]);
  }
  for (std::string_view op : {"Abs", "Ceil", "Floor", "Relu", "Round", "Sign"}) {
    if (inner->op == op) return site.ReplaceBy(site.node().inputs[0]);
  }
  return false;
}

// x / c is x * (1 / c) where the reciprocal is exact: c is a power of two, and neither is
// subnormal.
bool DivisionByPowerOfTwo(RewriteSite& site) {
  if (site.node().op != "Div" || site.type().dtype != DType::kF32) return false;
  std::optional<double> divisor = UniformInput(site, 1);
  if (!divisor || *divisor == 1 || !std::isnormal(static_cast<float>(*divisor))) return false;
  int exponent = 0;
  if (std::abs(std::frexp(*divisor, &exponent)) != 0.5) return false;
  const double reciprocal = 1 / *divisor;
  if (!std::isnormal(static_cast<float>(reciprocal))) return false;
  const std::vector<int64_t> dims = site.ConstantInput(1)->dims();
  const ValueId factor =
      site.EmitConstant("_factor", Constant::Splat(DType::kF32, dims, reciprocal));
  return site.ReplaceBy("Mul", {site.node().inputs[0], factor});
}

// Never negative, and zero only with a plus: what these ops give.
bool IsNeverNegative(const RewriteSite& site, ValueId value, int depth) {
  if (const Constant* constant = site.ConstantOf(value); constant != nullptr) {
    return constant->element_count() > 0 && constant->UniformElement() &&
           !std::signbit(constant->FloatAt(0));
  }
  const Node* node = site.ProducerOf(value);
  if (node == nullptr || depth == 0) return false;
  for (std::string_view op : {"Abs", "Exp", "ReduceL1", "ReduceL2", "ReduceSumSquare", "Sigmoid"}) {
    if (node->op == op) return true;
  }
  if (node->op == "Mul" && node->inputs[0] == node->inputs[1]) return true;
  if (node->op == "Pow") {
    const Constant* power = site.ConstantOf(node->inputs[1]);
    return power != nullptr && power->element_count() == 1 && power->FloatAt(0) == 2;
  }
  if (node->op == "ReduceMean" || node->op == "ReduceSum") {
    return IsNeverNegative(site, node->inputs[0], depth - 1);
  }
  const bool both = node->op == "Add" || node->op == "Div" || node->op == "Mul";
  if (!both) return false;
  const ValueId left = node->inputs[0], right = node->inputs[1];
  return IsNeverNegative(site, left, depth - 1) && IsNeverNegative(site, right, depth - 1);
}

// x^0.5 is a root where x is never negative: the root of -0.0 is -0.0, that of minus infinity NaN.
// x^-1 is 1 / x.
bool PowerOfSpecialExponent(RewriteSite& site) {
  if (site.node().op != "Pow" || !IsFloat(site.type().dtype)) return false;
  if (!SameType(site.InputType(0), site.type())) return false;
  const ValueId base = site.node().inputs[0];
  if (IsUniform(site, 1, -1)) return site.ReplaceBy("Reciprocal", {base});
  constexpr int kFarEnough = 8;
  if (!IsUniform(site, 1, 0.5) || !IsNeverNegative(site, base, kFarEnough)) return false;
  return site.ReplaceBy("Sqrt", {base});
}

// 1 / x, of all shapes of the 1 that do not broadcast x.
bool OneOver(RewriteSite& site) {
  if (site.node().op != "Div" || !IsFloat(site.type().dtype) || !IsUniform(site, 0, 1))
    return false;
  if (!SameType(site.InputType(1), site.type())) return false;
  return site.ReplaceBy("Reciprocal", {site.node().inputs[1]});
}

// (x + c) + d is x + (c + d) on integers, which wrap around; products likewise.
bool IntegerConstantsMeet(RewriteSite& site) {
  const MayMeet always = [](const RewriteSite&, const Constant&, const Constant&) { return true; };
  return IsInteger(site.type().dtype) && ConstantsMeet(site, always);
}

// x - c is x + (-c), bit by bit: one form for what follows. Scalars and vectors only, which is what
// biases are: the negative of a table may be stored beside the table.
bool SubtractedConstant(RewriteSite& site) {
  if (site.node().op != "Sub" || !IsFloat(site.type().dtype)) return false;
  const ValueId constant = site.node().inputs[1];
  const Constant* value = site.ConstantOf(constant);
  if (value == nullptr) return false;
  if (std::ranges::count_if(value->dims(), [](int64_t dim) { return dim != 1; }) > 1) return false;
  const ValueId negative = site.Emit("Neg", {constant}, {}, site.TypeOf(constant));
  return site.ReplaceBy("Add", {site.node().inputs[0], negative});
}

constexpr RewriteRule kRules[] = {
    NeutralOperand, TwiceInARow,          DivisionByPowerOfTwo, PowerOfSpecialExponent,
    OneOver,        IntegerConstantsMeet, SubtractedConstant,
};

}  // namespace

std::optional<double> UniformInput(const RewriteSite& site, size_t index) {
  const Constant* constant = site.ConstantInput(index);
  if (constant == nullptr || constant->element_count() == 0) return std::nullopt;
  if (!IsFloat(constant->dtype()) && !IsInteger(constant->dtype())) return std::nullopt;
  if (!constant->UniformElement()) return std::nullopt;
  return constant->FloatAt(0);
}

bool ReplaceByInput(RewriteSite& site, size_t index) {
  if (!SameType(site.InputType(index), site.type())) return false;
  return site.ReplaceBy(site.node().inputs[index]);
}

bool ConstantsMeet(RewriteSite& site, MayMeet may_meet) {
  const std::string op = site.node().op;
  if (op != "Add" && op != "Mul") return false;
  for (size_t side : {0, 1}) {
    const Node* inner = site.Producer(side);
    const ValueId outer_constant = site.node().inputs[1 - side];
    const Constant* outer = site.ConstantOf(outer_constant);
    if (inner == nullptr || inner->op != op || outer == nullptr) continue;
    const size_t where = site.ConstantOf(inner->inputs[0]) != nullptr ? 0 : 1;
    const ValueId inner_constant = inner->inputs[where], x = inner->inputs[1 - where];
    const Constant* met = site.ConstantOf(inner_constant);
    if (met == nullptr || !may_meet(site, *met, *outer)) continue;
    absl::StatusOr<Shape> shape =
        BroadcastShapes({site.TypeOf(inner_constant).dims, site.TypeOf(outer_constant).dims});
    if (!shape.ok()) continue;
    const ValueId sum =
        site.Emit(op, {inner_constant, outer_constant}, {}, TensorType(site.type().dtype, *shape));
    return site.ReplaceBy(op, {x, sum});
  }
  return false;
}

std::span<const RewriteRule> ArithmeticRules() { return kRules; }

}  // namespace aotc
