// Places and messages of findings about nodes.
//
//   diagnostics.Error(PlaceOf(graph, node), status);
#ifndef AOTC_COMPILER_CANONICALIZE_PLACE_H_
#define AOTC_COMPILER_CANONICALIZE_PLACE_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

// Where the node came from; the name of its first output where it has no location.
Place PlaceOf(const Graph& graph, const Node& node);
std::string MessageOf(const absl::Status& status);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_PLACE_H_
