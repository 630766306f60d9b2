#include "compiler/ops/automaton.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/ops/regex_syntax.h"
#include "compiler/ops/unicode_case.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using Text = std::vector<int32_t>;  // code points

bool IsWord(const Text& text, size_t at) {
  if (at >= text.size()) return false;
  const int32_t c = text[at];
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool HoldsAt(RegexPlace place, const Text& text, size_t at) {
  const bool boundary = (at > 0 && IsWord(text, at - 1)) != IsWord(text, at);
  switch (place) {
    case RegexPlace::kTextBegin: return at == 0;
    case RegexPlace::kTextEnd: return at == text.size();
    case RegexPlace::kLineBegin: return at == 0 || text[at - 1] == '\n';
    case RegexPlace::kLineEnd: return at == text.size() || text[at] == '\n';
    case RegexPlace::kWordBoundary: return boundary;
    case RegexPlace::kNoWordBoundary: return !boundary;
  }
  return false;
}

using Places = std::set<size_t>;

Places Ends(const RegexNode& node, const Text& text, const Places& begins);

Places EndsOfRepeat(const RegexNode& node, const Text& text, const Places& begins) {
  Places current = begins;
  for (int i = 0; i < node.least; ++i) current = Ends(node.children[0], text, current);
  Places all = current;
  const int most = node.most == RegexNode::kUnbounded ? 100 : node.most;
  for (int i = node.least; i < most; ++i) {
    current = Ends(node.children[0], text, current);
    const size_t before = all.size();
    all.insert(current.begin(), current.end());
    if (all.size() == before && node.most == RegexNode::kUnbounded) break;
  }
  return all;
}

// Where what the node matches may end, from each of several places: the meaning of a tree.
Places Ends(const RegexNode& node, const Text& text, const Places& begins) {
  Places ends;
  switch (node.kind) {
    case RegexNode::Kind::kOne:
      for (size_t at : begins) {
        if (at < text.size() && node.set.Contains(text[at])) ends.insert(at + 1);
      }
      return ends;
    case RegexNode::Kind::kPlace:
      for (size_t at : begins) {
        if (HoldsAt(node.place, text, at)) ends.insert(at);
      }
      return ends;
    case RegexNode::Kind::kSequence:
      ends = begins;
      for (const RegexNode& child : node.children) ends = Ends(child, text, ends);
      return ends;
    case RegexNode::Kind::kAlternative:
      for (const RegexNode& child : node.children) ends.merge(Ends(child, text, begins));
      return ends;
    case RegexNode::Kind::kRepeat: return EndsOfRepeat(node, text, begins);
  }
  return ends;
}

// All texts of up to four of a few characters.
std::vector<Text> SomeTexts() {
  constexpr int32_t kAlphabet[] = {'a', '_', '\n', 0xE9, 0x1F600};
  std::vector<Text> texts = {{}};
  for (size_t i = 0; i < texts.size() && texts[i].size() < 4; ++i) {
    for (const int32_t code : kAlphabet) {
      texts.push_back(texts[i]);
      texts.back().push_back(code);
    }
  }
  return texts;
}

std::string Utf8(const Text& text) {
  std::string bytes;
  for (const int32_t code : text) bytes += EncodeUtf8(code);
  return bytes;
}

// A pattern of some depth.
std::string RandomPattern(std::mt19937& random, int depth) {
  const auto pick = [&](const std::vector<std::string>& items) {
    return items[random() % items.size()];
  };
  const std::vector<std::string> atoms = {"a",      "_",      "é",   ".",   "\\w",       "\\W",
                                          "[^a]",   "[a-é]",  "^",   "$",   "\\b",       "\\B",
                                          "(?m:^)", "(?m:$)", "\\A", "\\z", "(?s:.)",    "\\n",
                                          "(?i:A)", "[\\s_]", "",    "a|_", "[^\\n😀é]", "😀"};
  const std::vector<std::string> repeats = {"",  "",    "",      "*",    "+",
                                            "?", "{2}", "{1,2}", "{2,}", "*?"};
  std::string pattern;
  for (size_t i = 0, count = random() % 4; i < count; ++i) {
    const bool is_group = depth > 0 && random() % 3 == 0;
    const std::string atom = is_group ? RandomPattern(random, depth - 1) : pick(atoms);
    StrAppend(&pattern, "(?:", atom, ")", pick(repeats), random() % 6 == 0 ? "|" : "");
  }
  return pattern;
}

TEST(Automaton, OfARandomPatternMatchesWhatItsTreeMeans) {
  std::mt19937 random(1);
  const std::vector<Text> texts = SomeTexts();
  int matches = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string pattern = RandomPattern(random, 2);
    const absl::StatusOr<RegexNode> tree = ParseRegex(pattern);
    ASSERT_TRUE(tree.ok()) << pattern << ": " << tree.status();
    const absl::StatusOr<Automaton> automaton = RegexAutomaton(pattern);
    ASSERT_TRUE(automaton.ok()) << pattern << ": " << automaton.status();
    for (const Text& text : texts) {
      const bool expected = Ends(*tree, text, {0}).contains(text.size());
      ASSERT_EQ(automaton->Run(Utf8(text)), expected ? 1 : 0) << pattern << " and " << Utf8(text);
      matches += expected ? 1 : 0;
    }
  }
  EXPECT_GT(matches, 500);
}

