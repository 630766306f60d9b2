#include "tests/golden_runner/golden_case.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr char kTestMark[] = "// test ";
constexpr char kExpectMark[] = "// ---- expect";
constexpr char kPieceMark[] = "// ----";

SubtestLine ParseSubtestLine(absl::string_view text) {
  SubtestLine line{.text = std::string(text)};
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
    if (line.name.empty()) {
      line.name = std::string(word);
    } else if (absl::StrContains(word, "=")) {
      line.options.insert(parts);
    } else {
      line.words.push_back(std::string(word));
    }
  }
  return line;
}

}  // namespace

int64_t SubtestLine::Number(const std::string& option, int64_t fallback) const {
  const auto found = options.find(option);
  int64_t value = fallback;
  AOTC_CHECK(found == options.end() || absl::SimpleAtoi(found->second, &value)) << text;
  return value;
}

std::string WithoutComments(std::string_view text) {
  std::string result;
  for (absl::string_view line : absl::StrSplit(View(text), '\n')) {
    const absl::string_view content = absl::StripLeadingAsciiWhitespace(line);
    if (!content.empty() && !absl::StartsWith(content, "//")) StrAppend(&result, line, "\n");
  }
  return result;
}

std::vector<std::string> GoldenCase::Pieces() const {
  std::vector<std::string> pieces = {""};
  std::string newlines;
  for (absl::string_view line : absl::StrSplit(input, '\n')) {
    if (line == kPieceMark) {
      pieces.push_back(newlines);
    } else {
      StrAppend(&pieces.back(), line);
    }
    pieces.back() += '\n';
    newlines += '\n';
  }
  return pieces;
}

absl::StatusOr<GoldenCase> ParseGoldenCase(std::string_view place, std::string_view text) {
  GoldenCase golden{.place = std::string(place)};
  std::string* section = &golden.input;
  std::vector<absl::string_view> lines = absl::StrSplit(View(text), '\n');
  if (lines.back().empty()) lines.pop_back();
  for (absl::string_view line : lines) {
    if (absl::ConsumePrefix(&line, kExpectMark)) {
      section = &golden.expected[std::string(absl::StripAsciiWhitespace(line))];
      continue;
    }
    StrAppend(section, line, "\n");
    if (section == &golden.input && absl::ConsumePrefix(&line, kTestMark))
      golden.subtests.push_back(ParseSubtestLine(absl::StripAsciiWhitespace(line)));
  }
  if (golden.subtests.empty())
    return absl::InvalidArgumentError(StrCat(place, ": no line '// test ...'"));
  // A lone section belongs to the lone sub-test.
  if (auto lone = golden.expected.extract(""); !lone.empty()) {
    if (golden.subtests.size() > 1 || !golden.expected.empty())
      return absl::InvalidArgumentError(StrCat(place, ": a section does not say its sub-test"));
    lone.key() = golden.subtests[0].text;
    golden.expected.insert(std::move(lone));
  }
  return golden;
}

std::string PrintGoldenCase(const GoldenCase& golden,
                            const std::map<std::string, std::string>& actual) {
  std::string text = golden.input;
  for (const SubtestLine& line : golden.subtests) {
    const auto found = actual.find(line.text);
    if (found == actual.end()) continue;
    const std::string name = golden.subtests.size() > 1 ? StrCat(" ", line.text) : "";
    StrAppend(&text, kExpectMark, name, "\n", found->second);
  }
  return text;
}

}  // namespace aotc
