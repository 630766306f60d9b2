// What `aotc bench` tells: tables for people, JSON for machines, a trace for Perfetto.
#ifndef AOTC_COMPILER_BENCH_REPORT_H_
#define AOTC_COMPILER_BENCH_REPORT_H_

#include <string>

#include "compiler/bench/bench.h"
#include "compiler/driver/report.h"

namespace aotc {

// A table for each number of threads, with the `most` steps that take the longest; 0: all.
std::string PrintBench(const BenchReport& report, size_t most);
Json BenchToJson(const BenchReport& report);

// A page that stands alone: timelines and sortable tables.
std::string BenchPage(const BenchReport& report, const std::string& title);

// The timelines in the format of Chrome's trace events (JSON object format), which
// https://ui.perfetto.dev and chrome://tracing open: a process for each number of threads, a thread
// for each worker.
std::string ChromeTrace(const BenchReport& report);

}  // namespace aotc

#endif  // AOTC_COMPILER_BENCH_REPORT_H_
