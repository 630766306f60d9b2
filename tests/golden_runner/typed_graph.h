// The graph of a golden case, with the types that its author left out.
#ifndef AOTC_TESTS_GOLDEN_RUNNER_TYPED_GRAPH_H_
#define AOTC_TESTS_GOLDEN_RUNNER_TYPED_GRAPH_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "tests/golden_runner/golden_case.h"

namespace aotc {

// After infer-and-fold. Error: the case is no graph.
absl::StatusOr<Graph> ParseTyped(const GoldenCase& golden);

}  // namespace aotc

#endif  // AOTC_TESTS_GOLDEN_RUNNER_TYPED_GRAPH_H_
