#include "compiler/schedule/record.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_split.h"
#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/schedule/anchor.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::map<std::string, std::string, std::less<>>;

// The axes of all stages, each name numbered where it is first met.
Names NumberedAxes(const Kernel& kernel) {
  Names numbers;
  for (const Stage& stage : kernel.stages) {
    for (const std::vector<Axis>* axes : {&stage.axes, &stage.reduce_axes}) {
      for (const Axis& axis : *axes) numbers.emplace(axis.name, StrCat("x", numbers.size()));
    }
  }
  return numbers;
}

Names NumberedResults(const Kernel& kernel) {
  Names numbers;
  for (const std::string& name : ResultNames(kernel)) {
    numbers.emplace(name, StrCat("s", numbers.size()));
  }
  return numbers;
}

Names Turned(const Names& names) {
  Names turned;
  for (const auto& [from, to] : names) turned.emplace(to, from);
  return turned;
}

// Other names in a schedule, of tensors and of axes; what stands behind the name of an axis, as in
// c_o, stays.
class Renamer {
 public:
  Renamer(Names results, Names axes) : results_(std::move(results)), axes_(std::move(axes)) {}

  absl::StatusOr<Schedule> Rename(Schedule schedule) const {
    AOTC_RETURN_IF_ERROR(Result(schedule.result));
    for (std::vector<Cut>* cuts : {&schedule.tasks, &schedule.loops}) {
      for (Cut& cut : *cuts) AOTC_RETURN_IF_ERROR(Axes(cut.axes));
    }
    for (SchedulePart& part : schedule.parts) {
      for (std::string& result : part.results) AOTC_RETURN_IF_ERROR(Result(result));
      AOTC_RETURN_IF_ERROR(Axes(part.at));
    }
    return schedule;
  }

 private:
  absl::Status Result(std::string& name) const {
    const auto found = results_.find(name);
    if (found == results_.end()) return absl::FailedPreconditionError(StrCat("no result ", name));
    name = found->second;
    return absl::OkStatus();
  }

  absl::Status Axes(std::vector<std::string>& names) const {
    for (std::string& name : names) {
      auto found = axes_.find(name);
      const size_t end = found == axes_.end() ? name.rfind('_') : name.size();
      if (end != std::string::npos) found = axes_.find(name.substr(0, end));
      if (found == axes_.end()) return absl::FailedPreconditionError(StrCat("no axis ", name));
      name = found->second + name.substr(end);
    }
    return absl::OkStatus();
  }

  Names results_, axes_;
};

absl::StatusOr<ScheduleRecord> ParseRecord(const std::string& line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return AOTC_REFUSAL(InvalidArgument, "no JSON object");
  ScheduleRecord record;
  const std::pair<const char*, std::string*> texts[] = {{"anchor", &record.anchor},
                                                        {"limits", &record.limits},
                                                        {"compiler", &record.compiler},
                                                        {"schedule", &record.schedule}};
  for (const auto& [key, text] : texts) {
    if (!json.contains(key) || !json[key].is_string()) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("no text \"", key, "\""));
    }
    *text = json[key].get<std::string>();
  }
  if (json.contains("seconds") && json["seconds"].is_number()) {
    record.seconds = json["seconds"].get<double>();
  }
  AOTC_RETURN_IF_ERROR(ParseSchedule(record.schedule).status());
  return record;
}

// The first contraction, else the first reduction, else the last stage.
size_t HeartStage(const Kernel& kernel) {
  const auto is_contraction = [](const Stage& stage) { return ReadContraction(stage).has_value(); };
  auto heart = std::ranges::find_if(kernel.stages, is_contraction);
  if (heart == kernel.stages.end()) {
    heart = std::ranges::find_if(kernel.stages, &Stage::IsReduction);
  }
  if (heart == kernel.stages.end()) --heart;
  return static_cast<size_t>(heart - kernel.stages.begin());
}

// The kernel with all names of tensors and axes as numbers.
Kernel Numbered(Kernel kernel) {
  const Names names = NumberedAxes(kernel);
  Substitution axes;
  for (const auto& [from, to] : names) axes[from] = Var(to);
  for (TensorId id : kernel.tensors.ids()) kernel.tensors[id].name = StrCat("t", id.index());
  for (Stage& stage : kernel.stages) {
    for (Expr& body : stage.body) body = Substitute(body, axes);
    for (std::vector<Axis>* list : {&stage.axes, &stage.reduce_axes}) {
      for (Axis& axis : *list) axis.name = names.at(axis.name);
    }
  }
  return kernel;
}

}  // namespace

absl::StatusOr<std::vector<ScheduleRecord>> ParseRecords(std::string_view text) {
  std::vector<ScheduleRecord> records;
  int number = 0;
  for (const auto& line : absl::StrSplit(View(text), '\n')) {
    ++number;
    if (line.empty()) continue;
    absl::StatusOr<ScheduleRecord> record = ParseRecord(std::string(line));
    if (!record.ok()) {
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("--schedules: line ", number, " is no record: ", record.status().message(),
                 "; hint: `aotc schedules MODEL --records` prints some"));
    }
    records.push_back(*std::move(record));
  }
  if (records.empty()) return AOTC_REFUSAL(InvalidArgument, "--schedules: the file has no record");
  return records;
}

std::string PrintRecord(const ScheduleRecord& record) {
  Json json = {{"anchor", record.anchor},
               {"limits", record.limits},
               {"compiler", record.compiler},
               {"schedule", record.schedule},
               {"seconds", nullptr}};
  if (record.seconds) json["seconds"] = *record.seconds;
  return json.dump();
}

std::string AnchorSignature(const Kernel& kernel) {
  if (kernel.stages.empty()) return "";
  const Kernel numbered = Numbered(kernel);
  const size_t heart = HeartStage(kernel);
  Kernel alone = numbered;
  alone.stages = {numbered.stages[heart]};
  std::string text = PrintStages(alone);
  const auto add = [&](TensorId id) {
    const KernelTensor& tensor = numbered.tensors[id];
    StrAppend(&text, "; ", tensor.name, ": ",
              PrintTensorText({tensor.dtype, tensor.shape, tensor.layout}),
              tensor.strides.empty() ? "" : " in a place");
  };
  std::vector<TensorId> read;
  for (const Expr& load : LoadsOf(numbered.stages[heart].body[0])) {
    if (std::ranges::find(read, load->tensor) == read.end()) read.push_back(load->tensor);
  }
  for (const TensorId id : read) add(id);
  for (const TensorId id : numbered.params) {
    if (numbered.tensors[id].role == TensorRole::kOutput) add(id);
  }
  StrAppend(&text, "; stages");
  for (size_t s = 0; s < numbered.stages.size(); ++s) {
    const Stage& stage = numbered.stages[s];
    StrAppend(&text, s == heart ? " heart" : stage.IsReduction() ? " reduce" : " point");
  }
  return text;
}

std::string PrintForAnyModel(const Schedule& schedule, const Kernel& kernel) {
  const absl::StatusOr<Schedule> numbered =
      Renamer(NumberedResults(kernel), NumberedAxes(kernel)).Rename(schedule);
  AOTC_CHECK(numbered.ok()) << PrintSchedule(schedule) << ": " << numbered.status();
  return PrintSchedule(*numbered);
}

absl::StatusOr<Schedule> ParseForKernel(std::string_view text, const Kernel& kernel) {
  AOTC_ASSIGN_OR_RETURN(Schedule schedule, ParseSchedule(text));
  return Renamer(Turned(NumberedResults(kernel)), Turned(NumberedAxes(kernel)))
      .Rename(std::move(schedule));
}

}  // namespace aotc
