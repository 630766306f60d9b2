// Drops nodes and constants that no output needs.
//
//   %unused: f32[2] = Neg(%x)      =>      nothing
#ifndef AOTC_COMPILER_CANONICALIZE_ELIMINATE_DEAD_H_
#define AOTC_COMPILER_CANONICALIZE_ELIMINATE_DEAD_H_

#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> EliminateDead(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_ELIMINATE_DEAD_H_
