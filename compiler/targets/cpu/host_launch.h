// How the CPU host program calls the kernel of a step: the variant for this machine and these
// sizes, the tasks of the worker, and its part of the scratch.
//
//   LaunchWriter launches(context, isas);
//   launches.WorkersMeet();                                  // at each barrier
//   AOTC_RETURN_IF_ERROR(launches.Emit(step, w));
#ifndef AOTC_COMPILER_TARGETS_CPU_HOST_LAUNCH_H_
#define AOTC_COMPILER_TARGETS_CPU_HOST_LAUNCH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/emit/parts.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/program.h"
#include "compiler/support/code_writer.h"
#include "compiler/targets/cpu/isa_tests.h"

namespace aotc {

class LaunchWriter {
 public:
  // Both outlive the writer.
  LaunchWriter(const EmitContext& context, const IsaTests& isas);

  // Tasks are dealt out from the first worker on again.
  void WorkersMeet() { dealt_ = IntConst(0); }

  // A block. Error: what the kernel is given cannot be said.
  absl::Status Emit(const Step& step, CodeWriter& w);

 private:
  void Choose(const std::vector<KernelVariant>& variants, bool same_tasks, CodeWriter& w) const;
  std::string Condition(const KernelVariant& variant) const;
  std::string Turn() const;
  std::string Range(const Step& step, const std::string& tasks) const;
  std::string Scratch(const Step& step) const;
  std::string RoomOf(const KernelVariant& variant) const;

  const EmitContext& context_;
  const Program& program_;
  const IsaTests& isas_;
  const Bounds bounds_;
  Expr dealt_ = IntConst(0);  // tasks since the workers met; any number that all agree on will do
};

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_HOST_LAUNCH_H_
