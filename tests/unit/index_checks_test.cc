#include "compiler/fuse/index_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/substitute.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/graph_text.h"
#include "tests/unit/main_checks.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;

Graph Parse(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : Graph();
}

Constant Ints(std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  return Constant::Ints(values).Reshaped(std::move(dims));
}

// What the only check of a graph says of these indices, by its graph node.
bool IsValid(const std::string& text, const Constant& data, const Constant& indices) {
  Graph graph = Parse(text);
  absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(graph);
  EXPECT_TRUE(checks.ok() && checks->size() == 1) << checks.status();
  graph.main_region().outputs = *checks;
  const absl::Status status = EvaluateGraph(graph, {data, indices}).status();
  EXPECT_TRUE(status.ok() || absl::IsOutOfRange(status)) << status;
  return status.ok();
}

const char* const kGather = R"(
graph @g(%x: f32[5, 3], %i: i64[2, 2]) -> (%y) {
  %y: f32[5, 2, 2] = Gather(%x, %i) {axis=1}
})";

TEST(IndexChecks, AnIndexMayCountFromTheEnd) {
  const Constant x = Constant::Random(DType::kF32, {5, 3}, 1);
  EXPECT_TRUE(IsValid(kGather, x, Ints({2, 2}, {0, 2, -3, 1})));
  EXPECT_FALSE(IsValid(kGather, x, Ints({2, 2}, {0, 3, 0, 0})));
  EXPECT_FALSE(IsValid(kGather, x, Ints({2, 2}, {0, 0, 0, -4})));
  EXPECT_FALSE(IsValid(kGather, x, Ints({2, 2}, {INT64_MIN, 0, 0, 0})));
  EXPECT_FALSE(IsValid(kGather, x, Ints({2, 2}, {0, INT64_MAX, 0, 0})));
}

TEST(IndexChecks, ALengthMayBeTheDim) {
  const std::string text = R"(
graph @g(%x: f32[2, 5], %i: i64[2]) -> (%y) {
  %y: f32[2, 5] = ReverseSequence(%x, %i) {batch_axis=0, time_axis=1}
})";
  const Constant x = Constant::Random(DType::kF32, {2, 5}, 1);
  EXPECT_TRUE(IsValid(text, x, Ints({2}, {0, 5})));
  EXPECT_FALSE(IsValid(text, x, Ints({2}, {6, 1})));
  EXPECT_FALSE(IsValid(text, x, Ints({2}, {1, -1})));
  EXPECT_FALSE(IsValid(text, x, Ints({2}, {1, INT64_MAX})));
}

TEST(IndexChecks, UnpooledPlacesCountInTheWholeOutput) {
  const std::string text = R"(
graph @g(%x: f32[1, 2, 1, 1], %i: i64[1, 2, 1, 1]) -> (%y) {
  %y: f32[1, 2, 2, 2] = MaxUnpool(%x, %i) {kernel_shape=[2, 2], strides=[2, 2]}
})";
  const Constant x = Constant::Random(DType::kF32, {1, 2, 1, 1}, 1);
  EXPECT_TRUE(IsValid(text, x, Ints({1, 2, 1, 1}, {0, 7})));
  EXPECT_FALSE(IsValid(text, x, Ints({1, 2, 1, 1}, {0, 8})));
  EXPECT_FALSE(IsValid(text, x, Ints({1, 2, 1, 1}, {-1, 7})));
}

TEST(IndexChecks, PositionsHaveADimEach) {
  const std::string text = R"(
graph @g(%x: f32[2, 7, 3], %i: i64[2, 2]) -> (%y) {
  %y: f32[2] = GatherND(%x, %i) {batch_dims=1}
})";
  const Constant x = Constant::Random(DType::kF32, {2, 7, 3}, 1);
  EXPECT_TRUE(IsValid(text, x, Ints({2, 2}, {6, 2, -7, -3})));
  EXPECT_FALSE(IsValid(text, x, Ints({2, 2}, {2, 3, 0, 0})));
  EXPECT_FALSE(IsValid(text, x, Ints({2, 2}, {2, 2, 7, 0})));
}

TEST(IndexChecks, ConstantIndicesBelowTheLeastSizeAreValid) {
  const std::string text = R"(
graph @g(%x: f32[n, 3]) -> (%y) {
  symbol n in 4..9
  const %i: i64[2] = [LOW, 3]
  %y: f32[2, 3] = Gather(%x, %i)
})";
  for (const auto& [low, count] : {std::pair("-4", 0), std::pair("-5", 1), std::pair("4", 1)}) {
    std::string changed = text;
    changed.replace(changed.find("LOW"), 3, low);
    Graph graph = Parse(changed);
    const absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(graph);
    ASSERT_TRUE(checks.ok()) << checks.status();
    EXPECT_EQ(checks->size(), count) << low;
  }
}

