// What a copy along another axis than it reads along should take.
#include <algorithm>
#include <cmath>

#include "compiler/targets/cpu/estimate.h"

namespace aotc {

CpuEstimate EstimateTranspose(const Transpose& t, const TransposeTiling& tiling,
                              const CpuCore& core) {
  constexpr double kOfFour = 0.4, kOfElement = 1.2,
                   kOfTask = 10;             // cycles; of 4 bytes in registers
  constexpr double kLine = 64, kPasses = 3;  // read, fetched to be written, written
  double elements = 1, tasks = 1;
  for (size_t axis = 0; axis < t.nest.outer.size(); ++axis) {
    const double extent = MostOf(t.nest.outer[axis].extent, t.nest.bounds);
    elements *= extent;
    const int64_t part = axis == t.row ? tiling.rows : axis == t.column ? tiling.columns : 1;
    tasks *= std::ceil(extent / static_cast<double>(part));
  }
  const double width = BitWidth(t.load.dtype()) / 8.0, bytes = elements * width;
  // A block that fills a part of a line touches lines more than once; one of several, registers.
  const double filled = width * static_cast<double>(tiling.block) / kLine;
  const double again = std::max(filled, 1 / filled);
  const double compute =
      elements * (width == sizeof(float) ? kOfFour : kOfElement) * std::sqrt(again);
  const double memory = bytes * kPasses / core.RateOf(2 * bytes);
  return {.cycles = std::max(compute, memory) + std::min(compute, memory) / 2 + core.task +
                    kOfTask * tasks,
          .tasks = tasks};
}

}  // namespace aotc
