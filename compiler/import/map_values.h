// Maps, and sequences of maps, on their way into a graph: the operators of ai.onnx.ml that take or
// give them, over the parts of each (ir/bundle.h).
//
//   AOTC_ASSIGN_OR_RETURN(const bool uses_maps, UsesMaps(node, table));
//   if (uses_maps) return ImportMapNode(graph, region, node, table);
#ifndef AOTC_COMPILER_IMPORT_MAP_VALUES_H_
#define AOTC_COMPILER_IMPORT_MAP_VALUES_H_

#include "absl/status/statusor.h"
#include "compiler/import/composite.h"
#include "compiler/ir/graph.h"

namespace aotc {

// The error of what takes a map and cannot.
absl::Status NoMapHere();

// Whether a node takes or gives maps: it is ZipMap, DictVectorizer or CastMap.
// Error (without place): it takes one and is none of these.
absl::StatusOr<bool> UsesMaps(const Node& node, const CompositeTable& table);

// Appends what makes of the parts of a map the results of such a node, or the other way round.
absl::Status ImportMapNode(Graph& graph, RegionId region, const Node& node, CompositeTable& table);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_MAP_VALUES_H_
