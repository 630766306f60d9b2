#include "compiler/ir/winograd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/winograd.h"

namespace aotc {
namespace {

using ::testing::DoubleNear;

// One axis: at ((g w) * (bt x)).
std::vector<double> Along(const WinogradMatrices& of, const std::vector<double>& x,
                          const std::vector<double>& w) {
  const auto times = [](const std::vector<double>& row, const std::vector<double>& vector) {
    double sum = 0;
    for (size_t i = 0; i < row.size(); ++i) sum += row[i] * vector[i];
    return sum;
  };
  std::vector<double> products, y;
  for (size_t a = 0; a < of.bt.size(); ++a)
    products.push_back(times(of.bt[a], x) * times(of.g[a], w));
  for (const std::vector<double>& row : of.at) y.push_back(times(row, products));
  return y;
}

TEST(Winograd, TheMatricesMakeTheOutputsOfAConvolution) {
  for (const int64_t m : kWinogradTiles) {
    std::vector<double> x, w = {0.3, -1.7, 2.9};
    for (int64_t i = 0; i < m + 2; ++i) x.push_back(std::sin(static_cast<double>(i * i + 1)));
    const std::vector<double> y = Along(WinogradMatricesOf(m), x, w);
    ASSERT_EQ(y.size(), static_cast<size_t>(m));
    for (size_t p = 0; p < y.size(); ++p) {
      EXPECT_THAT(y[p], DoubleNear(x[p] * w[0] + x[p + 1] * w[1] + x[p + 2] * w[2], 1e-12)) << m;
    }
  }
}

TEST(Winograd, TheMatricesOfTheTransformsAreNumbersOfF32) {
  for (const int64_t m : kWinogradTiles) {
    const WinogradMatrices of = WinogradMatricesOf(m);
    for (const Matrix& matrix : {of.at, of.bt}) {
      for (const std::vector<double>& row : matrix) {
        for (const double x : row) EXPECT_EQ(static_cast<double>(static_cast<float>(x)), x);
      }
    }
  }
}

TEST(Winograd, ThreeRowsOfTheWeightsMakeTheOthersAndThemselves) {
  for (const int64_t m : kWinogradTiles) {
    const WinogradMatrices of = WinogradMatricesOf(m);
    ASSERT_EQ(of.spread.size(), of.g.size());
    for (size_t a = 0; a < of.g.size(); ++a) {
      const std::vector<double>& row = of.spread[a];
      for (size_t tap = 0; tap < of.g[a].size(); ++tap) {
        const double made =
            row[0] * of.kept[0][tap] + row[1] * of.kept[1][tap] + row[2] * of.kept[2][tap];
        EXPECT_THAT(made, DoubleNear(of.g[a][tap], 1e-15)) << m;
      }
    }
    EXPECT_EQ(of.spread.front(), (std::vector<double>{1, 0, 0}));
    EXPECT_EQ(of.spread[1], (std::vector<double>{0, 1, 0}));
    EXPECT_EQ(of.spread.back(), (std::vector<double>{0, 0, 1}));
  }
}

TEST(Winograd, LargerTilesAndMoreChannelsHaveLargerErrors) {
  EXPECT_LT(WinogradError(2, 64), WinogradError(4, 64));
  EXPECT_LT(WinogradError(4, 64), WinogradError(6, 64));
  EXPECT_LT(WinogradError(4, 64), WinogradError(4, 256));
}

TEST(Table, TheIndexSaysWhichValue) {
  const Expr table = Table(Var("i"), {FloatConst(4), FloatConst(-1), FloatConst(0.5)});
  EXPECT_EQ(PrintExpr(table), "table(i, 4.0, -1.0, 0.5)");
  EXPECT_EQ(PrintExpr(Simplify(Substitute(table, {{"i", 1}}))), "-1.0");
  EXPECT_EQ(PrintExpr(Simplify(Substitute(table, {{"i", 7}}))), "0.5");
  EXPECT_EQ(PrintExpr(WithoutTables(table)), "select(i == 0, 4.0, select(i == 1, -1.0, 0.5))");
}

// The kernel of WinogradConv, of an image of that many rows.
Kernel KernelOf(int64_t m, int64_t height = 9) {
  Graph graph;
  const Shape x = {1, 16, height, 10}, u = {32, 16, 3, 3}, y = {1, 32, height, 10};
  const ValueId input = graph.AddValue("x", TensorType(DType::kF32, x));
  const ValueId weights = graph.AddConstant("u", Constant::Random(DType::kF32, {32, 16, 3, 3}, 1));
  Node node{.op = "WinogradConv", .inputs = {input, weights}};
  node.attributes.Set("m", m);
  node.attributes.Set("pads", std::vector<int64_t>{1, 1, 1, 1});
  node.outputs = {graph.AddValue("y", TensorType(DType::kF32, y))};
  return BuildNodeKernel(graph, node)->kernel;
}

TEST(WinogradAnchor, IsReadFromTheStages) {
  for (const int64_t m : kWinogradTiles) {
    const Kernel kernel = KernelOf(m);
    const std::optional<WinogradAnchor> anchor = ReadWinograd(kernel);
    ASSERT_TRUE(anchor.has_value()) << PrintKernel(kernel);
    EXPECT_EQ(anchor->m, m);
    EXPECT_EQ(anchor->first_row, -1);
    EXPECT_EQ(kernel.tensors[anchor->input].name, "x");
    EXPECT_EQ(kernel.tensors[anchor->weights].name, "u");
  }
}

// Of a single patch the rows above and below the image are not walked.
TEST(WinogradAnchor, IsReadFromStagesOfOnePatch) {
  for (const int64_t m : kWinogradTiles) {
    for (int64_t height = 1; height <= 2 * m; ++height) {
      const Kernel kernel = KernelOf(m, height);
      const std::optional<WinogradAnchor> anchor = ReadWinograd(kernel);
      ASSERT_TRUE(anchor.has_value()) << PrintKernel(kernel);
      EXPECT_EQ(anchor->m, m);
      EXPECT_EQ(anchor->first_row, -1) << height;
    }
  }
}

TEST(WinogradAnchor, AnyOtherNumberInATransformIsNone) {
  Kernel kernel = KernelOf(4);
  for (Stage& stage : kernel.stages) {
    const Expr body = stage.body[0];
    stage.body[0] = Transform(body, [](const Expr& e) {
      if (e.op() != ExprOp::kTable) return e;
      std::vector<Expr> args = e.args();
      args[9] = FloatConst(args[9]->float_value + 0.25);
      return WithArgs(e, std::move(args));
    });
    if (Same(stage.body[0], body)) continue;
    EXPECT_FALSE(ReadWinograd(kernel).has_value()) << PrintKernel(kernel);
    stage.body[0] = body;
  }
  EXPECT_TRUE(ReadWinograd(kernel).has_value());
}

}  // namespace
}  // namespace aotc
