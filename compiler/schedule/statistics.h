// Statistics: stages at the end of a kernel that combine what its points computed.
//
//   %y[i<m, j<40] = max(%acc[i, j] + %b[j], 0.0)
//   %top[i<m] = reduce max(j<40) %y[i, j]           // a statistic of the rows of %y
#ifndef AOTC_COMPILER_SCHEDULE_STATISTICS_H_
#define AOTC_COMPILER_SCHEDULE_STATISTICS_H_

#include <string>
#include <vector>

#include "compiler/ir/kernel.h"

namespace aotc {

// The name that a statistic has for each axis of the main output.
using StatisticAxes = std::vector<std::string>;

// For each of the last stages that is a statistic, in order: a reduction to outputs only, which
// reads what the kernel defines only at its own axes, one for each axis of `main`. All are of the
// same axes.
std::vector<StatisticAxes> FindStatistics(const Kernel& kernel, TensorId main);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_STATISTICS_H_
