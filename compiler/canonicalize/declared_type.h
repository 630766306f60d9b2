// Types that a model declares against those that inference finds.
//
//   ReplaceDeclaredType(graph.values[output], inferred, diagnostics);
#ifndef AOTC_COMPILER_CANONICALIZE_DECLARED_TYPE_H_
#define AOTC_COMPILER_CANONICALIZE_DECLARED_TYPE_H_

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

// The value's type becomes `inferred`. A warning where it was declared with another element type,
// rank, or number for a dim.
void ReplaceDeclaredType(Value& value, ValueType inferred, Diagnostics& diagnostics);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_DECLARED_TYPE_H_
