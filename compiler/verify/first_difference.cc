// Where a wrong result comes from: the first value between kernels that differs.
#include "compiler/eval/evaluate.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/verify/verify.h"

namespace aotc {

std::optional<size_t> FirstDifference(const std::vector<KeptValue>& kept,
                                      const std::vector<Constant>& actual,
                                      const std::vector<Constant>& expected, double limit) {
  for (size_t i = 0; i < kept.size(); ++i) {
    const size_t output = kept[i].output;
    if (!(Compare(actual[output], expected[output]).error <= limit)) return i;
  }
  return std::nullopt;
}

absl::Status ReportFirstDifference(const CompileResult& compiled, const HostBuildOptions& build,
                                   const std::vector<Constant>& inputs, Diagnostics& diagnostics) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        EvaluateGraph(compiled.graph, inputs));
  AOTC_ASSIGN_OR_RETURN(const HostProgram program, HostProgram::Build(compiled, build));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual, program.Run(inputs, expected));
  const double limit = GraphErrorLimit(compiled.graph);
  const std::optional<size_t> first = FirstDifference(compiled.kept, actual, expected, limit);
  if (!first) {
    diagnostics.Fault({}, "with all values between kernels kept, nothing differs",
                      "the fault lies in how buffers share memory, or in a kernel's result that "
                      "depends on what the memory held");
    return absl::OkStatus();
  }
  const KeptValue& kept = compiled.kept[*first];
  const Difference difference = Compare(actual[kept.output], expected[kept.output]);
  diagnostics.Fault(NodePlace(kept.location.node, kept.location.op, kept.location.opset),
                    StrCat("its result '", kept.value, "', written by the kernel ", kept.kernel,
                           ", is the first that differs: ", difference.Text(limit)));
  return absl::OkStatus();
}

}  // namespace aotc
