// Algebra of real numbers (--math fast): it takes no account of NaN, infinities and the sign of
// zero, and rounds otherwise.
#include <cmath>
#include <optional>

#include "compiler/optimize/simplify_rules.h"

namespace aotc {
namespace {

bool IsFloatNode(const RewriteSite& site, std::string_view op) {
  return site.node().op == op && site.node().inputs.size() == 2 && IsFloat(site.type().dtype);
}

// x + 0, 0 + x and x - 0, of zeros of either sign.
bool ZeroAdded(RewriteSite& site) {
  const bool adds = IsFloatNode(site, "Add");
  if (!adds && !IsFloatNode(site, "Sub")) return false;
  if (UniformInput(site, 1) == 0.0) return ReplaceByInput(site, 0);
  return adds && UniformInput(site, 0) == 0.0 && ReplaceByInput(site, 1);
}

bool ReplaceByZeros(RewriteSite& site) {
  const std::optional<std::vector<int64_t>> dims = StaticDims(site.type().dims);
  if (!dims) return false;
  return site.ReplaceBy(site.EmitConstant("_zero", Constant::Splat(site.type().dtype, *dims, 0.0)));
}

// x * 0, 0 * x and x - x.
bool NothingIsLeft(RewriteSite& site) {
  const bool cancels = IsFloatNode(site, "Sub") && site.node().inputs[0] == site.node().inputs[1];
  const bool vanishes =
      IsFloatNode(site, "Mul") && (UniformInput(site, 0) == 0.0 || UniformInput(site, 1) == 0.0);
  return (cancels || vanishes) && ReplaceByZeros(site);
}

// x / c is x * (1 / c), where 1 / c is a normal number.
bool DivisionByConstant(RewriteSite& site) {
  if (!IsFloatNode(site, "Div") || site.type().dtype != DType::kF32) return false;
  const Constant* divisor = site.ConstantInput(1);
  if (divisor == nullptr) return false;
  for (int64_t i = 0; i < divisor->element_count(); ++i) {
    if (!std::isnormal(static_cast<float>(1 / divisor->FloatAt(i)))) return false;
  }
  const ValueId by = site.node().inputs[1];
  const ValueId factor = site.Emit("Reciprocal", {by}, {}, site.TypeOf(by));
  return site.ReplaceBy("Mul", {site.node().inputs[0], factor});
}

// (x + c) + d is x + (c + d); products likewise.
bool FloatConstantsMeet(RewriteSite& site) {
  return IsFloat(site.type().dtype) && ConstantsMeet(site);
}

constexpr RewriteRule kRules[] = {ZeroAdded, NothingIsLeft, DivisionByConstant, FloatConstantsMeet};

}  // namespace

std::span<const RewriteRule> FastRules() { return kRules; }

}  // namespace aotc
