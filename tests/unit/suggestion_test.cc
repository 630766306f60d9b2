#include "compiler/support/suggestion.h"

#include <random>

#include "compiler/support/strings.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(EditDistance, CountsChanges) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("abc", "acb"), 1);  // neighbours exchanged
  EXPECT_EQ(EditDistance("abc", "ab"), 1);
  EXPECT_EQ(EditDistance("abc", "xbc"), 1);
  EXPECT_EQ(EditDistance("ca", "abc"), 3);  // no byte is touched twice
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

// The same by its definition, without a table.
int ByDefinition(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
  int least = ByDefinition(a.substr(1), b.substr(1)) + (a[0] != b[0]);
  least = std::min(least, ByDefinition(a.substr(1), b) + 1);
  least = std::min(least, ByDefinition(a, b.substr(1)) + 1);
  const bool exchanged = a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0];
  if (exchanged) least = std::min(least, ByDefinition(a.substr(2), b.substr(2)) + 1);
  return least;
}

TEST(EditDistance, IsThatOfItsDefinition) {
  std::mt19937 rng(1);
  const auto drawn = [&] {
    std::string word(rng() % 6, ' ');
    for (char& letter : word) letter = "abc"[rng() % 3];
    return word;
  };
  for (int i = 0; i < 500; ++i) {
    const std::string a = drawn(), b = drawn();
    EXPECT_EQ(EditDistance(a, b), ByDefinition(a, b)) << a << ", " << b;
  }
}

TEST(Meant, NearWordsAreAndFarOnesAreNot) {
  const std::vector<std::string> known = {"--target", "--target-arch", "contract_tile", "fuse"};
  EXPECT_EQ(Meant("--taget", known), "--target");
  EXPECT_EQ(Meant("--Target", known), "--target");
  EXPECT_EQ(Meant("contract-tile", known), "contract_tile");
  EXPECT_EQ(Meant("fues", known), "fuse");
  EXPECT_EQ(Meant("contr", known), "contract_tile");  // the only one that begins so
  EXPECT_EQ(Meant("--t", known), "");                 // two begin so
  EXPECT_EQ(Meant("lower", known), "");
  EXPECT_EQ(Meant("", known), "");
  EXPECT_EQ(Meant("unk__3", {"unk__1", "unk__2"}), "");
  EXPECT_EQ(Meant("conv_1", {"conv1", "conv2"}), "conv1");
  EXPECT_EQ(Meant(std::string(1000, 'x'), known), "");
  EXPECT_EQ(Meant("x", {}), "");
}

TEST(UnknownName, SaysWhatIsMeantOrAllThereIs) {
  EXPECT_EQ(UnknownName("pass", "fuze", {"fold", "fuse"}),
            "unknown pass 'fuze'; did you mean 'fuse'?");
  EXPECT_EQ(UnknownName("pass", "x", {"fold", "fuse"}), "unknown pass 'x'; there are fold, fuse");
}

}  // namespace
}  // namespace aotc
