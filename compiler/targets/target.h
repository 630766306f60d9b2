// What the compiler asks of a target, as one record. Nothing outside of targets/ knows a target by
// name: the driver holds a Target, made from what the user says of machine and schedules.
//
//   AOTC_ASSIGN_OR_RETURN(const Target target, MakeTarget("cpu", {.cpu = "x86-64-v3"}));
//   AOTC_ASSIGN_OR_RETURN(ProgramKernel kernel, target.schedule(fused.kernel));
//   EmitOptions emit{.host = target.host, .kernels = target.kernel_files(program)};
//
// A new target is a folder that defines one TargetMaker, and its line in registry.cc.
#ifndef AOTC_COMPILER_TARGETS_TARGET_H_
#define AOTC_COMPILER_TARGETS_TARGET_H_

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/emit/output.h"
#include "compiler/fuse/fuse.h"
#include "compiler/lower/build_program.h"
#include "compiler/pass/pass.h"

namespace aotc {

inline constexpr std::string_view kDefaultCpuList = "x86-64,x86-64-v3,x86-64-v4";

// What the user says; each target reads its own part.
struct TargetOptions {
  std::string cpu = std::string(kDefaultCpuList);  // instruction sets
  std::vector<std::string> archs = {};             // GPUs: "80", "90a"
  std::string limits = {};                         // text of a limits file; "" for none
  bool templates = true;                           // false: plain loops only
  bool threads = true;                             // false: a run has one worker
  std::set<std::string> disabled = {};             // schedules that are not to be chosen
};

// A schedule that a kernel could have.
struct ScheduleCandidate {
  std::string schedule = {};
  double seconds = 0;  // that it should take; 0: nobody says
};

struct Target {
  std::string_view name = {};
  TargetContracts contracts = {};
  // Its tile functions read weights of narrow integers as they are stored and scale them.
  bool scales_weights = false;

  // What a kernel should take: fusion goes by it.
  KernelEstimator estimate = {};
  Scheduler schedule = {};
  // Schedules for a variant of the kernel, its own among them.
  std::function<std::vector<ScheduleCandidate>(const Kernel& kernel, const KernelVariant& variant)>
      candidates = {};
  // A variant of the kernel with the schedule that this text says in the place of its own. Error:
  // it is none of the kernel, and why.
  std::function<absl::StatusOr<KernelVariant>(const Kernel& kernel, const KernelVariant& variant,
                                              std::string_view schedule)>
      realise = {};
  // The variants of the program's kernels as source text.
  std::function<std::vector<KernelFile>(const Program& program)> kernel_files = {};
  HostWriter host = {};

  // Flags that were given and that it does not look at.
  std::vector<std::string_view> unused_flags = {};
  // Why its arena cannot be made of the user's pools, with a hint; "" where it can.
  std::string refuses_pools = {};
  // Of the limits file, what rules and costs read in place of the tables by name: JSON, or "".
  std::string limits = {};
  // What a host compiler is told to build all of it for a machine without the target's device.
  std::vector<std::string> emulation_flags = {};
};

// A schedule that the rules of a target may choose. A kernel takes the first that applies (op
// strategies of TVM); plain loops (loops, vector_loops) always do and cannot be forbidden.
struct TargetSchedule {
  std::string_view name = {};  // KernelVariant::realisation
  std::string_view summary = {};
};

struct TargetMaker {
  std::string_view name = {};                      // as --target takes it
  std::string_view also_called = {};               // by who has not read its name
  std::span<const TargetSchedule> schedules = {};  // best first
  // Error: values of this target's flags that it does not know. Asked whatever the target.
  absl::Status (*check)(const TargetOptions& options) = nullptr;
  // Error: what was asked for and this target does not have.
  absl::StatusOr<Target> (*make)(const TargetOptions& options) = nullptr;
  // This machine as a limits file; null where it cannot be measured.
  std::string (*measure)() = nullptr;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_TARGET_H_
