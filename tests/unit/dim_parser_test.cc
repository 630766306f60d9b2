#include "compiler/import/dim_parser.h"

#include "compiler/ir/expr_simplify.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

std::optional<Expr> Parse(std::string_view text) {
  return ParseDimText(text, [](const std::string& name) { return std::optional<Expr>(Var(name)); });
}

// The value of a dim text at batch = 3, height = 50, seq = 100; -1 where it cannot be parsed.
int64_t At(std::string_view text) {
  const std::optional<Expr> dim = Parse(text);
  if (!dim) return -1;
  return EvaluateInt(*dim, {{"batch", 3}, {"height", 50}, {"seq", 100}}).value_or(-2);
}

TEST(DimParser, ReadsWhatExportersWrite) {
  EXPECT_EQ(At("batch"), 3);
  EXPECT_EQ(At("4*batch"), 12);
  EXPECT_EQ(At("((height - 1)//16) + 1"), 4);
  EXPECT_EQ(At("Min(64, seq)"), 64);
  EXPECT_EQ(At("Max(1, batch, 2)"), 3);
  EXPECT_EQ(At("floor(height/2 - 1/2) + 1"), 25);
  EXPECT_EQ(At("ceiling(height/16)"), 4);
  EXPECT_EQ(At("FloorDiv(height, 7)"), 7);
  EXPECT_EQ(At("Mod(height, 8)"), 2);
  EXPECT_EQ(At("height % 8 + -batch"), -1);
  EXPECT_EQ(At("batch*seq//height"), 6);
  EXPECT_EQ(At("(2*seq)/2"), 100);
  EXPECT_EQ(At("7"), 7);
  EXPECT_EQ(At("batch + 1"), 4);
  EXPECT_EQ(At("floor(height/2)"), 25);
  EXPECT_EQ(At("(height - 1)//2 + 1"), 25);
  EXPECT_EQ(At("floor((height + 2*1 - 3)/2) + 1"), 25);
  EXPECT_EQ(At("Min(64, Max(seq, 1))*2"), 128);
  EXPECT_EQ(At("(height//14)**2"), 9);
  EXPECT_EQ(At("4*batch**2 + 1"), 37);
  EXPECT_EQ(At("-batch**2 + 10"), 1);
  EXPECT_EQ(At("floor(0.5*height)"), 25);
  EXPECT_EQ(At("2.0*batch"), 6);
  EXPECT_EQ(At("CeilToInt(IntTrueDiv(height, 16))"), 4);
  EXPECT_EQ(At("(batch)*(seq + 1)"), 303);
  EXPECT_EQ(At("  4 * batch  "), 12);
}

// The same size, written in two ways, is the same dim: shapes agree without a check at run time.
TEST(DimParser, GivesOneFormToWhatIsEqual) {
  const auto same = [](std::string_view a, std::string_view b) {
    return Same(Parse(a).value_or(Expr(-1)), Parse(b).value_or(Expr(-2)));
  };
  EXPECT_TRUE(same("4*batch", "batch*4"));
  EXPECT_TRUE(same("((height - 1)//16) + 1", "(height + 15)//16"));
  EXPECT_TRUE(same("ceiling(height/2)", "floor(height/2 - 1/2) + 1"));
  EXPECT_TRUE(same("(2*seq)//2", "seq"));
  EXPECT_TRUE(same("floor(height/2)", "FloorDiv(height, 2)"));
  EXPECT_TRUE(same("seq**2", "seq*seq"));
}

TEST(DimParser, RefusesWhatIsNoWholeNumberOrNoExpression) {
  EXPECT_FALSE(Parse("height/2"));
  EXPECT_FALSE(Parse("batch size"));
  EXPECT_FALSE(Parse("batch +"));
  EXPECT_FALSE(Parse("(batch"));
  EXPECT_FALSE(Parse("batch)"));
  EXPECT_FALSE(Parse("f(batch)"));
  EXPECT_FALSE(Parse("2**batch"));
  EXPECT_FALSE(Parse("batch//0"));
  EXPECT_FALSE(Parse("batch//(seq - seq)"));
  EXPECT_FALSE(Parse("1/0"));
  EXPECT_FALSE(Parse("batch**9"));
  EXPECT_FALSE(Parse("batch**-1"));
  EXPECT_FALSE(Parse("0.5*batch"));
  EXPECT_FALSE(Parse("1.batch"));
  EXPECT_FALSE(Parse("batch*0.1234567"));
  EXPECT_FALSE(Parse("(((("));
  EXPECT_FALSE(Parse("n*99999999999999"));
  EXPECT_FALSE(Parse("past/sequence length"));
  EXPECT_FALSE(Parse("batch.size x"));
  EXPECT_FALSE(Parse(""));
  EXPECT_FALSE(Parse("99999999999999999999"));
}

TEST(DimParser, HostileTextsEndEarly) {
  EXPECT_FALSE(Parse(std::string(3000, '(')));
  EXPECT_FALSE(Parse(std::string(3000, '-') + "1"));
  EXPECT_FALSE(Parse(std::string(100000, 'a')));
}

TEST(DimParser, NamesAndPlainNames) {
  EXPECT_EQ(NamesInDim("4*batch + seq"), (std::set<std::string>{"batch", "seq"}));
  EXPECT_TRUE(IsPlainDimName("p2o.DynamicDimension.0"));
  EXPECT_FALSE(IsPlainDimName("batch-size"));
  EXPECT_FALSE(IsPlainDimName("2x"));
}

}  // namespace
}  // namespace aotc
