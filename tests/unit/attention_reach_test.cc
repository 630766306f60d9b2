// Keys that blocks of rows reach under masks by position, against each row and key looked at.
#include "compiler/targets/attention_reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "absl/strings/str_replace.h"
#include "compiler/ir/kernel_text.h"

namespace aotc {
namespace {

constexpr int64_t kLength = 512, kBlock = 32;

constexpr const char* kText = R"air(
kernel @attention(
    in %q: f32[2, 512, 20],
    in %k: f32[2, 512, 20],
    in %v: f32[2, 512, 12],
    in %mask: f32[512, 512],
    in %given: bool[512, 512],
    out %y: f32[2, 512, 12]) {
  temp %score: f32[2, 512, 512]
  temp %masked: f32[2, 512, 512]
  temp %top: f32[2, 512, 1]
  temp %power: f32[2, 512, 512]
  temp %total: f32[2, 512, 1]
  temp %weight: f32[2, 512, 512]
  %score[b<2, i<512, j<512] = reduce sum(d<20) %q[b, i, d] * %k[b, j, d]
  %masked[b<2, i<512, j<512] = MASKED
  %top[b<2, i<512, j<1] = reduce max(m<512) %masked[b, i, m]
  %power[b<2, i<512, j<512] = exp(%masked[b, i, j] - %top[b, i, 0])
  %total[b<2, i<512, j<1] = reduce sum(m<512) %power[b, i, m]
  %weight[b<2, i<512, j<512] = %power[b, i, j] / %total[b, i, 0]
  %y[b<2, i<512, c<12] = reduce sum(m<512) %weight[b, i, m] * %v[b, m, c]
}
)air";

Attention WithScores(const std::string& masked) {
  const absl::StatusOr<Kernel> kernel =
      ParseKernel(absl::StrReplaceAll(kText, {{"MASKED", masked}}));
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  absl::StatusOr<Attention> attention = AnalyzeAttention(*kernel);
  EXPECT_TRUE(attention.ok()) << attention.status().message();
  return *std::move(attention);
}

struct Mask {
  std::string name, condition;
  std::function<bool(int64_t i, int64_t j)> sees;
};

void PrintTo(const Mask& mask, std::ostream* out) { *out << mask.name; }

class ReachedKeysOf : public testing::TestWithParam<Mask> {};

struct Keys {
  int64_t begin = kLength, end = 0;
};

// Of a block of rows the keys that any of them sees, each looked at.
Keys SeenBy(const Mask& mask, int64_t first_row) {
  Keys keys;
  for (int64_t i = first_row; i < first_row + kBlock; ++i) {
    for (int64_t j = 0; j < kLength; ++j) {
      if (!mask.sees(i, j)) continue;
      keys.begin = std::min(keys.begin, j);
      keys.end = std::max(keys.end, j + 1);
    }
  }
  return keys;
}

TEST_P(ReachedKeysOf, AreFromTheFirstThatARowSeesToTheLast) {
  const Mask& mask = GetParam();
  const Attention attention =
      WithScores("select(" + mask.condition + ", %score[b, i, j] * 0.25, -inf)");
  const KeyRange reached = ReachedKeys(attention, Var("first"), kBlock);
  for (int64_t first = 0; first < kLength; first += kBlock) {
    const Keys seen = SeenBy(mask, first);
    const int64_t begin = EvaluateInt(reached.begin, {{"first", first}}).value_or(-1);
    const int64_t end = EvaluateInt(reached.end, {{"first", first}}).value_or(-1);
    if (seen.end == 0) {
      EXPECT_GE(begin, end) << "row " << first;
    } else {
      EXPECT_EQ(begin, seen.begin) << "row " << first;
      EXPECT_EQ(end, seen.end) << "row " << first;
    }
  }
}

const Mask kMasks[] = {
    {"Causal", "j <= i", [](int64_t i, int64_t j) { return j <= i; }},
    {"BehindACache", "j <= i + 100", [](int64_t i, int64_t j) { return j <= i + 100; }},
    {"BeforeTheKeys", "j < i - 200", [](int64_t i, int64_t j) { return j < i - 200; }},
    {"Window", "j <= i && i - 37 < j", [](int64_t i, int64_t j) { return j <= i && i - 37 < j; }},
    {"Length", "j < 300", [](int64_t, int64_t j) { return j < 300; }},
    {"Rows", "i < 128", [](int64_t i, int64_t) { return i < 128; }},
    {"LengthOfAll", "j <= min(i + 7, 250)",
     [](int64_t i, int64_t j) { return j <= std::min<int64_t>(i + 7, 250); }},
    {"WindowOfTheLast", "j <= i && (i - 9 < j || 290 < j)",
     [](int64_t i, int64_t j) { return j <= i && (i - 9 < j || 290 < j); }},
    {"EverySecond", "j * 2 <= i + 30", [](int64_t i, int64_t j) { return j * 2 <= i + 30; }},
    {"Backwards", "i <= j", [](int64_t i, int64_t j) { return i <= j; }},
    {"All", "%given[i, j]", [](int64_t, int64_t) { return true; }},
};

INSTANTIATE_TEST_SUITE_P(Masks, ReachedKeysOf, testing::ValuesIn(kMasks),
                         [](const auto& info) { return info.param.name; });

TEST(ReachedKeys, OfCausalRowsAreHalfOfAll) {
  const Attention attention = WithScores("select(j <= i, %score[b, i, j], -inf)");
  const KeyRange reached = ReachedKeys(attention, Var("first"), kBlock);
  int64_t blocks = 0;
  for (int64_t first = 0; first < kLength; first += kBlock) {
    blocks += *EvaluateInt(CeilDiv(reached.end, kBlock), {{"first", first}});
  }
  constexpr int64_t kRows = kLength / kBlock;
  EXPECT_EQ(blocks, kRows * (kRows + 1) / 2);
}

TEST(ReachedKeys, AnAddedMaskHidesByPositionToo) {
  const Attention attention = WithScores("%score[b, i, j] + select(j <= i, 0.0, -inf)");
  const KeyRange reached = ReachedKeys(attention, Var("first"), kBlock);
  EXPECT_EQ(EvaluateInt(reached.end, {{"first", 64}}), 96);
}

TEST(ReachedKeys, AFiniteScoreIsReached) {
  const Attention attention = WithScores("select(j <= i, %score[b, i, j], -10000.0)");
  EXPECT_TRUE(ReachedKeys(attention, Var("first"), kBlock).end.IsInt(kLength));
}

TEST(MaskOfElements, SaysWhatAHiddenScoreIs) {
  const auto hidden = [](const std::string& masked) {
    const std::optional<MaskOfElements> mask = ReadMaskOfElements(WithScores(masked));
    return mask ? mask->hidden : 1;
  };
  const double least = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(hidden("select(%given[i, j], %score[b, i, j], -inf)"), least);
  EXPECT_EQ(hidden("select(!%given[i, j], -1000.0, %score[b, i, j])"), -1000);
  EXPECT_EQ(hidden("%score[b, i, j] + %mask[i, j]"), least);
  EXPECT_EQ(hidden("select(%given[i, j], %score[b, i, j] + %mask[i, j], -5.0)"), -5);
  EXPECT_EQ(hidden("select(j <= i, select(%given[i, j], %score[b, i, j], -inf), -9.0)"), -9);
  EXPECT_EQ(hidden("select(%score[b, i, j] < 2.0 && %given[i, j], %score[b, i, j], -inf)"), 1);
  EXPECT_EQ(hidden("select(j <= i, %score[b, i, j], -inf)"), 1);        // by position alone
  EXPECT_EQ(hidden("select(%given[i, 0], %score[b, i, j], -inf)"), 1);  // all keys of a row alike
  EXPECT_EQ(hidden("select(%given[i, j], %score[b, i, j], -inf) * 0.5"), 1);
}

}  // namespace
}  // namespace aotc
