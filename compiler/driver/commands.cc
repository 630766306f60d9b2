#include "compiler/driver/commands.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"
#include "compiler/bench/report.h"
#include "compiler/driver/inspect.h"
#include "compiler/driver/outdir.h"
#include "compiler/driver/pipeline.h"
#include "compiler/driver/recorded_schedules.h"
#include "compiler/driver/schedules.h"
#include "compiler/ops/op.h"
#include "compiler/plan/memory_map.h"
#include "compiler/reduce/reduce.h"
#include "compiler/report/page.h"
#include "compiler/support/files.h"
#include "compiler/support/shell.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/registry.h"
#include "compiler/verify/report.h"

namespace aotc {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The phase that comes when this one has ended; "" behind the last.
std::string PhaseBehind(const std::string& name) {
  const std::vector<std::string> names = PhaseNames();
  const auto found = std::ranges::find(names, name);
  const bool is_last = found == names.end() || found + 1 == names.end();
  return is_last ? "" : *(found + 1);
}

// Collects dumps and times while the phases of a compile run.
class PhaseLog {
 public:
  PhaseLog(const CommandLine& line, const ProgressHook& progress)
      : line_(line), progress_(progress) {}

  void AtEnd(const PhaseEnd& end) {
    absl::StrAppendFormat(&times_, "%-24s %8.3f s\n", end.name, end.seconds);
    json_times_[end.name] = end.seconds;
    if (std::ranges::find(line_.dump_after, end.name) != line_.dump_after.end()) {
      dumps_.emplace_back(end.name, end.dump());
    }
    Begin(PhaseBehind(end.name));
  }

  void Begin(const std::string& step) const {
    if (progress_ && !step.empty()) progress_(step, SecondsSince(start_));
  }

  PhaseHook Hook() {
    return [this](const PhaseEnd& end) { AtEnd(end); };
  }

  void Report(CommandResult& result) {
    for (auto& [phase, text] : dumps_) {
      StrAppend(&result.dumps, "// after ", phase, "\n", text);
      result.json["dumps"][phase] = std::move(text);
    }
    if (!line_.time_passes) return;
    result.text += times_;
    result.json["seconds"] = json_times_;
  }

 private:
  const CommandLine& line_;
  const ProgressHook& progress_;
  const Clock::time_point start_ = Clock::now();
  std::vector<std::pair<std::string, std::string>> dumps_;
  std::string times_;
  Json json_times_ = Json::object();
};

// Share of the FLOP by realisation, the largest first.
std::vector<std::pair<std::string, double>> Shares(const Program& program) {
  std::map<std::string, double> flops;
  double total = 0;
  const IdVector<KernelId, int64_t> launches = LaunchCounts(program);
  for (KernelId id : program.kernels.ids()) {
    const ProgramKernel& kernel = program.kernels[id];
    const double cost = KernelFlops(kernel.kernel) * static_cast<double>(launches[id]);
    flops[kernel.variants.empty() ? "loops" : kernel.variants.front().realisation] += cost;
    total += cost;
  }
  std::vector<std::pair<std::string, double>> shares(flops.begin(), flops.end());
  for (auto& [realisation, share] : shares) share = total > 0 ? share / total : 0;
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

// How many nodes of each op move a tensor into another order in a run, unless their reader takes
// them in.
std::map<std::string, int64_t> LayoutChanges(const Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const OpDef* op : AllOps()) {
    if (HasTrait(op->name, kReorders)) counts[std::string(op->name)] = 0;
  }
  for (const NodeId id : graph.main_region().nodes) {
    if (const auto count = counts.find(graph.nodes[id].op); count != counts.end()) ++count->second;
  }
  return counts;
}

// How many nodes have each contract.
std::map<std::string, int64_t> Contracts(const Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const NodeId id : graph.main_region().nodes) {
    if (graph.nodes[id].contract) ++counts[PrintContract(*graph.nodes[id].contract)];
  }
  return counts;
}

