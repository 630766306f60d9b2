// Convolutions that Winograd's algorithm computes (ir/winograd.h), where a contract says so.
//
//   %y = Conv(%x, %w, %b) {pads=[1, 1, 1, 1]}                           // 3x3 taps, a step of 1
//     =>
//   %y = WinogradConv(%x, %w_winograd4, %b) {m=4, pads=[1, 1, 1, 1]}    // g %w g^T
#ifndef AOTC_COMPILER_LAYOUT_WINOGRAD_H_
#define AOTC_COMPILER_LAYOUT_WINOGRAD_H_

#include <cstdint>
#include <map>
#include <utility>

#include "compiler/ir/contract.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ir/winograd.h"
#include "compiler/pass/pass.h"

namespace aotc {

inline constexpr ConfigKey kWinograd = {
    "winograd.m", -1, -1, kWinogradTiles.back(),
    "outputs along each axis of a patch of all 3x3 convolutions; 0: none; -1: what pays"};

// The largest error, by the scale of the outputs, where nobody asks for more.
inline constexpr double kMostWinogradError = 1e-5;

// 3x3 taps, a step of 1, one group, stated padding; weights, size and enough channels are known at
// compile time.
bool SuitsWinograd(const Graph& graph, const Node& node, const ConvolutionSize& size);

// Whether m may be taken unasked for sums over so many channels.
bool IsExactEnough(int64_t m, int64_t channels);

// Transformed weights by what they were made of.
using TransformedWeights = std::map<std::pair<ValueId, int64_t>, ValueId>;

// Writes a convolution of the old graph so.
void EmitWinograd(Rebuilder& rebuilder, const Node& node, int64_t m, TransformedWeights& known);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_WINOGRAD_H_
