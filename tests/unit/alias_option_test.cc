#include "compiler/layout/alias_option.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

AliasOption Parsed(const std::string& text) {
  const absl::StatusOr<AliasOption> option = ParseAliasOption(text);
  EXPECT_TRUE(option.ok()) << option.status().message();
  return option.ok() ? *option : AliasOption();
}

TEST(AliasOption, NamesAnOutputAndAnInput) {
  const AliasOption state = Parsed("h_out=h_in");
  EXPECT_EQ(state.output, "h_out");
  EXPECT_EQ(state.input, "h_in");
  EXPECT_EQ(state.axis, std::nullopt);
  EXPECT_EQ(state.InputOf("h_out"), "h_in");
  EXPECT_EQ(state.InputOf("h_outer"), std::nullopt);
}

TEST(AliasOption, MayStateAnAxisAndItsCapacity) {
  const AliasOption cache = Parsed("present.0.key=past.0.key:2=1024");
  EXPECT_EQ(cache.output, "present.0.key");
  EXPECT_EQ(cache.input, "past.0.key");
  EXPECT_EQ(cache.axis, 2);
  EXPECT_EQ(cache.capacity, 1024);
  EXPECT_EQ(cache.Text(), "present.0.key=past.0.key:2=1024");
}

TEST(AliasOption, NamesMayHaveColonsAndEqualsSigns) {
  EXPECT_EQ(Parsed("cell/out:0=cell/in:0").output, "cell/out:0");
  EXPECT_EQ(Parsed("cell/out:0=cell/in:0").input, "cell/in:0");
  EXPECT_EQ(Parsed("cell/out:0=cell/in:0").axis, std::nullopt);
  EXPECT_EQ(Parsed("cell/out:0=cell/in:0:1=8").input, "cell/in:0");
  EXPECT_EQ(Parsed("cell/out:0=cell/in:0:1=8").axis, 1);
  EXPECT_EQ(Parsed("a=b=c").output, "a=b");
}

TEST(AliasOption, AStarStandsForTheSameTextOnBothSides) {
  const AliasOption caches = Parsed("present_*=past_*");
  EXPECT_EQ(caches.InputOf("present_key_3"), "past_key_3");
  EXPECT_EQ(caches.InputOf("present_"), "past_");
  EXPECT_EQ(caches.InputOf("logits"), std::nullopt);
  EXPECT_EQ(Parsed("*.new=old.*.state").InputOf("a.new"), "old.a.state");
  EXPECT_EQ(Parsed("aa*aa=*").InputOf("aaa"), std::nullopt);
}

TEST(AliasOption, OtherTextsAreRefused) {
  for (const char* text : {"", "a", "=b", "a=", "a*=b", "a=b*", "a**=b*", "a=b:1=0", "a=b:1=x",
                           "a=b:1=", "a=b:99=4", "a=b:1=99999999999999999999"}) {
    EXPECT_EQ(ParseAliasOption(text).status().message(),
              std::string("--alias ") + text +
                  ": expected OUTPUT=INPUT or OUTPUT=INPUT:AXIS=CAPACITY, with one * on both sides "
                  "or on none");
  }
}

}  // namespace
}  // namespace aotc
