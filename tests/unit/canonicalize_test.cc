#include "gtest/gtest.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

constexpr std::string_view kPasses = "expand-ops,infer-and-fold,remove-identities,eliminate-dead";

TEST(RemoveIdentities, WhateverCopiesItsInput) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[1, 3, n]) -> (%y) {
      symbol n in 1..8
      const %shape: i64[3] = [1, 3, -1]
      const %pads: i64[6] = [0, 0, 0, 0, 0, 0]
      const %starts: i64[1] = [0]
      const %ends: i64[1] = [9223372036854775807]
      const %target: i64[3] = [1, 1, 1]
      %a = Identity(%x)
      %b = Dropout(%a)
      %c = Reshape(%b, %shape)
      %d = Transpose(%c) {perm=[0, 1, 2]}
      %e = Cast(%d) {to=1}
      %f = Pad(%e, %pads)
      %g = Slice(%f, %starts, %ends)
      %h = Concat(%g) {axis=1}
      %i = Expand(%h, %target)
      %y = Relu(%i)
    })air",
                          kPasses);
  EXPECT_EQ(OpsOf(graph), "Relu");
}

TEST(RemoveIdentities, KeepsWhatMovesOrChanges) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[3, 3]) -> (%a, %b, %c) {
      const %pads: i64[4] = [0, 1, 0, 0]
      %a = Transpose(%x) {perm=[1, 0]}
      %b = Pad(%x, %pads)
      %c = Cast(%x) {to=10}
    })air",
                          kPasses);
  EXPECT_EQ(OpsOf(graph), "Transpose Pad Cast");
}

TEST(RemoveIdentities, OutputsThatAreInputsKeepACopy) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[2]) -> (%y, %z) {
      %y = Identity(%x)
      %r = Relu(%x)
      %z = Identity(%r)
    })air",
                          kPasses);
  EXPECT_EQ(graph.values[graph.main_region().outputs[0]].name, "y");
  EXPECT_EQ(graph.values[graph.main_region().outputs[1]].name, "z");
  EXPECT_EQ(OpsOf(graph), "Relu Identity");
}

TEST(EliminateDead, DropsWhatNoOutputNeeds) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[2]) -> (%y) {
      const %c: f32[2] = [1.0, 2.0]
      %dead: f32[2] = Add(%x, %c)
      %y: f32[2] = Relu(%x)
    })air",
                          "eliminate-dead");
  EXPECT_EQ(OpsOf(graph), "Relu");
  EXPECT_EQ(graph.values.size(), 2u);
}

}  // namespace
}  // namespace aotc
