// The same model and inputs in onnxruntime, timed by a Python that has it.
#ifndef AOTC_COMPILER_BENCH_ONNXRUNTIME_H_
#define AOTC_COMPILER_BENCH_ONNXRUNTIME_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

struct OnnxruntimeRun {
  std::string model = {};                // the file
  std::vector<std::string> inputs = {};  // NAME=FILE, as bench/program.h has it
  int threads = 1;
  double seconds = 1;
};

// Seconds of each of the runs. Error: no python3, one without onnxruntime, or what that says.
absl::StatusOr<std::vector<double>> TimeOnnxruntime(const OnnxruntimeRun& run);

}  // namespace aotc

#endif  // AOTC_COMPILER_BENCH_ONNXRUNTIME_H_
