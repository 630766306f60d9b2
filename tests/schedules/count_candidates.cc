// The candidates that the kernels of real models have, counted.
//
//   count_candidates MODEL[,NAME=RANGE...]... [--target cpu|cuda] [--verbose]
//
// Every kernel is the one that fusion made, to the letter. The text of its schedule is parsed,
// printed and applied: it gives the same text and the same loops. A contraction has a dozen
// candidates or more, which differ in the tile, in the axes or sizes that a task has, and are what
// their texts say. Exit status 0: all holds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/kernel_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/strings.h"
#include "tests/schedules/lowered_model.h"

namespace aotc {
namespace {

constexpr size_t kDozen = 12, kSeveral = 2;

// What the candidates of one kernel differ in.
struct Choices {
  size_t candidates = 0;
  std::set<std::string> functions = {};  // of tiles, or ways of plain loops
  std::set<std::string> tiles = {};      // a tile function with the sizes of its block
  std::set<std::string> cuts = {};       // of the axes, into tasks and the loops of one
  std::set<int64_t> blocks = {};         // how many of an axis they have

  bool Suffice() const {
    return candidates >= kDozen && functions.size() >= kSeveral && tiles.size() >= kSeveral &&
           cuts.size() >= kSeveral && blocks.size() >= kSeveral;
  }
  std::string Text() const {
    return StrCat(candidates, " candidates, ", functions.size(), " functions, ", tiles.size(),
                  " tiles, ", cuts.size(), " cuts, ", blocks.size(), " blocks");
  }
};

void Count(const Schedule& schedule, Choices& choices) {
  ++choices.candidates;
  for (const SchedulePart& part : schedule.parts) {
    choices.functions.insert(part.by);
    if (IsPlainLoops(part.by)) continue;
    choices.tiles.insert(StrCat(part.by, "(", StrJoin(part.params, ", "), ")"));
  }
  std::string cuts;
  for (const std::vector<Cut>& nested : {schedule.tasks, schedule.loops}) {
    for (const Cut& cut : nested) {
      StrAppend(&cuts, StrJoin(cut.axes, "*"), ":", cut.block, " ");
      choices.blocks.insert(cut.block);
    }
  }
  choices.cuts.insert(cuts);
}

// From its parameters on: one kernel may stand for several that differ in the name.
std::string TextWithoutName(const Kernel& kernel) {
  const std::string text = PrintKernel(kernel);
  return text.substr(text.find('('));
}

class Counter {
 public:
  explicit Counter(bool verbose) : verbose_(verbose) {}

  // `fused` is the program's text after fusion.
  void Add(const std::string& model, const CompileResult& result, const std::string& fused) {
    size_t kernels = 0, contractions = 0, fewest = SIZE_MAX;
    for (const ProgramKernel& kernel : result.program.kernels) {
      if (fused.find(TextWithoutName(kernel.kernel)) == std::string::npos) {
        Wrong(StrCat(model, "/", kernel.kernel.name), "is not as fusion made it");
      }
      for (const KernelVariant& variant : kernel.variants) {
        const std::string name = StrCat(model, "/", variant.loops.name);
        ++kernels;
        CheckText(name, result.target, kernel.kernel, variant);
        if (!HasContraction(kernel.kernel)) continue;
        ++contractions;
        fewest = std::min(fewest, CheckChoices(name, result.target, kernel.kernel, variant));
      }
    }
    kernels_ += kernels;
    contractions_ += contractions;
    printf("%-24s %4zu variants of kernels, %4zu with contractions", model.c_str(), kernels,
           contractions);
    if (contractions > 0) printf(", at least %zu candidates", fewest);
    printf("\n");
    fflush(stdout);
  }

  bool Summarise(const std::string& target) const {
    printf("%s: %zu variants of kernels, %zu with contractions: %zu are wrong\n", target.c_str(),
           kernels_, contractions_, wrong_);
    return wrong_ == 0;
  }

 private:
  void CheckText(const std::string& name, const Target& target, const Kernel& kernel,
                 const KernelVariant& variant) {
    const absl::StatusOr<Schedule> schedule = ParseSchedule(variant.schedule);
    if (!schedule.ok() || PrintSchedule(*schedule) != variant.schedule) {
      return Wrong(name, variant.schedule);
    }
    const auto again = target.realise(kernel, variant, variant.schedule);
    if (!again.ok() || PrintLoops(again->loops) != PrintLoops(variant.loops)) {
      Wrong(name, StrCat(variant.schedule, " gives other loops"));
    }
  }

  size_t CheckChoices(const std::string& name, const Target& target, const Kernel& kernel,
                      const KernelVariant& variant) {
    Choices choices;
    for (const ScheduleCandidate& candidate : target.candidates(kernel, variant)) {
      const absl::StatusOr<Schedule> schedule = ParseSchedule(candidate.schedule);
      if (!schedule.ok() || PrintSchedule(*schedule) != candidate.schedule) {
        Wrong(name, candidate.schedule);
      } else {
        Count(*schedule, choices);
      }
    }
    if (!choices.Suffice()) {
      Wrong(name, StrCat("few candidates: ", choices.Text()));
      printf("    %s; %s\n", variant.schedule.c_str(), variant.reason.c_str());
    } else if (verbose_) {
      printf("  %s: %s\n", name.c_str(), choices.Text().c_str());
    }
    return choices.candidates;
  }

  void Wrong(const std::string& name, const std::string& what) {
    ++wrong_;
    printf("  %s: %s\n", name.c_str(), what.c_str());
  }

  bool verbose_;
  size_t kernels_ = 0, contractions_ = 0, wrong_ = 0;
};

bool CountAll(const std::vector<std::string>& models, const std::string& target, bool verbose) {
  Counter counter(verbose);
  bool holds = true;
  for (const std::string& model : models) {
    std::string fused;
    const auto keep = [&](const PhaseEnd& end) {
      if (end.name == "fuse") fused = end.dump();
    };
    const absl::StatusOr<CompileResult> result = CompileToKernels(model, {.target = target}, keep);
    if (result.ok()) {
      counter.Add(NameOfModel(model), *result, fused);
    } else {
      holds = false;
      printf("error: %s\n", std::string(result.status().message()).c_str());
    }
  }
  return counter.Summarise(target) && holds;
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  std::vector<std::string> models;
  std::string target = "cpu";
  bool verbose = false;
  CLI::App app("Candidates of schedules, counted.");
  app.add_option("models", models, "MODEL[,NAME=RANGE...]")->required();
  app.add_option("--target", target);
  app.add_flag("--verbose", verbose);
  CLI11_PARSE(app, argc, argv);
  return aotc::CountAll(models, target, verbose) ? 0 : 1;
}
