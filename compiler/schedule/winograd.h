// The anchor of a convolution by Winograd's algorithm (ir/winograd.h): its first seven stages.
//
//   %r[n, i, j, a, t, c] = reduce sum(s)  bt(a, s) * %x[n, c, m*i + s - 1, m*j + t - 1]
//   %v[n, i, j, a, b, c] = reduce sum(t)  bt(b, t) * %r[n, i, j, a, t, c]
//   %f[k, c, a, t]       = reduce sum(s)  spread(a, s) * %w[k, c, s, t]
//   %u[k, c, a, b]       = reduce sum(t)  spread(b, t) * %f[k, c, a, t]
//   %p[n, i, j, a, b, k] = reduce sum(c)  %v[n, i, j, a, b, c] * %u[k, c, a, b]
//   %q[n, i, j, a, s, k] = reduce sum(b)  at(s, b) * %p[n, i, j, a, b, k]
//   %y[n, k, h, w]       = reduce sum(a)  at(h % m, a) * %q[n, h / m, w / m, a, w % m, k]
#ifndef AOTC_COMPILER_SCHEDULE_WINOGRAD_H_
#define AOTC_COMPILER_SCHEDULE_WINOGRAD_H_

#include <cstdint>
#include <optional>

#include "compiler/ir/kernel.h"

namespace aotc {

struct WinogradAnchor {
  int64_t m = 0;
  TensorId input = {}, weights = {};        // %x, %w
  int64_t first_row = 0, first_column = 0;  // of the input, where the first patch begins
};
inline constexpr size_t kWinogradStages = 7;
// The results of stages that schedules name: %v, %f, %u, %p, %q.
inline constexpr size_t kWinogradPatches = 1, kWinogradRows = 2, kWinogradWeights = 3,
                        kWinogradProducts = 4, kWinogradSums = 5;

// Nothing where the kernel does not begin with these stages.
std::optional<WinogradAnchor> ReadWinograd(const Kernel& kernel);

// The kernel from %y on, for which %q is an input: what a nest of points can be made of.
Kernel WinogradTail(Kernel kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_WINOGRAD_H_
