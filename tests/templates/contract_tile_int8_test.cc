// The integer tile is exact: equal to sums in 64 bits, with operands at their extremes too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/templates/contract_tile_int8_cases.h"
#include "tests/templates/isa.h"

AOTC_TEST_TABLES(int8, Int8Kernels)

namespace {

enum class Fill { kRandom, kExtreme };

struct Case {
  int64_t m, k, n;
  bool is_signed = false;
  Fill fill = Fill::kRandom;
  bool amx = false;
};

int DrawActivation(const Case& of, std::mt19937& random) {
  const int value = of.fill == Fill::kExtreme ? 255 * static_cast<int>(random() % 2)
                                              : static_cast<int>(random() % 256);
  return of.is_signed ? value - 128 : value;
}

int DrawWeight(const Case& of, std::mt19937& random) {
  if (of.fill == Fill::kExtreme) return random() % 2 == 0 ? -128 : 127;
  return static_cast<int>(random() % 256) - 128;
}

struct Operands {
  int64_t k4, a_stride;
  std::vector<uint8_t> a;
  std::vector<int8_t> packed;
  std::vector<int32_t> bias;
  std::vector<float> scale;

  explicit Operands(const Case& of) : k4((of.k + 3) / 4), a_stride(of.k + 5) {
    std::mt19937 random(static_cast<unsigned>(of.m * 1009 + of.k * 31 + of.n));
    const int64_t columns = (of.n + 31) / 32 * 32;
    for (int64_t i = 0; i < of.m * a_stride; ++i) {
      a.push_back(static_cast<uint8_t>(DrawActivation(of, random)));
    }
    packed.assign(columns * k4 * 4, 0);
    for (int64_t n = 0; n < of.n; ++n) {
      for (int64_t k = 0; k < of.k; ++k) {
        packed[PackedAt(k, n)] = static_cast<int8_t>(DrawWeight(of, random));
      }
    }
    for (int64_t n = 0; n < columns; ++n) {
      bias.push_back(static_cast<int32_t>(random() % 2000) - 1000);
      scale.push_back(0.001f * static_cast<float>(1 + n % 7));
    }
  }
  int64_t PackedAt(int64_t k, int64_t n) const {
    return ((n / 32 * k4 + k / 4) * 32 + n % 32) * 4 + k % 4;
  }
};

int64_t Expected(const Case& of, const Operands& x, int64_t m, int64_t n) {
  int64_t sum = x.bias[n];
  for (int64_t k = 0; k < of.k; ++k) {
    const uint8_t byte = x.a[m * x.a_stride + k];
    sum += int64_t{of.is_signed ? static_cast<int8_t>(byte) : byte} * x.packed[x.PackedAt(k, n)];
  }
  return sum;
}

// What the packed bias of signed activations subtracts.
std::vector<int32_t> CorrectedBias(const Case& of, const Operands& x) {
  std::vector<int32_t> bias = x.bias;
  for (int64_t n = 0; of.is_signed && n < of.n; ++n) {
    for (int64_t k = 0; k < of.k; ++k) bias[n] -= 128 * x.packed[x.PackedAt(k, n)];
  }
  return bias;
}

void Check(const Case& of) {
  const Operands x(of);
  const std::vector<int32_t> bias = CorrectedBias(of, x);
  for (const auto& isa : int8_tables) {
    if (of.amx && isa.kernels->matmul_amx == nullptr) continue;
    SCOPED_TRACE(testing::Message() << isa.name << " " << of.m << "x" << of.k << "x" << of.n);
    std::vector<int32_t> sums(of.m * of.n + 32, 77);
    std::vector<uint8_t> quantised(of.m * of.n + 32, 77);
    const Int8Arguments arguments = {x.a.data(),  x.packed.data(),  bias.data(), x.scale.data(),
                                     sums.data(), quantised.data(), of.m,        x.k4,
                                     of.n,        x.a_stride};
    const auto matmul = of.is_signed ? isa.kernels->matmul_s8 : isa.kernels->matmul_u8;
    (of.amx ? isa.kernels->matmul_amx : matmul)(&arguments);
    for (int64_t i = 0; i < of.m * of.n; ++i) {
      const int64_t expected = Expected(of, x, i / of.n, i % of.n);
      ASSERT_EQ(sums[i], expected) << "element " << i;
      const float real = static_cast<float>(std::max<int64_t>(expected, 0)) * x.scale[i % of.n];
      ASSERT_EQ(quantised[i], std::min(std::nearbyint(real), 255.0f)) << "element " << i;
    }
    for (int64_t i = of.m * of.n; i < of.m * of.n + 32; ++i) {
      ASSERT_EQ(sums[i], 77);
      ASSERT_EQ(quantised[i], 77);
    }
  }
}

TEST(ContractTileInt8, ExactOverOddSizes) {
  for (int64_t m : {1, 2, 3, 7, 8, 9, 13, 14, 15, 29}) {
    for (int64_t n : {1, 7, 15, 16, 17, 31, 32, 33, 40}) Check({m, 29, n});
  }
  for (int64_t k : {1, 2, 3, 4, 5, 7, 8, 31, 64, 512}) Check({15, k, 40});
}

TEST(ContractTileInt8, ExtremeOperandsDoNotSaturate) {
  Check({15, 1024, 33, false, Fill::kExtreme});
}

TEST(ContractTileAmx, ExactOverOddSizes) {
  if (!aotc_test::CanRun("v4vnniamx")) GTEST_SKIP() << "no AMX";
  for (int64_t m : {1, 2, 13, 14, 15, 29}) {
    for (int64_t n : {1, 15, 16, 17, 32, 33, 70}) {
      for (int64_t k : {1, 4, 8, 29, 64, 66, 124, 512}) {
        Check({m, k, n, false, Fill::kRandom, /*amx=*/true});
      }
    }
  }
  Check({15, 1024, 33, false, Fill::kExtreme, /*amx=*/true});
}

TEST(ContractTileInt8, SignedActivations) {
  for (int64_t k : {1, 4, 30, 512}) Check({15, k, 33, true});
  Check({15, 1024, 33, true, Fill::kExtreme});
}

}  // namespace
