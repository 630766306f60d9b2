#include "compiler/schedule/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDense = R"(
kernel @dense(in %x: f32[7, 512], const %w: f32[512, 40], in %bias: f32[40], out %y: f32[7, 40]) {
  temp %acc: f32[7, 40]
  %acc[i<7, j<40] = reduce sum(k<512) %x[i, k] * %w[k, j]
  %y[i<7, j<40] = max(%acc[i, j] + %bias[j], 0.0)
})";

constexpr const char* kSchedule =
    "schedule { tasks %y(i:7, j_o:2)  loop k:64  %acc @ k in scratch by contract_tile(7, 2, 1)  "
    "%y @ tasks in fragment by loops(16) }";

Kernel DenseKernel(const std::vector<std::pair<std::string, std::string>>& replacements = {}) {
  return *ParseKernel(absl::StrReplaceAll(kDense, replacements));
}

// The same kernel as another model's exporter would name it.
Kernel OtherNames() {
  return DenseKernel({{"@dense", "@fc"},
                      {"%x", "%m1"},
                      {"%w", "%m2"},
                      {"%bias", "%m3"},
                      {"%y", "%out"},
                      {"%acc", "%m4"},
                      {"i<", "n<"},
                      {"[i", "[n"},
                      {"k<", "r<"},
                      {"k]", "r]"},
                      {"[k", "[r"}});
}

TEST(Records, HaveTheAnchorOfAnyModelWithTheSameHeart) {
  EXPECT_EQ(AnchorSignature(DenseKernel()), AnchorSignature(OtherNames()));
}

TEST(Records, TellApartSizesTypesLayoutsAndEpilogues) {
  const std::string signature = AnchorSignature(DenseKernel());
  EXPECT_NE(signature, AnchorSignature(DenseKernel({{"512", "256"}})));
  EXPECT_NE(
      signature,
      AnchorSignature(DenseKernel({{"%w: f32", "%w: f16"}, {"* %w[k, j]", "* f32(%w[k, j])"}})));
  EXPECT_NE(signature,
            AnchorSignature(DenseKernel({{"%x: f32[7, 512]", "%x: f32[7, 512](1, 0)"}})));
  const Kernel alone = *ParseKernel(R"(
kernel @dense(in %x: f32[7, 512], const %w: f32[512, 40], out %acc: f32[7, 40]) {
  %acc[i<7, j<40] = reduce sum(k<512) %x[i, k] * %w[k, j]
})");
  EXPECT_NE(signature, AnchorSignature(alone));
}

TEST(Records, NameWhatTheScheduleOfAnotherModelNames) {
  const Schedule schedule = *ParseSchedule(kSchedule);
  const std::string text = PrintForAnyModel(schedule, DenseKernel());
  EXPECT_EQ(text,
            "schedule { tasks %s1(x0:7, x1_o:2)  loop x2:64  %s0 @ x2 in scratch by "
            "contract_tile(7, 2, 1)  %s1 @ tasks in fragment by loops(16) }");
  EXPECT_EQ(*ParseForKernel(text, DenseKernel()), schedule);
  EXPECT_EQ(PrintSchedule(*ParseForKernel(text, OtherNames())),
            "schedule { tasks %out(n:7, j_o:2)  loop r:64  %m4 @ r in scratch by "
            "contract_tile(7, 2, 1)  %out @ tasks in fragment by loops(16) }");
}

TEST(Records, RefuseNumbersThatAKernelDoesNotHave) {
  const auto error = [](std::string_view text) {
    return std::string(ParseForKernel(text, DenseKernel()).status().message());
  };
  EXPECT_EQ(error("schedule { tasks %s2(x0:7)  %s0 @ tasks in fragment by loops(16) }"),
            "no result s2");
  EXPECT_EQ(error("schedule { tasks %s1(x7:7)  %s0 @ tasks in fragment by loops(16) }"),
            "no axis x7");
}

TEST(Records, AreLinesThatCanBeReadAgain) {
  const ScheduleRecord a{
      .anchor = "a \"quoted\" one", .limits = "x86-64-v4", .schedule = kSchedule};
  ScheduleRecord b = a;
  b.compiler = "g++ 12";
  b.seconds = 1.5e-5;
  const auto records = ParseRecords(StrCat(PrintRecord(a), "\n\n", PrintRecord(b), "\n"));
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(*records, (std::vector<ScheduleRecord>{a, b}));
}

TEST(Records, AreNoOtherFile) {
  const auto error = [](const std::string& text) {
    return std::string(ParseRecords(text).status().message());
  };
  EXPECT_THAT(error("\n"), HasSubstr("--schedules: the file has no record"));
  EXPECT_THAT(error("{}"), HasSubstr("line 1 is no record: no text \"anchor\"; hint: `aotc"));
  EXPECT_THAT(error("[1]"), HasSubstr("line 1 is no record: no JSON object"));
  const ScheduleRecord bad{.anchor = "a", .limits = "", .schedule = "tasks"};
  EXPECT_THAT(error(StrCat("\n", PrintRecord(bad))), HasSubstr("line 2 is no record: "));
}

}  // namespace
}  // namespace aotc
