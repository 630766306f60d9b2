#include "compiler/canonicalize/place.h"

namespace aotc {

Place PlaceOf(const Graph& graph, const Node& node) {
  if (!node.locations.empty()) {
    const Location& location = node.locations[0];
    return NodePlace(location.node, location.op, location.opset);
  }
  for (ValueId output : node.outputs) {
    if (output.valid()) return NodePlace(graph.values[output].name, node.op, 0);
  }
  return NodePlace("", node.op, 0);
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace aotc
