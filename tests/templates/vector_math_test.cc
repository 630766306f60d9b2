// Vector functions against double-precision libm, over samples of every exponent, on every ISA.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "aotc/half.h"
#include "aotc/scalar_math.h"
#include "tests/templates/isa.h"
#include "tests/templates/vector_math_cases.h"

AOTC_TEST_TABLES(vector_math, VectorMathKernels)

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// About 1.7 million patterns of all exponents and both signs, and the values where something
// changes.
const std::vector<float>& Samples() {
  static const std::vector<float> samples = [] {
    std::vector<float> values = {0.0f, -0.0f, 1.0f, -1.0f, kInfinity, -kInfinity, kNan, 0x1p-149f};
    for (float edge : {0.6f, 0.93f, 3.95f, 88.72283f, 88.72284f, 103.97f, 87.33655f, 0.70710678f}) {
      for (float value : {std::nextafter(edge, 0.0f), edge, std::nextafter(edge, kInfinity)}) {
        values.push_back(value), values.push_back(-value);
      }
    }
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 2503) {
      values.push_back(aotc_f32_of_bits(static_cast<uint32_t>(bits)));
    }
    return values;
  }();
  return samples;
}

// Distance in units of the last place of `expected` as an f32 (of the least normal where smaller).
double Ulps(float got, double expected) {
  const float rounded = static_cast<float>(expected);
  if (std::isnan(expected)) return std::isnan(got) ? 0.0 : 1e30;
  if (std::isnan(got)) return 1e30;
  if (std::isinf(rounded) || std::isinf(got)) {
    const double largest = std::numeric_limits<float>::max();
    if (got == rounded) return 0.0;
    // Within a few units of overflow either side of the limit is fair.
    return std::fabs(expected) > largest * 0.9999995 && std::signbit(got) == (expected < 0) ? 1
                                                                                            : 1e30;
  }
  const int exponent = expected == 0 ? -126 : std::max(std::ilogb(expected), -126);
  return std::fabs(got - expected) / std::ldexp(1.0, exponent - 23);
}

void CheckUnary(UnaryKernel VectorMathKernels::* kernel, double (*oracle)(double), double bound) {
  const std::vector<float>& x = Samples();
  for (const auto& isa : vector_math_tables) {
    std::vector<float> y(x.size());
    (isa.kernels->*kernel)(x.data(), y.data(), static_cast<int64_t>(x.size()));
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double ulps = Ulps(y[i], oracle(x[i]));
      if (ulps > worst) worst = ulps, where = i;
    }
    EXPECT_LE(worst, bound) << isa.name << " at " << x[where] << ": " << y[where] << " is not "
                            << oracle(x[where]);
    testing::Test::RecordProperty(std::string("ulp_") + isa.name, std::to_string(worst));
  }
}

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double Sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }

TEST(VectorMath, Exp) { CheckUnary(&VectorMathKernels::exp, std::exp, 2.0); }
TEST(VectorMath, Log) { CheckUnary(&VectorMathKernels::log, std::log, 2.0); }
TEST(VectorMath, Tanh) { CheckUnary(&VectorMathKernels::tanh, std::tanh, 3.0); }
TEST(VectorMath, Sigmoid) { CheckUnary(&VectorMathKernels::sigmoid, Sigmoid, 3.0); }
TEST(VectorMath, Erf) { CheckUnary(&VectorMathKernels::erf, std::erf, 2.0); }
TEST(VectorMath, Sin) { CheckUnary(&VectorMathKernels::sin, std::sin, 1.0); }
TEST(VectorMath, ExactFunctions) {
  CheckUnary(&VectorMathKernels::sqrt, std::sqrt, 0.5);
  CheckUnary(&VectorMathKernels::round, std::nearbyint, 0.0);
  CheckUnary(&VectorMathKernels::floor, std::floor, 0.0);
  CheckUnary(&VectorMathKernels::ceil, std::ceil, 0.0);
  CheckUnary(&VectorMathKernels::trunc, std::trunc, 0.0);
  CheckUnary(&VectorMathKernels::sign, Sign, 0.0);
}

