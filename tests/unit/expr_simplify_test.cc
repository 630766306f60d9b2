#include "compiler/ir/expr_simplify.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/expr_text.h"

namespace aotc {
namespace {

ExprScope TestScope() {
  ExprScope scope;
  scope.tensors["t"] = {TensorId(0), DType::kI64};
  scope.tensors["f"] = {TensorId(1), DType::kF32};
  scope.tensors["i32"] = {TensorId(2), DType::kI32};
  scope.vars["u"] = DType::kF32;
  scope.vars["h16"] = DType::kF16;
  scope.vars["q"] = DType::kI32;
  scope.vars["flag"] = DType::kBool;
  return scope;
}

Expr Parse(std::string_view text) {
  absl::StatusOr<Expr> e = ParseExpr(text, TestScope());
  EXPECT_TRUE(e.ok()) << text << ": " << e.status();
  return e.ok() ? *e : Expr(0);
}

std::string Print(const Expr& e) {
  return PrintExpr(
      e, [](TensorId id) { return std::vector{"t", "f", "i32"}[static_cast<size_t>(id.index())]; });
}

// Symbols w, h in 1..512, n in 1..8; axes b < n, y < h, x < w; c < 64, ci < 16, k < 3.
Bounds TestBounds() {
  Bounds bounds;
  for (const char* dim : {"w", "h"}) bounds.Add(dim, 1, 512);
  bounds.Add("n", 1, 8);
  bounds.Add("b", 0, Var("n") - 1);
  bounds.Add("y", 0, Var("h") - 1);
  bounds.Add("x", 0, Var("w") - 1);
  bounds.Add("c", 0, 63);
  bounds.Add("ci", 0, 15);
  bounds.Add("k", 0, 2);
  return bounds;
}

struct Case {
  std::string from, to;
};

void Check(const std::vector<Case>& cases, const Bounds& bounds = TestBounds()) {
  for (const Case& c : cases) EXPECT_EQ(Print(Simplify(Parse(c.from), bounds)), c.to) << c.from;
}

TEST(ExprSimplify, SumsHaveOneForm) {
  Check({{"y + x", "x + y"},
         {"2*(x + 3) - x", "x + 6"},
         {"(x + y)*(x - y)", "x*x - y*y"},
         {"x*4 + y*16 + 3 + c", "y*16 + x*4 + c + 3"},
         {"x - x", "0"},
         {"5 - x", "5 - x"},
         {"-x - y", "-x - y"},
         {"-(x*3)", "x*-3"},
         {"n*(h*w) + y*w + x", "h*n*w + w*y + x"}});
}

TEST(ExprSimplify, SplitsDivisionsByConstants) {
  Check({{"floor_div(c*16 + ci, 16)", "c"},
         {"mod(c*16 + ci, 16)", "ci"},
         {"floor_div(c*16 + ci + 16, 16)", "c + 1"},
         {"floor_div(c*16 + ci, 32)", "floor_div(c, 2)"},
         {"mod(c*16 + ci, 32)", "mod(c, 2)*16 + ci"},
         {"floor_div(c, 64)", "0"},
         {"mod(c, 64)", "c"},
         {"mod(c, 16)", "mod(c, 16)"},
         {"floor_div(x*6 + 4, 4)", "x + floor_div(x, 2) + 1"},
         {"floor_div(ci - 16, 16)", "-1"},
         {"mod(ci - 16, 16)", "ci"},
         {"mod(x*17, 16)", "mod(x, 16)"},
         {"floor_div(n - c, -1)", "c - n"},
         {"floor_div(x, -4)", "floor_div(-x, 4)"}});
}

TEST(ExprSimplify, MergesNestedDivisions) {
  Check({{"floor_div(floor_div(x, 4), 8)", "floor_div(x, 32)"},
         {"floor_div(floor_div(x, 4) + 3, 8)", "floor_div(x + 12, 32)"},
         {"floor_div(mod(x, 32), 8)", "mod(floor_div(x, 8), 4)"},
         {"mod(mod(x, 32), 8)", "mod(x, 8)"},
         {"mod(mod(x, 32) + y, 8)", "mod(x + y, 8)"},
         {"floor_div(x, 8)*8 + mod(x, 8)", "x"},
         {"floor_div(x, 32)*32 + mod(floor_div(x, 8), 4)*8 + mod(x, 8)", "x"},
         {"(floor_div(x, 8)*8 + mod(x, 8))*h + y", "h*x + y"}});
}

TEST(ExprSimplify, UnflattensByStaticDims) {
  Check({{"floor_div(b*50176 + c*784 + ci*28 + k, 784)", "b*64 + c"},
         {"mod(floor_div(c*784 + ci*28 + k, 28), 28)", "ci"},
         {"mod(c*784 + ci*28 + k, 28)", "k"},
         {"mod(floor_div(b*50176 + c*784 + ci, 784), 64)", "c"}});
}

TEST(ExprSimplify, UnflattensBySymbolicDims) {
  Check({{"floor_div(b*(h*w) + y*w + x, w)", "b*h + y"},
         {"mod(b*(h*w) + y*w + x, w)", "x"},
         {"floor_div(b*(h*w) + y*w + x, h*w)", "b"},
         {"mod(b*(h*w) + y*w + x, h*w)", "w*y + x"},
         {"mod(floor_div(b*(h*w) + y*w + x, w), h)", "y"},
         {"floor_div(y*w + x, h*w)", "0"},
         {"floor_div(w*4 + k, 4)", "w"},
         {"floor_div(y*(w*4) + x*4 + k, w*4)", "y"},
         {"mod(y*(w + 2) + x, w + 2)", "x"},
         {"floor_div(y*(w + 2) + x + 2, w + 2)", "y"}});
}

TEST(ExprSimplify, UnflattensByDimsThatAreExpressions) {
  Bounds bounds;
  bounds.Add("h", 1, 512);
  Expr half = Parse("floor_div(h - 1, 2) + 1");
  bounds.Add("y", 0, half - 1);
  bounds.Add("x", 0, half - 1);
  bounds.Add("b", 0, 7);
  Expr flat = Var("b") * (half * half) + Var("y") * half + Var("x");
  EXPECT_EQ(Print(Simplify(FloorDiv(flat, half * half), bounds)), "b");
  EXPECT_EQ(Print(Simplify(Mod(flat, half), bounds)), "x");
  EXPECT_EQ(Print(Simplify(Mod(FloorDiv(flat, half), half), bounds)), "y");
}

TEST(ExprSimplify, DecidesGuards) {
  Check({{"0 <= c*2 + k", "true"},
         {"0 <= c*2 + k - 1", "1 <= c*2 + k"},
         {"c*2 + k - 1 < 128", "true"},
         {"c*2 + k - 1 < 126", "c*2 + k < 127"},
         {"c + 1 < 0", "false"},
         {"x < w", "true"},
         {"x*16 + ci < w*16", "true"},
         {"y*w + x < h*w", "true"},
         {"w <= x", "false"},
         {"x*2 + 1 == y*2", "false"},
         {"c == c + 1", "false"},
         {"c != 64", "true"},
         {"x*4 <= y*4 + 3", "x <= y"},
         {"floor_div(x, 4) < 5", "x < 20"},
         {"3 <= floor_div(x, 4)", "12 <= x"},
         {"c < floor_div(w + 15, 16)", "c*16 < w"}});
}

TEST(ExprSimplify, DecidesMinMaxAndSelect) {
  Check({{"min(c, 63)", "c"},
         {"min(c, 10)", "min(c, 10)"},
         {"max(c - 1, 0)", "max(c - 1, 0)"},
         {"min(x + 1, x + 3)", "x + 1"},
         {"min(x, w)", "x"},
         {"max(min(x, 7), 9)", "9"},
         {"min(4*x, 12)", "min(x, 3)*4"},
         {"min(x, max(x, y))", "x"},
         {"min(min(x, 5), min(y, 7))", "min(min(x, y), 5)"},
         {"max(max(c - 4, 0) - 2, 0)", "max(c - 6, 0)"},
         {"max(max(c - 4, 0) - 2, -1)", "max(c - 6, -1)"},
         {"max(max(c - 4, 0) + 1, 0)", "max(c - 4, 0) + 1"},
         {"max(max(%t[c], 0) - 2, 0)", "max(max(%t[c], 0) - 2, 0)"},  // %t[c] - 2 may wrap
         {"min(min(c, 9) + 2, 11)", "min(c + 2, 11)"},
         {"min(min(c, 9) + 2, 12)", "min(c, 9) + 2"},
         {"abs(c)", "c"},
         {"select(c < 64, x, y)", "x"},
         {"select(flag, x, x)", "x"},
         {"select(u < 0.0, select(u < 0.0, x, y), k)", "select(u < 0.0, x, k)"},
         {"select(!flag, x, y)", "select(flag, y, x)"},
         {"select(c < 32, min(c, 40), 1)", "select(c < 32, c, 1)"},
         {"select(c == 3, c + 1, 0)", "select(c == 3, 4, 0)"},
         {"select(c < 5, select(c < 9, 1, 2), 3)", "select(c < 5, 1, 3)"},
         {"select(c < 5, select(k < 1, %f[c], 0.0), 0.0)", "select(c < 5 && k < 1, %f[c], 0.0)"},
         {"select(1 <= c, %f[max(c - 1, 0)], 0.0)", "select(1 <= c, %f[c - 1], 0.0)"}});
}

TEST(ExprSimplify, KnowsBoolAlgebra) {
  Check({{"flag && true", "flag"},
         {"flag && !flag", "false"},
         {"flag || !flag", "true"},
         {"!(x < 5 && flag)", "5 <= x || !flag"},
         {"x < 5 && x < 7", "x < 5"},
         {"x < 5 || x < 7", "x < 7"},
         {"x < 5 && 7 < x", "false"},
         {"x < 5 || 3 < x", "true"},
         {"!(u < 0.0)", "!(u < 0.0)"},
         {"flag == true", "flag"},
         {"flag != true", "!flag"},
         {"select(flag, true, false)", "flag"},
         {"select(flag, false, true)", "!flag"}});
}

// A guard stays before the load that it protects; the load may rely on it, not the other way round.
TEST(ExprSimplify, KeepsLoadsBehindTheirGuards) {
  Check({{"1 <= c && %t[max(c - 1, 0)] < 3", "1 <= c && %t[c - 1] < 3"},
         {"%t[max(c - 1, 0)] < 3 && 1 <= c", "%t[max(c - 1, 0)] < 3 && 1 <= c"}});
}

TEST(ExprSimplify, UsesFacts) {
  Bounds bounds = TestBounds();
  bounds.AddFact(Parse("y + 16 <= h"));
  bounds.AddFact(Parse("c < 8"));
  bounds.AddFact(Parse("w == n*16"));
  Check({{"y + ci < h", "true"},
         {"floor_div(c, 8)", "0"},
         {"mod(w, 16)", "0"},
         {"select(h < y, 1, 2)", "2"},
         {"y*2 + ci*2 < h*2", "true"}},
        bounds);
  Bounds chain = TestBounds();
  chain.AddFact(Parse("x < y"));
  chain.AddFact(Parse("y < c"));
  Check({{"x + 1 < c", "true"}}, chain);
}

TEST(ExprSimplify, EliminatesAxesBeforeSymbolsWhateverTheOrderOfAdd) {
  Bounds bounds;
  bounds.Add("i", 0, Var("n") - 1);
  bounds.Add("n", 1, 200);
  EXPECT_EQ(Prove(Lt(Var("i"), Var("n")), bounds), true);
  EXPECT_EQ(Prove(Lt(Var("i") * 16 + 15, Var("n") * 16), bounds), true);
  EXPECT_EQ(Prove(Lt(Var("i") + 1, Var("n")), bounds), std::nullopt);
}

TEST(ExprSimplify, ReplacesVariablesOfOneValue) {
  Bounds bounds;
  bounds.Add("n", 3, 3);
  bounds.Add("i", 0, 0);
  bounds.Add("j", Var("m"), Var("m"));
  Check({{"i*5 + n", "3"}, {"j - m", "0"}}, bounds);
}

TEST(ExprSimplify, BoundsThatDependOnThemselvesAreIgnored) {
  Bounds bounds;
  bounds.Add("i", 0, Var("j"));
  bounds.Add("j", 0, Var("i"));
  EXPECT_EQ(Prove(Le(Var("i"), Var("j")), bounds), std::nullopt);
}

TEST(ExprSimplify, WrapsNarrowIntegers) {
  Check({{"u8:200 + u8:100", "u8:44"},
         {"i8:127 + i8:1", "i8:-128"},
         {"q + i32:0", "q"},
         {"q * i32:1", "q"},
         {"q - q", "i32:0"},
         {"i8(i32:300)", "i8:44"},
         {"u64:-1 < u64:1", "false"},
         {"i32(i64(q))", "q"},
         {"i64(i32(c))", "c"},
         {"i64(i8(x))", "i64(i8(x))"},
         {"i64(u8(%t[c])) < 256", "true"},
         {"q + i32:1 - i32:1", "q + i32:1 - i32:1"}});
}

TEST(ExprSimplify, OnFloatsOnlyWhatIsExact) {
  Check({{"u * 1.0", "u"},
         {"u + 0.0", "u + 0.0"},
         {"u + (-0.0)", "u"},
         {"u - 0.0", "u"},
         {"u * 0.0", "u * 0.0"},
         {"u - u", "u - u"},
         {"u == u", "u == u"},
         {"max(u, u)", "u"},
         {"-(-u)", "u"},
         {"f16(f32(h16))", "h16"},
         {"f32(f16(u))", "f32(f16(u))"},
         {"f32(3)", "3.0"},
         {"select(c < 64, u, 0.0)", "u"},
         {"1.0 + 2.0", "1.0 + 2.0"}});
}

TEST(ExprSimplify, LeavesOverflowAlone) {
  Expr big = Var("x") * INT64_MAX;
  EXPECT_EQ(Print(Simplify(big + big)), Print(big + big));
  Expr sum = Expr(INT64_MAX) + Expr(1);
  EXPECT_EQ(Print(Simplify(sum)), Print(sum));
  EXPECT_EQ(RangeOf(sum, {}).max, INT64_MAX);
  EXPECT_EQ(EvaluateInt(sum, {}), std::nullopt);
  Simplify(Le(Var("x") - INT64_MAX, Expr(INT64_MIN)));
  Simplify(FloorDiv(Expr(INT64_MIN), Expr(-1)));
  Simplify(Mod(Var("x") * INT64_MIN, Expr(INT64_MAX)));
}

TEST(ExprSimplify, GivesBackTheSameObject) {
  for (const char* text : {"h*n*w + w*y + x", "select(c < 32, c, 1)", "min(c, 10)", "c*16 < w"}) {
    Expr e = Parse(text);
    Expr simple = Simplify(e, TestBounds());
    EXPECT_EQ(&*simple, &*e) << text;
  }
}

TEST(ExprRange, IsTight) {
  std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> cases = {
      {"c*2 + k - 1", {-1, 127}},          {"w - x", {1, 512}},
      {"h*w - y*w - x", {1, 512 * 512}},   {"mod(x, 7)", {0, 6}},
      {"floor_div(x, 16)", {0, 31}},       {"x - floor_div(x, 16)*16", {0, 15}},
      {"min(c, 10) + max(k, 1)", {1, 12}}, {"select(flag, c, 100)", {0, 100}},
      {"i64(q)", {INT32_MIN, INT32_MAX}},  {"x - w", {-512, -1}},
  };
  for (const auto& [text, expected] : cases) {
    Interval range = RangeOf(Parse(text), TestBounds());
    EXPECT_EQ(std::pair(range.min, range.max), expected) << text;
  }
  EXPECT_EQ(RangeOf(Var("unknown"), {}).min, INT64_MIN);
}

TEST(ExprSimplify, ProvesDivisibility) {
  EXPECT_TRUE(ProveDivisible(Parse("x*16 + 32*y"), 16, TestBounds()));
  EXPECT_FALSE(ProveDivisible(Parse("x*16 + y"), 16, TestBounds()));
  EXPECT_TRUE(ProveDivisible(Parse("floor_div(x, 4)*8"), 4, TestBounds()));
}

TEST(ExprSimplify, ProvesEqualityOfDims) {
  EXPECT_TRUE(ProveEqual(Parse("floor_div(h - 1, 2) + 1"), Parse("floor_div(h + 1, 2)")));
  EXPECT_TRUE(ProveEqual(Parse("(h + 1)*w - w"), Parse("h*w")));
  EXPECT_FALSE(ProveEqual(Parse("h"), Parse("w")));
}

TEST(ExprSimplify, SeesAffineForms) {
  std::optional<Affine> affine = AsAffine(Parse("(x + 2)*w + y*4 + k"), {"x", "y"}, TestBounds());
  ASSERT_TRUE(affine.has_value());
  EXPECT_EQ(Print(affine->coefficients.at("x")), "w");
  EXPECT_EQ(Print(affine->coefficients.at("y")), "4");
  EXPECT_EQ(Print(affine->rest), "w*2 + k");
  EXPECT_FALSE(AsAffine(Parse("x*y"), {"x", "y"}).has_value());
  EXPECT_FALSE(AsAffine(Parse("floor_div(x, 2)"), {"x"}).has_value());
  EXPECT_TRUE(AsAffine(Parse("floor_div(k, 2)"), {"x"}).has_value());
}

}  // namespace
}  // namespace aotc
