// Permutations of axes, as the attribute of Transpose states them.
//
//   Permutation perm = PermutationOf(transpose, /*rank=*/4);   // [0, 2, 3, 1]
//   Compose(first, second);                                             // second after first
#ifndef AOTC_COMPILER_OPTIMIZE_PERMUTATION_H_
#define AOTC_COMPILER_OPTIMIZE_PERMUTATION_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace aotc {

using Permutation = std::vector<int64_t>;

// Axis d of the result is axis perm[d] of the input. Reversed where the attribute is absent.
Permutation PermutationOf(const Node& transpose, size_t rank);
Attributes PermutationAttribute(const Permutation& perm);

bool IsIdentityPermutation(const Permutation& perm);
// What two transposes in a row do.
Permutation Compose(const Permutation& first, const Permutation& second);
Permutation InversePermutation(const Permutation& perm);
// dims in the order of a transpose's result.
Shape PermuteShape(const Shape& dims, const Permutation& perm);

// True where only axes of dim 1 change their place among the others: the elements stay in order.
bool KeepsOrder(const Shape& dims, const Permutation& perm, const Bounds& bounds);

// Axes of `from` and `to` in pairs, all but those of dim 1; nothing where other axes come or go.
std::optional<std::vector<std::pair<size_t, size_t>>> MatchAxes(const Shape& from, const Shape& to,
                                                                const Bounds& bounds);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_PERMUTATION_H_
