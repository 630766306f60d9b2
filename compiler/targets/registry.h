// The targets that there are, and the schedules of all of them.
//
//   AOTC_ASSIGN_OR_RETURN(const Target target, MakeTarget("cuda", options));
//   for (const ScheduleRow& row : AllSchedules()) Print(row.name, row.targets, row.summary);
//   AOTC_RETURN_IF_ERROR(CheckSchedules({"contract_tile"}));   // --disable-schedule contract_tile
#ifndef AOTC_COMPILER_TARGETS_REGISTRY_H_
#define AOTC_COMPILER_TARGETS_REGISTRY_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/targets/target.h"

namespace aotc {

// In the order in which they are shown; the first is the default.
std::vector<std::string> TargetNames();

// Error: an unknown name, with the known ones.
absl::Status CheckTarget(std::string_view name);

// Error: an unknown name; values that no target's flag has; schedules that
// there are not; what this target refuses.
absl::StatusOr<Target> MakeTarget(std::string_view name, const TargetOptions& options = {});

// A limits file (--limits) for the targets that this machine can measure, as JSON; takes seconds.
std::string MeasureLimits();

struct ScheduleRow {
  std::string_view name = {};
  std::string targets = {};  // "cpu cuda"
  std::string_view summary = {};
};
// Of each target, best first.
std::vector<ScheduleRow> AllSchedules();

// Error: a name that is none, with the names that are.
absl::Status CheckSchedules(const std::set<std::string>& names);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_REGISTRY_H_
