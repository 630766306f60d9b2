#include "compiler/schedule/schedule.h"

#include <gtest/gtest.h>

#include "compiler/ir/kernel_text.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/tiles.h"

namespace aotc {
namespace {

constexpr std::string_view kDense = R"air(
  kernel @dense(in %x: f32[7, 32], const %w: f32[32, 48], out %y: f32[7, 48]) {
    temp %acc: f32[7, 48]
    %acc[i<7, j<48] = reduce sum(k<32) %x[i, k] * %w[k, j]
    %y[i<7, j<48] = max(%acc[i, j], 0.0)
  })air";

std::string Complaint(std::string_view schedule) {
  const absl::StatusOr<Kernel> kernel = ParseKernel(kDense);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  const absl::StatusOr<Schedule> parsed = ParseSchedule(schedule);
  if (!parsed.ok()) return std::string(parsed.status().message());
  return std::string(VerifySchedule(*kernel, *parsed, CpuTiles()).message());
}

TEST(Schedule, IsItsText) {
  for (const std::string_view text :
       {"schedule { tasks %y()  %y @ tasks in fragment by loops(1) }",
        "schedule { tasks %y(n:1, h*w:64, c:32)  %acc, %y @ tasks in fragment by contract_tile(14, "
        "2, 1) }",
        "schedule { tasks %y(b*h:1, i:8)  %s @ tasks in scratch by row_dots(8)  %e @ tasks in "
        "scratch by loops(16)  %y @ tasks in place by row_products(8, 2) }"}) {
    const absl::StatusOr<Schedule> schedule = ParseSchedule(text);
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    EXPECT_EQ(PrintSchedule(*schedule), text);
  }
}

TEST(Schedule, OfTheKernelIsRight) {
  EXPECT_EQ(Complaint("schedule { tasks %y(i:4, j:48)  %acc, %y @ tasks in fragment by "
                      "contract_tile(4, 3, 1) }"),
            "");
}

TEST(Schedule, NamesWhatIsWrong) {
  const auto with = [](std::string_view tasks, std::string_view parts) {
    return StrCat("schedule { tasks ", tasks, "  ", parts, " }");
  };
  constexpr std::string_view kLoops = "%acc, %y @ tasks in fragment by loops(8)";
  EXPECT_EQ(Complaint(with("%z()", kLoops)), "schedule of dense: %z is not its result");
  EXPECT_EQ(Complaint(with("%y(m:1)", kLoops)), "schedule of dense: %y has no axis m");
  EXPECT_EQ(Complaint(with("%y(i:0)", kLoops)), "schedule of dense: a block of 0 of i");
  EXPECT_EQ(Complaint(with("%y(i:1, i:2)", kLoops)), "schedule of dense: axis i is cut twice");
  EXPECT_EQ(Complaint(with("%y()", "%y, %acc @ tasks in fragment by loops(8)")),
            "schedule of dense: its stages are acc, y, not y, acc");
  EXPECT_EQ(Complaint(with("%y()", "%acc, %y @ tasks in fragment by loops()")),
            "schedule of dense: loops takes 1 numbers from 1 to 1024");
  EXPECT_EQ(Complaint(with("%y()", "%acc, %y @ tasks in fragment by magic(8)")),
            "schedule of dense: the target has no tile 'magic'");
  EXPECT_EQ(Complaint(with("%y()", "%acc, %y @ tasks in fragment by contract_tile(15, 2, 1)")),
            "schedule of dense: tile contract_tile: rows is 15");
  EXPECT_EQ(Complaint(with("%y()", "%acc, %y @ tasks in registers by loops(8)")),
            "schedule:1:44: expected fragment, scratch or place");
  EXPECT_EQ(Complaint("schedule { tasks %y() }"), "schedule:1:24: a schedule without parts");
}

}  // namespace
}  // namespace aotc
