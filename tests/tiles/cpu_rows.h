// Draws calls of CPU tile functions from their rows, builds them in one file for an instruction
// set, runs each at several sizes, and compares with what the rows' texts say.
//
//   CpuRowsOptions options{.isa = *isa, .tile = "row_dots", .seed = 3};
//   std::string complaint = *CheckCpuRows(options);      // "" where all agree
#ifndef AOTC_TESTS_TILES_CPU_ROWS_H_
#define AOTC_TESTS_TILES_CPU_ROWS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/emit/output.h"
#include "compiler/targets/cpu/cpu_target.h"

namespace aotc {

struct CpuRowsOptions {
  Isa isa = {};
  std::string tile = {};  // "": those of all rows
  int cases = 6;          // calls of each row
  int runs = 12;          // sizes at which each is run
  uint32_t seed = 1;
  // Changes the files before they are built: how faults are planted.
  std::function<void(OutputFiles&)> edit = {};
};

// Whether this machine has the instruction set.
bool RunsHere(const Isa& isa);

// Error: what was drawn does not build.
absl::StatusOr<std::string> CheckCpuRows(const CpuRowsOptions& options);

}  // namespace aotc

#endif  // AOTC_TESTS_TILES_CPU_ROWS_H_
