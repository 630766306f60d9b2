// Compiles ONNX models in several ways, interprets the loops, and compares the outputs with those
// of the reference evaluator on the imported graph. Tile functions do what their rows say.
//
//   build/tests/interpret_model --dim n=1..3 --size n=1 --size n=3 random_0.onnx ...
//   build/tests/interpret_model --ways tiles mobilenet.onnx      # default flags, each vector width
//
// Exit status 1: a difference, an access out of bounds, a byte that was read after its death.
#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>

#include "absl/strings/str_split.h"
#include "compiler/driver/compile.h"
#include "compiler/import/shape_options.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/tiles.h"
#include "tests/golden_runner/seeded_inputs.h"
#include "tests/interpreter/run_program.h"

namespace aotc {
namespace {

struct Way {
  std::string_view name;
  std::string_view isa;
  int level = 2;
  bool fuses = true;
  bool tiles = false;
};

constexpr Way kLoops[] = {{"portable", "portable"},
                          {"x86-64-v4", "x86-64-v4"},
                          {"unfused", "x86-64-v3", 2, false},
                          {"O0", "x86-64-v3", 0}};
constexpr Way kTiles[] = {{"tiles of portable", "portable", 2, true, true},
                          {"tiles of x86-64-v3", "x86-64-v3", 2, true, true},
                          {"tiles of x86-64-v4", "x86-64-v4", 2, true, true}};

struct Options {
  std::vector<std::string> models = {};
  std::vector<std::string> dims = {};
  std::vector<std::string> sizes = {};
  std::vector<std::string> below = {};
  std::string ways = "loops";
  bool require_tiles = false;
  double tolerance = 1e-4;

  std::vector<Way> Ways() const {
    std::vector<Way> chosen;
    if (ways != "tiles") chosen.insert(chosen.end(), std::begin(kLoops), std::end(kLoops));
    if (ways != "loops") chosen.insert(chosen.end(), std::begin(kTiles), std::end(kTiles));
    return chosen;
  }
};

absl::StatusOr<CompileResult> CompileTo(std::string_view phase, const Way& way,
                                        const std::string& model, const Options& options) {
  CompileOptions compile{.model_path = model, .cpu = std::string(way.isa), .templates = way.tiles};
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

// "n=3,m=4" gives every symbol of that name its value.
absl::StatusOr<SymbolValues> SizeOf(const Graph& graph, const std::string& text) {
  SymbolValues values;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const size_t equals = part.rfind('=');
    for (const Symbol& symbol : graph.symbols) {
      if (symbol.name != part.substr(0, equals)) continue;
      values[symbol.var] = std::stoll(std::string(part.substr(equals + 1)));
    }
  }
  if (values.size() == graph.symbols.size()) return values;
  return absl::InvalidArgumentError(StrCat("--size ", text, " leaves symbols without a value"));
}

bool CallsTiles(const Program& program) {
  bool calls = false;
  for (const ProgramKernel& kernel : program.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      VisitStmts(variant.loops.body,
                 [&](const Stmt& stmt) { calls = calls || stmt.kind() == StmtKind::kTile; });
    }
  }
  return calls;
}

// Integers of an input are 0 .. N-1 where "NAME=N", or "N" for all others, says so.
std::optional<int64_t> EndOf(const std::string& name, const std::vector<std::string>& below) {
  std::optional<int64_t> end;
  for (const std::string& text : below) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos && !end) end = std::stoll(text);
    if (equals != std::string::npos && text.substr(0, equals) == name) {
      end = std::stoll(text.substr(equals + 1));
    }
  }
  return end;
}

Constant Below(const Constant& input, int64_t end) {
  std::vector<uint8_t> bytes(input.bytes().begin(), input.bytes().end());
  for (int64_t e = 0; e < input.element_count(); ++e) {
    StoreIntElement(input.dtype(), bytes.data(), e, (input.IntAt(e) % end + end) % end);
  }
  return Constant::Dense(input.dtype(), input.dims(), std::move(bytes));
}

absl::Status CheckAt(const Graph& graph, const CompileResult& result, const Way& way,
                     const SymbolValues& symbols, const Options& options) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Constant> inputs, DrawInputs(graph, symbols, 1));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph.values[graph.main_region().inputs[i]].name;
    const std::optional<int64_t> end = EndOf(name, options.below);
    if (end && IsInteger(inputs[i].dtype())) inputs[i] = Below(inputs[i], *end);
  }
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        EvaluateGraph(graph, inputs, symbols));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual,
                        RunProgram(result.program, inputs, symbols,
                                   {.isa = std::string(way.isa), .tiles = CpuTiles()}));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = RelativeError(actual[i], expected[i]);
    if (error <= options.tolerance) continue;
    const Buffer& buffer = result.program.buffers[result.program.outputs[i]];
    return absl::InternalError(StrCat("output ", buffer.value, ": error ", error));
  }
  return absl::OkStatus();
}

absl::Status CheckWay(const Way& way, const std::string& model, const Options& options) {
  AOTC_ASSIGN_OR_RETURN(const CompileResult imported, CompileTo("import", way, model, options));
  AOTC_ASSIGN_OR_RETURN(const CompileResult planned, CompileTo("plan", way, model, options));
  if (options.require_tiles && way.tiles && !CallsTiles(planned.program)) {
    return absl::InternalError("no kernel calls a tile function");
  }
  std::vector<SymbolValues> sizes;
  for (const std::string& size : options.sizes) {
    AOTC_ASSIGN_OR_RETURN(SymbolValues values, SizeOf(imported.graph, size));
    sizes.push_back(std::move(values));
  }
  if (imported.graph.symbols.empty()) sizes = {{}};
  for (const SymbolValues& size : sizes) {
    AOTC_RETURN_IF_ERROR(CheckAt(imported.graph, planned, way, size, options));
  }
  return absl::OkStatus();
}

// The number of failures.
int CheckModels(const Options& options) {
  int failures = 0;
  for (const std::string& model : options.models) {
    for (const Way& way : options.Ways()) {
      const absl::Status status = CheckWay(way, model, options);
      if (status.ok()) continue;
      ++failures;
      std::cout << model << ", " << way.name << ": " << status.message() << "\n";
    }
  }
  std::cout << options.models.size() << " models, " << options.Ways().size()
            << " ways: " << failures << " failures" << "\n";
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
  app.add_option("--size", options.sizes, "NAME=VALUE[,NAME=VALUE...] to run at")
      ->allow_extra_args(false);
  app.add_option("--below", options.below,
                 "NAME=N: integers of that input are 0 .. N-1; N: of others")
      ->allow_extra_args(false);
  app.add_option("--ways", options.ways, "without tile functions, with them at the default flags")
      ->check(CLI::IsMember({"loops", "tiles", "all"}));
  app.add_flag("--require-tiles", options.require_tiles, "a model without tile functions fails");
  app.add_option("--tolerance", options.tolerance, "largest relative error");
  CLI11_PARSE(app, argc, argv);
  return aotc::CheckModels(options) == 0 ? 0 : 1;
}
