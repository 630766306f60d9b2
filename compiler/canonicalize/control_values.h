// Values that control flow hands over: scalars, and types that are equal for all sizes.
#ifndef AOTC_COMPILER_CANONICALIZE_CONTROL_VALUES_H_
#define AOTC_COMPILER_CANONICALIZE_CONTROL_VALUES_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/graph_rebuild.h"

namespace aotc {

// `value` of the graph in work as a scalar: itself, or a reshaped copy of the one element that it
// has, emitted for `origin`. Error: it is something else; `what` names it.
absl::StatusOr<ValueId> AsScalar(Rebuilder& rebuilder, const Node& origin, ValueId value,
                                 DType dtype, std::string_view what);

// Tensors of equal type, for all sizes.
bool IsSameType(const ValueType& a, const ValueType& b, const Bounds& bounds);

// What `value` is a copy of, as far as that is made in the region.
ValueId CopiedFrom(const Graph& graph, RegionId region, ValueId value);

// The one that was added last.
NodeId LastNode(const Graph& graph);

// The elements of a value before `end`, i64[1], along an axis, which are `size`, as the caller
// knows.
struct Prefix {
  std::string name = {};  // of the constants that it takes
  size_t axis = 0;
  ValueId end = {};
  Expr size = 0;
};
// `attributes`: of the Slice.
ValueId EmitPrefix(Rebuilder& rebuilder, const Node& origin, ValueId value, const Prefix& prefix,
                   Attributes attributes = {});

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_CONTROL_VALUES_H_
