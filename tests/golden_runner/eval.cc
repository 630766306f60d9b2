#include <cmath>

#include "absl/strings/str_format.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/air_text.h"
#include "compiler/ir/constant_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/golden_runner/seeded_inputs.h"
#include "tests/golden_runner/subtest.h"

namespace aotc {
namespace {

constexpr int64_t kShownElements = 24;

// An element, floats to five digits: the functions of the C library may differ in the last ones.
std::string ElementText(const Constant& constant, int64_t index) {
  if (constant.dtype() == DType::kString) return constant.strings()[static_cast<size_t>(index)];
  if (IsFloat(constant.dtype())) {
    const double value = constant.FloatAt(index);
    return std::isnan(value) ? "nan" : absl::StrFormat("%.5g", value);  // NaN's sign says nothing
  }
  return StrCat(constant.IntAt(index));
}

// "%y: f32[2, 3] = [0.1, ...]"; of a long tensor the first elements.
std::string OutputText(std::string_view name, const Constant& constant) {
  std::vector<std::string> elements;
  for (int64_t i = 0; i < std::min(constant.element_count(), kShownElements); ++i)
    elements.push_back(ElementText(constant, i));
  if (constant.element_count() > kShownElements) elements.push_back("...");
  return StrCat("%", name, ": ", DTypeName(constant.dtype()), "[", StrJoin(constant.dims(), ", "),
                "] = [", StrJoin(elements, ", "), "]\n");
}

SubtestResult EvaluateText(const Kernel& kernel, const SubtestLine& line) {
  AOTC_RETURN_IF_ERROR(VerifyAir(kernel));
  const SymbolValues symbols = DrawSymbols(kernel.symbols, line);
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs,
                        DrawInputs(kernel, symbols, static_cast<uint64_t>(line.Number("seed", 1))));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> outputs,
                        EvaluateKernel(kernel, inputs, symbols));
  std::string text;
  size_t next = 0;
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    if (tensor.role == TensorRole::kOutput) text += OutputText(tensor.name, outputs[next++]);
  }
  return text;
}

SubtestResult EvaluateText(const Graph& graph, const SubtestLine& line) {
  AOTC_RETURN_IF_ERROR(VerifyAir(graph));
  const SymbolValues symbols = DrawSymbols(graph.symbols, line);
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs,
                        DrawInputs(graph, symbols, static_cast<uint64_t>(line.Number("seed", 1))));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> outputs, EvaluateGraph(graph, inputs, symbols));
  std::string text;
  for (size_t i = 0; i < outputs.size(); ++i)
    text += OutputText(graph.values[graph.main_region().outputs[i]].name, outputs[i]);
  return text;
}

}  // namespace

SubtestResult RunEval(const GoldenCase& golden, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<AirModule> modules, ParseAir(golden.input, golden.place));
  if (const auto* graph = std::get_if<Graph>(&modules[0])) return EvaluateText(*graph, line);
  if (const auto* kernel = std::get_if<Kernel>(&modules[0])) return EvaluateText(*kernel, line);
  return absl::InvalidArgumentError("only graphs and kernels are evaluated");
}

}  // namespace aotc
