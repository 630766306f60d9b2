// A program of one kernel, through the phases that follow fusion: schedule, plan, emit.
#ifndef AOTC_TESTS_SLICE_SLICE_PROGRAM_H_
#define AOTC_TESTS_SLICE_SLICE_PROGRAM_H_

#include "tests/slice/slice_model.h"

namespace aotc {

absl::StatusOr<Program> SliceProgram(const SliceOptions& options);
// The output folder of the program, kernels included.
absl::StatusOr<OutputFiles> SliceFiles(const Program& program, const SliceOptions& options);

}  // namespace aotc

#endif  // AOTC_TESTS_SLICE_SLICE_PROGRAM_H_
