// A compiled model as a program of this machine: its sources, built by a host compiler, and run.
//
//   AOTC_ASSIGN_OR_RETURN(HostProgram program,
//                         HostProgram::Build(result, {.compiler = "g++"}));
//   AOTC_ASSIGN_OR_RETURN(std::vector<Constant> outputs, program.Run(inputs, like));
//
// Kernels of a device run emulated.
#ifndef AOTC_COMPILER_VERIFY_HOST_PROGRAM_H_
#define AOTC_COMPILER_VERIFY_HOST_PROGRAM_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/constant.h"
#include "compiler/support/files.h"
#include "compiler/support/subprocess.h"

namespace aotc {

struct HostBuildOptions {
  std::string compiler = {};  // words: "ccache g++"
  bool sanitize = false;      // address and undefined behaviour
};

// Error where the program ended with another exit code than 0, with the end of what it said.
absl::Status Succeeded(const ProcessResult& result, const std::string& what);

class HostProgram {
 public:
  // `compiled` has one source with a main, such as CompileOptions::example makes. The folder with
  // all that is built goes with the object. Error: what the compiler complains about; no such
  // compiler.
  static absl::StatusOr<HostProgram> Build(const CompileResult& compiled,
                                           const HostBuildOptions& options);

  // The outputs for these inputs; types and, where the files do not tell, dims are those of `like`.
  // Error: the program failed, with what it said.
  absl::StatusOr<std::vector<Constant>> Run(const std::vector<Constant>& inputs,
                                            const std::vector<Constant>& like) const;

  // Runs it in its folder.
  absl::StatusOr<ProcessResult> Execute(std::vector<std::string> arguments) const;
  // Beside it: what it reads and writes.
  const std::string& folder() const { return folder_.path(); }

 private:
  explicit HostProgram(TemporaryFolder folder) : folder_(std::move(folder)) {}

  TemporaryFolder folder_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_VERIFY_HOST_PROGRAM_H_
