#include "compiler/plan/pool_option.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

std::string Error(const std::vector<PoolOption>& pools) {
  return std::string(CheckPoolOptions(pools).message());
}

TEST(PoolOption, HasANameAndMayHaveALimit) {
  const absl::StatusOr<PoolOption> fast = ParsePoolOption("fast=65536");
  ASSERT_TRUE(fast.ok()) << fast.status();
  EXPECT_EQ(fast->name, "fast");
  EXPECT_EQ(fast->limit, 65536);
  EXPECT_EQ(ParsePoolOption("fast=64K")->limit, 65536);
  const absl::StatusOr<PoolOption> slow = ParsePoolOption("slow");
  ASSERT_TRUE(slow.ok()) << slow.status();
  EXPECT_EQ(slow->name, "slow");
  EXPECT_EQ(slow->limit, std::nullopt);
}

TEST(PoolOption, LimitsAreNumbersOfBytes) {
  for (const char* text :
       {"a=", "a=x", "a=-1", "a=1.5", "a=64k", "a=K", "a=99999999999999999999"}) {
    EXPECT_EQ(ParsePoolOption(text).status().message(),
              std::string("--pool ") + text +
                  ": expected NAME=BYTES, such as fast=65536 or fast=64K, or NAME for a last pool "
                  "without a limit");
  }
}

TEST(PoolOption, NamesAreIdentifiersOfTheirOwn) {
  EXPECT_EQ(Error({}), "");
  EXPECT_EQ(Error({{"fast", 64}, {"slow_2", 1}, {"rest", std::nullopt}}), "");
  for (const char* name : {"", "int", "a b", "9a", "a-b", "_a", "a__b", "é", "near"}) {
    EXPECT_NE(Error({{name, 64}}).find("a member of a C struct"), std::string::npos) << name;
  }
  EXPECT_EQ(Error({{"fast", 64}, {"Fast", 64}}),
            "--pool Fast: there is a pool of this name; hint: give names that differ in more than "
            "their case");
}

TEST(PoolOption, OnlyTheLastHasNoLimit) {
  EXPECT_EQ(Error({{"a", std::nullopt}, {"b", 64}}),
            "--pool a: no pool comes behind one without a limit; hint: --pool a=BYTES, or give it "
            "last");
  EXPECT_EQ(Error({{"a", 0}}),
            "--pool a: a pool of no bytes; hint: give the bytes of the memory, or leave it out");
}

}  // namespace
}  // namespace aotc
