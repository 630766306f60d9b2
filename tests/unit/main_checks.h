// The index checks of a graph without branches and loops.
#ifndef AOTC_TESTS_UNIT_MAIN_CHECKS_H_
#define AOTC_TESTS_UNIT_MAIN_CHECKS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/fuse/index_checks.h"

namespace aotc {

inline absl::StatusOr<std::vector<ValueId>> AddMainChecks(Graph& graph) {
  absl::StatusOr<RegionChecks> checks = AddIndexCheckNodes(graph);
  if (!checks.ok()) return checks.status();
  return (*checks)[graph.main];
}

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_MAIN_CHECKS_H_
