#include "compiler/import/shape_options.h"

#include "compiler/import/symbol_table.h"
#include "compiler/ir/expr_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShapeOptions, PinsAndBoundsDims) {
  EXPECT_THAT(ParseShapeOption("x=1x3x224x224")->dims,
              ElementsAre(DimBound{1, 1, 1}, DimBound{3, 3, 1}, DimBound{224, 224, 1},
                          DimBound{224, 224, 1}));
  const ShapeOption ranges = *ParseShapeOption("x:1..4x3x32..320:32x..8");
  EXPECT_EQ(ranges.input, "x");
  EXPECT_THAT(ranges.dims, ElementsAre(DimBound{1, 4, 1}, DimBound{3, 3, 1}, DimBound{32, 320, 32},
                                       DimBound{1, 8, 1}));
  EXPECT_TRUE(ParseShapeOption("x=scalar")->dims.empty());
}

TEST(ShapeOptions, NamesMayHoldDotsColonsAndEqualsSigns) {
  EXPECT_EQ(ParseShapeOption("serving_default_input:0=1x40")->input, "serving_default_input:0");
  EXPECT_EQ(ParseShapeOption("input.1:0:1x40")->input, "input.1:0");
  EXPECT_EQ(ParseShapeOption("a=b=1")->input, "a=b");
  EXPECT_EQ(ParseDimOption("p2o.Dim.0=8")->name, "p2o.Dim.0");
  EXPECT_EQ(ParseDimOption("x:0=8")->name, "x:0");
  EXPECT_EQ(ParseDimOption("H:32..960:32")->name, "H");
  EXPECT_EQ(ParseDimOption("H:32..960:32")->bound, (DimBound{32, 960, 32}));
}

TEST(ShapeOptions, RangesHoldMultiplesOfTheirStep) {
  EXPECT_EQ(ParseDimOption("unk__7=x:0")->name, "unk__7");
  EXPECT_EQ(ParseDimOption("unk__7=x:0")->same_as, "x:0");
  EXPECT_EQ(ParseDimOption("h=30..1000:32")->bound, (DimBound{32, 992, 32}));
  EXPECT_EQ(PrintDimBound({32, 992, 32}), "32..992:32");
  EXPECT_EQ(PrintDimBound({8, 8, 1}), "8");
}

TEST(ShapeOptions, ElementsMayBeNegative) {
  EXPECT_EQ(ParseDimOption("ends[1]=-8..8")->name, "ends[1]");
  EXPECT_EQ(ParseDimOption("ends[1]=-8..8")->bound, (DimBound{-8, 8, 1}));
  EXPECT_EQ(ParseDimOption("k=-7..7:3")->bound, (DimBound{-6, 6, 3}));
  EXPECT_EQ(ParseDimOption("k=-3")->bound, (DimBound{-3, -3, 1}));
}

TEST(ShapeOptions, ErrorsNameTheFlag) {
  for (const char* text : {"x", "=3", "x=", "x=1x", "x=1xa", "x=4..1", "x=-1", "x=1..8:0"}) {
    EXPECT_THAT(ParseShapeOption(text).status().ToString(), HasSubstr("--shape")) << text;
  }
  for (const char* text : {"n", "=3", "n=", "n=..", "n=8..2", "n=99999999999999999999", "n=1x2"}) {
    EXPECT_THAT(ParseDimOption(text).status().ToString(), HasSubstr("--dim")) << text;
  }
}

TEST(SymbolTable, KeepsClearOfTheNamesOfLoops) {
  SymbolTable symbols;
  EXPECT_EQ(PrintExpr(symbols.Dim("row")), "row_2");
  EXPECT_EQ(PrintExpr(symbols.Dim("rows")), "rows");
  EXPECT_EQ(symbols.Symbols()[0].name, "row");
}

