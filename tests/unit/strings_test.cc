#include "compiler/support/strings.h"

#include <vector>

#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(Strings, CatTakesEveryKindOfText) {
  const std::string_view view = "view";
  std::string text = StrCat("a ", view, " ", std::string("b"), 3, View(view));
  EXPECT_EQ(text, "a view b3view");
  StrAppend(&text, view, 1.5);
  EXPECT_EQ(text, "a view b3viewview1.5");
}

TEST(Strings, JoinTakesItemsAndFormats) {
  EXPECT_EQ(StrJoin(std::vector<int>{1, 2, 3}, ", "), "1, 2, 3");
  EXPECT_EQ(StrJoin(std::vector<std::string_view>{"a", "b"}, "x"), "axb");
  EXPECT_EQ(StrJoin(std::vector<int>{}, ", "), "");
  EXPECT_EQ(StrJoin(std::vector<int>{1, 2}, "-", [](int i) { return i * 10; }), "10-20");
}

}  // namespace
}  // namespace aotc
