#include "compiler/bench/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/bench/onnxruntime.h"
#include "compiler/bench/program.h"
#include "compiler/ir/program_text.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/files.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/registry.h"
#include "compiler/verify/test_case.h"

namespace aotc {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double kNanosecond = 1e-9;

MachineRates RatesOf(const Json& limits) {
  MachineRates rates;
  for (const auto& [family, fma] : limits.at("fma_per_second").items()) {
    rates.flops = std::max(rates.flops, 2 * fma.get<double>());
  }
  limits.at("l1_bytes").get_to(rates.l1_bytes);
  limits.at("l2_bytes").get_to(rates.l2_bytes);
  limits.at("l3_bytes").get_to(rates.l3_bytes);
  limits.at("l1_bandwidth").get_to(rates.l1_bandwidth);
  limits.at("l2_bandwidth").get_to(rates.l2_bandwidth);
  limits.at("l3_bandwidth").get_to(rates.l3_bandwidth);
  limits.at("memory_bandwidth").get_to(rates.memory_bandwidth);
  return rates;
}

// Of the memory that so many bytes fit into.
double BandwidthOf(const MachineRates& rates, double bytes) {
  if (bytes <= static_cast<double>(rates.l1_bytes)) return rates.l1_bandwidth;
  if (bytes <= static_cast<double>(rates.l2_bytes)) return rates.l2_bandwidth;
  if (bytes <= static_cast<double>(rates.l3_bytes)) return rates.l3_bandwidth;
  return rates.memory_bandwidth;
}

// Sums of integer products may have instructions that do several at once: the peak of f32 does not
// bound them.
bool MultipliesIntegers(const Kernel& kernel) {
  return std::ranges::any_of(kernel.stages, [&](const Stage& stage) {
    return IsContraction(stage) && IsInteger(kernel.tensors[stage.results[0].tensor].dtype);
  });
}

bool HasLoad(const Expr& e) {
  return e.op() == ExprOp::kLoad || std::ranges::any_of(e.args(), HasLoad);
}

bool LoadsByData(const Expr& e) {
  if (e.op() == ExprOp::kLoad) return std::ranges::any_of(e.args(), HasLoad);
  return std::ranges::any_of(e.args(), LoadsByData);
}

// Data say which elements it reads, such as rows of a table: how many bytes is not known.
bool ChoosesByData(const Kernel& kernel) {
  return std::ranges::any_of(kernel.stages, [](const Stage& stage) {
    return std::ranges::any_of(stage.body, LoadsByData);
  });
}

// The file that the program reads an input from.
std::string InputFile(const Constant& input) {
  const Constant dense = input.Expanded();
  std::string text;
  const auto append = [&](int64_t number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  append(static_cast<int64_t>(dense.dims().size()));
  for (int64_t dim : dense.dims()) append(dim);
  const std::span<const uint8_t> bytes = dense.bytes();
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text;
}

class Bencher {
 public:
  Bencher(const BenchOptions& options, Diagnostics& diagnostics, const StepHook& step)
      : options_(options), diagnostics_(diagnostics), hook_(step) {}

  absl::StatusOr<BenchReport> Run() {
    Tell("compile");
    CompileOptions compile = options_.compile;
    compile.profile = true;
    AOTC_ASSIGN_OR_RETURN(compiled_, Compile(compile, diagnostics_));
    if (compiled_.target.host.has_device) {
      return AOTC_REFUSAL(Unimplemented,
                          "aotc bench runs on this machine's processor, where kernels of a GPU are "
                          "emulated; hint: compile with --profile, and time runs on the GPU");
    }
    ModelInfo info;
    AOTC_ASSIGN_OR_RETURN(graph_, ImportOnnx(options_.compile.model_path, options_.compile.import,
                                             diagnostics_, &info));
    AOTC_RETURN_IF_ERROR(CheckPorts(info.bundles));
    Tell("build");
    const Clock::time_point start = Clock::now();
    compiled_.files["bench/main.cpp"] = BenchProgram(compiled_.program.name);
    AOTC_ASSIGN_OR_RETURN(const HostProgram program, HostProgram::Build(compiled_, options_.build));
    report_.build_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    AOTC_RETURN_IF_ERROR(GiveInputs(program));
    Tell("measure this machine");
    report_.rates = RatesOf(Json::parse(MeasureLimits()).at("cpu"));
    for (const int threads : options_.threads) {
      Tell(StrCat("run with ", threads, threads == 1 ? " thread" : " threads"));
      AOTC_ASSIGN_OR_RETURN(BenchRun run, Time(program, threads));
      report_.runs.push_back(std::move(run));
    }
    return std::move(report_);
  }

 private:
  void Tell(const std::string& step) const {
    if (hook_) hook_(step);
  }

  // Values of several tensors: strings, sequences, optionals and maps.
  static absl::Status CheckPorts(const std::vector<Bundle>& bundles) {
    if (bundles.empty()) return absl::OkStatus();
    return AOTC_REFUSAL(Unimplemented,
                        StrCat("'", bundles[0].name,
                               "' is no tensor of numbers, which is all that aotc bench gives and "
                               "takes; hint: compile with --profile, and time runs of your own"));
  }

  absl::StatusOr<ProcessResult> Execute(const HostProgram& program, int threads,
                                        double seconds) const {
    std::vector<std::string> words = {StrCat(threads), StrCat(seconds)};
    for (std::string& path : InputPaths("")) words.push_back(std::move(path));
    return program.Execute(std::move(words));
  }

  std::vector<std::string> InputPaths(const std::string& folder) const {
    std::vector<std::string> paths;
    for (size_t i = 0; i < graph_.main_region().inputs.size(); ++i) {
      paths.push_back(StrCat(folder, "input_", i));
    }
    return paths;
  }

  static absl::Status Ended(const ProcessResult& result) {
    absl::Status status = Succeeded(result, "the compiled model");
    if (result.exit_code != kBenchRefusedValue) return status;
    return absl::UnknownError(StrCat(status.message(), "; hint: --inputs DIR, with valid values"));
  }

  // "x=FOLDER/input_0"
  std::vector<std::string> NamedInputs(const std::string& folder) const {
    std::vector<std::string> paths = InputPaths(folder);
    for (size_t i = 0; i < paths.size(); ++i) {
      paths[i] = StrCat(graph_.values[graph_.main_region().inputs[i]].name, "=", paths[i]);
    }
    return paths;
  }

  absl::Status Write(const HostProgram& program, const std::vector<Constant>& inputs) const {
    const std::vector<std::string> paths = InputPaths(program.folder() + "/");
    for (size_t i = 0; i < inputs.size(); ++i) {
      AOTC_RETURN_IF_ERROR(WriteFileIfChanged(paths[i], InputFile(inputs[i])).status());
    }
    return absl::OkStatus();
  }

  // Those of the user, else drawn ones that a run takes.
  absl::Status GiveInputs(const HostProgram& program) {
    if (!options_.inputs.empty()) {
      AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> given, ReadInputs(options_.inputs, graph_));
      report_.inputs = options_.inputs;
      return Write(program, given);
    }
    for (int64_t range : kDrawnRanges) {
      AOTC_ASSIGN_OR_RETURN(
          const DrawnInputs drawn,
          DrawInputs(graph_, {.seed = options_.seed, .sizes = DrawnSizes::kMost}, range));
      report_.inputs = drawn.name;
      sizes_ = drawn.sizes;
      AOTC_RETURN_IF_ERROR(Write(program, drawn.inputs));
      AOTC_ASSIGN_OR_RETURN(const ProcessResult result, Execute(program, 1, 0));
      const bool refused = result.exit_code == kBenchRefusedValue;
      const bool is_last = range == *std::prev(std::end(kDrawnRanges));
      if (!refused || is_last || !HasIntegers(drawn.inputs)) return Ended(result);
    }
    return absl::OkStatus();
  }

  // In turns with onnxruntime, where it takes part: what else the machine does hits both.
  absl::StatusOr<BenchRun> Time(const HostProgram& program, int threads) const {
    const int turns = options_.compare_onnxruntime ? 3 : 1;
    Json times;
    std::vector<double> theirs;
    for (int turn = 0; turn < turns; ++turn) {
      AOTC_ASSIGN_OR_RETURN(const ProcessResult result,
                            Execute(program, threads, options_.seconds / turns));
      AOTC_RETURN_IF_ERROR(Ended(result));
      AOTC_ASSIGN_OR_RETURN(const std::string text, ReadFile(program.folder() + "/times.json"));
      Join(Json::parse(text), times);
      if (!options_.compare_onnxruntime) break;
      AOTC_ASSIGN_OR_RETURN(const std::vector<double> more,
                            TimeOnnxruntime({.model = options_.compile.model_path,
                                             .inputs = NamedInputs(program.folder() + "/"),
                                             .threads = threads,
                                             .seconds = options_.seconds / turns}));
      theirs.insert(theirs.end(), more.begin(), more.end());
    }
    BenchRun run = ReadTimes(threads, times);
    if (options_.compare_onnxruntime) run.onnxruntime = SpreadOf(std::move(theirs));
    return run;
  }

  // Adds the runs of another turn.
  static void Join(const Json& more, Json& times) {
    if (times.is_null()) {
      times = more;
      return;
    }
    const auto append = [](const Json& from, Json& to) {
      to.insert(to.end(), from.begin(), from.end());
    };
    const bool faster = std::ranges::min(more.at("watched").get<std::vector<double>>()) <
                        std::ranges::min(times.at("watched").get<std::vector<double>>());
    if (faster) times["timeline"] = more.at("timeline");
    append(more.at("whole"), times["whole"]);
    append(more.at("watched"), times["watched"]);
    for (const auto& [step, list] : more.at("steps").items()) {
      if (!times["steps"].contains(step)) times["steps"][step] = Json::array();
      append(list, times["steps"][step]);
      times["rounds"].emplace(step, more.at("rounds").at(step));
    }
  }

  BenchRun ReadTimes(int threads, const Json& times) const {
    const auto spread = [](const Json& list, double unit) {
      std::vector<double> seconds;
      for (const Json& time : list) seconds.push_back(time.get<double>() * unit);
      return SpreadOf(std::move(seconds));
    };
    BenchRun run{.threads = threads, .runs = times.at("whole").size()};
    for (const Json& told : times.at("timeline")) {
      run.timeline.push_back({told[0], told[1], told[2], told[3]});
      run.workers = std::max(run.workers, run.timeline.back().worker + 1);
    }
    run.whole = spread(times.at("whole"), kNanosecond);
    run.watched = spread(times.at("watched"), kNanosecond);
    for (const auto& [step, of_runs] : times.at("steps").items()) {
      StepTime time = Describe(std::stoi(step), times.at("rounds").value(step, 1));
      time.seconds = spread(of_runs, kNanosecond / run.workers);
      time.roofline = Roofline(time, run.workers);
      run.steps.push_back(std::move(time));
    }
    std::ranges::sort(run.steps, {}, &StepTime::step);
    return run;
  }

  StepTime Describe(int index, int rounds) const {
    const Program& program = compiled_.program;
    const Step& step = program.steps[static_cast<size_t>(index)];
    StepTime time{.step = index,
                  .kernel = std::string(StepName(program, step)),
                  .nodes = step.sources,
                  .rounds = rounds};
    if (step.kind != StepKind::kLaunch) return time;
    const ProgramKernel& kernel = program.kernels[step.kernel];
    time.realisation = kernel.variants.front().realisation;
    if (const std::optional<Kernel> of_run = WithSizesOfRun(kernel.kernel)) {
      time.flops = rounds * KernelFlops(*of_run);
      if (!ChoosesByData(*of_run)) time.bytes = rounds * KernelBytes(*of_run);
    }
    time.estimate = Estimate(kernel, rounds);
    return time;
  }

  // Nothing where the run has sizes that are not known here.
  std::optional<Kernel> WithSizesOfRun(Kernel kernel) const {
    for (Symbol& symbol : kernel.symbols) {
      const auto size = sizes_.find(symbol.var);
      if (size == sizes_.end()) return std::nullopt;
      symbol.min = symbol.max = size->second;
    }
    return kernel;
  }

  // Of the schedule that was chosen; nothing where the target gives it no cost.
  std::optional<double> Estimate(const ProgramKernel& kernel, int rounds) const {
    const KernelVariant& variant = kernel.variants.front();
    const std::vector<ScheduleCandidate> candidates =
        compiled_.target.candidates(kernel.kernel, variant);
    const auto chosen =
        std::ranges::find(candidates, variant.schedule, &ScheduleCandidate::schedule);
    if (chosen == candidates.end() || chosen->seconds == 0) return std::nullopt;
    return rounds * chosen->seconds;
  }

  std::optional<double> Roofline(const StepTime& time, int workers) const {
    const Step& step = compiled_.program.steps[static_cast<size_t>(time.step)];
    if (step.kind != StepKind::kLaunch) return std::nullopt;
    if (MultipliesIntegers(compiled_.program.kernels[step.kernel].kernel)) return std::nullopt;
    if (time.bytes == 0) return std::nullopt;
    const double bandwidth = BandwidthOf(report_.rates, time.bytes / time.rounds);
    return std::max(time.flops / report_.rates.flops, time.bytes / bandwidth) / workers;
  }

  const BenchOptions& options_;
  Diagnostics& diagnostics_;
  const StepHook& hook_;
  CompileResult compiled_;
  SymbolValues sizes_;  // of drawn inputs, by Symbol::var
  Graph graph_;         // of the file: its inputs are those of the user
  BenchReport report_;
};

}  // namespace

Spread SpreadOf(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::ranges::sort(seconds);
  const auto at = [&](double share) {
    return seconds[std::lround(share * static_cast<double>(seconds.size() - 1))];
  };
  return {.least = seconds.front(), .median = at(0.5), .p95 = at(0.95)};
}

absl::StatusOr<BenchReport> Bench(const BenchOptions& options, Diagnostics& diagnostics,
                                  const StepHook& step) {
  return Bencher(options, diagnostics, step).Run();
}

}  // namespace aotc
