#include "compiler/layout/winograd.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ir/winograd.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Channels come in blocks; fewer than these leave most lanes of the products unused.
constexpr int64_t kLeastChannels = 16;

bool AllAre(const std::vector<int64_t>& values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

// A convolution of images with 3x3 taps, a step of 1, one group, and padding that it states.
bool HasForm(const Graph& graph, const Node& node) {
  if (node.op != "Conv" || node.inputs.size() < 2) return false;
  const Value& weights = graph.values[node.inputs[1]];
  if (!weights.constant || weights.type.dtype != DType::kF32) return false;
  const std::vector<int64_t>& dims = weights.constant->dims();
  const Attributes& attributes = node.attributes;
  return dims.size() == 4 && dims[2] == kWinogradTaps && dims[3] == kWinogradTaps &&
         attributes.Int("group", 1) == 1 && AllAre(attributes.Ints("strides"), 1) &&
         AllAre(attributes.Ints("dilations"), 1) && !attributes.Has("auto_pad");
}

// Its size; nothing where that is known in the run only, or where a dim is small.
std::optional<ConvolutionSize> SizeOf(const Graph& graph, const Node& node) {
  if (!HasForm(graph, node)) return std::nullopt;
  const std::vector<int64_t>& weights = graph.values[node.inputs[1]].constant->dims();
  const Shape& out = graph.values[node.outputs[0]].type.dims;
  const std::optional<int64_t> height = out[2].AsInt(), width = out[3].AsInt();
  if (!height || !width || weights[0] < kLeastChannels || weights[1] < kLeastChannels) {
    return std::nullopt;
  }
  const int64_t images = RangeOf(out[0], BoundsOf(graph.symbols)).max;
  return ConvolutionSize{std::max<int64_t>(images, 1), weights[1], weights[0], *height, *width};
}

// m; 0 where the convolution stays as it is.
int64_t Choose(const ConvolutionSize& size, const PassContext& context) {
  const int64_t wanted = context.Config(kWinograd);
  if (wanted >= 0) return wanted;
  int64_t best = 0;
  double least = context.target().convolution_seconds(size, 0);
  for (const int64_t m : {2, 4}) {
    if (WinogradError(m, size.inputs) > kMostWinogradError) continue;
    const double seconds = context.target().convolution_seconds(size, m);
    if (seconds >= least) continue;
    best = m;
    least = seconds;
  }
  return best;
}

// g w g^T for each pair of channels.
Constant TransformWeights(const Constant& weights, int64_t m) {
  const Matrix g = WinogradMatricesOf(m).g;
  const auto size = static_cast<int64_t>(g.size());
  const int64_t pairs = weights.dims()[0] * weights.dims()[1];
  std::vector<uint8_t> bytes(static_cast<size_t>(pairs * size * size) * sizeof(float));
  for (int64_t pair = 0; pair < pairs; ++pair) {
    for (int64_t at = 0; at < size * size; ++at) {
      const std::vector<double>&row = g[static_cast<size_t>(at / size)],
            &column = g[static_cast<size_t>(at % size)];
      double sum = 0;
      for (int64_t tap = 0; tap < kWinogradTaps * kWinogradTaps; ++tap) {
        sum += row[static_cast<size_t>(tap / kWinogradTaps)] *
               column[static_cast<size_t>(tap % kWinogradTaps)] *
               weights.FloatAt(pair * kWinogradTaps * kWinogradTaps + tap);
      }
      StoreElement(DType::kF32, bytes.data(), pair * size * size + at, sum);
    }
  }
  return Constant::Dense(DType::kF32, {weights.dims()[0], weights.dims()[1], size, size},
                         std::move(bytes));
}

// Transformed weights by what they were made of.
using Transformed = std::map<std::pair<ValueId, int64_t>, ValueId>;

ValueId WeightsFor(Rebuilder& rebuilder, ValueId weights, int64_t m, Transformed& known) {
  ValueId& made = known[{weights, m}];
  if (made.valid()) return made;
  const Value& value = rebuilder.old_graph().values[weights];
  made = rebuilder.graph().AddConstant(StrCat(value.name, "_winograd", m),
                                       TransformWeights(value.constant->Expanded(), m));
  return made;
}

void Emit(Rebuilder& rebuilder, const Node& node, int64_t m, Transformed& known) {
  const Graph& graph = rebuilder.old_graph();
  std::vector<ValueId> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(rebuilder.Mapped(input));
  inputs[1] = WeightsFor(rebuilder, node.inputs[1], m, known);
  Attributes attributes;
  attributes.Set("m", m);
  std::vector<int64_t> pads = node.attributes.Ints("pads");
  attributes.Set("pads", pads.empty() ? std::vector<int64_t>(4, 0) : std::move(pads));
  rebuilder.Replace(node.outputs[0],
                    rebuilder.Emit("WinogradConv", std::move(inputs), std::move(attributes),
                                   graph.values[node.outputs[0]].type, node));
}

}  // namespace

absl::StatusOr<Graph> UseWinograd(const Graph& graph, PassContext& context) {
  if (context.target().convolution_seconds == nullptr) {
    if (context.Config(kWinograd) > 0) {
      context.diagnostics().Note({}, "the target has no convolutions by Winograd's algorithm",
                                 "--winograd is for --target cpu, with its tile functions");
    }
    return graph;
  }
  Transformed known;
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    const std::optional<ConvolutionSize> size = SizeOf(graph, node);
    const int64_t m = size ? Choose(*size, context) : 0;
    if (m != 0) Emit(rebuilder, node, m, known);
    return m != 0;
  });
}

}  // namespace aotc
