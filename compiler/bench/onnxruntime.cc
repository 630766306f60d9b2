#include "compiler/bench/onnxruntime.h"

#include <nlohmann/json.hpp>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"

namespace aotc {
namespace {

// Prints the nanoseconds of each run as a JSON list in its last line. Exit code 3: no onnxruntime.
constexpr std::string_view kScript = R"py(
import sys, time
try:
    import numpy, onnxruntime
except ImportError as error:
    print(error)
    sys.exit(3)
model, threads, seconds, *paths = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads, options.inter_op_num_threads = int(threads), 1
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
types = {"float": "f4", "double": "f8", "float16": "f2", "bool": "?", "int8": "i1", "uint8": "u1",
         "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "int64": "i8",
         "uint64": "u8"}
feed = {}
paths = dict(path.rsplit("=", 1) for path in paths)
for info in session.get_inputs():
    if info.name not in paths:
        continue
    raw = open(paths[info.name], "rb").read()
    rank = numpy.frombuffer(raw, "i8", 1)[0]
    dims = numpy.frombuffer(raw, "i8", rank, 8)
    dtype = types[info.type.removeprefix("tensor(").removesuffix(")")]
    feed[info.name] = numpy.frombuffer(raw, dtype, offset=8 + 8 * int(rank)).reshape(dims)
end, times = time.perf_counter() + 0.1 * float(seconds), []
while True:
    session.run(None, feed)
    if time.perf_counter() >= end:
        break
end = time.perf_counter() + 0.9 * float(seconds)
while len(times) < 5 or time.perf_counter() < end:
    start = time.perf_counter_ns()
    session.run(None, feed)
    times.append(time.perf_counter_ns() - start)
print(times)
)py";

constexpr int kExitNone = 3;

}  // namespace

absl::StatusOr<std::vector<double>> TimeOnnxruntime(const OnnxruntimeRun& run) {
  ProcessOptions options{.argv = {"python3", "-c", std::string(kScript), run.model,
                                  StrCat(run.threads), StrCat(run.seconds)},
                         .timeout_seconds = 3600};
  options.argv.insert(options.argv.end(), run.inputs.begin(), run.inputs.end());
  AOTC_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(options));
  if (result.exit_code == kExitNone) {
    return absl::UnknownError(StrCat(
        "--compare onnxruntime: python3 says: ", result.output,
        "; hint: pip install onnxruntime for the python3 that PATH has, or leave out --compare"));
  }
  const size_t list = result.output.rfind('[');
  const bool has_times = result.exit_code == 0 && list != std::string::npos;
  const nlohmann::json times =
      has_times
          ? nlohmann::json::parse(result.output.substr(list), nullptr, /*allow_exceptions=*/false)
          : nlohmann::json();
  if (!times.is_array()) {
    return absl::UnknownError(
        StrCat("--compare onnxruntime: it does not run this model: ", result.output));
  }
  std::vector<double> seconds;
  for (const nlohmann::json& time : times) seconds.push_back(time.get<double>() * 1e-9);
  return seconds;
}

}  // namespace aotc
