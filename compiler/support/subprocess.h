// Running other programs: compilers, and what they built. No shell takes part.
//
//   AOTC_ASSIGN_OR_RETURN(ProcessResult result, RunProcess({.argv = {"g++", "-c", "model.cpp"}}));
//   if (result.exit_code != 0) Report(result.output);
#ifndef AOTC_COMPILER_SUPPORT_SUBPROCESS_H_
#define AOTC_COMPILER_SUPPORT_SUBPROCESS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

struct ProcessOptions {
  std::vector<std::string> argv = {};         // the program is looked up in PATH
  std::string folder = {};                    // to run in; "" is the present one
  std::vector<std::string> environment = {};  // "NAME=value", added to the present one
  int timeout_seconds = 600;
};

struct ProcessResult {
  int exit_code = 0;        // 128 + n where signal n ended it
  std::string output = {};  // standard output and error together, in order
};

// Runs to the end. Errors: the program does not exist, or did not end in time and was killed.
absl::StatusOr<ProcessResult> RunProcess(const ProcessOptions& options);

// Runs `body` in a copy of this process, whose end, however sudden, leaves this one alone: its
// result is the exit code, what it writes to standard output and error is the output. Error: it did
// not end in time and was killed.
absl::StatusOr<ProcessResult> RunForked(const std::function<int()>& body, int timeout_seconds);

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_SUBPROCESS_H_