std::string PrintSummary(const std::string& outdir, const CompileResult& result) {
  const Program& program = result.program;
  std::string text = StrCat(outdir, ": ", result.files.size(), " files\n");
  StrAppend(&text, "weights ", program.weights.size(), " bytes\n");
  StrAppend(&text, DescribeArena(program), "\n", DescribePools(program));
  StrAppend(&text, "kernels ", program.kernels.size(), "; FLOP: ",
            StrJoin(Shares(program), ", ",
                    [](const auto& share) {
                      return absl::StrFormat("%s %.1f %%", share.first, 100 * share.second);
                    }),
            "\n");
  const auto counted = [](const auto& count) { return StrCat(count.second, " ", count.first); };
  StrAppend(&text, "changes of layout: ", StrJoin(LayoutChanges(result.graph), ", ", counted),
            "\n");
  const std::map<std::string, int64_t> contracts = Contracts(result.graph);
  if (!contracts.empty()) StrAppend(&text, "contracts: ", StrJoin(contracts, "; ", counted), "\n");
  const std::string folder = ShellWord(outdir), build = ShellWord(StrCat(outdir, "/build"));
  StrAppend(&text, "next: cmake -S ", folder, " -B ", build, " && cmake --build ", build, "\n");
  return text;
}

Json PoolsToJson(const Program& program) {
  Json pools = Json::array();
  for (const Pool& pool : program.pools) {
    pools.push_back({{"name", pool.name},
                     {"bytes", pool.bytes},
                     {"lower_bound", pool.lower_bound},
                     {"proof", std::string(PoolProof(pool))}});
  }
  return pools;
}

Json SummaryToJson(const CompileResult& result) {
  Json files = Json::array(), shares = Json::object();
  for (const auto& [path, content] : result.files) files.push_back(path);
  for (const auto& [realisation, share] : Shares(result.program)) shares[realisation] = share;
  return {{"files", std::move(files)},
          {"weight_bytes", result.program.weights.size()},
          {"arena_bytes", result.program.arena_bytes},
          {"lower_bound", result.program.lower_bound},
          {"arena_proof", std::string(ArenaProof(result.program))},
          {"kernels", result.program.kernels.size()},
          {"layout_changes", LayoutChanges(result.graph)},
          {"contracts", Contracts(result.graph)},
          {"flop_shares", std::move(shares)}};
}

absl::Status RunCompile(const CommandLine& line, const ProgressHook& progress,
                        Diagnostics& diagnostics, CommandResult& result) {
  PhaseLog log(line, progress);
  absl::StatusOr<CompileResult> compiled = Compile(line.compile, diagnostics, log.Hook());
  log.Report(result);
  if (!compiled.ok()) return compiled.status();
  if (!line.compile.passes.stop_after.empty()) return absl::OkStatus();  // nothing is written
  if (line.list_outputs) {
    for (const auto& [path, content] : compiled->files) {
      StrAppend(&result.text, line.outdir, "/", path, "\n");
    }
    result.json.update(SummaryToJson(*compiled));
    return absl::OkStatus();
  }
  double bytes = 0;
  for (const auto& [path, content] : compiled->files) bytes += static_cast<double>(content.size());
  log.Begin(StrCat("write ", WithPrefix(bytes, "B")));
  AOTC_RETURN_IF_ERROR(WriteOutdir(line.outdir, compiled->files, line.force));
  if (!line.depfile.empty()) {
    const std::string rule =
        DependencyRule(StrCat(line.outdir, "/", kListFile), compiled->files_read);
    AOTC_RETURN_IF_ERROR(WriteFileIfChanged(line.depfile, rule).status());
  }
  result.text += PrintSummary(line.outdir, *compiled);
  result.json.update(SummaryToJson(*compiled));
  if (!line.compile.pools.empty()) result.json["pools"] = PoolsToJson(compiled->program);
  return absl::OkStatus();
}

