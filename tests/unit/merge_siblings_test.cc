#include "gtest/gtest.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

constexpr std::string_view kPasses = "expand-ops,infer-and-fold,merge-siblings,eliminate-dead";

// Without channel blocks the channels of one image are a view.
TEST(MergeSiblings, ConvolutionsOverOneRowMajorImage) {
  constexpr std::string_view kText = R"air(
    graph @main(%x: f32[1, 4, 4, 4]) -> (%y, %z) {
      const %a: f32[8, 4, 1, 1] = random(seed=1)
      const %b: f32[4, 4, 1, 1] = random(seed=2)
      const %c: f32[6, 4, 1, 1] = random(seed=3)
      const %d: f32[8, 8, 3, 3] = random(seed=4)
      const %e: f32[8, 4, 3, 3] = random(seed=5)
      const %bias: f32[8] = random(seed=6)
      %p = Conv(%x, %a)
      %q = Conv(%x, %b)
      %r = Conv(%x, %c)
      %s = Relu(%p)
      %t = Relu(%q)
      %u = Relu(%r)
      %v = Conv(%s, %d)
      %w = Conv(%t, %e)
      %y = Concat(%v, %w) {axis=1}
      %z = MaxPool(%u) {kernel_shape=[2, 2]}
    })air";
  EXPECT_EQ(OpsOf(CheckCase(kText, kPasses)),
            "Conv Relu Slice Slice Slice Conv Conv Concat MaxPool");
}

// A part that a Concat reads would have to be copied there; its siblings do without it.
TEST(MergeSiblings, WhatAConcatReadsIsWrittenInItsResult) {
  constexpr std::string_view kText = R"air(
    graph @main(%x: f32[1, 4, 4, 4]) -> (%y, %z) {
      const %a: f32[8, 4, 1, 1] = random(seed=1)
      const %b: f32[4, 4, 1, 1] = random(seed=2)
      const %c: f32[6, 4, 1, 1] = random(seed=3)
      const %d: f32[4, 4, 3, 3] = random(seed=4)
      %p = Conv(%x, %a)
      %q = Conv(%x, %b)
      %r = Conv(%x, %c)
      %s = Conv(%q, %d) {pads=[1, 1, 1, 1]}
      %y = Concat(%p, %s) {axis=1}
      %z = MaxPool(%r) {kernel_shape=[2, 2]}
    })air";
  EXPECT_EQ(OpsOf(CheckCase(kText, kPasses)), "Conv Conv Slice Slice Conv Concat MaxPool");
}

TEST(MergeSiblings, SeveralImagesAreLeftAlone) {
  constexpr std::string_view kText = R"air(
    graph @main(%x: f32[2, 4, 4, 4]) -> (%y, %z) {
      const %a: f32[8, 4, 1, 1] = random(seed=1)
      const %b: f32[4, 4, 1, 1] = random(seed=2)
      %p = Conv(%x, %a)
      %q = Conv(%x, %b)
      %y = MaxPool(%p) {kernel_shape=[2, 2]}
      %z = MaxPool(%q) {kernel_shape=[2, 2]}
    })air";
  EXPECT_EQ(OpsOf(CheckCase(kText, kPasses)), "Conv Conv MaxPool MaxPool");
}

}  // namespace
}  // namespace aotc