// Texts that are no expressions are names, each of one symbol, that flags can bound.
TEST(SymbolTable, TakesWhatItCannotReadForAName) {
  for (const std::string name :
       {"batch size", "past/sequence length", "p2o.Dim 0", "a.b/c.d", "onnx::Dim_0", "unk__12",
        "((((", "1/0", "n*99999999999999", "batch//0", "f(x)", "x: dynamic", "größe", "n!"}) {
    SCOPED_TRACE(name);
    SymbolTable symbols;
    EXPECT_EQ(symbols.NamesOf(name), std::set<std::string>{name});
    EXPECT_TRUE(symbols.Bind(name, {1, 8, 1}).ok());
    const Expr dim = symbols.Dim(name);
    EXPECT_TRUE(dim.IsVar());
    EXPECT_TRUE(Same(dim, symbols.Dim(name)));
    ASSERT_EQ(symbols.Symbols().size(), 1u);
    EXPECT_EQ(symbols.Symbols()[0].max, 8);
    EXPECT_THAT(symbols.Unbound(), ::testing::IsEmpty());
  }
}

TEST(SymbolTable, BoundsPinsAndSteps) {
  SymbolTable symbols;
  EXPECT_TRUE(symbols.Bind("batch", {1, 8, 1}).ok());
  EXPECT_TRUE(symbols.Bind("height", {32, 960, 32}).ok());
  EXPECT_TRUE(symbols.Bind("channels", {3, 3, 1}).ok());
  EXPECT_FALSE(symbols.Bind("batch", {1, 9, 1}).ok());
  EXPECT_EQ(PrintExpr(symbols.Dim("4*batch")), "batch*4");
  EXPECT_TRUE(symbols.Dim("channels").IsInt(3));
  EXPECT_EQ(PrintExpr(symbols.Dim("height")), "height_32*32");
  ASSERT_EQ(symbols.Symbols().size(), 2U);
  EXPECT_EQ(symbols.Symbols()[1].name, "height");
  EXPECT_EQ(symbols.Symbols()[1].min, 1);
  EXPECT_EQ(symbols.Symbols()[1].max, 30);
  EXPECT_EQ(symbols.Symbols()[1].step, 32);
  EXPECT_TRUE(symbols.Unbound().empty());
}

TEST(SymbolTable, TextsThatAreNoExpressionsAreNames) {
  SymbolTable symbols;
  EXPECT_TRUE(symbols.Dim("batch size").IsVar());
  EXPECT_TRUE(symbols.Dim("seq-len").IsVar());
  EXPECT_EQ(symbols.Symbols()[0].name, "batch size");
  EXPECT_EQ(symbols.Symbols()[0].var, "batch_size");
  EXPECT_THAT(symbols.Unbound(), ElementsAre("batch size", "seq-len"));
  symbols.AddKnownName("total");
  symbols.AddKnownName("past");
  EXPECT_FALSE(symbols.Dim("total-past").IsVar());
}

TEST(BoundOption, NamesAnAxisOfATensor) {
  const BoundOption option = *ParseBoundOption("a:b=c:1=64");
  EXPECT_EQ(option.tensor, "a:b=c");
  EXPECT_EQ(option.axis, 1);
  EXPECT_EQ(option.most, 64);
  for (const char* text :
       {"x=64", "x:0", "x:0=", ":0=8", "x:-1=8", "x:one=8", "x:0=-8", "x:0=1..8"}) {
    EXPECT_THAT(ParseBoundOption(text).status().message(), HasSubstr("expected TENSOR:AXIS=N"))
        << text;
  }
}

TEST(SymbolTable, ADivisionByASymbolThatIsZeroIsAName) {
  SymbolTable symbols;
  EXPECT_TRUE(symbols.Bind("n", {0, 0, 1}).ok());
  EXPECT_TRUE(symbols.Dim("8//n").IsVar());
}

TEST(SymbolTable, VariablesAreUniqueIdentifiers) {
  SymbolTable symbols;
  symbols.Dim("a b");
  symbols.Dim("a_b");
  symbols.Dim("for");
  EXPECT_EQ(symbols.Symbols()[0].var, "a_b");
  EXPECT_EQ(symbols.Symbols()[1].var, "a_b_2");
  EXPECT_EQ(symbols.Symbols()[2].var, "for_");
}

}  // namespace
}  // namespace aotc
