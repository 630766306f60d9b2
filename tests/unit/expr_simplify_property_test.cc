// Simplify and RangeOf against brute force: random expressions over small domains.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/expr_text.h"
#include "tests/unit/random_expr.h"

namespace aotc {
namespace {

using Values = std::map<std::string, int64_t, std::less<>>;

constexpr int kMaxN = 4, kMaxM = 4;

// What the variables range over, and what Simplify is told of that.
enum class Knowledge { kNothing, kAxes, kAxesAndFact, kOther };

struct Domain {
  Knowledge knowledge;
  Bounds bounds = {};
  Expr fact = Bool(true);

  explicit Domain(Knowledge k) : knowledge(k) {
    if (k == Knowledge::kNothing) return;
    bounds.Add("n", 1, kMaxN);
    bounds.Add("m", 1, kMaxM);
    bool other = k == Knowledge::kOther;
    bounds.Add("x", other ? -3 : 0, other ? Expr(3) : Var("n") - 1);
    bounds.Add("y", 0, other ? Var("n") * 2 : Var("m") - 1);
    bounds.Add("z", other ? -2 : 0, other ? Var("m") : Expr(7));
  }

  Interval RangeIn(std::string_view name, const Values& values) const {
    if (knowledge == Knowledge::kNothing) return {-3, 5};
    const Bounds::Range* range = bounds.Find(name);
    return {*EvaluateInt(range->min, values), *EvaluateInt(range->max, values)};
  }
};

// Calls `visit` with all values of the variables that satisfy the fact.
template <class Visit>
void ForEachValue(const Domain& domain, const std::vector<std::string>& names, size_t next,
                  Values& values, const Visit& visit) {
  if (next == names.size()) {
    if (EvaluateInt(domain.fact, values).value_or(0) != 0) visit(values);
    return;
  }
  Interval range = domain.RangeIn(names[next], values);
  for (int64_t value = range.min; value <= range.max; ++value) {
    values[names[next]] = value;
    ForEachValue(domain, names, next + 1, values, visit);
  }
  values.erase(names[next]);
}

std::string Describe(const Expr& e, const Expr& simple, const Values& values) {
  std::string text = PrintExpr(e) + "  ->  " + PrintExpr(simple) + " at";
  for (const auto& [name, value] : values) text += " " + name + "=" + std::to_string(value);
  return text;
}

void CheckOne(const Domain& domain, const Expr& e) {
  Expr simple = Simplify(e, domain.bounds);
  Expr again = Simplify(simple, domain.bounds);
  EXPECT_TRUE(Same(simple, again))
      << PrintExpr(e) << " -> " << PrintExpr(simple) << " -> " << PrintExpr(again);
  EXPECT_TRUE(!Same(simple, again) || &*simple == &*again) << "another object: " << PrintExpr(e);
  Interval range = RangeOf(e, domain.bounds);
  int failures = 0;
  Values values;
  ForEachValue(domain, {"n", "m", "x", "y", "z"}, 0, values, [&](const Values& at) {
    std::optional<int64_t> expected = EvaluateInt(e, at);
    std::optional<int64_t> actual = EvaluateInt(simple, at);
    if (!expected || !actual || failures > 0) return;
    bool in_range = range.min <= *expected && *expected <= range.max;
    if (*expected == *actual && in_range) return;
    ++failures;
    ADD_FAILURE() << Describe(e, simple, at) << ": " << *expected << " became " << *actual
                  << ", range " << range.min << ".." << range.max << " where "
                  << PrintExpr(domain.fact);
  });
}

class ExprSimplifyProperty : public testing::TestWithParam<Knowledge> {};

TEST_P(ExprSimplifyProperty, KeepsValuesAndIsIdempotent) {
  constexpr int kCount = 250;
  RandomExprs random(static_cast<uint32_t>(GetParam()) + 17);
  for (int i = 0; i < kCount && !HasFailure(); ++i) {
    Domain domain(GetParam());
    if (GetParam() == Knowledge::kAxesAndFact) {
      domain.fact = random.Condition(1);
      domain.bounds.AddFact(domain.fact);
    }
    int depth = 1 + random.Below(4);
    CheckOne(domain, random.Below(3) == 0 ? random.Condition(depth) : random.Index(depth));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExprSimplifyProperty,
                         testing::Values(Knowledge::kNothing, Knowledge::kAxes,
                                         Knowledge::kAxesAndFact, Knowledge::kOther));

}  // namespace
}  // namespace aotc
