// The form of a kernel's loops, read from its stages before anything is decided: whether all have
// the axes of the main output (a point nest) or share leading axes only (a row nest).
//
//   %acc[i, j] = reduce sum(k) ...;  %y[i, j] = max(%acc[i, j], 0)          // points (i, j)
//   %top[i] = reduce max(j) %x[i, j];  %y[i, j] = %x[i, j] - %top[i]        // rows i
#ifndef AOTC_COMPILER_SCHEDULE_NEST_FORM_H_
#define AOTC_COMPILER_SCHEDULE_NEST_FORM_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/kernel.h"
#include "compiler/schedule/statistics.h"

namespace aotc {

using Stages = std::span<const Stage>;

// Which stages the nest's iterations run, and the axes that these share.
struct NestForm {
  Stages stages;
  std::vector<StatisticAxes> statistics;  // of the stages behind them
  size_t shared;
  bool is_point;
};

NestForm FormOf(const Kernel& kernel);
// The form whose stages loop over rows, also where all of them could share a point.
NestForm RowFormOf(const Kernel& kernel);

// The output whose storage the loops follow: the last of those with most axes.
TensorId MainOutput(const Kernel& kernel);

// All stages but statistics have the same axes and read each other at their own: one iteration,
// one point.
bool IsPointNest(const Kernel& kernel);

// Extents of the axes that all stages have in common: the rows of a row nest, the points of a point
// nest.
Shape SharedExtents(const Kernel& kernel);

// True if a loop over `storage` runs past the logical extent of its axis, over padding.
bool IsPadded(const KernelTensor& tensor, const StorageAxis& storage);

// Error, with the reason: an output in a layout that loops of this form cannot write. A point nest
// walks the storage of its main output; what is no point of it, and a row nest, writes plain
// layouts.
absl::Status CheckOutputLayouts(const Kernel& kernel, const NestForm& form);
absl::Status CheckOutputLayouts(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_NEST_FORM_H_
