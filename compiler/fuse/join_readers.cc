#include "compiler/fuse/join_readers.h"

#include <algorithm>

#include "compiler/ops/op.h"
#include "compiler/schedule/join.h"

namespace aotc {

JoinReaders::JoinReaders(const Graph& graph) : graph_(graph) {
  for (const Node& node : graph.nodes) {
    if (!node.regions.empty()) continue;
    for (ValueId input : node.inputs) readers_.emplace(input, &node);
  }
}

bool JoinReaders::Contains(ValueId value) const {
  const auto [first, last] = readers_.equal_range(value);
  return std::any_of(first, last, [&](const auto& reader) {
    const absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph_, *reader.second);
    return built.ok() && ReadJoin(built->kernel);
  });
}

}  // namespace aotc
