#include "compiler/verify/verify.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "compiler/driver/pipeline.h"
#include "compiler/eval/evaluate.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Clock = std::chrono::steady_clock;

// What a loop stacks has no type in the file, and without a round no element that says it: it has
// the type that inference finds. Nothing else of the graph changes.
absl::Status GiveTypesToStacks(Graph& graph, Diagnostics& diagnostics) {
  std::set<ValueId> made;  // by loops
  for (const Node& node : graph.nodes) {
    if (node.regions.contains("body")) made.insert(node.outputs.begin(), node.outputs.end());
  }
  if (made.empty()) return absl::OkStatus();
  AOTC_ASSIGN_OR_RETURN(const Graph typed, InferTypes(graph, diagnostics));
  std::map<std::string, ValueType> types;
  for (const Value& value : typed.values) types.emplace(value.name, value.type);
  for (const ValueId id : made) {
    const auto found = id.valid() ? types.find(graph.values[id].name) : types.end();
    if (found != types.end()) graph.values[id].type = found->second;
  }
  return absl::OkStatus();
}

class Verifier {
 public:
  Verifier(const VerifyOptions& options, Diagnostics& diagnostics, const StepHook& step)
      : options_(options), diagnostics_(diagnostics), step_(step) {}

  absl::StatusOr<VerifyReport> Run() {
    AOTC_ASSIGN_OR_RETURN(const CompileResult compiled, CompileFor(options_.per_node));
    AOTC_RETURN_IF_ERROR(CollectCases());
    Tell("build");
    const Clock::time_point start = Clock::now();
    AOTC_ASSIGN_OR_RETURN(const HostProgram program, HostProgram::Build(compiled, options_.build));
    report_.build_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    report_.file_count = compiled.files.size();
    limit_ = GraphErrorLimit(compiled.graph);
    for (const TestCase& test : cases_) {
      Tell("run");
      AOTC_RETURN_IF_ERROR(RunCase(compiled, program, test));
    }
    return std::move(report_);
  }

 private:
  void Tell(const std::string& step) const {
    if (step_) step_(step);
  }

  absl::StatusOr<CompileResult> CompileFor(bool keep_values) const {
    CompileOptions options = options_.compile;
    options.example = true;
    options.keep_values = keep_values;
    Tell("compile");
    return Compile(options, diagnostics_);
  }

  // The model as it stands in the file is what the results are held against: no pass has seen it.
  absl::Status CollectCases() {
    Tell("evaluate");
    const CompileOptions& compile = options_.compile;
    AOTC_ASSIGN_OR_RETURN(Graph graph,
                          ImportOnnx(compile.model_path, compile.import, diagnostics_));
    AOTC_RETURN_IF_ERROR(GiveTypesToStacks(graph, diagnostics_));
    if (!options_.inputs.empty()) {
      AOTC_ASSIGN_OR_RETURN(TestCase given, ReadCase(options_.inputs, graph));
      cases_.push_back(std::move(given));
    } else {
      for (DrawnSizes sizes : {DrawnSizes::kAny, DrawnSizes::kLeast}) {
        if (sizes == DrawnSizes::kLeast && graph.symbols.empty()) break;
        AOTC_ASSIGN_OR_RETURN(TestCase drawn,
                              DrawCase(graph, {.seed = options_.seed, .sizes = sizes}));
        cases_.push_back(std::move(drawn));
      }
      AOTC_ASSIGN_OR_RETURN(std::vector<TestCase> stored, StoredCases(compile.model_path, graph));
      std::move(stored.begin(), stored.end(), std::back_inserter(cases_));
    }
    for (ValueId id : graph.main_region().outputs) names_.push_back(graph.values[id].name);
    return absl::OkStatus();
  }

  absl::Status RunCase(const CompileResult& compiled, const HostProgram& program,
                       const TestCase& test) {
    std::vector<Constant> like = test.reference;
    if (options_.per_node) {
      AOTC_ASSIGN_OR_RETURN(like, EvaluateGraph(compiled.graph, test.inputs));
    }
    AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual, program.Run(test.inputs, like));
    bool agrees = true;
    for (size_t i = 0; i < names_.size(); ++i) {
      TensorResult result{.tensor = StrCat("output '", names_[i], "'"), .against = "evaluator"};
      const bool same = Judge(test, result, actual[i], test.reference[i]);
      agrees = agrees && same;
      if (test.expected.empty()) continue;
      result.against = "file";
      Judge(test, result, actual[i], test.expected[i],
            same ? "the reference evaluator agrees with the compiled model" : "");
    }
    for (const KeptValue& kept : compiled.kept) {
      const std::string tensor = StrCat("value '", kept.value, "' of ", Describe(kept.location));
      Judge(test, {.tensor = tensor, .against = "evaluator"}, actual[kept.output],
            like[kept.output]);
    }
    return agrees || explained_ ? absl::OkStatus() : Explain(test);
  }

  bool Judge(const TestCase& test, TensorResult result, const Constant& actual,
             const Constant& expected, std::string_view hint = "") {
    result.test_case = test.name;
    result.type = TypeText(expected);
    result.limit = limit_;
    result.difference = Compare(actual, expected);
    const bool agrees = result.Agrees();
    if (!agrees) {
      diagnostics_.Fault({},
                         StrCat(result.tensor, " differs from the ", result.against, " (",
                                test.name, "): ", result.difference.Text(limit_)),
                         hint);
    }
    report_.results.push_back(std::move(result));
    return agrees;
  }

  // Whether the passes or what follows them is wrong, and where. Once: other cases would say the
  // same.
  absl::Status Explain(const TestCase& test) {
    explained_ = true;
    AOTC_ASSIGN_OR_RETURN(const CompileResult kept, CompileFor(/*keep_values=*/true));
    AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> outputs,
                          EvaluateGraph(kept.graph, test.inputs));
    for (size_t i = 0; i < names_.size(); ++i) {
      const Difference difference = Compare(outputs[i], test.reference[i]);
      if (difference.error <= limit_) continue;
      diagnostics_.Fault({},
                         StrCat("the passes over the graph change output '", names_[i],
                                "': ", difference.Text(limit_)),
                         "--disable-pass tells which of them does");
      return absl::OkStatus();
    }
    if (options_.per_node) return absl::OkStatus();  // the value is among the findings
    const absl::Status status =
        ReportFirstDifference(kept, options_.build, test.inputs, diagnostics_);
    Tell("search");
    return status;
  }

  const VerifyOptions& options_;
  Diagnostics& diagnostics_;
  const StepHook& step_;
  std::vector<TestCase> cases_;
  std::vector<std::string> names_;  // of the outputs
  double limit_ = 0;
  bool explained_ = false;
  VerifyReport report_;
};

}  // namespace

double GraphErrorLimit(const Graph& graph) {
  double limit = ErrorLimit(DType::kF32);
  for (const Value& value : graph.values) {
    if (IsFloat(value.type.dtype)) limit = std::max(limit, ErrorLimit(value.type.dtype));
  }
  return limit;
}

absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options, Diagnostics& diagnostics,
                                    const StepHook& step) {
  return Verifier(options, diagnostics, step).Run();
}

}  // namespace aotc
