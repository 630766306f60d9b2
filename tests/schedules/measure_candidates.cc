// Builds and runs the candidates of kernels of real models, and holds what they took against what
// they should cost.
//
//   measure_candidates MODEL[,NAME=RANGE...]... [--target cpu|cuda] [--cpu NAME] [--kernels N]
//       [--candidates N] [--seed S] [--rounds N] [--limits FILE] [--times FILE]
//
// Of each of N kernels, drawn with a seed, all candidates (or as many drawn) must give the same
// numbers. --rounds 0: no times. --times keeps what was measured from run to run. --assert: within
// each kernel costs must order times (rank correlation 0.7 in the median, 0.3 at least), and the
// choice must be within 1.15 of the best in the median, 1.5 at worst.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <random>

#include "absl/strings/str_split.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/attention.h"
#include "compiler/schedule/winograd.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/registry.h"
#include "tests/schedules/candidate_library.h"
#include "tests/schedules/lowered_model.h"
#include "tests/schedules/rank.h"

namespace aotc {
namespace {

struct Options {
  std::vector<std::string> models = {};
  std::string target = "cpu", cpu = "native";
  std::string limits = {}, times = {};
  std::string only = {};  // a part of the names of the kernels
  size_t kernels = 40, candidates = 50;
  uint64_t seed = 1;
  int rounds = 15;
  bool verbose = false, asserts = false, measure = false;
};

struct Subject {
  std::string model;
  ProgramKernel kernel;
  KernelVariant variant;
  std::vector<ScheduleCandidate> candidates = {};
};

// What was measured, by kernel and schedule.
class Times {
 public:
  explicit Times(std::string path) : path_(std::move(path)) {
    std::ifstream file(path_);
    std::string line;
    while (std::getline(file, line)) {
      const std::vector<std::string> fields = absl::StrSplit(line, '\t');
      if (fields.size() == 3) seconds_[{fields[0], fields[1]}] = std::stod(fields[2]);
    }
  }

  const double* Find(const std::string& kernel, const std::string& schedule) const {
    const auto found = seconds_.find({kernel, schedule});
    return found == seconds_.end() ? nullptr : &found->second;
  }
  void Add(const std::string& kernel, const std::string& schedule, double seconds) {
    seconds_[{kernel, schedule}] = seconds;
    if (path_.empty()) return;
    std::ofstream(path_, std::ios::app) << kernel << '\t' << schedule << '\t' << seconds << '\n';
  }

