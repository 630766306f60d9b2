#include "compiler/bench/report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr double kGiga = 1e9;
constexpr size_t kWidth = 100;  // of a row

std::string Milliseconds(double seconds) { return absl::StrFormat("%.3f ms", seconds * 1e3); }

std::string Threads(int threads) { return StrCat(threads, threads == 1 ? " thread" : " threads"); }

double SumOf(const BenchRun& run) {
  double sum = 0;
  for (const StepTime& time : run.steps) sum += time.seconds.median;
  return sum;
}

// "62 %", or nothing.
std::string Percent(std::optional<double> share) {
  return share ? absl::StrFormat("%.0f %%", 100 * *share) : "";
}

std::optional<double> ShareOfRoofline(const StepTime& time) {
  if (!time.roofline || time.seconds.median == 0) return std::nullopt;
  return *time.roofline / time.seconds.median;
}

std::string Row(const StepTime& time, double whole) {
  const double seconds = time.seconds.median;
  const auto rate = [&](double count) {
    return count == 0 || seconds == 0 ? "" : absl::StrFormat("%.1f", count / seconds / kGiga);
  };
  std::string row =
      absl::StrFormat("%10s %6.1f %% %8s %7s %8s  %-15s %3d %s", Milliseconds(seconds),
                      100 * seconds / whole, rate(time.flops), rate(time.bytes),
                      Percent(ShareOfRoofline(time)), time.realisation, time.step, time.kernel);
  if (time.rounds > 1) StrAppend(&row, ", ", time.rounds, " rounds");
  if (row.size() > kWidth) row = StrCat(row.substr(0, kWidth - 3), "...");
  return StrCat(row, "\n");
}

std::string Table(const BenchRun& run, size_t most) {
  std::string text = StrCat(
      Threads(run.threads), ": ", run.runs, " runs, least ", Milliseconds(run.whole.least),
      ", median ", Milliseconds(run.whole.median), ", p95 ", Milliseconds(run.whole.p95), "\n");
  if (run.onnxruntime) {
    absl::StrAppendFormat(&text, "onnxruntime: least %s, median %s; %.2f times its median\n",
                          Milliseconds(run.onnxruntime->least),
                          Milliseconds(run.onnxruntime->median),
                          run.whole.median / run.onnxruntime->median);
  }
  absl::StrAppendFormat(&text, "%10s %8s %8s %7s %8s  %-15s %s\n", "time", "share", "GFLOP/s",
                        "GB/s", "roofline", "realisation", "step");
  std::vector<StepTime> slowest = run.steps;
  std::ranges::stable_sort(slowest, std::greater{},
                           [](const StepTime& time) { return time.seconds.median; });
  const size_t shown = most == 0 ? slowest.size() : std::min(most, slowest.size());
  double rest = 0;
  for (size_t i = 0; i < slowest.size(); ++i) {
    if (i < shown) StrAppend(&text, Row(slowest[i], run.whole.median));
    if (i >= shown) rest += slowest[i].seconds.median;
  }
  const double whole = run.whole.median;
  const auto other = [&](double seconds, const std::string& what) {
    absl::StrAppendFormat(&text, "%10s %6.1f %% %27s%s\n", Milliseconds(seconds),
                          100 * seconds / whole, "", what);
  };
  if (shown < slowest.size()) other(rest, StrCat(slowest.size() - shown, " further steps"));
  other(whole - SumOf(run), "between steps, and workers that wait");
  return text;
}

Json ToJson(const Spread& spread) {
  return {{"min", spread.least}, {"median", spread.median}, {"p95", spread.p95}};
}

Json ToJson(const StepTime& time, double whole) {
  Json json = {{"step", time.step},
               {"kernel", time.kernel},
               {"realisation", time.realisation},
               {"nodes", time.nodes},
               {"rounds", time.rounds},
               {"seconds", ToJson(time.seconds)},
               {"share", whole > 0 ? time.seconds.median / whole : 0},
               {"flops", time.flops},
               {"bytes", time.bytes}};
  if (time.estimate) json["estimated_seconds"] = *time.estimate;
  if (time.roofline) json["roofline_seconds"] = *time.roofline;
  return json;
}

Json ToJson(const BenchRun& run) {
  Json steps = Json::array();
  for (const StepTime& time : run.steps) steps.push_back(ToJson(time, run.whole.median));
  Json json = {{"threads", run.threads},
               {"workers", run.workers},
               {"runs", run.runs},
               {"seconds", ToJson(run.whole)},
               {"watched_seconds", ToJson(run.watched)}};
  if (run.onnxruntime) json["onnxruntime_seconds"] = ToJson(*run.onnxruntime);
  json["steps"] = std::move(steps);
  return json;
}

}  // namespace

std::string PrintBench(const BenchReport& report, size_t most) {
  std::string text = StrCat("inputs: ", report.inputs, "\n");
  for (const BenchRun& run : report.runs) StrAppend(&text, Table(run, most));
  absl::StrAppendFormat(
      &text, "this machine: %.0f GFLOP/s of f32 and %.1f GB/s of memory a core; built in %.1f s\n",
      report.rates.flops / kGiga, report.rates.memory_bandwidth / kGiga, report.build_seconds);
  return text;
}

Json BenchToJson(const BenchReport& report) {
  Json runs = Json::array();
  for (const BenchRun& run : report.runs) runs.push_back(ToJson(run));
  return {{"inputs", report.inputs},
          {"flops_per_second", report.rates.flops},
          {"memory_bytes_per_second", report.rates.memory_bandwidth},
          {"build_seconds", report.build_seconds},
          {"runs", std::move(runs)}};
}

std::string ChromeTrace(const BenchReport& report) {
  constexpr double kMicrosecond = 1e3;  // in nanoseconds
  Json events = Json::array();
  const auto name = [&](std::string_view what, int process, int thread, const std::string& text) {
    events.push_back({{"name", what},
                      {"ph", "M"},
                      {"pid", process},
                      {"tid", thread},
                      {"args", {{"name", text}}}});
  };
  for (const BenchRun& run : report.runs) {
    name("process_name", run.threads, 0, Threads(run.threads));
    for (int worker = 0; worker < run.workers; ++worker) {
      name("thread_name", run.threads, worker, StrCat("worker ", worker));
    }
    std::map<int, const StepTime*> steps;
    for (const StepTime& time : run.steps) steps[time.step] = &time;
    for (const Told& told : run.timeline) {
      const StepTime& step = *steps.at(told.step);
      events.push_back({{"name", step.kernel},
                        {"cat", step.realisation.empty() ? "step" : step.realisation},
                        {"ph", "X"},
                        {"ts", static_cast<double>(told.begin) / kMicrosecond},
                        {"dur", static_cast<double>(told.end - told.begin) / kMicrosecond},
                        {"pid", run.threads},
                        {"tid", told.worker},
                        {"args", {{"step", told.step}, {"nodes", step.nodes}}}});
    }
  }
  return JsonText({{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}});
}

}  // namespace aotc
