#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "compiler/eval/evaluate.h"
#include "compiler/fuse/index_checks.h"
#include "compiler/ir/program_text.h"
#include "compiler/lower/build_program.h"
#include "compiler/plan/plan.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/registry.h"
#include "tests/golden_runner/seeded_inputs.h"
#include "tests/golden_runner/subtest.h"
#include "tests/golden_runner/typed_graph.h"
#include "tests/interpreter/run_program.h"

namespace aotc {
namespace {

absl::StatusOr<Program> ProgramOf(Graph& graph, bool cuda) {
  AOTC_ASSIGN_OR_RETURN(const Target target, MakeTarget(cuda ? "cuda" : "cpu"));
  AOTC_ASSIGN_OR_RETURN(FusedGraph fused, Fuse(graph, {.costs = KernelCosts(target.estimate)}));
  AOTC_RETURN_IF_ERROR(AddIndexChecks(graph, fused));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Isa> isas, ParseCpuList("portable"));
  // The interpreter knows the loops of the CPU; what differs here is where the flags are.
  const Scheduler schedule = [&](const Kernel& kernel) {
    return ScheduleOnCpu(kernel, {.isas = isas, .templates = false});
  };
  AOTC_ASSIGN_OR_RETURN(Program program,
                        BuildProgram(graph, std::move(fused), schedule, {.has_device = cuda}));
  AOTC_RETURN_IF_ERROR(PlanMemory(program));
  AOTC_RETURN_IF_ERROR(VerifyProgram(program));
  return program;
}

absl::Status CheckSameNumbers(const Graph& graph, const Program& program, const SubtestLine& line) {
  const SymbolValues symbols = DrawSymbols(graph.symbols, line);
  constexpr uint64_t kSeeds = 8;  // flags drawn from numbers go both ways
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs, DrawInputs(graph, symbols, seed));
    AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                          EvaluateGraph(graph, inputs, symbols));
    AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual,
                          RunProgram(program, inputs, symbols, {}));
    for (size_t i = 0; i < expected.size(); ++i) {
      const double error = RelativeError(actual[i], expected[i]);
      if (error <= 1e-5) continue;
      return absl::InternalError(StrCat("output ", i, " differs by ", error, " with seed ", seed));
    }
  }
  return absl::OkStatus();
}

// The lines of buffers and steps, without the kernels; steps indented as they nest.
std::string StepsAndBuffers(const Program& program) {
  std::string result;
  size_t depth = 0;
  for (absl::string_view line : absl::StrSplit(PrintProgram(program), '\n')) {
    line = absl::StripLeadingAsciiWhitespace(line);
    const bool is_step = absl::ConsumePrefix(&line, "step ");
    bool is_buffer = false;
    for (const std::string_view kind : {"input", "output", "weights", "arena", "view", "host"}) {
      is_buffer = is_buffer || absl::StartsWith(line, StrCat(kind, " %"));
    }
    if (!is_step && !is_buffer) continue;
    const bool closes = absl::StartsWith(line, "else(") || absl::StartsWith(line, "end(");
    if (closes) --depth;
    StrAppend(&result, std::string(2 * depth, ' '), line, "\n");
    const bool opens = absl::StartsWith(line, "if(") || absl::StartsWith(line, "loop(");
    if (opens || absl::StartsWith(line, "else(")) ++depth;
  }
  return result;
}

}  // namespace

SubtestResult RunProgramSteps(const GoldenCase& golden, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(Graph graph, ParseTyped(golden));
  const Graph given = graph;
  const bool cuda = std::ranges::count(line.words, "cuda") != 0;
  AOTC_ASSIGN_OR_RETURN(const Program program, ProgramOf(graph, cuda));
  AOTC_RETURN_IF_ERROR(CheckSameNumbers(given, program, line));
  return StepsAndBuffers(program);
}

}  // namespace aotc
