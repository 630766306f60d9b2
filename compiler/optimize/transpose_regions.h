// Where transposes of values with several readers sink: of connected ops that all find their axes
// elsewhere, so that more transposes vanish than come to be.
//
//   %t = Transpose(%x)           a swish between two transposes, of which
//   %s = Sigmoid(%t)             none is left: %x is read twice
//   %m = Mul(%t, %s)
//   %y = Transpose(%m)
#ifndef AOTC_COMPILER_OPTIMIZE_TRANSPOSE_REGIONS_H_
#define AOTC_COMPILER_OPTIMIZE_TRANSPOSE_REGIONS_H_

#include "absl/container/flat_hash_set.h"
#include "compiler/ir/graph.h"
#include "compiler/optimize/rewrite.h"

namespace aotc {

// The values, results of transposes or of ops that pass them, whose readers are to read what was
// before the transpose. A region ends where something else reads a value (a transpose comes to be
// there, or stays) and above a reduction whose axes would no longer be the last ones: a norm over
// channels reads them side by side.
absl::flat_hash_set<ValueId> SinkableValues(const Graph& graph, const GraphFacts& facts);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_TRANSPOSE_REGIONS_H_
