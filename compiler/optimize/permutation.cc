#include "compiler/optimize/permutation.h"

namespace aotc {

Permutation PermutationOf(const Node& transpose, size_t rank) {
  Permutation perm = transpose.attributes.Ints("perm");
  const auto axes = static_cast<int64_t>(rank);
  if (!transpose.attributes.Has("perm")) {
    for (int64_t d = axes - 1; d >= 0; --d) perm.push_back(d);
  }
  for (int64_t& axis : perm) axis = axis < 0 ? axis + axes : axis;
  return perm;
}

Attributes PermutationAttribute(const Permutation& perm) {
  Attributes attributes;
  attributes.Set("perm", perm);
  return attributes;
}

bool IsIdentityPermutation(const Permutation& perm) {
  for (size_t d = 0; d < perm.size(); ++d) {
    if (perm[d] != static_cast<int64_t>(d)) return false;
  }
  return true;
}

Permutation Compose(const Permutation& first, const Permutation& second) {
  Permutation both;
  both.reserve(second.size());
  for (int64_t axis : second) both.push_back(first[static_cast<size_t>(axis)]);
  return both;
}

Permutation InversePermutation(const Permutation& perm) {
  Permutation inverse(perm.size());
  for (size_t d = 0; d < perm.size(); ++d) {
    inverse[static_cast<size_t>(perm[d])] = static_cast<int64_t>(d);
  }
  return inverse;
}

Shape PermuteShape(const Shape& dims, const Permutation& perm) {
  Shape result;
  for (int64_t axis : perm) result.push_back(dims[static_cast<size_t>(axis)]);
  return result;
}

bool KeepsOrder(const Shape& dims, const Permutation& perm, const Bounds& bounds) {
  int64_t last = -1;
  for (int64_t axis : perm) {
    if (ProveEqual(dims[static_cast<size_t>(axis)], 1, bounds)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

std::optional<std::vector<std::pair<size_t, size_t>>> MatchAxes(const Shape& from, const Shape& to,
                                                                const Bounds& bounds) {
  auto wide = [&](const Shape& dims) {
    std::vector<size_t> axes;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!ProveEqual(dims[d], 1, bounds)) axes.push_back(d);
    }
    return axes;
  };
  const std::vector<size_t> left = wide(from), right = wide(to);
  if (left.size() != right.size()) return std::nullopt;
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!ProveEqual(from[left[i]], to[right[i]], bounds)) return std::nullopt;
    pairs.emplace_back(left[i], right[i]);
  }
  return pairs;
}

}  // namespace aotc
