// One file of tests/golden: what is tested, on which text, and what is expected.
//
//   // Why this case exists.
//   // test roundtrip
//   // test eval seed=1 m=7
//   kernel @k(...) { ... }
//   // ---- expect eval seed=1 m=7
//   %y: f32[7] = ...
//
// Each `// test` line picks a sub-test with its arguments. A sub-test that gives a text compares it
// with the section whose divider repeats the line; the word after `expect` may be left out where
// the file has one section only. A line `// ----` alone parts inputs that are tested one by one.
// Lines keep their numbers, so that messages point into the file.
#ifndef AOTC_TESTS_GOLDEN_RUNNER_GOLDEN_CASE_H_
#define AOTC_TESTS_GOLDEN_RUNNER_GOLDEN_CASE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace aotc {

struct SubtestLine {
  std::string name = {};                            // "eval"
  std::vector<std::string> words = {};              // those without "="
  std::map<std::string, std::string> options = {};  // those with: seed -> 1
  std::string text = {};                            // the whole of it: "eval seed=1"

  // An option as a number, or `fallback`.
  int64_t Number(const std::string& option, int64_t fallback) const;
};

struct GoldenCase {
  std::string place = {};  // relative to tests/golden
  std::vector<SubtestLine> subtests = {};
  std::string input = {};                            // up to the first divider
  std::map<std::string, std::string> expected = {};  // by SubtestLine::text

  // The inputs between lines `// ----`, each after as many newlines as keep its line numbers.
  std::vector<std::string> Pieces() const;
};

// The text without comment lines and blank lines.
std::string WithoutComments(std::string_view text);

absl::StatusOr<GoldenCase> ParseGoldenCase(std::string_view place, std::string_view text);
// The file with other expectations, in the order of its sub-tests.
std::string PrintGoldenCase(const GoldenCase& golden,
                            const std::map<std::string, std::string>& actual);

}  // namespace aotc

#endif  // AOTC_TESTS_GOLDEN_RUNNER_GOLDEN_CASE_H_
