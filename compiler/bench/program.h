// The program that times a compiled model: one source beside those of the model, which runs it
// through its table, watched and not, in turns.
//
//   program WORKERS SECONDS INPUT...     // writes times.json into its folder
//
// Each INPUT is a file: rank and dims as int64_t, then the elements. times.json is
// {"whole": [ns, ...], "watched": [ns, ...], "steps": {"3": [ns, ...]}, "rounds": {"3": 1},
//  "timeline": [[step, worker, begin, end], ...]}: of each run, what it took; of each step, what
// its workers took together in each watched run, less what the clock takes, and how often it ran in
// one; the fastest watched run, from its beginning on.
#ifndef AOTC_COMPILER_BENCH_PROGRAM_H_
#define AOTC_COMPILER_BENCH_PROGRAM_H_

#include <string>
#include <string_view>

namespace aotc {

// Of the model with that prefix, compiled with --profile.
std::string BenchProgram(std::string_view prefix);

// Its exit code where a run refuses a value of its inputs (AOTC_ERROR_VALUE).
inline constexpr int kBenchRefusedValue = 64;

}  // namespace aotc

#endif  // AOTC_COMPILER_BENCH_PROGRAM_H_
