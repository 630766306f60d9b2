#include "compiler/layout/winograd.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/ir/winograd.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Channels come in blocks; fewer than these leave most lanes of the products unused.
constexpr int64_t kLeastOfPatches = 16;

bool AllAre(const std::vector<int64_t>& values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

// A convolution of images with 3x3 taps, a step of 1, one group, and padding that it states.
bool HasForm(const Graph& graph, const Node& node) {
  if (!HasTrait(node.op, kConvolves) || node.inputs.size() < 2) return false;
  const Value& weights = graph.values[node.inputs[1]];
  if (!weights.constant || weights.type.dtype != DType::kF32) return false;
  const std::vector<int64_t>& dims = weights.constant->dims();
  const Attributes& attributes = node.attributes;
  return dims.size() == 4 && dims[2] == kWinogradTaps && dims[3] == kWinogradTaps &&
         attributes.Int("group", 1) == 1 && AllAre(attributes.Ints("strides"), 1) &&
         AllAre(attributes.Ints("dilations"), 1) && !attributes.Has("auto_pad");
}

// kept w kept^T for each pair of channels.
Constant TransformWeights(const Constant& weights, int64_t m) {
  const Matrix kept = WinogradMatricesOf(m).kept;
  constexpr int64_t kPair = kWinogradTaps * kWinogradTaps;
  const int64_t pairs = weights.dims()[0] * weights.dims()[1];
  std::vector<uint8_t> bytes(static_cast<size_t>(pairs * kPair) * sizeof(float));
  for (int64_t pair = 0; pair < pairs; ++pair) {
    for (int64_t at = 0; at < kPair; ++at) {
      const std::vector<double>&row = kept[static_cast<size_t>(at / kWinogradTaps)],
            &column = kept[static_cast<size_t>(at % kWinogradTaps)];
      double sum = 0;
      for (int64_t tap = 0; tap < kPair; ++tap) {
        sum += row[static_cast<size_t>(tap / kWinogradTaps)] *
               column[static_cast<size_t>(tap % kWinogradTaps)] *
               weights.FloatAt(pair * kPair + tap);
      }
      StoreElement(DType::kF32, bytes.data(), pair * kPair + at, sum);
    }
  }
  return Constant::Dense(DType::kF32, weights.dims(), std::move(bytes));
}

ValueId WeightsFor(Rebuilder& rebuilder, ValueId weights, int64_t m, TransformedWeights& known) {
  ValueId& made = known[{weights, m}];
  if (made.valid()) return made;
  const Value& value = rebuilder.old_graph().values[weights];
  made = rebuilder.graph().AddConstant(StrCat(value.name, "_winograd", m),
                                       TransformWeights(value.constant->Expanded(), m));
  return made;
}

}  // namespace

bool SuitsWinograd(const Graph& graph, const Node& node, const ConvolutionSize& size) {
  if (!HasForm(graph, node)) return false;
  const Shape& out = graph.values[node.outputs[0]].type.dims;
  return out[2].AsInt() && out[3].AsInt() && size.inputs >= kLeastOfPatches &&
         size.outputs >= kLeastOfPatches;
}

bool IsExactEnough(int64_t m, int64_t channels) {
  constexpr int64_t kLargest = 4;
  return m <= kLargest && WinogradError(m, channels) <= kMostWinogradError;
}

void EmitWinograd(Rebuilder& rebuilder, const Node& node, int64_t m, TransformedWeights& known) {
  std::vector<ValueId> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(rebuilder.Mapped(input));
  inputs[1] = WeightsFor(rebuilder, node.inputs[1], m, known);
  std::vector<int64_t> pads = node.attributes.Ints("pads");
  if (pads.empty()) pads.assign(4, 0);
  rebuilder.Replace(node.outputs[0],
                    EmitWinogradConv(rebuilder, std::move(inputs), m, std::move(pads), node));
}

}  // namespace aotc
