#include "compiler/driver/recorded_schedules.h"

#include <set>
#include <utility>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

RecordedSchedules::RecordedSchedules(std::vector<ScheduleRecord> records, const Target& target)
    : target_(target) {
  for (ScheduleRecord& record : records) {
    Entry entry{.record = std::move(record), .why_not = "no kernel has its anchor and limits"};
    if (entry.record.compiler != "*") {
      entry.why_not = StrCat("it is for ", entry.record.compiler, ", and no compiler is known");
    }
    entries_.push_back(std::move(entry));
  }
}

bool RecordedSchedules::Apply(Entry& entry, const Kernel& kernel, KernelVariant& variant) const {
  const auto schedule = ParseForKernel(entry.record.schedule, kernel);
  absl::StatusOr<KernelVariant> other =
      schedule.ok() ? target_.realise(kernel, variant, PrintSchedule(*schedule))
                    : absl::StatusOr<KernelVariant>(schedule.status());
  if (!other.ok()) {
    entry.why_not = std::string(other.status().message());
    return false;
  }
  variant = *std::move(other);
  variant.reason += "; by a record";
  entry.is_used = true;
  return true;
}

absl::StatusOr<ProgramKernel> RecordedSchedules::Schedule(const Kernel& kernel) {
  AOTC_ASSIGN_OR_RETURN(ProgramKernel result, target_.schedule(kernel));
  const std::string anchor = AnchorSignature(kernel);
  for (KernelVariant& variant : result.variants) {
    for (Entry& entry : entries_) {
      const ScheduleRecord& record = entry.record;
      if (record.compiler != "*" || record.anchor != anchor) continue;
      if (!record.limits.empty() && record.limits != variant.feature) continue;
      if (Apply(entry, kernel, variant)) break;
    }
  }
  return result;
}

void RecordedSchedules::Report(Diagnostics& diagnostics) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].is_used) continue;
    diagnostics.Note({}, StrCat("record ", i + 1, " of --schedules: ", entries_[i].why_not));
  }
}

std::string RecordedSchedules::Used() const {
  std::string text;
  for (const Entry& entry : entries_) {
    if (entry.is_used) StrAppend(&text, PrintRecord(entry.record), "\n");
  }
  return text;
}

std::string PrintRecords(const Program& program) {
  std::string text;
  std::set<std::string> printed;
  for (const ProgramKernel& kernel : program.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      const absl::StatusOr<Schedule> schedule = ParseSchedule(variant.schedule);
      AOTC_CHECK(schedule.ok()) << variant.schedule;
      const std::string line =
          PrintRecord({.anchor = AnchorSignature(kernel.kernel),
                       .limits = variant.feature,
                       .schedule = PrintForAnyModel(*schedule, kernel.kernel)});
      if (printed.insert(line).second) StrAppend(&text, line, "\n");
    }
  }
  return text;
}

}  // namespace aotc
