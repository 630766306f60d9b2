#include "compiler/layout/node_facts.h"

#include <algorithm>
#include <utility>

#include "compiler/layout/reads.h"
#include "compiler/layout/winograd.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/schedule/winograd.h"

namespace aotc {
namespace {

constexpr int64_t kLargestExtent = 1 << 20;  // of symbols without a bound

int64_t MostOf(const Expr& extent, const Bounds& bounds) {
  return std::clamp<int64_t>(RangeOf(extent, bounds).max, 1, kLargestExtent);
}

double ProductOf(const Shape& dims, size_t begin, size_t end, const Bounds& bounds) {
  double product = 1;
  for (size_t i = begin; i < end; ++i) product *= static_cast<double>(MostOf(dims[i], bounds));
  return std::min(product, static_cast<double>(kLargestExtent) * kLargestExtent);
}

// Output columns on the axis of channels, pixels behind it; weights [outputs, inputs, taps...].
AnchorSignature OfConvolution(const Graph& graph, const Node& node, const NodeKernel& kernel,
                              const ContractionAnchor& anchor) {
  const Bounds bounds = BoundsOf(graph.symbols);
  const Shape& out = graph.values[kernel.outputs[0]].type.dims;
  const Shape& weights = graph.values[kernel.inputs[1]].type.dims;
  const bool is_depthwise = anchor.roles[kChannelAxis] == AxisRole::kBatch && weights[1].IsInt(1) &&
                            !out[kChannelAxis].IsInt(1);
  AnchorSignature signature{.form = is_depthwise ? Algorithm::kDepthwise : Algorithm::kDirect};
  const size_t last = out.size() - 1;
  signature.size = {
      .images = MostOf(out[0], bounds),
      .inputs = MostOf(weights[1], bounds),
      .outputs = MostOf(out[kChannelAxis], bounds),
      .height = static_cast<int64_t>(ProductOf(out, kChannelAxis + 1, last, bounds)),
      .width = MostOf(out[last], bounds),
      .taps = static_cast<int64_t>(ProductOf(weights, 2, weights.size(), bounds)),
  };
  signature.suits_winograd =
      signature.form == Algorithm::kDirect && SuitsWinograd(graph, node, signature.size);
  return signature;
}

AnchorSignature OfProduct(const Graph& graph, const NodeKernel& kernel,
                          const ContractionAnchor& anchor) {
  const Bounds bounds = BoundsOf(graph.symbols);
  const Shape& out = graph.values[kernel.outputs[0]].type.dims;
  Shape steps;
  for (const Axis& axis : anchor.k) steps.push_back(axis.extent);
  const size_t last = out.empty() ? 0 : out.size() - 1;
  return {.size = {.inputs = static_cast<int64_t>(ProductOf(steps, 0, steps.size(), bounds)),
                   .outputs = out.empty() ? 1 : MostOf(out[last], bounds),
                   .height = static_cast<int64_t>(ProductOf(out, 0, last, bounds)),
                   .width = 1,
                   .taps = 1}};
}

// Matrix products reduce one axis; sums of other forms have no contract.
void ReadAnchor(const Graph& graph, const Node& node, const std::set<ValueId>& weights,
                NodeFacts& facts) {
  const NodeKernel& kernel = *facts.kernel;
  const std::optional<ContractionAnchor> anchor = ReadContraction(kernel.kernel);
  if (!anchor) return;
  const bool is_convolution = IsConvolution(graph, kernel, weights);
  if (is_convolution) {
    facts.anchor = OfConvolution(graph, node, kernel, *anchor);
  } else if (anchor->k.size() == 1 && facts.winograd_m == 0) {
    facts.anchor = OfProduct(graph, kernel, *anchor);
  }
  const bool is_integer = IsOfIntegers(kernel.kernel);
  if (facts.anchor) facts.anchor->is_integer = is_integer;
  if (is_integer && !is_convolution) facts.rows_lack = RowsLack(graph, kernel);
}

// What its readers compute when they read it: dequantised weights.
bool IsOfConstants(const Graph& graph, const NodeKernel& node) {
  const auto is_constant = [&](ValueId input) { return graph.values[input].constant.has_value(); };
  return !node.inputs.empty() && std::ranges::all_of(node.inputs, is_constant);
}

}  // namespace

bool NodeFacts::WritesAnyLayout() const {
  if (!kernel) return false;
  if (winograd_m > 0) return true;
  if (!IsConvolution() && ContractionOf(kernel->kernel) != nullptr) return false;
  return kernel->outputs.size() == 1 && IsPointNest(kernel->kernel);
}

// Nodes of regions stand before the node that has them: what they read has been seen.
AnchorFacts::AnchorFacts(const Graph& graph) {
  std::set<ValueId> weights;  // that nodes make of constants
  for (const Node& node : graph.nodes) {
    NodeFacts& facts = facts_[&node];
    absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph, node);
    if (!built.ok()) continue;
    facts.kernel = *std::move(built);
    if (const std::optional<WinogradAnchor> winograd = ReadWinograd(facts.kernel->kernel))
      facts.winograd_m = winograd->m;
    ReadAnchor(graph, node, weights, facts);
    if (IsOfConstants(graph, *facts.kernel)) weights.insert(node.outputs[0]);
  }
}

}  // namespace aotc
