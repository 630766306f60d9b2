#include "compiler/optimize/simplify.h"

#include <vector>

#include "compiler/optimize/rewrite.h"
#include "compiler/optimize/simplify_rules.h"

namespace aotc {

absl::StatusOr<Graph> SimplifyGraph(const Graph& graph, PassContext& context) {
  std::vector<RewriteRule> rules;
  for (std::span<const RewriteRule> table :
       {ArithmeticRules(), CastRules(), ClampRules(), PadRules(), ReshapeRules(), SliceRules()}) {
    rules.insert(rules.end(), table.begin(), table.end());
  }
  if (context.Config(kFastMath) != 0) {
    rules.insert(rules.end(), FastRules().begin(), FastRules().end());
  }
  return RewriteUntilDone(graph, rules);
}

}  // namespace aotc
