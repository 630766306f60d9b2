#include "tests/golden_runner/typed_graph.h"

#include "compiler/driver/pipeline.h"
#include "compiler/ir/air_text.h"
#include "compiler/support/status.h"

namespace aotc {

absl::StatusOr<Graph> ParseTyped(const GoldenCase& golden) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<AirModule> modules, ParseAir(golden.input, golden.place));
  const Graph* graph = std::get_if<Graph>(&modules[0]);
  if (graph == nullptr) return absl::InvalidArgumentError("the case is no graph");
  AOTC_ASSIGN_OR_RETURN(const std::vector<Pass> passes, PassesByName("infer-and-fold"));
  Diagnostics diagnostics;
  PassContext context({}, diagnostics, PassTargetOf("cpu", /*templates=*/true));
  return RunPasses(*graph, passes, context, kExpanded);
}

}  // namespace aotc
