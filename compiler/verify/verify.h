// Whether a compiled model computes what the model states: builds it for this machine, runs it, and
// compares with the reference evaluator and with test data.
//
//   VerifyOptions options{.compile = {.model_path = "net.onnx"}, .build = {.compiler = "g++"}};
//   AOTC_ASSIGN_OR_RETURN(VerifyReport report, Verify(options, diagnostics));
//   report.results   // an entry per run and output; what is wrong is in the diagnostics too
#ifndef AOTC_COMPILER_VERIFY_VERIFY_H_
#define AOTC_COMPILER_VERIFY_VERIFY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/compile.h"
#include "compiler/support/diagnostics.h"
#include "compiler/verify/difference.h"
#include "compiler/verify/host_program.h"
#include "compiler/verify/test_case.h"

namespace aotc {

struct VerifyOptions {
  CompileOptions compile = {};
  HostBuildOptions build = {};
  std::string inputs = {};  // a folder as ReadCase takes it; drawn inputs where empty
  uint64_t seed = 1;
  bool per_node = false;  // every value that a kernel writes is compared
};

struct TensorResult {
  std::string test_case = {};
  std::string tensor = {};  // "output 'y'", "value 'conv1'"
  std::string type = {};
  std::string against = {};  // "evaluator" or "file"
  Difference difference = {};
  double limit = 0;

  bool Agrees() const { return difference.error <= limit; }
};

struct VerifyReport {
  std::vector<TensorResult> results = {};
  size_t file_count = 0;
  double build_seconds = 0;
};

// Called at the beginning of each step with its name.
using StepHook = std::function<void(const std::string& step)>;

// Runs on drawn inputs (at the least sizes too where there are symbols) and on the test data beside
// the model. What differs becomes an error of `diagnostics`, and another one names the first value
// that does, with its node. Error: the model cannot be compiled, built or run.
absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options, Diagnostics& diagnostics,
                                    const StepHook& step = {});

// The first of `kept` whose tensor among `actual` (by KeptValue::output) is further than `limit`
// from `expected` (likewise); nothing where all agree.
std::optional<size_t> FirstDifference(const std::vector<KeptValue>& kept,
                                      const std::vector<Constant>& actual,
                                      const std::vector<Constant>& expected, double limit);

// The limit of the least precise float type that a value of the graph has.
double GraphErrorLimit(const Graph& graph);

// Runs `compiled` (of a compile with CompileOptions::keep_values and ::example) and adds an error
// to `diagnostics` that names the first value that differs and the node that defines it, or that
// none does.
absl::Status ReportFirstDifference(const CompileResult& compiled, const HostBuildOptions& build,
                                   const std::vector<Constant>& inputs, Diagnostics& diagnostics);

}  // namespace aotc

#endif  // AOTC_COMPILER_VERIFY_VERIFY_H_
