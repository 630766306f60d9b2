// Losses and RoiAlign where ONNX's own test data does not reach: indices that are not valid.
#include <cmath>

#include "compiler/eval/evaluate.h"
#include "compiler/fuse/index_checks.h"
#include "compiler/ir/graph_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/main_checks.h"
#include "tests/unit/op_case.h"

namespace aotc {
namespace {

using testing::HasSubstr;
constexpr DType kF32 = DType::kF32;

// What the index check of a node says of these labels of five classes.
bool AreValid(const std::string& attributes, const std::vector<int64_t>& labels) {
  absl::StatusOr<Graph> graph =
      ParseGraph(StrCat("graph @g(%x: f32[2, 5], %i: i64[2]) -> (%y) {\n"
                        "  %y: f32[] = NegativeLogLikelihoodLoss(%x, %i)",
                        attributes, "\n}"));
  EXPECT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(*graph);
  EXPECT_TRUE(checks.ok() && checks->size() == 1) << checks.status();
  graph->main_region().outputs = *checks;
  const Constant scores = Constant::Random(kF32, {2, 5}, 1);
  const absl::Status status = EvaluateGraph(*graph, {scores, Constant::Ints(labels)}).status();
  EXPECT_TRUE(status.ok() || absl::IsOutOfRange(status)) << status;
  return status.ok();
}

TEST(Losses, LabelsAreCheckedButForTheOneThatIsIgnored) {
  EXPECT_TRUE(AreValid("", {0, 4}));
  EXPECT_FALSE(AreValid("", {0, 5}));
  EXPECT_FALSE(AreValid("", {-1, 0}));
  EXPECT_TRUE(AreValid(" {ignore_index=-1}", {-1, 0}));
  EXPECT_TRUE(AreValid(" {ignore_index=255}", {255, 0}));
  EXPECT_FALSE(AreValid(" {ignore_index=-1}", {-2, 0}));
}

TEST(Losses, WhatIsIgnoredMayBeInfinite) {
  OpCase op("NegativeLogLikelihoodLoss");
  op.Input(kF32, {2, 2}).Input(DType::kI64, {2}).Set("ignore_index", int64_t{0});
  const Constant x = Constant::Splat(kF32, {2, 2}, -INFINITY);
  auto all = EvaluateKernel(op.Build()->kernel, {x, Constant::Ints({0, 1})});
  EXPECT_EQ((*all)[0].FloatAt(0), INFINITY);
  op.Set("reduction", std::string("sum"));
  auto none = EvaluateKernel(op.Build()->kernel, {x, Constant::Ints({0, 0})});
  EXPECT_EQ((*none)[0].FloatAt(0), 0);
}

TEST(Losses, LabelsNeedTheShapeOfTheScores) {
  OpCase op("SoftmaxCrossEntropyLoss");
  op.Input(kF32, {2, 5, 7}).Input(DType::kI64, {2, 6});
  EXPECT_THAT(op.OutputType(), HasSubstr("without classes"));
}

TEST(RoiAlign, ARegionOfWholeElementsIsThatRegion) {
  OpCase op("RoiAlign");
  op.Input(kF32, {2, 1, 4, 5}).Input(kF32, {1, 4}).Input(DType::kI64, {1});
  op.Set("output_height", int64_t{2}).Set("output_width", int64_t{3});
  op.Set("sampling_ratio", int64_t{1});
  const Constant x = Constant::Random(kF32, {2, 1, 4, 5}, 1);
  std::vector<uint8_t> bytes(16);
  const double corners[] = {1, 1, 4, 3};  // x1, y1, x2, y2
  for (int64_t i = 0; i < 4; ++i) StoreElement(kF32, bytes.data(), i, corners[i]);
  auto y = EvaluateKernel(op.Build()->kernel,
                          {x, Constant::Dense(kF32, {1, 4}, bytes), Constant::Ints({1})});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>((*y)[0].FloatAt(i)),
                    static_cast<float>(x.FloatAt(20 + (1 + i / 3) * 5 + 1 + i % 3)));
  }
}

}  // namespace
}  // namespace aotc