TEST(VectorMath, SignsOfZeroAreKept) {
  const std::vector<float> x = {-0.0f, 0.0f, -0.25f, 0.25f, -1e-30f};
  for (const auto& isa : vector_math_tables) {
    const VectorMathKernels& k = *isa.kernels;
    for (UnaryKernel kernel : {k.tanh, k.erf, k.sin, k.sqrt, k.round, k.trunc}) {
      std::vector<float> y(x.size());
      kernel(x.data(), y.data(), static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(y[i])) continue;
        ASSERT_EQ(std::signbit(y[i]), std::signbit(x[i])) << isa.name << " at " << x[i];
      }
    }
  }
}

// ONNX, numpy and onnxruntime: 0 for either zero.
TEST(VectorMath, TheSignOfMinusZeroIsZero) {
  const std::vector<float> x = {-0.0f, 0.0f, -0.25f, 0.25f, kNan};
  for (const auto& isa : vector_math_tables) {
    std::vector<float> y(x.size());
    isa.kernels->sign(x.data(), y.data(), static_cast<int64_t>(x.size()));
    EXPECT_EQ(y[0], 0.0f) << isa.name;
    EXPECT_FALSE(std::signbit(y[0])) << isa.name;
    EXPECT_EQ(y[2], -1.0f) << isa.name;
    EXPECT_EQ(y[3], 1.0f) << isa.name;
    EXPECT_TRUE(std::isnan(y[4])) << isa.name;
  }
}

TEST(VectorMath, MaximumAndMinimumPropagateNan) {
  const float values[] = {kNan, -kInfinity, -1.0f, 0.0f, 2.0f, kInfinity};
  std::vector<float> a, b;
  for (float x : values) {
    for (float y : values) a.push_back(x), b.push_back(y);
  }
  for (const auto& isa : vector_math_tables) {
    std::vector<float> most(a.size()), least(a.size()), known(a.size());
    isa.kernels->max(a.data(), b.data(), most.data(), a.size());
    isa.kernels->min(a.data(), b.data(), least.data(), a.size());
    isa.kernels->max_known(a.data(), b.data(), known.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i]) || std::isnan(b[i])) {
        ASSERT_TRUE(std::isnan(most[i]) && std::isnan(least[i])) << isa.name << " " << i;
      } else {
        ASSERT_EQ(most[i], std::max(a[i], b[i]));
        ASSERT_EQ(least[i], std::min(a[i], b[i]));
      }
      if (std::isnan(a[i])) continue;
      if (std::isnan(b[i])) {
        ASSERT_TRUE(std::isnan(known[i]));
      } else {
        ASSERT_EQ(known[i], std::max(a[i], b[i]));
      }
    }
  }
}

TEST(VectorMath, PowIsThatOfLibm) {
  const std::vector<float> a = {2.0f, -2.0f, 0.0f, 9.0f, -1.0f}, b = {10, 3, -1, 0.5f, 0.5f};
  for (const auto& isa : vector_math_tables) {
    std::vector<float> y(a.size());
    isa.kernels->pow(a.data(), b.data(), y.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) ASSERT_LE(Ulps(y[i], std::pow(double{a[i]}, b[i])), 1.0);
  }
}

bool SameFloat(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

TEST(VectorConvert, SmallFloatsAreThoseOfTheScalarConversion) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const std::vector<float>& x = Samples();
  for (const auto& isa : vector_math_tables) {
    std::vector<float> wide(halves.size());
    isa.kernels->widen_f16(halves.data(), wide.data(), wide.size());
    for (size_t i = 0; i < wide.size(); ++i) {
      ASSERT_TRUE(SameFloat(wide[i], aotc_f16_to_f32(halves[i]))) << isa.name << " " << i;
    }
    isa.kernels->widen_bf16(halves.data(), wide.data(), wide.size());
    for (size_t i = 0; i < wide.size(); ++i) {
      ASSERT_TRUE(SameFloat(wide[i], aotc_bf16_to_f32(halves[i]))) << isa.name << " " << i;
    }
    std::vector<uint16_t> f16(x.size()), bf16(x.size());
    isa.kernels->narrow_f16(x.data(), f16.data(), x.size());
    isa.kernels->narrow_bf16(x.data(), bf16.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(f16[i], aotc_f16_from_f32(x[i])) << isa.name << " " << x[i];
      ASSERT_EQ(bf16[i], aotc_bf16_from_f32(x[i])) << isa.name << " " << x[i];
    }
  }
}

