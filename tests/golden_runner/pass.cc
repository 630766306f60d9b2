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

constexpr double kLargestError = 1e-5;  // passes that fold scales round weights anew

// The named passes over a graph that verifies, verified again after each.
absl::StatusOr<Graph> RunNamedPasses(const Graph& graph, const SubtestLine& line) {
  if (line.words.size() != 1) return absl::InvalidArgumentError("expected 'pass NAME[,NAME]'");
  AOTC_ASSIGN_OR_RETURN(const std::vector<Pass> passes, PassesByName(line.words[0]));
  PassOptions options;
  for (const auto& [name, value] : line.options) {
    // The other options are sizes of symbols and the seed.
    if (FindConfigKey(name) != nullptr)
      AOTC_RETURN_IF_ERROR(SetConfig(StrCat(name, "=", value), options));
  }
  Diagnostics diagnostics;
  PassContext context(options, diagnostics);
  const GraphProperties held = kExpanded | (VerifyGraph(graph).ok() ? kTyped : 0);
  return RunPasses(graph, passes, context, held);
}

// Both graphs give the same numbers for the same inputs.
absl::Status CheckSameNumbers(const Graph& before, const Graph& after, const SubtestLine& line) {
  const SymbolValues symbols = DrawSymbols(before.symbols, line);
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs,
                        DrawInputs(before, symbols, static_cast<uint64_t>(line.Number("seed", 1))));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        EvaluateGraph(before, inputs, symbols));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual, EvaluateGraph(after, inputs, symbols));
  if (actual.size() != expected.size()) return absl::InternalError("the number of outputs changes");
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = RelativeError(actual[i], expected[i]);
    if (!(error <= kLargestError))
      return absl::InternalError(StrCat("output ", i, " changes: error ", error));
  }
  return absl::OkStatus();
}

}  // namespace

SubtestResult RunPass(const GoldenCase& golden, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(const AirModule module, ParseAir(golden.input, golden.place));
  const Graph* before = std::get_if<Graph>(&module);
  if (before == nullptr) return absl::InvalidArgumentError("passes work on graphs");
  AOTC_RETURN_IF_ERROR(VerifyAir(module));
  AOTC_ASSIGN_OR_RETURN(const Graph after, RunNamedPasses(*before, line));
  AOTC_RETURN_IF_ERROR(CheckSameNumbers(*before, after, line));
  AOTC_ASSIGN_OR_RETURN(const Graph again, RunNamedPasses(after, line));
  std::string text = PrintGraph(after);
  if (PrintGraph(again) != text)
    return absl::InternalError(StrCat("changes again in a second run:\n", PrintGraph(again)));
  return text;
}

}  // namespace aotc