 private:
  std::string path_;
  std::map<std::pair<std::string, std::string>, double> seconds_;
};

absl::StatusOr<CompileResult> CompileModel(const std::string& argument, const Options& given) {
  static const std::string kMeasured = given.measure ? MeasureLimits() : "";
  return CompileToKernels(argument, {.target = given.target,
                                     .cpu = given.cpu,
                                     .limits_path = given.limits,
                                     .limits = given.measure ? kMeasured : ""});
}

std::string KeyOf(const Subject& subject) {
  return StrCat(subject.model, "/", subject.kernel.kernel.name, "/", subject.variant.feature);
}

// A contraction by itself, in Winograd's form, or between softmax.
bool HasAnchor(const Kernel& kernel) {
  return ReadContraction(kernel) || ReadWinograd(kernel) || ReadAttention(kernel);
}

// Kernels around contractions, each once.
void AddSubjects(const std::string& model, const CompileResult& result,
                 std::vector<std::string>& known, std::vector<Subject>& subjects) {
  for (const ProgramKernel& kernel : result.program.kernels) {
    Kernel nameless = kernel.kernel;
    nameless.name = "k";
    nameless.sources.clear();
    const std::string text = PrintKernel(nameless);
    if (std::ranges::count(known, text) > 0) continue;
    known.push_back(text);
    for (const KernelVariant& variant : kernel.variants) {
      if (!variant.guard.IsInt(1) || !HasAnchor(kernel.kernel)) continue;
      Subject subject{.model = model, .kernel = kernel, .variant = variant};
      subject.candidates = result.target.candidates(kernel.kernel, variant);
      subjects.push_back(std::move(subject));
      break;  // the widest instruction set
    }
  }
}

// The chosen candidate first, then others that are drawn.
void Draw(Subject& subject, size_t most, std::mt19937_64& random) {
  auto& all = subject.candidates;
  const auto chosen =
      std::ranges::find(all, subject.variant.schedule, &ScheduleCandidate::schedule);
  AOTC_CHECK(chosen != all.end()) << subject.variant.schedule;
  std::rotate(all.begin(), chosen, chosen + 1);
  std::shuffle(all.begin() + 1, all.end(), random);
  if (all.size() > most) all.resize(most);
}

absl::StatusOr<CandidateLibrary> BuildLibrary(const Target& target, const Subject& subject,
                                              const std::vector<std::string>& flags) {
  ProgramKernel kernel = subject.kernel;
  kernel.variants.clear();
  for (const ScheduleCandidate& candidate : subject.candidates) {
    AOTC_ASSIGN_OR_RETURN(
        KernelVariant variant,
        target.realise(subject.kernel.kernel, subject.variant, candidate.schedule));
    kernel.variants.push_back(std::move(variant));
  }
  return CandidateLibrary::Build(target, std::move(kernel), flags);
}

// "" where all candidates give the numbers of the last, which is that of plain loops.
std::string CheckNumbers(const Subject& subject, const CandidateLibrary& library,
                         KernelMemory& memory) {
  size_t plain = 0;
  for (size_t i = 0; i < library.size(); ++i) {
    if (subject.candidates[i].schedule.find("by loops(") != std::string::npos) plain = i;
  }
  memory.Clear();
  library.Run(plain, memory);
  const auto due = memory.Outputs();
  for (size_t i = 0; i < library.size(); ++i) {
    memory.Clear();
    library.Run(i, memory);
    const std::string wrong = memory.Compare(memory.Outputs(), due);
    if (!wrong.empty()) {
      return StrCat(subject.candidates[i].schedule, ": ", wrong, ", as ",
                    subject.candidates[plain].schedule, " has it");
    }
  }
  return "";
}

// The least of several rounds, all candidates in turn.
std::vector<double> Measure(CandidateLibrary& library, const KernelMemory& memory, int rounds) {
  std::vector<double> seconds(library.size(), INFINITY);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < library.size(); ++i) {
      seconds[i] = std::min(seconds[i], library.Seconds(i, memory));
    }
  }
  return seconds;
}

// Times of the choice and of the cheapest as multiples of the best.
struct Verdict {
  double correlation = 1, choice = 1, cheapest = 1;
};

Verdict Judge(const Subject& subject, const std::vector<double>& seconds, bool verbose) {
  std::vector<double> costs;
  for (const ScheduleCandidate& candidate : subject.candidates) costs.push_back(candidate.seconds);
  const double best = *std::ranges::min_element(seconds);
  const auto cheapest = static_cast<size_t>(std::ranges::min_element(costs) - costs.begin());
  const Verdict verdict{.correlation = RankCorrelation(costs, seconds),
                        .choice = seconds[0] / best,
                        .cheapest = seconds[cheapest] / best};
  printf("%s: %zu candidates, rank correlation %.2f, choice %.2f, cheapest %.2f of %.1f us\n",
         KeyOf(subject).c_str(), seconds.size(), verdict.correlation, verdict.choice,
         verdict.cheapest, best * 1e6);
  if (verbose) {
    std::vector<size_t> order(seconds.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](size_t i) { return seconds[i]; });
    for (const size_t i : order) {
      printf("  %c %9.1f us, cost %9.1f us  %s\n", i == 0 ? '*' : ' ', seconds[i] * 1e6,
             costs[i] * 1e6, subject.candidates[i].schedule.c_str());
    }
  }
  fflush(stdout);
  return verdict;
}

