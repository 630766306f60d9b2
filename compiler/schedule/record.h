// Records of schedules: choices that somebody has measured or made, kept for any model that has the
// same anchor. A file of them has one JSON object a line.
//
//   {"anchor": "%t2[x0<1, x1<64] = reduce sum(x2<32) %t0[x0, x2] * %t1[x2, x1]; ...",
//    "limits": "x86-64-v4", "compiler": "*",
//    "schedule": "schedule { tasks %s1(x1:32)  %s0, %s1 @ tasks in fragment by loops(16) }",
//    "seconds": 1.2e-05}
//
// Names of a model are numbers in them: %s0 is the result of the first stage, x0 the first axis.
#ifndef AOTC_COMPILER_SCHEDULE_RECORD_H_
#define AOTC_COMPILER_SCHEDULE_RECORD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"
#include "compiler/schedule/schedule.h"

namespace aotc {

struct ScheduleRecord {
  std::string anchor = {};
  std::string limits = {};     // by name, as variants have it: "x86-64-v4", "sm_80"; "" for all
  std::string compiler = "*";  // "g++ 12"; "*" for any
  std::string schedule = {};   // its names numbered
  std::optional<double> seconds = {};  // measured

  friend bool operator==(const ScheduleRecord&, const ScheduleRecord&) = default;
};

// Error: the text is no list of records, with the line.
absl::StatusOr<std::vector<ScheduleRecord>> ParseRecords(std::string_view text);
// One line of such a file, without its end.
std::string PrintRecord(const ScheduleRecord& record);

// What schedules of a kernel are chosen by, the same for kernels of any model that have it: the
// stage that is its heart, types and layouts of what that reads and of the results, and of the
// other stages the kinds.
std::string AnchorSignature(const Kernel& kernel);

// The schedule with the kernel's names as numbers, and back. Error: a number that it has no name
// for.
std::string PrintForAnyModel(const Schedule& schedule, const Kernel& kernel);
absl::StatusOr<Schedule> ParseForKernel(std::string_view text, const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_RECORD_H_
