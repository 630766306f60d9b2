// softmax(q * k + mask) * v in blocks of keys against the plain form in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/templates/isa.h"
#include "tests/templates/softmax_attention_tile_cases.h"

AOTC_TEST_TABLES(attention, AttentionKernels)

namespace {

enum class Mask { kNone, kCausal, kFirstBlockHidden, kWholeRowHidden, kNan };

struct Case {
  int64_t m, d, keys, n, key_block;
  Mask mask = Mask::kNone;
  float spread = 1.0f;  // of the scores
};

int64_t Padded(int64_t n) { return (n + 31) / 32 * 32; }

float MaskAt(const Case& of, int64_t m, int64_t j) {
  switch (of.mask) {
    case Mask::kNone: return 0.0f;
    case Mask::kCausal: return j > m ? -INFINITY : 0.0f;
    case Mask::kFirstBlockHidden: return j < of.key_block ? -INFINITY : 0.0f;
    case Mask::kWholeRowHidden: return m == 1 ? -INFINITY : 0.0f;
    case Mask::kNan: return m == 1 && j == of.keys / 2 ? NAN : 0.0f;
  }
  return 0.0f;
}

struct Operands {
  std::vector<float> q, k, mask, values;

  explicit Operands(const Case& of)
      : k(Padded(of.keys) * of.d), mask(of.m * Padded(of.keys)), values(Padded(of.n) * of.keys) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (int64_t i = 0; i < of.m * of.d; ++i) q.push_back(of.spread * uniform(random));
    for (float& x : k) x = uniform(random);
    for (float& x : values) x = uniform(random);
    for (int64_t m = 0; m < of.m; ++m) {
      for (int64_t j = 0; j < of.keys; ++j) mask[m * Padded(of.keys) + j] = MaskAt(of, m, j);
    }
  }
  static int64_t At(int64_t row, int64_t column, int64_t rows) {
    return (column / 32 * rows + row) * 32 + column % 32;
  }
};

std::vector<double> ExpectedRow(const Case& of, const Operands& x, int64_t m) {
  std::vector<double> scores(of.keys), y(of.n, 0.0);
  double most = -INFINITY, sum = 0;
  for (int64_t j = 0; j < of.keys; ++j) {
    scores[j] = x.mask[m * Padded(of.keys) + j];
    for (int64_t d = 0; d < of.d; ++d) {
      scores[j] += static_cast<double>(x.q[m * of.d + d]) * x.k[Operands::At(d, j, of.d)];
    }
    most = std::isnan(scores[j]) ? scores[j] : std::max(most, scores[j]);
  }
  for (double& score : scores) sum += score = std::exp(score - most);
  for (int64_t n = 0; n < of.n; ++n) {
    for (int64_t j = 0; j < of.keys; ++j) {
      y[n] += scores[j] / sum * x.values[Operands::At(j, n, of.keys)];
    }
  }
  return y;
}

void Check(const Case& of) {
  const Operands x(of);
  for (const auto& isa : attention_tables) {
    for (auto kernel : {isa.kernels->attention, isa.kernels->joined}) {
      std::vector<float> y(of.m * of.n + 16, 77.0f);
      std::vector<float> scratch(8 * of.key_block + 16 * Padded(of.n));
      const AttentionArguments arguments = {
          x.q.data(), x.k.data(), x.mask.data(), x.values.data(), y.data(), scratch.data(), of.m,
          of.d,       of.keys,    of.n,          of.key_block};
      kernel(&arguments);
      for (int64_t m = 0; m < of.m; ++m) {
        const std::vector<double> expected = ExpectedRow(of, x, m);
        for (int64_t n = 0; n < of.n; ++n) {
          const float got = y[m * of.n + n];
          ASSERT_EQ(std::isnan(got), std::isnan(expected[n])) << isa.name << " " << m << " " << n;
          if (std::isnan(got)) continue;
          ASSERT_NEAR(got, expected[n], 1e-5) << isa.name << " row " << m << " column " << n;
        }
      }
      for (size_t i = of.m * of.n; i < y.size(); ++i) ASSERT_EQ(y[i], 77.0f);
    }
  }
}

TEST(SoftmaxAttentionTile, OddSizes) {
  for (int64_t keys : {1, 2, 31, 32, 33, 64, 65, 97, 200}) Check({5, 17, keys, 40, 32});
  for (int64_t n : {1, 15, 16, 33}) Check({4, 8, 70, n, 64});
  Check({1, 64, 128, 64, 128});
}

TEST(SoftmaxAttentionTile, LargeScoresNeedTheRunningMaximum) {
  Check({5, 32, 150, 20, 32, Mask::kNone, 200.0f});
}

TEST(SoftmaxAttentionTile, HiddenKeys) {
  Check({40, 8, 40, 20, 32, Mask::kCausal});
  Check({5, 8, 100, 20, 32, Mask::kFirstBlockHidden});
}

TEST(SoftmaxAttentionTile, RowsWithoutKeysAndNanGiveNan) {
  Check({5, 8, 100, 20, 32, Mask::kWholeRowHidden});
  Check({5, 8, 100, 20, 32, Mask::kNan});
}

}  // namespace
