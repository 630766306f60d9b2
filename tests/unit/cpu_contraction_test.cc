#include "absl/strings/str_format.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_schedules.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

ProgramKernel Scheduled(std::string_view text) {
  absl::StatusOr<Kernel> kernel = ParseKernel(text);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  if (!kernel.ok()) return {};
  const CpuOptions options{.isas = *ParseCpuList("x86-64-v3")};
  absl::StatusOr<ProgramKernel> scheduled = ScheduleOnCpu(*kernel, options);
  EXPECT_TRUE(scheduled.ok()) << scheduled.status();
  return scheduled.ok() ? *std::move(scheduled) : ProgramKernel();
}

TEST(CpuContraction, ColumnsThatLieTogetherAreTiled) {
  const ProgramKernel kernel = Scheduled(R"air(
    kernel @dense(in %x: f32[7, 32], const %w: f32[32, 48], out %y: f32[7, 48]) {
      %y[i<7, j<48] = reduce sum(k<32) %x[i, k] * %w[k, j]
    })air");
  ASSERT_FALSE(kernel.variants.empty());
  EXPECT_EQ(kernel.variants[0].realisation, "contract_tile");
}

// Rows 4096 bytes apart lie in one set of a cache of eight ways, as those of 3072 elements do.
TEST(CpuContraction, TilesHaveNoMoreRowsThanOneSetHolds) {
  const auto tile_rows = [](int64_t length) {
    absl::StatusOr<Kernel> kernel = ParseKernel(absl::StrFormat(R"air(
      kernel @dense(in %%x: f32[197, %d], const %%w: f32[%d, 768], out %%y: f32[197, 768]) {
        %%y[i<197, j<768] = reduce sum(k<%d) %%x[i, k] * %%w[k, j]
      })air",
                                                                length, length, length));
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    const absl::StatusOr<ProgramKernel> scheduled =
        ScheduleOnCpu(*kernel, {.isas = *ParseCpuList("x86-64-v4")});
    const absl::StatusOr<Schedule> schedule = ParseSchedule(scheduled->variants[0].schedule);
    return HeartOf(*schedule).params[0];
  };
  EXPECT_LE(tile_rows(3072), 8);
  EXPECT_GT(tile_rows(3088), 8) << "else the widest tile is best";
}

// A source file has the vectors of one instruction set: loops of fewer lanes would write as many.
TEST(CpuSchedules, HaveTheLanesOfTheirInstructionSet) {
  const ProgramKernel kernel = Scheduled(R"air(
    kernel @sum(in %x: f32[7, 64], out %y: f32[7, 64]) {
      %y[i<7, j<64] = %x[i, j] + 1.0
    })air");
  ASSERT_FALSE(kernel.variants.empty());
  const CpuOptions options{.isas = *ParseCpuList("x86-64-v3")};
  const auto by = [&](std::string_view loops) {
    const std::string text =
        StrCat("schedule { tasks %y()  %y @ tasks in fragment by ", loops, " }");
    return CpuVariantBy(kernel.kernel, kernel.variants[0], text, options).status();
  };
  EXPECT_TRUE(by("loops(8)").ok()) << by("loops(8)");
  EXPECT_TRUE(by("loops(1)").ok()) << by("loops(1)");
  EXPECT_EQ(by("loops(4)").message(), "loops(4): vectors of x86-64-v3 have 8 lanes");
  for (const ScheduleCandidate& candidate :
       CpuCandidatesOf(kernel.kernel, kernel.variants[0], options)) {
    EXPECT_TRUE(CpuVariantBy(kernel.kernel, kernel.variants[0], candidate.schedule, options).ok())
        << candidate.schedule;
  }
}

// Vectors of the last channels may overlap, unless results could lie where an operand did.
TEST(CpuContraction, DepthwiseOfChannelsThatAreNoWholeVectors) {
  const auto realisation = [](std::string_view operand, std::string_view result) {
    const std::string text = StrCat(R"air(
      kernel @depthwise(in %x: f32[1, 20, 8, 8](0, 2, 3, 1; halo 2:1+1 3:1+1 fill 0),
                        const %w: f32[20, 1, 3, 3],)air",
                                    operand, R"air(
                        out %y: f32[1, 20, 8, 8](0, 2, 3, 1)) {
        temp %acc: f32[1, 20, 8, 8]
        %acc[n<1, c<20, h<8, w<8] =
            reduce sum(k<1, p<3, q<3) %x[0, c, h + p - 1, w + q - 1] * %w[c, 0, p, q]
        %y[n<1, c<20, h<8, w<8] = )air",
                                    result, "\n}");
    const ProgramKernel kernel = Scheduled(text);
    return kernel.variants.empty() ? "" : kernel.variants[0].realisation;
  };
  EXPECT_EQ(realisation("", "max(%acc[0, c, h, w], 0.0)"), "depthwise_tile");
  EXPECT_EQ(
      realisation("in %r: f32[1, 20, 8, 8](0, 2, 3, 1),", "%acc[0, c, h, w] + %r[0, c, h, w]"),
      "vector_loops");
}

