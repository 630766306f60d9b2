// Index maps of reshapes: where an element of the result lies in the operand, when both are
// row-major views of one sequence.
//
//   ReshapeIndices({6, n, 4}, {2, 3, n * 4}, {i, j, k}, bounds);   // [i*3 + j, k / 4, k % 4]
#ifndef AOTC_COMPILER_OPS_INDEX_MAP_H_
#define AOTC_COMPILER_OPS_INDEX_MAP_H_

#include "compiler/ir/shape.h"
#include "compiler/ops/tensor_builder.h"

namespace aotc {

// Indices into a tensor of shape `from` of the element at indices `i` of shape `to`; both have the
// same number of elements. Dims that correspond are passed through; only runs of dims that do not
// are flattened.
Indices ReshapeIndices(const Shape& from, const Shape& to, const Indices& i, const Bounds& bounds);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_INDEX_MAP_H_