std::string ErrorOf(std::string_view pattern) {
  return std::string(RegexAutomaton(pattern).status().message());
}

TEST(Automaton, SaysWhereAPatternIsWrong) {
  EXPECT_EQ(ErrorOf("ab("), "the pattern has a group that is not closed at byte 3");
  EXPECT_EQ(ErrorOf("a)"), "the pattern has a ')' without its '(' at byte 1");
  EXPECT_EQ(ErrorOf("a**"), "the pattern has a repetition of a repetition at byte 3");
  EXPECT_EQ(ErrorOf("*a"), "the pattern has nothing to repeat at byte 1");
  EXPECT_EQ(ErrorOf("x{1001}"), "the pattern has a count that is out of range at byte 7");
  EXPECT_EQ(ErrorOf("[a"), "the pattern has a class that is not closed at byte 2");
  EXPECT_EQ(ErrorOf("[b-a]"), "the pattern has a range that ends before it begins at byte 4");
  EXPECT_EQ(ErrorOf("(a)\\1"), "the pattern has a back-reference at byte 4");
  EXPECT_EQ(ErrorOf("a(?=b)"), "the pattern has an unknown kind of group at byte 3");
  EXPECT_EQ(ErrorOf("\\pL"), "the pattern has a Unicode class at byte 0, which is not supported");
}

TEST(Automaton, IsRefusedWhereItTakesTooManyStates) {
  EXPECT_EQ(ErrorOf("(a|b)*a(a|b){16}"), "the pattern takes an automaton of more than 4000 states");
}

TEST(Automaton, OfADictionaryGivesPlaces) {
  const std::vector<std::string> keys = {"b", "", "abc", "é", "ab"};
  const absl::StatusOr<Automaton> automaton = DictionaryAutomaton(keys);
  ASSERT_TRUE(automaton.ok());
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(automaton->Run(keys[i]), static_cast<int64_t>(i));
  }
  for (const char* other : {"a", "abcd", "bb", "\xC3", "z"}) EXPECT_EQ(automaton->Run(other), 5);
}

TEST(CaseTable, MapsLettersOfAllLengths) {
  const CaseTable upper(Case::kUpper), lower(Case::kLower);
  EXPECT_EQ(upper.Of("straße ÿ ⱥ ı"), "STRAßE Ÿ Ⱥ I");
  EXPECT_EQ(lower.Of("STRAßE Ÿ Ⱥ İ"), "straße ÿ ⱥ i");
  EXPECT_EQ(upper.Of("\xFF"
                     "a"),
            "\xFF"
            "A");
}

}  // namespace
}  // namespace aotc
