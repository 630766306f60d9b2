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

// `pass a,b seed=1 key=value`: the graph after the passes, with settings as --config takes them. It
// evaluates to the same outputs as before on seeded inputs, and the passes change nothing when they
// run again.
SubtestResult RunPass(const GoldenCase& golden, const SubtestLine& line);

// `fuse cpu` or `fuse cuda`: decisions, views and kernels of the typed graph; run one after the
// other they give the graph's outputs on seeded inputs.
SubtestResult RunFuse(const GoldenCase& golden, const SubtestLine& line);

// `program cpu` or `program cuda`: buffers and steps of the program that the typed graph becomes,
// on plain loops; interpreted, they give the graph's outputs on seeded inputs.
SubtestResult RunProgramSteps(const GoldenCase& golden, const SubtestLine& line);

// `lower cpu=x86-64-v3` or `lower cuda`: the loops of each variant of a kernel, as scheduled for
// the target; they verify and round-trip. With the word `plain`: without tile functions.
SubtestResult RunLower(const GoldenCase& golden, const SubtestLine& line);

// `interpret seed=1 n=3`: the plain loops of a kernel with row-major tensors, for each instruction
// set, give what the evaluator gives and stay within their buffers.
SubtestResult RunInterpret(const GoldenCase& golden, const SubtestLine& line);

// `emit cpu=x86-64-v3` or `emit cuda`: the source text of the kernel's file, or files.
SubtestResult RunEmit(const GoldenCase& golden, const SubtestLine& line);

struct Subtest {
  std::string_view name;
  SubtestResult (*run)(const GoldenCase& golden, const SubtestLine& line);
};

// Null where there is none of that name.
const Subtest* FindSubtest(std::string_view name);

}  // namespace aotc

#endif  // AOTC_TESTS_GOLDEN_RUNNER_SUBTEST_H_
