// The anchor of a chain: a contraction of what another one's results become, point by point.
//
//   %a[n, c, h, w] = reduce sum(p, q) %x[n, c, h + p - 1, w + q - 1] * %f[c, p, q]
//   %v[n, c, h, w] = min(max(%a[n, c, h, w], 0), 6)                   // pointwise, or nothing
//   %b[n, k, h, w] = reduce sum(c) %v[n, c, h, w] * %g[k, c]
//   ...                                                              // the rest reads no %v
//
//   std::optional<ChainAnchor> chain = ReadChain(kernel);
//   chain->second                  // 2, the stage of %b
//   chain->rows                    // n, h, w of %b for those of %v; of c a point needs all
#ifndef AOTC_COMPILER_SCHEDULE_CHAIN_H_
#define AOTC_COMPILER_SCHEDULE_CHAIN_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/ir/kernel.h"

namespace aotc {

struct ChainAnchor {
  size_t second = 0;      // stage of the second contraction; all before it make %v
  TensorId between = {};  // %v, a temp that no other stage reads
  // Of each axis of %v the axis of the second stage at which a point of that needs it; nothing
  // where it needs the whole axis.
  std::vector<std::optional<size_t>> rows = {};
};

// Nothing where the kernel does not begin with a contraction, or no other has its results like
// that.
std::optional<ChainAnchor> ReadChain(const Kernel& kernel);

// The kernel that makes %v, and the one that reads it: over the same tensors, of which each has
// only some as its params.
Kernel ChainHead(const Kernel& kernel, const ChainAnchor& chain);
Kernel ChainTail(const Kernel& kernel, const ChainAnchor& chain);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_CHAIN_H_
