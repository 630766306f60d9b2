#include "compiler/driver/pipeline.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/air_text.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/golden_runner/seeded_inputs.h"
#include "tests/golden_runner/subtest.h"

namespace aotc {
namespace {

// Passes on constants round once more or once less.
double MaxError(DType dtype) {
  switch (dtype) {
    case DType::kF16: return 2e-3;
    case DType::kBF16: return 2e-2;
    default: return 1e-5;
  }
}

absl::StatusOr<Graph> RunNamed(const Graph& graph, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Pass> passes, PassesByName(line.words[0]));
  PassOptions options{.level = 3};
  for (const auto& [name, value] : line.options) {
    if (FindConfigKey(name) == nullptr) continue;  // a symbol, the seed
    AOTC_RETURN_IF_ERROR(SetConfig(StrCat(name, "=", value), options));
  }
  // What the text states is what holds.
  GraphProperties held = kExpanded;
  if (VerifyGraph(graph).ok()) held |= kTyped;
  Diagnostics diagnostics;
  PassContext context(options, diagnostics, PassTargetOf("cpu", /*templates=*/true));
  return RunPasses(graph, passes, context, held);
}

// The outputs as texts and numbers on the same seeded inputs.
absl::Status CheckSameValues(const Graph& before, const Graph& after, const SubtestLine& line) {
  const SymbolValues symbols = DrawSymbols(before.symbols, line);
  const auto seed = static_cast<uint64_t>(line.Number("seed", 1));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs, DrawInputs(before, symbols, seed));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        EvaluateGraph(before, inputs, symbols));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual, EvaluateGraph(after, inputs, symbols));
  if (actual.size() != expected.size()) return absl::InternalError("other outputs than before");
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = RelativeError(actual[i], expected[i]);
    if (!(error <= MaxError(expected[i].dtype()))) {
      return absl::InternalError(StrCat("output ", i, " differs by ", error, " from before"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

SubtestResult RunPass(const GoldenCase& golden, const SubtestLine& line) {
  if (line.words.size() != 1) return absl::InvalidArgumentError("expected the names of passes");
  AOTC_ASSIGN_OR_RETURN(const std::vector<AirModule> modules, ParseAir(golden.input, golden.place));
  const Graph* before = std::get_if<Graph>(&modules[0]);
  if (before == nullptr) return absl::InvalidArgumentError("passes run on graphs only");
  AOTC_RETURN_IF_ERROR(VerifyStructure(*before));
  AOTC_ASSIGN_OR_RETURN(const Graph after, RunNamed(*before, line));
  AOTC_RETURN_IF_ERROR(CheckSameValues(*before, after, line));
  std::string text = PrintGraph(after);
  AOTC_ASSIGN_OR_RETURN(const Graph again, RunNamed(after, line));
  if (PrintGraph(again) != text) {
    return absl::InternalError(StrCat("a second run changes it to:\n", PrintGraph(again)));
  }
  return text;
}

}  // namespace aotc
