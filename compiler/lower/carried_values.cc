#include "compiler/lower/carried_values.h"

#include <algorithm>

#include "compiler/schedule/in_place.h"

namespace aotc {
namespace {

// How many steps of the body read or make the value, or look into its memory.
ptrdiff_t UsesOf(const FusedGraph& body, ValueId value) {
  ptrdiff_t uses = std::ranges::count(body.views, value, &ValueView::base);
  for (const FusedKernel& kernel : body.kernels) uses += std::ranges::count(kernel.args, value);
  return uses;
}

bool WritesOver(const FusedKernel& kernel, ValueId next, ValueId value) {
  if (kernel.control.valid()) return false;
  return std::ranges::any_of(InPlacePairs(kernel.kernel), [&](const std::pair<int, int>& pair) {
    return kernel.args[static_cast<size_t>(pair.first)] == next &&
           kernel.args[static_cast<size_t>(pair.second)] == value;
  });
}

bool HaveOneStorage(const Value& a, const Value& b) {
  return a.type.dtype == b.type.dtype && a.layout == b.layout &&
         SameShape(a.type.dims, b.type.dims);
}

}  // namespace

Carriage CarriageOf(const Graph& graph, const Node& repeat, size_t k, const FusedGraph& body,
                    const ValueBuffers& buffers) {
  const Region& region = graph.regions[repeat.regions.at("body")];
  const ValueId value = region.inputs[k];
  const ValueId next = region.outputs[FormOf(graph, repeat).first_next + k];
  const ValueId home = buffers.HomeOf(next);
  const bool is_input = std::ranges::count(region.inputs, home) > 0;
  if (is_input || !buffers.CanBeWrittenInto(next)) return Carriage::kCopied;
  if (IsSubByte(graph.values[value].type.dtype)) return Carriage::kCopied;
  const bool is_only_use = UsesOf(body, value) == 1 &&
                           std::ranges::count(region.outputs, value) == 0 &&
                           HaveOneStorage(graph.values[value], graph.values[home]);
  const auto replaces = [&](const FusedKernel& kernel) { return WritesOver(kernel, home, value); };
  if (is_only_use && std::ranges::any_of(body.kernels, replaces)) return Carriage::kReplaced;
  return Carriage::kInTurn;
}

}  // namespace aotc
