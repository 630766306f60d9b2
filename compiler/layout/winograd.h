// Which convolutions Winograd's algorithm computes (ir/winograd.h).
//
//   %y = Conv(%x, %w, %b) {pads=[1, 1, 1, 1]}                           // 3x3 taps, a step of 1
//     =>
//   %y = WinogradConv(%x, %w_winograd4, %b) {m=4, pads=[1, 1, 1, 1]}    // g %w g^T
//
// Those that it should compute in less time, with the m that takes least, as far as its error stays
// within a bound (WinogradError); or with the m that the user says.
#ifndef AOTC_COMPILER_LAYOUT_WINOGRAD_H_
#define AOTC_COMPILER_LAYOUT_WINOGRAD_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

inline constexpr ConfigKey kWinograd = {
    "winograd.m", -1, -1, 6,
    "2, 4 or 6: outputs per patch of all 3x3 convolutions; 0: none; -1: 2 or 4 where that pays"};

// The largest error, by the scale of the outputs, where nobody asks for more.
inline constexpr double kMostWinogradError = 1e-5;

absl::StatusOr<Graph> UseWinograd(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_WINOGRAD_H_