// Channels that a reduction finds anywhere are gathered; two reductions are not.
TEST(CpuContraction, StepsOfOneReductionAreGathered) {
  const auto realisation = [](int64_t taps, std::string_view channel) {
    const std::string at = taps == 1 ? "0, 0" : "p, q", pixel = taps == 1 ? "h, w" : "h + p, w + q";
    const std::string window = taps == 1 ? "" : ", p<3, q<3";
    const ProgramKernel kernel =
        Scheduled(StrCat(R"air(
      kernel @shuffled(in %x: f32[1, 20, 8, 8](0, 2, 3, 1), const %w: f32[24, 9, )air",
                         taps, ", ", taps, R"air(],
                       out %y: f32[1, 24, 6, 6](0, 2, 3, 1)) {
        %y[n<1, c<24, h<6, w<6] =
            reduce sum(k<9)air",
                         window, ") %x[0, ", channel, ", ", pixel, "] * %w[c, k, ", at, "]\n}"));
    return kernel.variants.empty() ? "" : kernel.variants[0].realisation;
  };
  EXPECT_EQ(realisation(1, "k + 11"), "contract_tile");
  EXPECT_EQ(realisation(1, "mod(k + 3, 4)*5 + floor_div(k + 3, 4)"), "contract_tile_gathered");
  EXPECT_EQ(realisation(3, "k + 11"), "contract_tile");
  EXPECT_EQ(realisation(3, "mod(k + 3, 4)*5 + floor_div(k + 3, 4)"), "vector_loops");
}

// The columns of a row-major image are its channels, and its pixels lie innermost: a tile would
// store a row of channels where pixels belong.
TEST(CpuContraction, PixelsAreNoColumns) {
  const ProgramKernel kernel = Scheduled(R"air(
    kernel @pointwise(in %x: f32[1, 32, 25, 5], const %w: f32[48, 32, 1, 1],
                      out %y: f32[1, 48, 25, 5]) {
      %y[n<1, c<48, h<25, v<5] = reduce sum(k<32) %x[0, k, h, v] * %w[c, k, 0, 0]
    })air");
  ASSERT_FALSE(kernel.variants.empty());
  EXPECT_EQ(kernel.variants[0].realisation, "row_products");
  EXPECT_EQ(kernel.variants[0].reason,
            "rows that multiply with one matrix share its loads; no contract_tile: the columns are "
            "not innermost in the output");
}

ProgramKernel OneColumn() {
  return Scheduled(R"air(
    kernel @dense(in %x: f32[7, 32], const %w: f32[1, 32], out %y: f32[7, 1]) {
      %y[i<7, j<1] = reduce sum(k<32) %x[i, k] * %w[0, k]
    })air");
}

// A single column has no loop, and the rows are what lies innermost: as columns they would be
// stored side by side, and all but the first from weights that are not there.
TEST(CpuContraction, RowsAreNoColumns) {
  const ProgramKernel kernel = OneColumn();
  ASSERT_FALSE(kernel.variants.empty());
  EXPECT_EQ(kernel.variants[0].realisation, "row_products");
  EXPECT_EQ(kernel.variants[0].reason,
            "rows that multiply with one matrix share its loads; no contract_tile: the only column "
            "has no axis of its own");
}

// Of bytes it has one, of one element: what stands behind the sums is computed with them.
TEST(CpuContraction, TheOnlyColumnOfBytesIsATile) {
  for (const char* rows : {"37", "1"}) {
    const ProgramKernel kernel =
        Scheduled(StrCat("kernel @bytes(in %x: u8[", rows, R"air(, 32],
                                 const %w: i8[32, 1], out %y: f32[)air",
                         rows, R"air(, 1]) {
        temp %sum: i32[)air",
                         rows, R"air(, 1]
        %sum[i<)air",
                         rows, R"air(, j<1] = reduce sum(k<32) i32(%x[i, k]) * i32(%w[k, 0])
        %y[i<)air",
                         rows, R"air(, j<1] = f32(%sum[i, 0]) * 0.5
      })air"));
    ASSERT_FALSE(kernel.variants.empty());
    EXPECT_EQ(kernel.variants[0].realisation, "contract_tile_int8");
  }
}

// A schedule from a file may say anything: a tile of fewer rows than the task has would leave some
// out.
TEST(CpuRowProducts, TilesHaveTheRowsOfTheTask) {
  const ProgramKernel kernel = OneColumn();
  ASSERT_FALSE(kernel.variants.empty());
  const CpuReading reading = ReadingOf(kernel.kernel, kernel.variants[0]);
  const Isa isa = ParseCpuList("x86-64-v3")->back();
  const auto apply = [&](std::string_view text) {
    return ApplyOnCpu(reading, *ParseSchedule(text), isa).status();
  };
  EXPECT_TRUE(apply("schedule { tasks %y(i:6)  %y @ tasks in scratch by row_dots(6, 1) }").ok());
  EXPECT_EQ(apply("schedule { tasks %y(i:6)  %y @ tasks in scratch by row_dots(4, 1) }").message(),
            "a task has 6 rows, row_dots 4");
}

// A tile hands over vectors: what cannot take them is computed in loops, from weights as they are.
TEST(CpuContraction, EpiloguesWithoutVectorFormAreLoopsBehindRowProducts) {
  const ProgramKernel kernel = Scheduled(R"air(
    kernel @bytes(in %x: u8[7, 32], const %w: i8[32, 48], out %y: u8[7, 48]) {
      temp %sum: i32[7, 48]
      %sum[i<7, j<48] = reduce sum(k<32) i32(%x[i, k]) * i32(%w[k, j])
      %y[i<7, j<48] = u8(%sum[i, j])
    })air");
  ASSERT_FALSE(kernel.variants.empty());
  EXPECT_EQ(kernel.variants[0].realisation, "row_products");
  EXPECT_EQ(kernel.variants[0].reason,
            "rows that multiply with one matrix share its loads; no contract_tile: the epilogue "
            "has no vector form");
  EXPECT_TRUE(kernel.packing.empty());
}

}  // namespace
}  // namespace aotc
