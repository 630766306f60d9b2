// Types that a model declares against those that inference finds.
//
//   ReplaceDeclaredType(graph.values[output], inferred, diagnostics);
#ifndef AOTC_COMPILER_CANONICALIZE_DECLARED_TYPE_H_
#define AOTC_COMPILER_CANONICALIZE_DECLARED_TYPE_H_

#include <cstdint>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

// No tensor may have more elements than this, so that sizes computed from dims stay far from the
// end of 64 bits; the importer holds inputs and weights to it, too.
inline constexpr int64_t kMaxElements = int64_t{1} << 46;

// The value's type becomes `inferred`. A warning where it was declared with another element type,
// rank, or number for a dim.
void ReplaceDeclaredType(Value& value, ValueType inferred, Diagnostics& diagnostics);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_DECLARED_TYPE_H_
