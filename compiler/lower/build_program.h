// From fused kernels to a Program: buffers for values, weights packed, a step per kernel.
#ifndef AOTC_COMPILER_LOWER_BUILD_PROGRAM_H_
#define AOTC_COMPILER_LOWER_BUILD_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/fused_graph.h"
#include "compiler/ir/program.h"

namespace aotc {

// Turns a fused kernel into one with variants: the target's schedule rules.
using Scheduler = std::function<absl::StatusOr<ProgramKernel>(const Kernel& kernel)>;

struct BuildOptions {
  // Kernels run on a device: what decides a branch or loop is copied to variables of the host.
  bool has_device = false;
  bool has_weights = true;  // false: constants take no room, in a program that is only planned
  bool in_turn = true;      // carried values of loops may have two rooms, which rounds use in turn
  bool threads = true;      // false: a run has one worker
};

// Buffers have no offsets yet (plan/), constants are packed into the weights under the layout and
// dtype that the schedules chose.
absl::StatusOr<Program> BuildProgram(const Graph& graph, FusedGraph fused,
                                     const Scheduler& schedule, const BuildOptions& options = {});

// Adds the elements of `constant` to the blob, in the storage of a tensor of this layout and dtype;
// padding is zero, halos hold the fill value. Where they start, in bytes: a multiple of 64.
int64_t AppendPacked(const Constant& constant, const Layout& layout, DType dtype,
                     std::vector<uint8_t>& blob);

// Bytes that the packed constants of a graph seldom exceed: growing would copy all of them.
size_t RoomForWeights(const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_BUILD_PROGRAM_H_
