// Makes the values between kernels visible from outside, without a change to the kernels.
//
//   FusedGraph fused = *Fuse(graph, options);
//   AOTC_ASSIGN_OR_RETURN(std::vector<KeptValue> kept, KeepValues(graph, fused));
//   // kept[0].value is the first result of a kernel; the program gives it as output kept[0].output
#ifndef AOTC_COMPILER_FUSE_KEEP_VALUES_H_
#define AOTC_COMPILER_FUSE_KEEP_VALUES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/fuse/fuse.h"

namespace aotc {

struct KeptValue {
  std::string value = {};   // its name in the graph
  Location location = {};   // of the node that defines it
  std::string kernel = {};  // that writes it
  size_t output = 0;        // index among the outputs of the graph
};

// Adds a copy of each value that a kernel writes to the outputs of `graph`, after those that it
// has, and the kernel that copies it to `fused`. The result is in the order of execution and also
// lists the values that were outputs before.
absl::StatusOr<std::vector<KeptValue>> KeepValues(Graph& graph, FusedGraph& fused);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_KEEP_VALUES_H_
