#include "compiler/optimize/recognize.h"

#include <vector>

namespace aotc {

absl::StatusOr<Graph> RecognizeFunctions(const Graph& graph, PassContext&) {
  std::vector<RewriteRule> rules;
  for (std::span<const RewriteRule> table : {ActivationPatterns(), NormalizationPatterns()}) {
    rules.insert(rules.end(), table.begin(), table.end());
  }
  return RewriteUntilDone(graph, rules);
}

}  // namespace aotc
