// The launches of a program that is being built, of kernels each of which stands in it once.
//
//   KernelLaunches launches(graph, schedule, buffers, program);
//   AOTC_RETURN_IF_ERROR(launches.Add(fused.kernels[0], fused.checks));
#ifndef AOTC_COMPILER_LOWER_KERNEL_LAUNCHES_H_
#define AOTC_COMPILER_LOWER_KERNEL_LAUNCHES_H_

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/fused_graph.h"
#include "compiler/ir/program.h"
#include "compiler/lower/build_program.h"
#include "compiler/lower/value_buffers.h"

namespace aotc {

class KernelLaunches {
 public:
  // Kernels and steps go to `program`, in which `buffers` are.
  KernelLaunches(const Graph& graph, const Scheduler& schedule, ValueBuffers& buffers,
                 Program& program)
      : graph_(graph), schedule_(schedule), buffers_(buffers), program_(program) {}

  // The steps of a kernel, and of its check where its last result is one of `checks`. Nothing where
  // no result ever has elements.
  absl::Status Add(const FusedKernel& fused, const std::vector<ValueId>& checks);

 private:
  // A value that a launch is given, or a buffer that no value lies in.
  using Argument = std::variant<ValueId, BufferId>;

  // Kernels that compute the same, whatever their tensors are called, are one kernel.
  absl::StatusOr<KernelId> KernelOf(const Kernel& kernel);
  absl::Status AddLaunch(const Kernel& fused, const std::vector<Argument>& args);
  // The kernel in bytes; else it writes a byte for each element of its packed results, and a launch
  // for each of them packs those.
  absl::Status AddPackedLaunches(const FusedKernel& fused);

  const Graph& graph_;
  const Scheduler& schedule_;
  ValueBuffers& buffers_;
  Program& program_;
  std::map<std::string, KernelId> by_text_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_KERNEL_LAUNCHES_H_
