// Choices of schedules by records in the place of the target's own (--schedules).
//
//   RecordedSchedules records(*ParseRecords(text), target);
//   ProgramKernel kernel = *records.Schedule(fused.kernel);
//   records.Report(diagnostics);       // a note on each record that did not apply
#ifndef AOTC_COMPILER_DRIVER_RECORDED_SCHEDULES_H_
#define AOTC_COMPILER_DRIVER_RECORDED_SCHEDULES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/program.h"
#include "compiler/schedule/record.h"
#include "compiler/support/diagnostics.h"
#include "compiler/targets/target.h"

namespace aotc {

class RecordedSchedules {
 public:
  RecordedSchedules(std::vector<ScheduleRecord> records, const Target& target);

  // The target's kernel, each variant with the schedule of the first record that has its anchor and
  // limits and is legal.
  absl::StatusOr<ProgramKernel> Schedule(const Kernel& kernel);

  void Report(Diagnostics& diagnostics) const;
  // Those that applied, as lines of a file.
  std::string Used() const;

 private:
  struct Entry {
    ScheduleRecord record = {};
    bool is_used = false;
    std::string why_not = {};
  };

  // Whether the variant now has the record's schedule.
  bool Apply(Entry& entry, const Kernel& kernel, KernelVariant& variant) const;

  std::vector<Entry> entries_;
  Target target_;
};

// The schedules of all variants of a program's kernels, as lines of a file.
std::string PrintRecords(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_RECORDED_SCHEDULES_H_
