// Sub-tests: what a `// test NAME ...` line of a golden case runs.
//
//   SubtestResult RunRoundtrip(const GoldenCase& golden, const SubtestLine& line);
//
// One file each beside this one, and one line each in subtest.cc.
#ifndef AOTC_TESTS_GOLDEN_RUNNER_SUBTEST_H_
#define AOTC_TESTS_GOLDEN_RUNNER_SUBTEST_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tests/golden_runner/golden_case.h"

namespace aotc {

// The text to compare with the case's section, nothing where the sub-test compares by itself; or
// what is wrong.
using SubtestResult = absl::StatusOr<std::optional<std::string>>;

// Parses, verifies, prints: the text, where it differs from the input without its comments. Printed
// texts parse and print as themselves.
SubtestResult RunRoundtrip(const GoldenCase& golden, const SubtestLine& line);

// Evaluates on inputs drawn with `seed=N`, symbols set by `name=value`: the outputs, rounded.
SubtestResult RunEval(const GoldenCase& golden, const SubtestLine& line);

// Parsing or verification of every piece fails: the messages.
SubtestResult RunError(const GoldenCase& golden, const SubtestLine& line);

struct Subtest {
  std::string_view name;
  SubtestResult (*run)(const GoldenCase& golden, const SubtestLine& line);
};

// Null where there is none of that name.
const Subtest* FindSubtest(std::string_view name);

}  // namespace aotc

#endif  // AOTC_TESTS_GOLDEN_RUNNER_SUBTEST_H_
