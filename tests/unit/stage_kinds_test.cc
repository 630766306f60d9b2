#include "compiler/schedule/stage_kinds.h"

#include <gtest/gtest.h>

#include "compiler/ir/kernel_text.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// y[i<8, j<4] = BODY, of x: f32[8, 8] and a sum over k.
Kernel KernelOf(std::string_view body) {
  const absl::StatusOr<Kernel> kernel =
      ParseKernel(StrCat("kernel @k(in %x: f32[8, 8], in %w: f32[8, 8], in %n: u8[8, 8], "
                         "out %y: f32[8, 4]) { %y[i<8, j<4] = ",
                         body, " }"));
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return kernel.ok() ? *kernel : Kernel{};
}

TEST(StageKinds, MovesAreLoadsCastsAndChoices) {
  EXPECT_TRUE(OnlyMoves(KernelOf("%x[i, j + 4]")));
  EXPECT_TRUE(OnlyMoves(KernelOf("f32(%n[j, i])")));
  EXPECT_TRUE(OnlyMoves(KernelOf("select(1 <= i, %x[i - 1, j], 0.0)")));
  EXPECT_FALSE(OnlyMoves(KernelOf("%x[i, j] + 1.0")));
  EXPECT_FALSE(OnlyMoves(KernelOf("select(1 <= i, max(%x[i, j], 0.0), 0.0)")));
  EXPECT_FALSE(OnlyMoves(KernelOf("reduce sum(k<8) %x[i, k]")));
}

TEST(StageKinds, ReportsCountContractionsWithZeroPoints) {
  const Kernel plain = KernelOf("reduce sum(k<8) %x[i, k] * %w[k, j]");
  EXPECT_TRUE(IsContraction(plain.stages[0]));
  EXPECT_TRUE(HasContraction(plain));
  const absl::StatusOr<Kernel> shifted = ParseKernel(R"air(
    kernel @k(in %n: u8[8, 8], in %m: u8[8, 8], in %z: u8[], out %y: i32[8, 4]) {
      %y[i<8, j<4] = reduce sum(k<8) (i32(%n[i, k]) - i32(%z[])) * i32(%m[k, j])
    })air");
  ASSERT_TRUE(shifted.ok()) << shifted.status();
  EXPECT_FALSE(IsContraction(shifted->stages[0]));
  EXPECT_TRUE(HasContraction(*shifted));
  const Kernel square = KernelOf("reduce sum(k<8) %x[i, k] * %x[i, k]");
  EXPECT_FALSE(HasContraction(square));
}

}  // namespace
}  // namespace aotc
