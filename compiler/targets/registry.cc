#include "compiler/targets/registry.h"

#include <algorithm>

#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "compiler/targets/limits_json.h"

namespace aotc {
namespace {

const TargetMaker* const kTargets[] = {
    &kCpuTarget,
    &kCudaTarget,
};

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const TargetMaker* maker : kTargets) names.emplace_back(maker->name);
  return names;
}

absl::Status CheckTarget(std::string_view name) {
  std::string text;
  for (const TargetMaker* maker : kTargets) {
    if (maker->name == name) return absl::OkStatus();
    if (maker->also_called == name) {
      text = StrCat("unknown target '", name, "'; did you mean '", maker->name, "'?");
    }
  }
  if (text.empty()) text = UnknownName("target", name, TargetNames());
  return AOTC_REFUSAL(InvalidArgument, text);
}

absl::StatusOr<Target> MakeTarget(std::string_view name, const TargetOptions& options) {
  AOTC_RETURN_IF_ERROR(CheckTarget(name));
  const auto found = std::ranges::find(kTargets, name, [](const auto* maker) {  //
    return maker->name;
  });
  if (!options.limits.empty()) {
    AOTC_RETURN_IF_ERROR(CheckLimitsFile(options.limits, TargetNames(), name));
  }
  for (const TargetMaker* maker : kTargets) AOTC_RETURN_IF_ERROR(maker->check(options));
  AOTC_RETURN_IF_ERROR(CheckSchedules(options.disabled));
  return (*found)->make(options);
}

std::string MeasureLimits() {
  LimitsJson all = LimitsJson::object();
  for (const TargetMaker* maker : kTargets) {
    if (maker->measure != nullptr) all.update(LimitsJson::parse(maker->measure()));
  }
  return all.dump(2) + "\n";
}

std::vector<ScheduleRow> AllSchedules() {
  std::vector<ScheduleRow> rows;
  for (const TargetMaker* maker : kTargets) {
    for (const TargetSchedule& schedule : maker->schedules) {
      const auto known = std::ranges::find(rows, schedule.name, &ScheduleRow::name);
      if (known == rows.end()) {
        rows.push_back({schedule.name, std::string(maker->name), schedule.summary});
      } else {
        StrAppend(&known->targets, " ", maker->name);
      }
    }
  }
  return rows;
}

absl::Status CheckSchedules(const std::set<std::string>& names) {
  const std::vector<ScheduleRow> rows = AllSchedules();
  for (const std::string& name : names) {
    if (std::ranges::find(rows, name, &ScheduleRow::name) != rows.end()) continue;
    std::vector<std::string> known;
    for (const ScheduleRow& row : rows) known.emplace_back(row.name);
    return AOTC_REFUSAL(InvalidArgument, UnknownName("schedule", name, known));
  }
  return absl::OkStatus();
}

}  // namespace aotc
