// The records of the targets: what they state, and which flags they refuse.
#include "compiler/targets/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(std::string_view name, const TargetOptions& options = {}) {
  return std::string(MakeTarget(name, options).status().message());
}

TEST(Targets, EachIsAskedByItsNameAlone) {
  EXPECT_THAT(TargetNames(), ElementsAre("cpu", "cuda"));
  EXPECT_EQ(ErrorOf("npu"), "unknown target 'npu'; known: cpu, cuda");
  for (const std::string& name : TargetNames()) {
    const absl::StatusOr<Target> target = MakeTarget(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->name, name);
    EXPECT_EQ(target->host.target, name);
    EXPECT_TRUE(target->estimate && target->schedule && target->kernel_files);
    EXPECT_TRUE(target->host.sources && target->host.functions && target->host.usage);
    EXPECT_EQ(target->host.has_device, !target->emulation_flags.empty());
  }
}

TEST(Targets, LayoutsInBlocksAreForTileFunctionsAlone) {
  EXPECT_EQ(MakeTarget("cpu")->contracts.channel_block, 16);
  EXPECT_EQ(MakeTarget("cpu", {.templates = false})->contracts.channel_block, 0);
  EXPECT_EQ(MakeTarget("cuda")->contracts.channel_block, 0);
}

TEST(Targets, FlagsAreCheckedWhateverTheTarget) {
  for (const std::string& name : TargetNames()) {
    EXPECT_THAT(ErrorOf(name, {.cpu = "sparc"}), HasSubstr("unknown instruction set 'sparc'"));
    EXPECT_THAT(ErrorOf(name, {.archs = {"x1"}}), HasSubstr("unknown GPU 'x1'"));
    EXPECT_THAT(ErrorOf(name, {.disabled = {"fast"}}), HasSubstr("unknown schedule 'fast'"));
  }
}

TEST(Targets, PoolsAreOfTheHost) {
  EXPECT_EQ(MakeTarget("cpu")->refuses_pools, "");
  EXPECT_THAT(MakeTarget("cuda")->refuses_pools, HasSubstr("one device arena; hint: "));
}

TEST(Targets, SchedulesOfSeveralTargetsAreListedOnce) {
  std::vector<std::string> seen;
  for (const ScheduleRow& row : AllSchedules()) {
    EXPECT_EQ(std::ranges::count(seen, row.name), 0) << row.name;
    seen.emplace_back(row.name);
    const bool both = row.name == "depthwise_tile" || row.name == "attention";
    EXPECT_EQ(row.targets == "cpu cuda", both) << row.name;
  }
  EXPECT_TRUE(CheckSchedules({seen.begin(), seen.end()}).ok());
}

}  // namespace
}  // namespace aotc