TEST(IndexChecks, IndicesOfTablesOfOneSizeAreCheckedOnce) {
  Graph graph = Parse(R"(
graph @g(%x: f32[5, 3], %y: i64[5, 3], %z: f32[6, 3], %i: i64[2]) -> (%p, %q, %r, %s) {
  %p: f32[2, 3] = Gather(%x, %i)
  %q: i64[2, 3] = Gather(%y, %i) {axis=0}
  %r: f32[5, 2] = Gather(%x, %i) {axis=1}
  %s: f32[2, 3] = Gather(%z, %i)
})");
  const absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(graph);
  ASSERT_TRUE(checks.ok()) << checks.status();
  EXPECT_EQ(checks->size(), 3);
}

TEST(IndexChecks, ConstantIndicesAreJudgedAtOnce) {
  Graph valid = Parse(R"(
graph @g(%x: f32[5, 3]) -> (%y) {
  const %i: i64[3] = [0, 4, -5]
  %y: f32[3, 3] = Gather(%x, %i)
})");
  absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(valid);
  ASSERT_TRUE(checks.ok()) << checks.status();
  EXPECT_TRUE(checks->empty());
  Graph wrong = Parse(R"text(
graph @g(%x: f32[5, 3]) -> (%y) {
  const %i: i64[2] = [0, 5]
  %y: f32[2, 3] = Gather(%x, %i) loc("rows (Gather, opset 17)")
})text");
  checks = AddMainChecks(wrong);
  ASSERT_FALSE(checks.ok());
  EXPECT_THAT(std::string(checks.status().message()),
              HasSubstr("node 'rows' (Gather, opset 17): index 5 of 'i' is out of range"));
}

TEST(IndexChecks, ConstantIndicesIntoASymbolicAxisAreCheckedInTheRun) {
  Graph graph = Parse(R"(
graph @g(%x: f32[n, 3]) -> (%y) {
  symbol n in 1..9
  const %i: i64[2] = [0, 5]
  %y: f32[2, 3] = Gather(%x, %i)
})");
  absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(graph);
  ASSERT_TRUE(checks.ok()) << checks.status();
  ASSERT_EQ(checks->size(), 1u);
  graph.main_region().outputs = *checks;
  for (int64_t n : {5, 6}) {
    const Constant x = Constant::Random(DType::kF32, {n, 3}, 1);
    EXPECT_EQ(EvaluateGraph(graph, {x}).ok(), n > 5) << n;
  }
}

// The indices are computed in the kernel that reads at them: no kernel writes them.
TEST(IndexChecks, WhatIsFusedAwayIsComputedOnceMore) {
  Graph graph = Parse(R"(
graph @g(%x: f32[5], %f: f32[4]) -> (%y) {
  %i: i64[4] = Cast(%f) {to=7}
  %y: f32[4] = Gather(%x, %i)
})");
  absl::StatusOr<FusedGraph> fused = Fuse(graph, {});
  ASSERT_TRUE(fused.ok()) << fused.status();
  ASSERT_EQ(fused->kernels.size(), 1u);
  ASSERT_TRUE(AddIndexChecks(graph, *fused).ok());
  ASSERT_EQ(fused->kernels.size(), 2u);
  ASSERT_EQ(fused->checks.size(), 1u);
  const FusedKernel& check = fused->kernels[0];
  ASSERT_EQ(check.args.size(), 2u);
  EXPECT_EQ(graph.values[check.args[0]].name, "f");
  EXPECT_EQ(check.args[1], fused->checks[0]);
}

// What gives the indices is a reduction, which a check of all of them cannot hold.
TEST(IndexChecks, WhatCannotBeFusedIntoACheckHasAKernelOfItsOwn) {
  Graph graph = Parse(R"(
graph @g(%x: f32[64, 9], %z: f32[64, 7]) -> (%y) {
  %i: i64[64, 1] = ArgMax(%x) {axis=1}
  %y: f32[64, 1] = GatherElements(%z, %i) {axis=1}
})");
  absl::StatusOr<FusedGraph> fused = Fuse(graph, {});
  ASSERT_TRUE(fused.ok()) << fused.status();
  ASSERT_EQ(fused->kernels.size(), 1u);
  const absl::Status status = AddIndexChecks(graph, *fused);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(fused->kernels.size(), 3u);
  EXPECT_EQ(graph.values[fused->kernels[0].args.back()].name, "i");
  EXPECT_EQ(graph.values[fused->kernels[1].args[0]].name, "i");
  EXPECT_EQ(fused->kernels[1].args.back(), fused->checks[0]);
}

