// Ways to find out whether a model still fails.
//
//   Check check = CompileCheck(options);
//   AOTC_ASSIGN_OR_RETURN(Failure failure, check("/tmp/candidate.onnx"));
//
// Each runs in a process of its own, so that a crash of ours is a failure like any other.
#ifndef AOTC_COMPILER_REDUCE_CHECK_H_
#define AOTC_COMPILER_REDUCE_CHECK_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/reduce/failure.h"
#include "compiler/verify/verify.h"

namespace aotc {

// What fails with the model in this file; nothing in it where all is well. Error: the check itself
// cannot be made.
using Check = std::function<absl::StatusOr<Failure>(const std::string& model)>;

// Errors of a compile; a crash, or no end within the seconds.
Check CompileCheck(const CompileOptions& options, int timeout_seconds);
// Errors of the compile, of the build and of the run, and results that differ: whatever value it
// is.
Check VerifyCheck(const VerifyOptions& options, int timeout_seconds);
// A command of the shell, to which the name of the model is added as last argument: exit code 0
// means that the model still fails in the way that is looked for, any other (and no end within the
// seconds) that it does not.
Check CommandCheck(const std::string& command, int timeout_seconds);

}  // namespace aotc

#endif  // AOTC_COMPILER_REDUCE_CHECK_H_
