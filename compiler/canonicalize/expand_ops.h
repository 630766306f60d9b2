// Writes nodes whose op is defined by other ops in terms of those.
//
//   %c: f32[2] = Constant() {value=f32[2] [1.0, 2.0]}      =>      const %c: f32[2] = [1.0, 2.0]
#ifndef AOTC_COMPILER_CANONICALIZE_EXPAND_OPS_H_
#define AOTC_COMPILER_CANONICALIZE_EXPAND_OPS_H_

#include <set>

#include "compiler/pass/pass.h"

namespace aotc {

// Collects the complaints of all definitions. What an expansion emits is expanded in turn.
absl::StatusOr<Graph> ExpandOps(const Graph& graph, PassContext& context);

// Expands the nodes with those results whose op has both forms, and what they emit in turn. False
// where there is none.
absl::StatusOr<bool> ExpandNodes(Graph& graph, const std::set<ValueId>& results,
                                 PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_EXPAND_OPS_H_
