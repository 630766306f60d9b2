// Checks of indices that come from the data of a run: kernels clamp them, so that no access is out
// of bounds, and these tell that one had to be.
//
//   FusedGraph fused = *Fuse(graph, options);
//   AOTC_RETURN_IF_ERROR(AddIndexChecks(graph, fused));   // fused.checks: bools that must be true
#ifndef AOTC_COMPILER_FUSE_INDEX_CHECKS_H_
#define AOTC_COMPILER_FUSE_INDEX_CHECKS_H_

#include <map>
#include <vector>

#include "compiler/fuse/fuse.h"

namespace aotc {

// The results of the checks in each region.
using RegionChecks = std::map<RegionId, std::vector<ValueId>>;

// Adds to `graph` an IndexCheck behind each node that reads at indices, in the region of the node.
// Nodes whose indices are constant and valid need none. Error: a constant index that is not.
absl::StatusOr<RegionChecks> AddIndexCheckNodes(Graph& graph);

// The same, with a kernel for each check; what computes indices that no kernel writes is computed
// by the check once more. The kernels that are there stay as they are.
absl::Status AddIndexChecks(Graph& graph, FusedGraph& fused);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_INDEX_CHECKS_H_
