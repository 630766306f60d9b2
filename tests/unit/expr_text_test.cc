#include "compiler/ir/expr_text.h"

#include <gtest/gtest.h>

#include "tests/unit/random_expr.h"

namespace aotc {
namespace {

ExprScope TestScope() {
  ExprScope scope;
  scope.tensors["x"] = {TensorId(0), DType::kF32};
  scope.tensors["b"] = {TensorId(1), DType::kBool};
  scope.vars["u"] = DType::kF32;
  return scope;
}

std::string Print(const Expr& e) {
  return PrintExpr(e, [](TensorId id) { return id.index() == 0 ? "x" : "b"; });
}

TEST(ExprText, PrintsAsParsed) {
  for (const char* text : {"max(%x[i*2 + 1, j], 0.0)",
                           "a - (b - c)",
                           "(a + b)*c",
                           "a*(b*c)",
                           "-a*b",
                           "-(a*b)",
                           "neg(3)",
                           "a*-3",
                           "a - -3",
                           "a < b && (b < c || c == d)",
                           "(a < b) == (c < d)",
                           "!(a < b)",
                           "!%b[]",
                           "u8:3",
                           "i32:-3",
                           "f64:0.5",
                           "f16:-inf",
                           "nan",
                           "-inf",
                           "true",
                           "f32(a)",
                           "floor_div(a, 16) + mod(a, 16)",
                           "select(a < b, u, 1.5)",
                           "u / 2.0 * u",
                           "pow(u, 2.0)",
                           "$\"batch size\" + $\"true\" + $\"f32\"",
                           "ramp<8>(a, 1)",
                           "%x<8>[a, 1]",
                           "broadcast<8>(u) * %x<8>[a, 1]",
                           "lane_sum(%x<8>[a, 1])",
                           "shift_left(a, 3)",
                           "v<4> + w<4>",
                           "is_nan(u)",
                           "bool(a)",
                           "bits_i32(u)",
                           "bits_f64(a) / f64:2.0",
                           "0.1",
                           "1e-20",
                           "9223372036854775807",
                           "-9223372036854775808"}) {
    absl::StatusOr<Expr> e = ParseExpr(text, TestScope());
    ASSERT_TRUE(e.ok()) << text << ": " << e.status();
    EXPECT_EQ(Print(*e), text);
  }
}

TEST(ExprText, ShowsNoGuardButLoadsDifferByIt) {
  const Expr load = Load(TensorId(0), {Var("i")}, DType::kF32);
  ExprNode node = *load;
  node.guarded = true;
  const Expr guarded = Expr::Make(node);
  EXPECT_FALSE(Same(load, guarded));
  EXPECT_NE(load->hash, guarded->hash);
  EXPECT_TRUE(Same(guarded, WithArgs(guarded, guarded.args())));
  EXPECT_EQ(Print(load), Print(guarded));
}

TEST(ExprText, ReadsGreaterAsLess) {
  EXPECT_EQ(Print(*ParseExpr("a > b")), "b < a");
  EXPECT_EQ(Print(*ParseExpr("a >= b")), "b <= a");
}

TEST(ExprText, RoundTripsRandomExpressions) {
  RandomExprs random(5);
  for (int i = 0; i < 2000; ++i) {
    Expr e = i % 3 == 0 ? random.Condition(4) : random.Index(5);
    std::string text = PrintExpr(e);
    absl::StatusOr<Expr> parsed = ParseExpr(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status();
    ASSERT_TRUE(Same(*parsed, e)) << text << " became " << PrintExpr(*parsed);
  }
}

TEST(ExprText, RefusesWhatMeansNothing) {
  std::string deep(5000, '(');
  std::string minuses(5000, '-');
  for (const std::string& text : {std::string("a +"),
                                  std::string("a < b < c"),
                                  std::string("a + 1.0"),
                                  std::string("%y[0]"),
                                  std::string("foo(a)"),
                                  std::string("min(a)"),
                                  std::string("select(a, b, c)"),
                                  std::string("!a"),
                                  std::string("a && b"),
                                  std::string("u8:256"),
                                  std::string("bool:1"),
                                  std::string("a b"),
                                  std::string("%x[0.5]"),
                                  std::string("f32(a, b)"),
                                  std::string(""),
                                  std::string("const(3)"),
                                  std::string("load(a)"),
                                  std::string("99999999999999999999"),
                                  std::string("ramp<0>(a, 1)"),
                                  std::string("%x<8>[a, 1] + u"),
                                  deep,
                                  minuses}) {
    EXPECT_FALSE(ParseExpr(text, TestScope()).ok()) << text.substr(0, 40);
  }
}

TEST(ExprText, ErrorsNameTheirPlace) {
  absl::Status status = ParseExpr("a +\n  foo(1)").status();
  EXPECT_EQ(status.message(), "2:3: unknown function 'foo'");
}

}  // namespace
}  // namespace aotc
