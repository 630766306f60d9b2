// Algebra of real numbers (--math fast): it takes no account of NaN, infinities and the sign of
// zero, and rounds otherwise.
#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/ir/small_float.h"
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

// Magnitudes of the elements of a constant, but for zeros and NaN, which stay what they are.
NormalRange MagnitudesOf(const Constant& constant) {
  NormalRange range = {.least = INFINITY, .largest = 0};
  for (int64_t i = 0; i < constant.element_count(); ++i) {
    const double value = std::fabs(constant.FloatAt(i));
    if (value != 0) range.least = std::min(range.least, value);
    range.largest = std::max(range.largest, value);
  }
  return range;
}

// Whether c + d, or c * d, neither overflows nor leaves the normal numbers.
bool StaysNormal(const RewriteSite& site, const Constant& c, const Constant& d) {
  const NormalRange all = NormalRangeOf(site.type().dtype);
  const NormalRange a = MagnitudesOf(c), b = MagnitudesOf(d);
  if (site.node().op == "Add") return a.largest + b.largest <= all.largest;
  return a.largest * b.largest <= all.largest && a.least * b.least >= all.least;
}

// (x + c) + d is x + (c + d); products likewise.
bool FloatConstantsMeet(RewriteSite& site) {
  return IsFloat(site.type().dtype) && ConstantsMeet(site, StaysNormal);
}

constexpr RewriteRule kRules[] = {ZeroAdded, NothingIsLeft, DivisionByConstant, FloatConstantsMeet};

}  // namespace

std::span<const RewriteRule> FastRules() { return kRules; }

}  // namespace aotc