// A path without its folder.
std::string LastPart(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The compiler that was asked for, else that of the environment.
HostBuildOptions Complete(HostBuildOptions build) {
  const char* compiler = std::getenv("CXX");
  if (build.compiler.empty()) build.compiler = compiler ? compiler : "c++";
  return build;
}

VerifyOptions CompleteVerify(const CommandLine& line) {
  VerifyOptions options = line.verify;
  options.compile = line.compile;
  options.build = Complete(options.build);
  return options;
}

absl::Status RunVerify(const CommandLine& line, const ProgressHook& progress,
                       Diagnostics& diagnostics, CommandResult& result) {
  const VerifyOptions options = CompleteVerify(line);
  const Clock::time_point start = Clock::now();
  AOTC_ASSIGN_OR_RETURN(const VerifyReport report,
                        Verify(options, diagnostics, [&](const std::string& step) {
                          if (progress) progress(step, SecondsSince(start));
                        }));
  result.text = PrintReport(report);
  result.json.update(ReportToJson(report));
  if (diagnostics.error_count() > 0) result.exit_code = kExitModelError;
  return absl::OkStatus();
}

absl::Status RunBench(const CommandLine& line, const ProgressHook& progress,
                      Diagnostics& diagnostics, CommandResult& result) {
  BenchOptions options = line.bench.options;
  options.compile = line.compile;
  options.build = Complete(options.build);
  options.compare_onnxruntime = !line.bench.compare.empty();
  const Clock::time_point start = Clock::now();
  AOTC_ASSIGN_OR_RETURN(const BenchReport report,
                        Bench(options, diagnostics, [&](const std::string& step) {
                          if (progress) progress(step, SecondsSince(start));
                        }));
  result.text = PrintBench(report, static_cast<size_t>(line.bench.top));
  result.json.update(BenchToJson(report));
  if (!line.bench.trace.empty()) {
    AOTC_RETURN_IF_ERROR(WriteFileIfChanged(line.bench.trace, ChromeTrace(report)).status());
  }
  if (line.bench.html.empty()) return absl::OkStatus();
  const std::string page = BenchPage(report, LastPart(line.compile.model_path));
  return WriteFileIfChanged(line.bench.html, page).status();
}

// The page about a model, with as much of the compile as there is.
absl::Status WritePage(const CommandLine& line, const Inspection& inspection,
                       const absl::StatusOr<CompileResult>& compiled,
                       const Diagnostics& diagnostics) {
  const PageInput page{.title = LastPart(line.compile.model_path),
                       .target = line.compile.target,
                       .inspection = inspection,
                       .compiled = compiled.ok() ? &*compiled : nullptr,
                       .diagnostics = diagnostics};
  return WriteFileIfChanged(line.html, InspectionPage(page)).status();
}

// What a compile finds is found here too: it runs, and what it writes is thrown away. The other way
// round more is found than by a compile, which ends with the first phase that has errors.
absl::Status RunInspect(const CommandLine& line, const ProgressHook& progress,
                        Diagnostics& diagnostics, CommandResult& result) {
  PhaseLog log(line, progress);
  AOTC_ASSIGN_OR_RETURN(Inspection inspection,
                        Inspect(line.compile.model_path, line.compile.import, diagnostics));
  const absl::StatusOr<CompileResult> compiled = Compile(line.compile, diagnostics, log.Hook());
  if (absl::IsInternal(compiled.status())) return compiled.status();
  if (!compiled.ok() && diagnostics.error_count() == 0) diagnostics.AddStatus(compiled.status());
  result.text = PrintInspection(inspection, diagnostics);
  result.json.update(InspectionToJson(inspection));
  log.Report(result);
  if (diagnostics.error_count() > 0) result.exit_code = kExitModelError;
  if (line.html.empty()) return absl::OkStatus();
  return WritePage(line, inspection, compiled, diagnostics);
}

Check CheckOf(const CommandLine& line) {
  const int timeout = line.reduce.timeout_seconds;
  if (line.reduce.check == "compile") return CompileCheck(line.compile, timeout);
  if (line.reduce.check == "verify") return VerifyCheck(CompleteVerify(line), timeout);
  return CommandCheck(line.reduce.check, timeout);
}

absl::Status RunReduce(const CommandLine& line, const ProgressHook& progress,
                       CommandResult& result) {
  const Clock::time_point start = Clock::now();
  const ReduceOptions options{.import = line.compile.import, .step = [&](const std::string& step) {
                                if (progress) progress(step, SecondsSince(start));
                              }};
  AOTC_ASSIGN_OR_RETURN(const Reduction reduction,
                        Reduce(line.compile.model_path, CheckOf(line), options));
  AOTC_RETURN_IF_ERROR(WriteFileIfChanged(line.reduce.output, reduction.model).status());
  result.text =
      StrCat(line.reduce.output, ": ", reduction.nodes, " of ", reduction.nodes_before, " nodes, ",
             reduction.model.size(), " bytes, after ", reduction.checks, " checks",
             reduction.complete ? "" : ", not at the end", "\n", reduction.failure, "\n");
  result.json.update({{"nodes_before", reduction.nodes_before},
                      {"nodes", reduction.nodes},
                      {"bytes", reduction.model.size()},
                      {"checks", reduction.checks},
                      {"complete", reduction.complete},
                      {"failure", reduction.failure}});
  return absl::OkStatus();
}

absl::Status RunCheck(const CommandLine& line, Diagnostics& diagnostics, CommandResult& result) {
  AOTC_ASSIGN_OR_RETURN(
      const std::vector<std::string> lines,
      CheckOutput(line.outdir, line.compile.model_path, line.compile.import.binds, diagnostics));
  for (const std::string& text : lines) StrAppend(&result.text, text, "\n");
  if (lines.empty()) StrAppend(&result.text, line.outdir, " is current\n");
  result.json["differences"] = lines;
  if (!lines.empty()) result.exit_code = kExitModelError;
  return absl::OkStatus();
}

absl::Status RunSchedules(const CommandLine& line, Diagnostics& diagnostics,
                          CommandResult& result) {
  CompileOptions options = line.compile;
  options.passes.stop_after = "lower";
  AOTC_ASSIGN_OR_RETURN(const CompileResult compiled, Compile(options, diagnostics));
  const ScheduleListing listing{compiled.target, compiled.program, line.kernel};
  AOTC_RETURN_IF_ERROR(CheckListing(listing));
  if (line.records) {
    result.text = PrintRecords(compiled.program);
    return absl::OkStatus();
  }
  result.text = PrintSchedules(listing);
  result.json.update(SchedulesToJson(listing));
  return absl::OkStatus();
}

// Phases in order, with level and purpose of those that one may leave out, then the settings.
void PrintPipeline(CommandResult& result) {
  result.text = DescribePipeline();
  for (const Phase& phase : AllPhases()) {
    result.json["pipeline"].push_back({{"name", std::string(phase.name)},
                                       {"level", phase.level},
                                       {"summary", std::string(phase.summary)}});
  }
  for (const ConfigKey& key : AllConfigKeys()) {
    result.json["config"].push_back({{"name", std::string(key.name)},
                                     {"default", key.fallback},
                                     {"min", key.min},
                                     {"max", key.max},
                                     {"summary", std::string(key.summary)}});
  }
  for (const ScheduleRow& schedule : AllSchedules()) {
    result.json["schedules"].push_back({{"name", std::string(schedule.name)},
                                        {"targets", schedule.targets},
                                        {"summary", std::string(schedule.summary)}});
  }
}

absl::Status Dispatch(const CommandLine& line, const ProgressHook& progress,
                      Diagnostics& diagnostics, CommandResult& result) {
  switch (line.command) {
    case Command::kCompile: return RunCompile(line, progress, diagnostics, result);
    case Command::kVerify: return RunVerify(line, progress, diagnostics, result);
    case Command::kBench: return RunBench(line, progress, diagnostics, result);
    case Command::kInspect: return RunInspect(line, progress, diagnostics, result);
    case Command::kReduce: return RunReduce(line, progress, result);
    case Command::kCheck: return RunCheck(line, diagnostics, result);
    case Command::kLimits:
      result.text = MeasureLimits();
      result.json = Json::parse(result.text);
      return absl::OkStatus();
    case Command::kSchedules: return RunSchedules(line, diagnostics, result);
    case Command::kPrintPipeline: PrintPipeline(result); return absl::OkStatus();
  }
  return absl::InternalError("no such command");
}

}  // namespace

CommandResult RunCommand(const CommandLine& line, Diagnostics& diagnostics,
                         const ProgressHook& progress) {
  CommandResult result;
  const absl::Status status = Dispatch(line, progress, diagnostics, result);
  // The status of a phase that has reported its findings repeats them.
  if (!status.ok() && diagnostics.error_count() == 0) diagnostics.AddStatus(status);
  if (!status.ok()) {
    const bool ours = status.code() == absl::StatusCode::kInternal;
    result.exit_code = ours ? kExitInternal : kExitModelError;
  }
  result.json["findings"] = FindingsToJson(diagnostics);
  result.json["exit_code"] = result.exit_code;
  return result;
}

}  // namespace aotc
