// A veto that is asked once about merges that differ in names only, as a model repeats them.
//
//   FuseOptions options{.veto = Memoized(CpuFusionVeto)};
#ifndef AOTC_COMPILER_FUSE_MEMOIZED_VETO_H_
#define AOTC_COMPILER_FUSE_MEMOIZED_VETO_H_

#include "compiler/fuse/fuse.h"

namespace aotc {

// The same veto; merges that it has accepted are remembered by their text. Refusals are not: their
// reasons may name tensors.
FusionVeto Memoized(FusionVeto veto);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_MEMOIZED_VETO_H_
