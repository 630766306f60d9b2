// The temps of row nests: those that need no memory, and where the others lie.
//
//   KeepFewTemps(nest);    // %top[0] becomes top_value; %scaled[i], read once, %score[i] * 0.125
//   AOTC_RETURN_IF_ERROR(PlaceTemps(nest, 4));   // four rows to a block
#ifndef AOTC_COMPILER_LOWER_ROW_TEMPS_H_
#define AOTC_COMPILER_LOWER_ROW_TEMPS_H_

#include "absl/status/status.h"
#include "compiler/lower/nest.h"

namespace aotc {

// Turns temps of one element to a row (a reduction that keeps its axis) into variables, and
// computes pointwise temps where they are read, if one load reads each element once, stands at few
// places of an expression, and the statement stays short.
void KeepFewTemps(Nest& nest);

// Lets pointwise stages write over a temp that they read last, each element at its own place. Only
// where stages of a row run one after the other, as in a single thread.
void OverwriteTemps(Nest& nest);

// Both for a row nest whose rows single threads run, then its axes merged; of points these alone.
void TidyNest(Nest& nest);

// Puts the temps of a row nest in shared memory, a slice for each of the block's `rows`. Where they
// do not fit, pointwise ones are computed again by each reader, within limits. Error: what is left
// does not fit.
absl::Status PlaceTemps(Nest& nest, int64_t rows);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_ROW_TEMPS_H_
