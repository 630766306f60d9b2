#include "compiler/canonicalize/eliminate_dead.h"

#include "compiler/ir/graph_rebuild.h"

namespace aotc {

absl::StatusOr<Graph> EliminateDead(const Graph& graph, PassContext&) { return DropDead(graph); }

}  // namespace aotc