TEST(VectorConvert, BytesKeepTheirValueAndTailsTouchNothingElse) {
  for (const auto& isa : vector_math_tables) {
    for (int64_t count = 1; count < 40; ++count) {
      std::vector<uint8_t> x(64), y(64, 7);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(250 + i * 37);
      isa.kernels->copy_u8(x.data(), y.data(), count);
      for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(y[i], i < count ? x[i] : 7) << isa.name;
      std::fill(y.begin(), y.end(), 7);
      isa.kernels->copy_i8((const int8_t*)x.data(), (int8_t*)y.data(), count);
      for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(y[i], i < count ? x[i] : 7) << isa.name;
    }
  }
}

TEST(VectorConvert, FloatsToIntegersAreThoseOfTheScalarCast) {
  const std::vector<float>& x = Samples();
  const int64_t count = static_cast<int64_t>(x.size());
  std::vector<uint8_t> u8(x.size());
  std::vector<int8_t> i8(x.size());
  std::vector<int32_t> i32(x.size());
  for (const auto& isa : vector_math_tables) {
    isa.kernels->to_u8(x.data(), u8.data(), count);
    isa.kernels->to_i8(x.data(), i8.data(), count);
    isa.kernels->to_i32(x.data(), i32.data(), count);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(u8[i], aotc_to_u8(x[i])) << isa.name << " " << x[i];
      ASSERT_EQ(i8[i], aotc_to_i8(x[i])) << isa.name << " " << x[i];
      ASSERT_EQ(i32[i], aotc_to_i32(x[i])) << isa.name << " " << x[i];
    }
  }
}

TEST(VectorConvert, RoundingToBytesIsThatOfTheScalarSteps) {
  std::vector<float> x = Samples();
  for (int half = -600; half < 600; ++half) x.push_back(static_cast<float>(half) * 0.5f);
  std::vector<uint8_t> y(x.size());
  for (const auto& isa : vector_math_tables) {
    for (const int32_t zero : {0, 1, 128, 255}) {
      isa.kernels->round_to_u8(x.data(), y.data(), static_cast<int64_t>(x.size()), zero);
      for (size_t i = 0; i < x.size(); ++i) {
        const uint8_t expected = aotc_to_u8(aotc_round(x[i]) + static_cast<float>(zero));
        ASSERT_EQ(y[i], expected) << isa.name << " " << x[i] << " " << zero;
      }
    }
  }
}

TEST(Vector, TailsOfFloatsTouchNothingElse) {
  for (const auto& isa : vector_math_tables) {
    for (int64_t count = 1; count <= isa.kernels->lanes; ++count) {
      std::vector<float> x(32, 4.0f), y(32, -1.0f);
      isa.kernels->sqrt(x.data(), y.data(), count);
      for (int64_t i = 0; i < 32; ++i) ASSERT_EQ(y[i], i < count ? 2.0f : -1.0f) << isa.name;
    }
  }
}

TEST(Vector, LanesAreReduced) {
  for (const auto& isa : vector_math_tables) {
    std::vector<float> x(isa.kernels->lanes);
    float out[3];
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7 + 3) % x.size());
    const float most = static_cast<float>(x.size() - 1);
    isa.kernels->reduce(x.data(), out);
    EXPECT_EQ(out[0], most * (most + 1) / 2);
    EXPECT_EQ(out[1], most);
    EXPECT_EQ(out[2], 0.0f);
    for (size_t i = 0; i < x.size(); ++i) {
      const float keep = x[i];
      x[i] = kNan;
      isa.kernels->reduce(x.data(), out);
      EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]) && std::isnan(out[2])) << i;
      x[i] = keep;
    }
  }
}

TEST(Vector, StridedLanes) {
  for (const auto& isa : vector_math_tables) {
    std::vector<float> x(16 * 5), y(16 * 5, -1.0f);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    isa.kernels->strided(x.data(), y.data(), 5);
    for (int i = 0; i < isa.kernels->lanes * 5; ++i) {
      ASSERT_EQ(y[i], i % 5 == 0 ? 2.0f * x[i] : -1.0f) << isa.name;
    }
  }
}

}  // namespace
