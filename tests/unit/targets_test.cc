// The records of the targets: what they state, and which flags they refuse.
#include "compiler/targets/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string ErrorOf(std::string_view name, const TargetOptions& options = {}) {
  return std::string(MakeTarget(name, options).status().message());
}

TEST(Targets, EachIsAskedByItsNameAlone) {
  EXPECT_THAT(TargetNames(), ElementsAre("cpu", "cuda"));
  EXPECT_EQ(ErrorOf("fpga"), "unknown target 'fpga'; there are cpu, cuda");
  EXPECT_EQ(ErrorOf("CUDA"), "unknown target 'CUDA'; did you mean 'cuda'?");
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

std::vector<std::string> ContractsOf(const TargetOptions& options, const AnchorSignature& anchor) {
  std::vector<std::string> contracts;
  for (const PricedContract& offer : MakeTarget("cpu", options)->contracts.offers(anchor)) {
    EXPECT_GT(offer.seconds, 0);
    contracts.push_back(PrintContract(offer.contract));
  }
  return contracts;
}

TEST(Targets, ContractsFollowTheAnchorAndTheSchedulesThatMayBeChosen) {
  AnchorSignature anchor{.form = Algorithm::kDirect,
                         .size = {.inputs = 64, .outputs = 64, .height = 56, .width = 56},
                         .suits_winograd = true};
  EXPECT_THAT(ContractsOf({}, anchor),
              IsSupersetOf({"direct, 16 -> 16", "direct, rows -> innermost",
                            "winograd(2), 16 -> 16", "winograd(4), 16 -> 16"}));
  EXPECT_THAT(ContractsOf({.disabled = {"winograd"}}, anchor),
              Not(Contains(HasSubstr("winograd"))));
  anchor.size.outputs = 1;
  EXPECT_THAT(ContractsOf({}, anchor), Not(Contains(HasSubstr("-> innermost"))));
  anchor = {.size = {.inputs = 30, .outputs = 8, .height = 4, .width = 1}, .is_integer = true};
  EXPECT_THAT(ContractsOf({}, anchor), ElementsAre("product, rows(4) -> rows"));
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
    constexpr std::string_view kBoth[] = {"depthwise_tile", "attention", "transpose_tile"};
    const bool both = std::ranges::count(kBoth, row.name) > 0;
    EXPECT_EQ(row.targets == "cpu cuda", both) << row.name;
  }
  EXPECT_TRUE(CheckSchedules({seen.begin(), seen.end()}).ok());
}

}  // namespace
}  // namespace aotc
