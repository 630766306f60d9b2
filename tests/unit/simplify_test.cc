#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

Constant Floats(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return Constant::Dense(DType::kF32, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

// All values that rounding-free algebra gets wrong first.
Constant Special() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  return Floats({0.0F, -0.0F, 1.0F, -1.0F, 0.1F, -6.5F, 6.0F, kInfinity, -kInfinity, kNan, 1e-45F,
                 -1e-45F, 3e38F, -3e38F, 1.17549435e-38F, 7.0F});
}

// Every output keeps its bits: NaN stays NaN, zeros keep their signs.
void ExpectSameBits(std::string_view text) {
  const Graph before = ParseCase(text);
  const PassResult result =
      RunCase(before, "expand-ops,infer-and-fold,simplify,common-subexpressions,eliminate-dead");
  ASSERT_TRUE(result.graph.ok()) << result.graph.status();
  EXPECT_LT(result.graph->main_region().nodes.size(), before.main_region().nodes.size());
  auto expected = EvaluateGraph(before, {Special()});
  auto actual = EvaluateGraph(*result.graph, {Special()});
  ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
  for (size_t i = 0; i < expected->size(); ++i) {
    for (int64_t k = 0; k < (*expected)[i].element_count(); ++k) {
      const double a = (*expected)[i].FloatAt(k), b = (*actual)[i].FloatAt(k);
      const bool same =
          std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
      EXPECT_TRUE(same) << "output " << i << " of element " << Special().FloatAt(k) << ": " << a
                        << " became " << b;
    }
  }
}

TEST(Simplify, NeutralOperandsKeepEveryBit) {
  ExpectSameBits(R"air(graph @main(%x: f32[16]) -> (%p, %q, %r, %s) {
    const %one: f32[] = [1.0]
    const %minus: f32[] = [-0.0]
    const %zero: f32[] = [0.0]
    const %four: f32[] = [4.0]
    const %big: f32[] = [1.6777216e+07]
    %a = Mul(%x, %one)
    %b = Add(%a, %minus)
    %c = Sub(%b, %zero)
    %p = Add(%c, %zero)
    %d = Sub(%c, %minus)
    %q = Div(%d, %four)
    %e = Neg(%c)
    %f = Neg(%e)
    %r = Div(%f, %big)
    %g = Div(%one, %x)
    %s = Pow(%g, %one)
  })air");
}

TEST(Simplify, LimitsKeepEveryBit) {
  ExpectSameBits(R"air(graph @main(%x: f32[16]) -> (%p, %q, %r, %s) {
    const %zero: f32[] = [0.0]
    const %minus: f32[] = [-0.0]
    const %six: f32[] = [6.0]
    const %least: f32[] = [-inf]
    const %seven: f32[] = [7.0]
    %a = Relu(%x)
    %p = Clip(%a, %zero, %six)
    %b = Clip(%x, %least, %six)
    %q = Clip(%b, %minus, %six)
    %c = Clip(%x, %seven)
    %r = Clip(%c, %least, %six)
    %d = Clip(%x, %least)
    %s = Relu(%d)
  })air");
}

TEST(Simplify, PowersKeepEveryBit) {
  ExpectSameBits(R"air(graph @main(%x: f32[16]) -> (%p, %q, %r) {
    const %half: f32[] = [0.5]
    const %minus: f32[] = [-1.0]
    const %one: f32[] = [1.0]
    %a = Mul(%x, %x)
    %p = Pow(%a, %half)
    %q = Pow(%x, %half)
    %b = Mul(%x, %one)
    %r = Pow(%b, %minus)
  })air");
}

}  // namespace
}  // namespace aotc
