// Writes nodes whose op is defined by other ops in terms of those.
//
//   %c: f32[2] = Constant() {value=f32[2] [1.0, 2.0]}      =>      const %c: f32[2] = [1.0, 2.0]
#ifndef AOTC_COMPILER_CANONICALIZE_EXPAND_OPS_H_
#define AOTC_COMPILER_CANONICALIZE_EXPAND_OPS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/pass/pass.h"

namespace aotc {

// Collects the complaints of all definitions. What an expansion emits is expanded in turn.
absl::StatusOr<Graph> ExpandOps(const Graph& graph, PassContext& context);

// Expands the nodes with those results, and operands of those ranks, whose op has both forms, and
// what they emit in turn. False where there is none.
absl::StatusOr<bool> ExpandNodes(Graph& graph,
                                 const std::map<ValueId, std::vector<int64_t>>& results,
                                 PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_EXPAND_OPS_H_
