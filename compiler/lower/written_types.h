// Elements of less than a byte are read, but not written: threads would share bytes.
//
//   AOTC_RETURN_IF_ERROR(CheckWrittenTypes(kernel));     // error: an output of i4
#ifndef AOTC_COMPILER_LOWER_WRITTEN_TYPES_H_
#define AOTC_COMPILER_LOWER_WRITTEN_TYPES_H_

#include "absl/status/status.h"
#include "compiler/ir/program.h"

namespace aotc {

absl::Status CheckWrittenTypes(const Kernel& kernel);
// The same of what schedules keep between stages.
absl::Status CheckWrittenTypes(const ProgramKernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_WRITTEN_TYPES_H_
