#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/schedule/nest_form.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Ways of writing plain loops, with the number of their parameters.
constexpr std::pair<std::string_view, size_t> kPlainLoops[] = {
    {"loops", 1}, {"threads", 1}, {"row_groups", 2}, {"packs", 2}, {"updates", 2}};
constexpr int64_t kMostLoopParam = 1024;

absl::Status Wrong(const Kernel& kernel, std::string_view what) {
  return absl::FailedPreconditionError(StrCat("schedule of ", kernel.name, ": ", what));
}

constexpr std::string_view kParts[] = {"_o", "_i", "_g"};

// An axis of the stage, or its part in storage.
bool IsAxis(const Stage& stage, std::string_view name) {
  const auto is = [&](std::string_view axis) {
    return std::ranges::find(stage.axes, axis, &Axis::name) != stage.axes.end();
  };
  const bool is_part =
      std::ranges::any_of(kParts, [&](std::string_view part) { return name.ends_with(part); });
  return is(name) || (is_part && is(name.substr(0, name.size() - 2)));
}

absl::Status CheckCuts(const Kernel& kernel, const Schedule& schedule, const std::vector<Cut>& cuts,
                       const Stage& stage) {
  std::set<std::string> cut;
  for (const Cut& one : cuts) {
    const std::string names = StrJoin(one.axes, "*");
    if (one.block < 1) return Wrong(kernel, StrCat("a block of ", one.block, " of ", names));
    for (const std::string& name : one.axes) {
      if (!IsAxis(stage, name)) {
        return Wrong(kernel, StrCat("%", schedule.result, " has no axis ", name));
      }
      if (!cut.insert(name).second) return Wrong(kernel, StrCat("axis ", name, " is cut twice"));
    }
  }
  return absl::OkStatus();
}

// The stage of the result with the axes that parts fold blocks of.
Stage WithPartial(const Kernel& kernel, const Schedule& schedule) {
  Stage all = *DefiningStage(kernel, MainOutput(kernel));
  for (const SchedulePart& part : schedule.parts) {
    for (const Stage& stage : kernel.stages) {
      const std::string& name = kernel.tensors[stage.results[0].tensor].name;
      if (!part.is_partial || std::ranges::count(part.results, name) == 0) continue;
      all.axes.insert(all.axes.end(), stage.reduce_axes.begin(), stage.reduce_axes.end());
    }
  }
  return all;
}

absl::Status CheckLoops(const Kernel& kernel, const SchedulePart& part, size_t count) {
  const bool holds = part.params.size() == count && std::ranges::all_of(part.params, [](int64_t p) {
                       return p >= 1 && p <= kMostLoopParam;
                     });
  if (holds) return absl::OkStatus();
  return Wrong(kernel, StrCat(part.by, " takes ", count, " numbers from 1 to ", kMostLoopParam));
}

absl::Status CheckBy(const Kernel& kernel, const SchedulePart& part, TileTable tiles) {
  for (const auto& [name, count] : kPlainLoops) {
    if (part.by == name) return CheckLoops(kernel, part, count);
  }
  const TileRow* row = FindTile(tiles, part.by);
  if (row == nullptr) return Wrong(kernel, StrCat("the target has no tile '", part.by, "'"));
  const absl::Status status = CheckTileParams(*row, part.params);
  return status.ok() ? status : Wrong(kernel, std::string(status.message()));
}

}  // namespace

bool IsPlainLoops(std::string_view by) {
  return std::ranges::any_of(kPlainLoops, [&](const auto& way) { return way.first == by; });
}

const SchedulePart& HeartOf(const Schedule& schedule) {
  const auto found = std::ranges::find_if(
      schedule.parts, [](const SchedulePart& part) { return !IsPlainLoops(part.by); });
  return found == schedule.parts.end() ? schedule.parts.front() : *found;
}

std::vector<std::string> ResultNames(const Kernel& kernel) {
  std::vector<std::string> names;
  for (const Stage& stage : kernel.stages) {
    for (const StageResult& result : stage.results) {
      names.push_back(kernel.tensors[result.tensor].name);
    }
  }
  return names;
}

Schedule WholeKernel(const Kernel& kernel, std::vector<Cut> tasks, StageMemory memory,
                     std::string_view by, std::vector<int64_t> params) {
  Schedule schedule{.result = kernel.tensors[MainOutput(kernel)].name, .tasks = std::move(tasks)};
  schedule.parts.push_back({.results = ResultNames(kernel),
                            .memory = memory,
                            .by = std::string(by),
                            .params = std::move(params)});
  return schedule;
}

const Cut* FindCut(const Schedule& schedule, const std::vector<std::string>& axes) {
  const auto found = std::ranges::find(schedule.tasks, axes, &Cut::axes);
  return found == schedule.tasks.end() ? nullptr : &*found;
}

absl::Status VerifySchedule(const Kernel& kernel, const Schedule& schedule, TileTable tiles) {
  const TensorId main = MainOutput(kernel);
  if (schedule.result != kernel.tensors[main].name) {
    return Wrong(kernel, StrCat("%", schedule.result, " is not its result"));
  }
  const Stage* stage = DefiningStage(kernel, main);
  if (stage == nullptr) return Wrong(kernel, "nothing defines its result");
  AOTC_RETURN_IF_ERROR(CheckCuts(kernel, schedule, schedule.tasks, *stage));
  AOTC_RETURN_IF_ERROR(CheckCuts(kernel, schedule, schedule.loops, WithPartial(kernel, schedule)));
  const std::vector<std::string> wanted = ResultNames(kernel);
  std::vector<std::string> named;
  for (const SchedulePart& part : schedule.parts) {
    named.insert(named.end(), part.results.begin(), part.results.end());
    AOTC_RETURN_IF_ERROR(CheckBy(kernel, part, tiles));
    if (!part.at.empty() &&
        std::ranges::find(schedule.loops, part.at, &Cut::axes) == schedule.loops.end()) {
      return Wrong(kernel, StrCat("no loop over ", StrJoin(part.at, "*")));
    }
  }
  if (wanted == named) return absl::OkStatus();
  return Wrong(kernel,
               StrCat("its stages are ", StrJoin(wanted, ", "), ", not ", StrJoin(named, ", ")));
}

}  // namespace aotc
