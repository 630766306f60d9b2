// The text form of schedules.
#include <optional>
#include <utility>

#include "compiler/schedule/schedule.h"
#include "compiler/support/scanner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::pair<StageMemory, std::string_view> kMemories[] = {
    {StageMemory::kFragment, "fragment"},
    {StageMemory::kScratch, "scratch"},
    {StageMemory::kPlace, "place"}};

std::string_view MemoryName(StageMemory memory) {
  for (const auto& [value, name] : kMemories) {
    if (value == memory) return name;
  }
  return "";
}

absl::StatusOr<StageMemory> ParseMemory(Scanner& scanner) {
  for (const auto& [value, name] : kMemories) {
    if (scanner.TryConsume(name)) return value;
  }
  return scanner.Error("expected fragment, scratch or place");
}

std::string PartText(const SchedulePart& part) {
  const std::string results =
      StrJoin(part.results, ", ", [](const std::string& name) { return StrCat("%", name); });
  const std::string loop = part.at.empty() ? "tasks" : StrJoin(part.at, "*");
  return StrCat(results, " @ ", loop, " in ", MemoryName(part.memory), " by ", part.by, "(",
                StrJoin(part.params, ", "), ")", part.is_partial ? " partial" : "");
}

std::string CutText(const Cut& cut) { return StrCat(StrJoin(cut.axes, "*"), ":", cut.block); }

absl::StatusOr<std::vector<std::string>> ParseAxes(Scanner& scanner) {
  std::vector<std::string> axes;
  do {
    AOTC_ASSIGN_OR_RETURN(std::string axis, scanner.ExpectIdentifier());
    axes.push_back(std::move(axis));
  } while (scanner.TryConsume("*"));
  return axes;
}

// h*w:64
absl::StatusOr<Cut> ParseCut(Scanner& scanner) {
  Cut cut;
  AOTC_ASSIGN_OR_RETURN(cut.axes, ParseAxes(scanner));
  AOTC_RETURN_IF_ERROR(scanner.Expect(":"));
  AOTC_ASSIGN_OR_RETURN(cut.block, scanner.ExpectInteger());
  return cut;
}

// Comma-separated things up to a closing parenthesis, which may follow at once.
template <class Parse>
absl::Status ParseList(Scanner& scanner, const Parse& parse) {
  AOTC_RETURN_IF_ERROR(scanner.Expect("("));
  bool first = true;
  while (!scanner.TryConsume(")")) {
    if (!std::exchange(first, false)) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_RETURN_IF_ERROR(parse());
  }
  return absl::OkStatus();
}

// %acc, %y @ tasks in fragment by contract_tile(14, 2)
absl::StatusOr<SchedulePart> ParsePart(Scanner& scanner) {
  SchedulePart part;
  do {
    AOTC_ASSIGN_OR_RETURN(std::string name, scanner.ExpectName('%'));
    part.results.push_back(std::move(name));
  } while (scanner.TryConsume(","));
  AOTC_RETURN_IF_ERROR(scanner.Expect("@"));
  if (!scanner.TryConsume("tasks")) {
    AOTC_ASSIGN_OR_RETURN(part.at, ParseAxes(scanner));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("in"));
  AOTC_ASSIGN_OR_RETURN(part.memory, ParseMemory(scanner));
  AOTC_RETURN_IF_ERROR(scanner.Expect("by"));
  AOTC_ASSIGN_OR_RETURN(part.by, scanner.ExpectIdentifier());
  AOTC_RETURN_IF_ERROR(ParseList(scanner, [&]() -> absl::Status {
    AOTC_ASSIGN_OR_RETURN(const int64_t value, scanner.ExpectInteger());
    part.params.push_back(value);
    return absl::OkStatus();
  }));
  part.is_partial = scanner.TryConsume("partial");
  return part;
}

}  // namespace

std::string PrintSchedule(const Schedule& schedule) {
  std::string text = StrCat("schedule { tasks %", schedule.result, "(",
                            StrJoin(schedule.tasks, ", ", CutText), ")");
  for (const Cut& loop : schedule.loops) StrAppend(&text, "  loop ", CutText(loop));
  for (const SchedulePart& part : schedule.parts) StrAppend(&text, "  ", PartText(part));
  return text + " }";
}

absl::StatusOr<Schedule> ParseSchedule(Scanner& scanner) {
  Schedule schedule;
  for (const std::string_view word : {"schedule", "{", "tasks"}) {
    AOTC_RETURN_IF_ERROR(scanner.Expect(word));
  }
  AOTC_ASSIGN_OR_RETURN(schedule.result, scanner.ExpectName('%'));
  AOTC_RETURN_IF_ERROR(ParseList(scanner, [&]() -> absl::Status {
    AOTC_ASSIGN_OR_RETURN(Cut cut, ParseCut(scanner));
    schedule.tasks.push_back(std::move(cut));
    return absl::OkStatus();
  }));
  while (scanner.TryConsume("loop")) {
    AOTC_ASSIGN_OR_RETURN(Cut loop, ParseCut(scanner));
    schedule.loops.push_back(std::move(loop));
  }
  while (!scanner.TryConsume("}")) {
    AOTC_ASSIGN_OR_RETURN(SchedulePart part, ParsePart(scanner));
    schedule.parts.push_back(std::move(part));
  }
  if (schedule.parts.empty()) return scanner.Error("a schedule without parts");
  return schedule;
}

absl::StatusOr<Schedule> ParseSchedule(std::string_view text) {
  Scanner scanner(text, "schedule");
  AOTC_ASSIGN_OR_RETURN(Schedule schedule, ParseSchedule(scanner));
  AOTC_RETURN_IF_ERROR(scanner.ExpectEnd());
  return schedule;
}

}  // namespace aotc
