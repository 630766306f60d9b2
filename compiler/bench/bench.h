// How fast a compiled model is on this machine, and where its time goes: builds it, runs it, and
// holds each step against what the machine could do.
//
//   BenchOptions options{.compile = {.model_path = "net.onnx"}, .build = {.compiler = "g++"}};
//   AOTC_ASSIGN_OR_RETURN(BenchReport report, Bench(options, diagnostics));
//   report.runs[0].whole.median   // seconds
#ifndef AOTC_COMPILER_BENCH_BENCH_H_
#define AOTC_COMPILER_BENCH_BENCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/compile.h"
#include "compiler/support/diagnostics.h"
#include "compiler/verify/host_program.h"
#include "compiler/verify/verify.h"

namespace aotc {

struct BenchOptions {
  CompileOptions compile = {};
  HostBuildOptions build = {};
  std::string inputs = {};  // a folder as ReadInputs takes it; drawn ones, large, where empty
  uint64_t seed = 1;
  std::vector<int> threads = {1};
  double seconds = 2;  // of runs, for each number of threads
  bool compare_onnxruntime = false;
};

// Of many runs, in seconds.
struct Spread {
  double least = 0, median = 0, p95 = 0;
};
Spread SpreadOf(std::vector<double> seconds);

// A step of the program in one run, all its rounds together.
struct StepTime {
  int step = 0;                         // of metadata.json's list
  std::string kernel = {};              // or "copy" ...
  std::string realisation = {};         // of the variant that the best processor takes
  std::vector<std::string> nodes = {};  // "conv1 (Conv)"
  int rounds = 1;
  Spread seconds = {};  // of a worker, on average
  // 0 where sizes or data of the run would have to be known.
  double flops = 0, bytes = 0;
  // What the compiler thinks that it takes with one worker, in seconds.
  std::optional<double> estimate = {};
  // The least time in which the machine could do it, in seconds: its FLOP at the peak of f32, or
  // its bytes at the bandwidth of the memory that holds them; nothing for sums of integer products.
  std::optional<double> roofline = {};
};

// From the beginning of the run, in nanoseconds.
struct Told {
  int step = 0, worker = 0;
  int64_t begin = 0, end = 0;
};

struct BenchRun {
  int threads = 1;  // that were asked for
  int workers = 1;  // that took part: no more than the model has room for
  size_t runs = 0;
  Spread whole = {};    // of runs that nobody watched
  Spread watched = {};  // of those that told of their steps
  std::vector<StepTime> steps = {};
  std::vector<Told> timeline = {};  // of the fastest watched run
  std::optional<Spread> onnxruntime = {};
};

// Rates of one core, as `aotc limits` measures them.
struct MachineRates {
  double flops = 0;  // f32, a second
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  double l1_bandwidth = 0, l2_bandwidth = 0, l3_bandwidth = 0, memory_bandwidth = 0;
};

struct BenchReport {
  std::string inputs = {};  // "seed 1, batch = 8"
  MachineRates rates = {};
  std::vector<BenchRun> runs = {};
  double build_seconds = 0;
};

// Error: the model cannot be compiled, built or run; its inputs are no tensors of numbers.
absl::StatusOr<BenchReport> Bench(const BenchOptions& options, Diagnostics& diagnostics,
                                  const StepHook& step = {});

}  // namespace aotc

#endif  // AOTC_COMPILER_BENCH_BENCH_H_
