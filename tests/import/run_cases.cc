// Imports the models of test folders, infers their types and evaluates them, against expected
// outputs.
//
//   run_cases FOLDER...       each with cases: CASE/model.onnx, CASE/test_data_set_0/input_0.pb ...
//
// Cases that need an operator which is not supported, or a value at compile time that the data
// gives at run time, are counted apart. Prints every case that fails; exit code 1 where there is
// one.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/pipeline.h"
#include "compiler/eval/evaluate.h"
#include "compiler/import/onnx_import.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/import/model_case.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

constexpr double kMostError = 1e-4;

enum class Outcome : uint8_t { kPassed, kUnsupported, kDynamic, kFailed };

struct Result {
  Outcome outcome = Outcome::kPassed;
  std::string reason = {};
};

bool Mentions(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

// What is not ours to do here: the data makes a shape, or a type is none of ours.
Outcome OutcomeOf(const std::string& findings) {
  if (Mentions(findings, "at compile time")) return Outcome::kDynamic;
  const bool unsupported = Mentions(findings, "not supported") ||
                           Mentions(findings, "does not support") ||
                           Mentions(findings, "not converted");
  return unsupported ? Outcome::kUnsupported : Outcome::kFailed;
}

absl::Status Compare(const std::vector<Constant>& actual, const std::vector<Constant>& expected) {
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = RelativeError(actual[i], expected[i]);
    if (error <= kMostError) continue;
    return absl::InternalError(StrCat("output ", i, " differs by ", error));
  }
  return absl::OkStatus();
}

absl::Status RunGraph(const Graph& graph, const fs::path& data) {
  const Region& main = graph.main_region();
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs,
                        ReadTensors(data, "input", main.inputs.size()));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        ReadTensors(data, "output", main.outputs.size()));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual, EvaluateGraph(graph, inputs));
  return Compare(actual, expected);
}

bool HasOnlyTensors(const Graph& graph) {
  return std::ranges::all_of(graph.main_region().inputs, [&](ValueId id) {
    return graph.values[id].type.kind == ValueKind::kTensor;
  });
}

Result RunCase(const fs::path& folder) {
  Diagnostics diagnostics;
  ImportOptions options;
  options.lenient = true;
  absl::StatusOr<Graph> graph = ImportOnnx((folder / "model.onnx").string(), options, diagnostics);
  if (!graph.ok()) return {OutcomeOf(diagnostics.Render()), diagnostics.Render()};
  if (absl::Status status = CheckTextForm(*graph); !status.ok()) {
    return {Outcome::kFailed, status.ToString()};
  }
  if (diagnostics.error_count() > 0 || !HasOnlyTensors(*graph)) return {Outcome::kUnsupported, ""};
  absl::StatusOr<Graph> typed = InferTypes(*graph, diagnostics);
  if (!typed.ok()) return {OutcomeOf(diagnostics.Render()), diagnostics.Render()};
  const absl::Status status = RunGraph(*typed, folder / "test_data_set_0");
  if (!status.ok()) return {OutcomeOf(status.ToString()), status.ToString()};
  return {};
}

// Number of failures.
int RunFolder(const fs::path& folder) {
  int counts[4] = {};
  for (const fs::path& path : FoldersIn(folder)) {
    Result result = RunCase(path);
    ++counts[static_cast<int>(result.outcome)];
    if (result.outcome != Outcome::kFailed) continue;
    std::replace(result.reason.begin(), result.reason.end(), '\n', ' ');
    std::printf("%s: %s\n", path.filename().c_str(), result.reason.c_str());
  }
  std::printf("%s: %d passed, %d not supported, %d with dynamic shapes, %d failed\n",
              folder.filename().c_str(), counts[0], counts[1], counts[2], counts[3]);
  return counts[3];
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; ++i) failed += aotc::RunFolder(argv[i]);
  return failed == 0 ? 0 : 1;
}