// The times of all candidates, those that are not known measured; the numbers of all compared.
absl::StatusOr<std::vector<double>> SecondsOf(const Target& target, const Subject& subject,
                                              int rounds, Times& times) {
  std::vector<double> seconds;
  for (const ScheduleCandidate& candidate : subject.candidates) {
    const double* known = times.Find(KeyOf(subject), candidate.schedule);
    if (known != nullptr) seconds.push_back(*known);
  }
  if (seconds.size() == subject.candidates.size()) return seconds;
  AOTC_ASSIGN_OR_RETURN(KernelMemory memory, KernelMemory::Fill(subject.kernel, 1));
  AOTC_ASSIGN_OR_RETURN(CandidateLibrary library, BuildLibrary(target, subject, {"-O2"}));
  const std::string wrong = CheckNumbers(subject, library, memory);
  if (!wrong.empty()) return absl::InternalError(wrong);
  if (rounds == 0) return std::vector<double>{};
  seconds = Measure(library, memory, rounds);
  for (size_t i = 0; i < seconds.size(); ++i) {
    times.Add(KeyOf(subject), subject.candidates[i].schedule, seconds[i]);
  }
  return seconds;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

absl::Status CheckBars(const std::vector<double>& correlations,
                       const std::vector<double>& choices) {
  const bool holds = Median(correlations) >= 0.7 &&
                     *std::ranges::min_element(correlations) >= 0.3 && Median(choices) <= 1.15 &&
                     *std::ranges::max_element(choices) <= 1.5;
  return holds ? absl::OkStatus() : absl::InternalError("costs order the times too badly");
}

absl::Status Run(const Options& options) {
  std::vector<Subject> subjects;
  std::vector<std::string> known;
  Target target;
  for (const std::string& model : options.models) {
    const absl::StatusOr<CompileResult> result = CompileModel(model, options);
    AOTC_RETURN_IF_ERROR(result.status());
    AddSubjects(NameOfModel(model), *result, known, subjects);
    target = result->target;
  }
  std::mt19937_64 random(options.seed);
  std::erase_if(subjects, [&](const Subject& subject) {
    return KeyOf(subject).find(options.only) == std::string::npos;
  });
  std::shuffle(subjects.begin(), subjects.end(), random);
  if (subjects.size() > options.kernels) subjects.resize(options.kernels);
  Times times(options.times);
  std::vector<double> correlations, choices, cheapests;
  int wrong = 0;
  size_t candidates = 0;
  for (Subject& subject : subjects) {
    Draw(subject, options.candidates, random);
    candidates += subject.candidates.size();
    const absl::StatusOr<std::vector<double>> seconds =
        SecondsOf(target, subject, options.rounds, times);
    if (!seconds.ok()) {
      ++wrong;
      printf("%s: %s\n", KeyOf(subject).c_str(), std::string(seconds.status().message()).c_str());
      continue;
    }
    if (seconds->empty()) continue;
    const Verdict verdict = Judge(subject, *seconds, options.verbose);
    correlations.push_back(verdict.correlation);
    choices.push_back(verdict.choice);
    cheapests.push_back(verdict.cheapest);
  }
  printf("%zu kernels, %zu candidates: %d differ\n", subjects.size(), candidates, wrong);
  if (!choices.empty()) {
    printf("rank correlation: median %.2f, least %.2f\n", Median(correlations),
           *std::ranges::min_element(correlations));
    printf("choice: median %.2f, worst %.2f of the best; cheapest: median %.2f, worst %.2f\n",
           Median(choices), *std::ranges::max_element(choices), Median(cheapests),
           *std::ranges::max_element(cheapests));
  }
  if (wrong > 0) return absl::InternalError("numbers differ");
  if (options.asserts && correlations.size() < options.kernels)
    return absl::InternalError(StrCat("only ", correlations.size(), " kernels have times"));
  return options.asserts ? CheckBars(correlations, choices) : absl::OkStatus();
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  aotc::Options options;
  CLI::App app("Candidates of schedules, run.");
  app.add_option("models", options.models, "MODEL[,NAME=RANGE...]")->required();
  app.add_option("--target", options.target);
  app.add_option("--cpu", options.cpu);
  app.add_option("--limits", options.limits);
  app.add_option("--times", options.times, "keeps what was measured");
  app.add_option("--only", options.only, "a part of the names of the kernels");
  app.add_option("--kernels", options.kernels);
  app.add_option("--candidates", options.candidates);
  app.add_option("--seed", options.seed);
  app.add_option("--rounds", options.rounds, "0: numbers alone");
  app.add_flag("--verbose", options.verbose);
  app.add_flag("--assert", options.asserts);
  app.add_flag("--measure-limits", options.measure, "costs are those of this machine");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = aotc::Run(options);
  if (!status.ok()) fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
