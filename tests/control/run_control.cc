// Evaluates the models of a folder as they are imported, typed, and after all passes, against
// expected outputs.
//
//   control_cases FOLDER DIM...       CASE/model.onnx, CASE/test_data_set_0/input_0.pb ...
//                                     DIM: NAME=LEAST..MOST, for models that have that symbol
//
// Prints what is wrong with each case; exit code 1 where anything is.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/driver/pipeline.h"
#include "compiler/eval/evaluate.h"
#include "compiler/import/onnx_import.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/import/model_case.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

// f32 on the one side, f64 on the other.
constexpr double kMostError = 2e-5;

struct Stage {
  std::string name;
  Graph graph;
};

absl::StatusOr<Graph> AfterPasses(const Graph& graph, int level, const char* target,
                                  Diagnostics& diagnostics) {
  PassContext context({.level = level}, diagnostics, PassTargetOf(target, /*templates=*/true));
  return RunPasses(graph, AllPasses(), context);
}

// The model after each part of the work on it.
absl::StatusOr<std::vector<Stage>> StagesOf(const fs::path& folder,
                                            const std::vector<DimOption>& dims,
                                            Diagnostics& diagnostics) {
  ImportOptions options{.dims = dims, .partial = true};
  AOTC_ASSIGN_OR_RETURN(const Graph graph,
                        ImportOnnx((folder / "model.onnx").string(), options, diagnostics));
  std::vector<Stage> stages = {{"imported", graph}};
  AOTC_ASSIGN_OR_RETURN(Graph typed, InferTypes(graph, diagnostics));
  stages.push_back({"typed", std::move(typed)});
  for (int level : {0, 2, 3}) {
    AOTC_ASSIGN_OR_RETURN(Graph done, AfterPasses(graph, level, "cpu", diagnostics));
    stages.push_back({StrCat("-O", level), std::move(done)});
  }
  AOTC_ASSIGN_OR_RETURN(Graph done, AfterPasses(graph, 2, "cuda", diagnostics));
  stages.push_back({"cuda", std::move(done)});
  return stages;
}

absl::Status CheckRun(const Graph& graph, const fs::path& data) {
  const Region& main = graph.main_region();
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs,
                        ReadTensors(data, "input", main.inputs.size()));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        ReadTensors(data, "output", main.outputs.size()));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual, EvaluateGraph(graph, inputs));
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = RelativeError(actual[i], expected[i]);
    if (error <= kMostError) continue;
    return absl::InternalError(
        StrCat("output '", graph.values[main.outputs[i]].name, "' differs by ", error));
  }
  return absl::OkStatus();
}

absl::Status CheckCase(const fs::path& folder, const std::vector<DimOption>& dims) {
  Diagnostics diagnostics;
  absl::StatusOr<std::vector<Stage>> stages = StagesOf(folder, dims, diagnostics);
  if (!stages.ok()) {
    return diagnostics.error_count() > 0 ? absl::InternalError(diagnostics.Render())
                                         : stages.status();
  }
  for (const Stage& stage : *stages) {
    absl::Status status = CheckTextForm(stage.graph);
    for (const fs::path& data : FoldersIn(folder)) {
      if (status.ok()) status = CheckRun(stage.graph, data);
      if (status.ok()) continue;
      return absl::InternalError(StrCat(stage.name, ", ", data.filename().string(), ": ",
                                        status.message(), "\n", PrintGraph(stage.graph)));
    }
  }
  return absl::OkStatus();
}

int Run(const fs::path& root, const std::vector<DimOption>& dims) {
  int failed = 0, passed = 0;
  for (const fs::path& folder : FoldersIn(root)) {
    const absl::Status status = CheckCase(folder, dims);
    ++(status.ok() ? passed : failed);
    if (status.ok()) continue;
    const std::string message(status.message());
    std::printf("%s: %s\n", folder.filename().c_str(), message.c_str());
  }
  std::printf("control flow, evaluator: %d hold, %d fail\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  std::vector<aotc::DimOption> dims;
  for (int i = 2; i < argc; ++i) {
    absl::StatusOr<aotc::DimOption> dim = aotc::ParseDimOption(argv[i]);
    if (!dim.ok()) return 2;
    dims.push_back(*std::move(dim));
  }
  return argc < 2 ? 2 : aotc::Run(argv[1], dims);
}
