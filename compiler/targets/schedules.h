// The schedules that the targets' rules may choose, for those who list them or forbid some.
//
//   for (const ScheduleName& row : AllSchedules()) Print(row.name, row.targets, row.summary);
//   AOTC_RETURN_IF_ERROR(CheckSchedules({"contract_tile"}));   // --disable-schedule contract_tile
//
// A kernel takes the first that its target's rules find to apply (op strategies of TVM); plain
// loops (loops, vector_loops) always apply and cannot be forbidden.
#ifndef AOTC_COMPILER_TARGETS_SCHEDULES_H_
#define AOTC_COMPILER_TARGETS_SCHEDULES_H_

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace aotc {

struct ScheduleName {
  std::string_view name;     // KernelVariant::realisation
  std::string_view targets;  // "cpu", "cuda" or both
  std::string_view summary;
};

// Of each target, best first.
std::span<const ScheduleName> AllSchedules();

// Error: a name that is none, with the names that are.
absl::Status CheckSchedules(const std::set<std::string>& names);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_SCHEDULES_H_
