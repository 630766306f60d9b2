// Calls of tile functions in interpreted loops: numbers, memory, and what must be refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/loops_text.h"
#include "compiler/targets/cpu/tiles.h"
#include "compiler/targets/cuda/tiles.h"
#include "tests/interpreter/run_loops.h"

namespace aotc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LoopFunction Parse(std::string_view text) {
  absl::StatusOr<LoopFunction> loops = ParseLoops(text);
  EXPECT_TRUE(loops.ok()) << loops.status();
  if (!loops.ok()) return {};
  EXPECT_TRUE(VerifyLoops(*loops).ok()) << VerifyLoops(*loops);
  return *std::move(loops);
}

// Runs on f32 memory.
absl::Status RunOn(const LoopFunction& loops, std::vector<std::vector<float>*> memory,
                   TileTable tiles = CpuTiles()) {
  absl::StatusOr<LoopRunner> runner = LoopRunner::Make(loops, tiles);
  if (!runner.ok()) return runner.status();
  std::vector<Memory> params;
  for (size_t i = 0; i < memory.size(); ++i) {
    params.push_back({.name = loops.buffers[loops.params[i]].name,
                      .data = reinterpret_cast<uint8_t*>(memory[i]->data()),
                      .elements = static_cast<int64_t>(memory[i]->size())});
  }
  return runner->Run(params, {});
}

constexpr std::string_view kProducts = R"(
loops @products(%a: f32, %b: f32, out %y: f32) tasks 1 {
  call row_products<4, 2> lanes 4 extents (2, 3, 2) {
    &%a[1] by (2, 1),
    &%b[0] by (3, 1),
    &%y[1] by (4, 1)
  }
})";

TEST(RunTile, ReadsAndWritesThroughViews) {
  std::vector<float> a = {99, 1, 2, 3, 4}, b = {1, 2, 3, 4, 5, 6}, y(8, -1);
  ASSERT_TRUE(RunOn(Parse(kProducts), {&a, &b, &y}).ok());
  EXPECT_THAT(y, ElementsAre(-1, 9, 12, 15, -1, 19, 26, 33));
}

TEST(RunTile, AccessesOutOfBoundsAreErrors) {
  std::vector<float> a(5), b(6), y(8), few_a(4), few_b(5), few_y(7);
  const LoopFunction loops = Parse(kProducts);
  EXPECT_THAT(RunOn(loops, {&few_a, &b, &y}).message(),
              HasSubstr("element 4 of a is read by a tile, of 4"));
  EXPECT_THAT(RunOn(loops, {&a, &few_b, &y}).message(),
              HasSubstr("element 5 of b is read by a tile, of 5"));
  EXPECT_THAT(RunOn(loops, {&a, &b, &few_y}).message(),
              HasSubstr("element 7 of y is written by a tile, of 7"));
}

TEST(RunTile, UnknownTilesAndTilesOfThreadsAreUnimplemented) {
  EXPECT_EQ(RunOn(Parse(kProducts), {}, {}).code(), absl::StatusCode::kUnimplemented);
  const LoopFunction shared = Parse(R"(
loops @total(out %y: f32) tasks 1 threads 32 {
  declare total = 1.0
  call warp_reduce<32> state (total) {
    combiner add = sum f32
  }
  store %y[0] = total
})");
  EXPECT_EQ(RunOn(shared, {}, CudaTiles()).code(), absl::StatusCode::kUnimplemented);
}

TEST(RunTile, ExtentsThatTheRowDoesNotAllowAreErrors) {
  const LoopFunction loops = Parse(R"(
loops @products(%a: f32, %b: f32, out %y: f32) tasks 1 {
  let count = 5
  call row_products<4, 2> lanes 4 extents (count, 1, 1) {
    &%a[0] by (1, 1),
    &%b[0] by (1, 1),
    &%y[0] by (1, 1)
  }
})");
  std::vector<float> a(9), b(9), y(9);
  EXPECT_THAT(RunOn(loops, {&a, &b, &y}).message(), HasSubstr("rows of a tile is 5"));
}

// Its epilogue has the variable `row` of the outside as a parameter, and starts from %start.
constexpr std::string_view kContract = R"(
loops @contract(%a: f32, %b: f32, %start: f32, out %y: f32) tasks 1 {
  let row = 3
  call contract_tile<2, 1, 1> lanes 4 extents (1, 1, 1, 2) {
    &%a[0] by (2, 0, 0, 0, 1),
    &%b[0] by (0, 0, 0, 4, 1),
    object epilogue {
      operator()(row: i64, vector: i64, acc: f32<4>) {
        store %y[row*4 + vector*4] = acc<4>
      }
      initial(row: i64, vector: i64) {
        return %start<4>[row*4, 1]
      }
    }
  }
  store %y[8] = f32(row)
})";

TEST(RunTile, EpiloguesTakeVectorsThatBeginWithWhatTheyGive) {
  std::vector<float> a = {1, 2, 3, 4}, b = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> start = {100, 0, 0, 0, 0, 0, 0, 200}, y(9);
  const absl::Status status = RunOn(Parse(kContract), {&a, &b, &start, &y});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(y, ElementsAre(111, 14, 17, 20, 23, 30, 37, 244, 3));
}

// A text that is no sum of products is evaluated as any kernel is.
TEST(RunTile, TextsOfOtherKinds) {
  static constexpr int64_t kSizes[] = {2};
  static constexpr TileParam kParams[] = {{"rows", kSizes}};
  static constexpr TileRow kRow = {
      .name = "largest",
      .header = "",
      .text =
          "kernel @largest(in %x: f32[rows, 3], out %y: f32[rows]) {\n  symbol rows in 1..2\n"
          "  %y[m<rows] = reduce max(k<3) %x[m, k]\n}",
      .params = kParams,
      .result = Fragment::kMemory,
      .call = "largest($x, $x.0, $y)",
      .summary = ""};
  const LoopFunction loops = Parse(R"(
loops @rows(%x: f32, out %y: f32) tasks 1 {
  call largest<2> lanes 1 {
    &%x[0] by (4, 1),
    &%y[0] by (1)
  }
})");
  std::vector<float> x = {1, 5, 2, 99, 7, 3, 4}, y(2);
  const absl::Status status = RunOn(loops, {&x, &y}, {&kRow, 1});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(y, ElementsAre(5, 7));
}

}  // namespace
}  // namespace aotc
