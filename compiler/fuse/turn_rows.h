// A transpose behind rows (of attention, of a softmax) that turns nothing but the rows' order: the
// kernel writes its rows in that order instead.
//
//   %o[b, h, s, d] = reduce sum(t) ...            %y[b, s, h, d] = reduce sum(t) ...
//   %y[b, s, h, d] = %o[b, h, s, d]        =>
#ifndef AOTC_COMPILER_FUSE_TURN_ROWS_H_
#define AOTC_COMPILER_FUSE_TURN_ROWS_H_

#include <optional>

#include "compiler/fuse/fuse.h"

namespace aotc {

// `producer`, whose one output is `value`, as the kernel of what `copy` makes of it. Nothing where
// the copy does more than to permute the axes that all stages share, or moves the last axis.
std::optional<FusedKernel> TurnRows(const FusedKernel& producer, const FusedKernel& copy,
                                    ValueId value);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_TURN_ROWS_H_