TEST(IndexChecks, PlacesOnAnAxisNoLongerThanThatOfTheDataAreValid) {
  const auto count = [](const std::string& op, const std::string& dim) {
    Graph graph = Parse(absl::Substitute(R"(
graph @g(%x: f32[2, n], %z: f32[2, $1]) -> (%y) {
  symbol n in 4..9
  const %k: i64[1] = [3]
  const %s: i64[2] = [2, 3]
  $0
  %t: i64[3, 2] = Transpose(%i) {perm=[1, 0]}
  %r: i64[2, 3] = Transpose(%t) {perm=[1, 0]}
  %y: f32[2, 3] = GatherElements(%z, %r) {axis=-1}
})",
                                         op, dim));
    const absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(graph);
    EXPECT_TRUE(checks.ok()) << checks.status();
    return checks.ok() ? checks->size() : 99;
  };
  const std::string top = "_, %i: i64[2, 3] = TopK(%x, %k)";
  EXPECT_EQ(count(top, "n"), 0);
  EXPECT_EQ(count(top, "9"), 0);
  EXPECT_EQ(count(top, "8"), 1);
  const std::string first =
      "%a: i64[2, 1] = ArgMin(%x) {axis=-1} "
      "%i: i64[2, 3] = Expand(%a, %s)";
  EXPECT_EQ(count(first, "n + 1"), 0);
  EXPECT_EQ(count(first, "n - 1"), 1);
  EXPECT_EQ(count("%i: i64[2, 3] = Cast(%x) {to=7}", "n"), 1);
}

// x[table[i]]: the check of i is left, and that of the table's elements where they may not fit.
TEST(IndexChecks, WhatATableHoldsIsKnown) {
  const auto count = [](const std::string& table, int rows) {
    Graph graph = Parse(absl::Substitute(R"(
graph @g(%x: f32[$1, 3], %i: i64[2, 1]) -> (%y) {
  const %table: i64[4] = [$0]
  %t: i64[2, 1] = Gather(%table, %i) {axis=0}
  %s: i64[2] = Squeeze(%t)
  %y: f32[2, 3] = Gather(%x, %s) {axis=0}
})",
                                         table, rows));
    const absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(graph);
    EXPECT_TRUE(checks.ok()) << checks.status();
    return checks.ok() ? checks->size() : 99;
  };
  EXPECT_EQ(count("5, 0, 8, 2", 9), 1);
  EXPECT_EQ(count("5, 0, 8, 2", 8), 2);
  EXPECT_EQ(count("5, -1, 8, 2", 9), 2);
}

// The other result of a MaxPool is no element of the table: a place in it.
TEST(IndexChecks, PlacesInATableAreNotItsElements) {
  Graph graph = Parse(R"(
graph @g(%x: f32[2, 3]) -> (%y) {
  const %table: i8[1, 1, 4] = [1, 0, 0, 1]
  _, %i: i64[1, 1, 2] = MaxPool(%table) {kernel_shape=[2], strides=[2]}
  %y: f32[1, 1, 2, 3] = Gather(%x, %i) {axis=0}
})");
  const absl::StatusOr<std::vector<ValueId>> checks = AddMainChecks(graph);
  ASSERT_TRUE(checks.ok()) << checks.status();
  EXPECT_EQ(checks->size(), 1);
}

// A loop that reads row after row: trips, start, and step of its counter.
size_t ChecksOfRows(const std::string& trips, int start, int step,
                    const std::string& next = "Add(%i, %one)") {
  Graph graph = Parse(absl::Substitute(R"(
graph @g(%x: f32[n, 3], %v: f32[3]) -> (%y) {
  symbol n in 4..8
  const %zero: i64[] = [$1]
  const %one: i64[] = [$2]
  %trip: i64[] elements($0) = Elements()
  _, %y: f32[3] = Repeat(%trip, _, %zero, %v)
    region body(%i: i64[], %s: f32[3]) -> (%j, %t) {
      %r: f32[3] = Gather(%x, %i) {axis=-2}
      %t: f32[3] = Add(%s, %r)
      %j: i64[] = $3
    }
})",
                                       trips, start, step, next));
  absl::StatusOr<RegionChecks> checks = AddIndexCheckNodes(graph);
  EXPECT_TRUE(checks.ok()) << checks.status();
  EXPECT_TRUE((*checks)[graph.main].empty());
  size_t count = 0;
  for (const auto& [region, results] : *checks) count += results.size();
  return count;
}

TEST(IndexChecks, TheNumberOfARoundIsKnownToBeInRange) {
  EXPECT_EQ(ChecksOfRows("n", 0, 1), 0);
  EXPECT_EQ(ChecksOfRows("4", 0, 1), 0);
  EXPECT_EQ(ChecksOfRows("n + 1", 0, 1), 1);
  EXPECT_EQ(ChecksOfRows("5", 0, 1), 1);  // of four rows, perhaps
  EXPECT_EQ(ChecksOfRows("n", 1, 1), 1);
  EXPECT_EQ(ChecksOfRows("n", 0, 2), 1);
  // Whatever op adds the step: what it computes tells.
  EXPECT_EQ(ChecksOfRows("n", 0, 1, "Sum(%one, %i)"), 0);
  EXPECT_EQ(ChecksOfRows("n", 0, 1, "Sub(%i, %one)"), 1);
  EXPECT_EQ(ChecksOfRows("n", 0, 1, "Sum(%one, %i, %i)"), 1);
}

}  // namespace
}  // namespace aotc
