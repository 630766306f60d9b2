// Compiles ONNX models in several ways without tile functions, interprets the loops, and compares
// the outputs with those of the reference evaluator on the imported graph.
//
//   build/tests/interpret_model --dim n=1..3 --size n=1 --size n=3 random_0.onnx ...
//
// Exit status 1: a difference, an access out of bounds, a byte that was read after its death.
#include <CLI/CLI.hpp>
#include <iostream>

#include "compiler/driver/compile.h"
#include "compiler/import/shape_options.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/golden_runner/seeded_inputs.h"
#include "tests/interpreter/run_program.h"

namespace aotc {
namespace {

struct Way {
  std::string_view name;
  std::string_view isa;
  int level = 2;
  bool fuses = true;
};

constexpr Way kWays[] = {{"portable", "portable"},
                         {"x86-64-v4", "x86-64-v4"},
                         {"unfused", "x86-64-v3", 2, false},
                         {"O0", "x86-64-v3", 0}};

struct Options {
  std::vector<std::string> models = {};
  std::vector<std::string> dims = {};
  std::vector<std::string> sizes = {};
  double tolerance = 1e-4;
};

absl::StatusOr<CompileResult> CompileTo(std::string_view phase, const Way& way,
                                        const std::string& model, const Options& options) {
  CompileOptions compile{.model_path = model, .cpu = std::string(way.isa), .templates = false};
  for (const std::string& dim : options.dims) {
    AOTC_ASSIGN_OR_RETURN(DimOption option, ParseDimOption(dim));
    compile.import.dims.push_back(std::move(option));
  }
  compile.passes.level = way.level;
  compile.passes.stop_after = std::string(phase);
  if (!way.fuses) compile.passes.disable.insert("fuse");
  Diagnostics diagnostics;
  return Compile(compile, diagnostics);
}

// "n=3" gives every symbol of that name its value.
absl::StatusOr<SymbolValues> SizeOf(const Graph& graph, const std::string& text) {
  const size_t equals = text.rfind('=');
  SymbolValues values;
  for (const Symbol& symbol : graph.symbols) {
    if (symbol.name == text.substr(0, equals))
      values[symbol.var] = std::stoll(text.substr(equals + 1));
  }
  if (values.size() == graph.symbols.size()) return values;
  return absl::InvalidArgumentError(StrCat("--size ", text, " leaves symbols without a value"));
}

absl::Status CheckAt(const Graph& graph, const CompileResult& result, const Way& way,
                     const SymbolValues& symbols, double tolerance) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs, DrawInputs(graph, symbols, 1));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        EvaluateGraph(graph, inputs, symbols));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual,
                        RunProgram(result.program, inputs, symbols, {.isa = std::string(way.isa)}));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = RelativeError(actual[i], expected[i]);
    if (error <= tolerance) continue;
    const Buffer& buffer = result.program.buffers[result.program.outputs[i]];
    return absl::InternalError(StrCat("output ", buffer.value, ": error ", error));
  }
  return absl::OkStatus();
}

absl::Status CheckWay(const Way& way, const std::string& model, const Options& options) {
  AOTC_ASSIGN_OR_RETURN(const CompileResult imported, CompileTo("import", way, model, options));
  AOTC_ASSIGN_OR_RETURN(const CompileResult planned, CompileTo("plan", way, model, options));
  std::vector<SymbolValues> sizes;
  for (const std::string& size : options.sizes) {
    AOTC_ASSIGN_OR_RETURN(SymbolValues values, SizeOf(imported.graph, size));
    sizes.push_back(std::move(values));
  }
  if (imported.graph.symbols.empty()) sizes = {{}};
  for (const SymbolValues& size : sizes) {
    AOTC_RETURN_IF_ERROR(CheckAt(imported.graph, planned, way, size, options.tolerance));
  }
  return absl::OkStatus();
}

// The number of failures.
int CheckModels(const Options& options) {
  int failures = 0;
  for (const std::string& model : options.models) {
    for (const Way& way : kWays) {
      const absl::Status status = CheckWay(way, model, options);
      if (status.ok()) continue;
      ++failures;
      std::cout << model << ", " << way.name << ": " << status.message() << "\n";
    }
  }
  std::cout << options.models.size() << " models, " << std::size(kWays) << " ways: " << failures
            << " failures" << "\n";
  return failures;
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  aotc::Options options;
  CLI::App app("Interprets the loops of compiled models.");
  app.add_option("models", options.models, "ONNX models")->required();
  app.add_option("--dim", options.dims, "bounds of a symbol, as aotc takes them")
      ->allow_extra_args(false);
  app.add_option("--size", options.sizes, "NAME=VALUE to run at")->allow_extra_args(false);
  app.add_option("--tolerance", options.tolerance, "largest relative error");
  CLI11_PARSE(app, argc, argv);
  return aotc::CheckModels(options) == 0 ? 0 : 1;
}
