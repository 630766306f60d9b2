#include "compiler/eval/linear_form.h"

namespace aotc {
namespace {

std::optional<LinearForm> FormOfVar(const std::string& name, const LoopVars& vars) {
  for (size_t i = 0; i < vars.size(); ++i) {
    if (vars[i].name == name) return LinearForm{.terms = {{static_cast<int>(i), 1}}};
  }
  return std::nullopt;
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Splits the form into divisor * quotient + rest with every coefficient of `rest` in [0, divisor).
std::pair<LinearForm, LinearForm> SplitByDivisor(const LinearForm& form, int64_t divisor) {
  LinearForm quotient = {.base = FloorDivide(form.base, divisor)};
  LinearForm rest = {.base = form.base - quotient.base * divisor};
  for (const auto& [position, coefficient] : form.terms) {
    int64_t whole = FloorDivide(coefficient, divisor);
    int64_t remainder = coefficient - whole * divisor;
    if (whole != 0) quotient.terms.emplace_back(position, whole);
    if (remainder != 0) rest.terms.emplace_back(position, remainder);
  }
  return {quotient, rest};
}

// floor_div and mod by a positive constant are linear where the part that is not a multiple of the
// divisor stays below it.
std::optional<LinearForm> Divided(const Expr& e, const LinearForm& form, const LoopVars& vars) {
  std::optional<int64_t> divisor = e.arg(1).AsInt();
  if (!divisor || *divisor <= 0) return std::nullopt;
  auto [quotient, rest] = SplitByDivisor(form, *divisor);
  if (RangeOfForm(rest, vars).second >= *divisor) return std::nullopt;
  return e.op() == ExprOp::kFloorDiv ? quotient : rest;
}

std::optional<LinearForm> FormOfBinary(const Expr& e, const LoopVars& vars) {
  std::optional<LinearForm> a = LinearOf(e.arg(0), vars);
  if (!a) return std::nullopt;
  if (e.op() == ExprOp::kFloorDiv || e.op() == ExprOp::kMod) return Divided(e, *a, vars);
  std::optional<LinearForm> b = LinearOf(e.arg(1), vars);
  if (!b) return std::nullopt;
  switch (e.op()) {
    case ExprOp::kAdd: return AddScaled(*a, *b, 1);
    case ExprOp::kSub: return AddScaled(*a, *b, -1);
    case ExprOp::kMul:
      if (b->terms.empty()) return AddScaled({}, *a, b->base);
      if (a->terms.empty()) return AddScaled({}, *b, a->base);
      return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

int64_t LinearForm::Coefficient(int position) const {
  for (const auto& term : terms) {
    if (term.first == position) return term.second;
  }
  return 0;
}

LinearForm AddScaled(const LinearForm& a, const LinearForm& b, int64_t factor) {
  LinearForm sum = {.base = a.base + factor * b.base};
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    bool from_a =
        j == b.terms.size() || (i < a.terms.size() && a.terms[i].first <= b.terms[j].first);
    bool from_b =
        i == a.terms.size() || (j < b.terms.size() && b.terms[j].first <= a.terms[i].first);
    int position = from_a ? a.terms[i].first : b.terms[j].first;
    int64_t coefficient = 0;
    if (from_a) coefficient += a.terms[i++].second;
    if (from_b) coefficient += factor * b.terms[j++].second;
    if (coefficient != 0) sum.terms.emplace_back(position, coefficient);
  }
  return sum;
}

std::pair<int64_t, int64_t> RangeOfForm(const LinearForm& form, const LoopVars& vars) {
  std::pair<int64_t, int64_t> range = {form.base, form.base};
  for (const auto& [position, coefficient] : form.terms) {
    int64_t last = coefficient * (vars[static_cast<size_t>(position)].extent - 1);
    (coefficient < 0 ? range.first : range.second) += last;
  }
  return range;
}

std::optional<LinearForm> LinearOf(const Expr& e, const LoopVars& vars) {
  if (e.dtype() != DType::kI64) return std::nullopt;
  if (e.IsConst()) return LinearForm{.base = *e.AsInt()};
  if (e.IsVar()) return FormOfVar(e->name, vars);
  if (IsBinary(e.op())) return FormOfBinary(e, vars);
  if (e.op() != ExprOp::kNeg) return std::nullopt;
  std::optional<LinearForm> form = LinearOf(e.arg(0), vars);
  return form ? std::optional(AddScaled({}, *form, -1)) : std::nullopt;
}

}  // namespace aotc
