// Plans of Fourier transforms: that their parts make up the length, and cost what they should.
#include "compiler/optimize/fourier_plan.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using testing::IsEmpty;

TEST(FourierPlan, FactorsMakeUpTheLength) {
  for (int64_t length = 1; length < 3000; ++length) {
    const FourierPlan plan = PlanFourier({.length = length});
    int64_t product = plan.last;
    for (const int64_t factor : plan.factors) product *= factor;
    EXPECT_EQ(product, length);
    if (plan.padded > 0) {
      EXPECT_GE(plan.padded, 2 * plan.last - 1) << length;
    }
  }
}

TEST(FourierPlan, ASmallMatrixIsOneProduct) {
  for (const int64_t length : {1, 2, 3, 16, 31}) {
    const FourierPlan plan = PlanFourier({.length = length});
    EXPECT_THAT(plan.factors, IsEmpty()) << length;
    EXPECT_EQ(plan.padded, 0) << length;
  }
}

TEST(FourierPlan, ALargePrimeIsAConvolution) {
  EXPECT_EQ(PlanFourier({.length = 127}).padded, 0);
  EXPECT_GE(PlanFourier({.length = 1000003}).padded, 2000005);
  const FourierPlan twice = PlanFourier({.length = 2 * 10007});
  EXPECT_EQ(twice.last % 10007, 0);
  EXPECT_GE(twice.padded, 2 * 10007 - 1);
}

// Also of primes, and of lengths with one large factor.
TEST(FourierPlan, TheCostGrowsAsTheLengthTimesItsLogarithm) {
  for (int64_t length = 200; length < (int64_t{1} << 26); length = length * 17 / 8 + 1) {
    const double n = static_cast<double>(length);
    EXPECT_LT(PlanFourier({.length = length}).cost, 500 * n * std::log2(n)) << length;
  }
}

}  // namespace
}  // namespace aotc
