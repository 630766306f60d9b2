// How the points of a nest are dealt out to tasks of plain loops.
#ifndef AOTC_COMPILER_LOWER_TASK_CUTS_H_
#define AOTC_COMPILER_LOWER_TASK_CUTS_H_

#include <cstdint>
#include <vector>

#include "compiler/lower/nest.h"
#include "compiler/schedule/schedule.h"

namespace aotc {

// Points that dealing a task out costs little of.
inline constexpr int64_t kTaskPoints = 4096;

// Leading axes one iteration to a task, as few as leave about `kTaskPoints` steps or less; of the
// last of them several where these are less work than that, and of a long innermost axis a piece.
// In blocks of channels the rows come first.
std::vector<Cut> PointCuts(const Nest& nest);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_TASK_CUTS_H_
