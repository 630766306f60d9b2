// Drops nodes that copy their input: Identity, Dropout, and any other whose kernel turns out to be
// a copy (a reshape to the same shape, a cast to the same type, a transpose that moves nothing, a
// pad by nothing, a slice of everything, a concat of one). The mask of a Dropout is a constant.
//
//   %y: f32[2, 3] = Reshape(%x, %shape)      =>      readers of %y read %x
#ifndef AOTC_COMPILER_CANONICALIZE_REMOVE_IDENTITIES_H_
#define AOTC_COMPILER_CANONICALIZE_REMOVE_IDENTITIES_H_

#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> RemoveIdentities(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_REMOVE_IDENTITIES_H_
