#include "compiler/fuse/fuse.h"

#include <algorithm>
#include <map>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/air_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/registry.h"
#include "tests/golden_runner/boxes.h"
#include "tests/golden_runner/seeded_inputs.h"
#include "tests/golden_runner/subtest.h"
#include "tests/golden_runner/typed_graph.h"

namespace aotc {
namespace {

using Values = std::map<ValueId, Constant>;

std::vector<int64_t> DimsOf(const Graph& graph, ValueId value, const SymbolValues& symbols) {
  std::vector<int64_t> dims;
  for (const Expr& dim : graph.values[value].type.dims) {
    dims.push_back(EvaluateInt(dim, symbols).value_or(-1));
  }
  return dims;
}

absl::StatusOr<Constant> ViewOf(const Graph& graph, const ValueView& view, const Constant& base,
                                const SymbolValues& symbols) {
  std::vector<int64_t> dims = DimsOf(graph, view.value, symbols);
  if (view.IsBox()) return TakeBox(base, LogicalBoxOf(graph, view, symbols), dims);
  const Constant dense = base.Expanded();
  const int64_t offset = EvaluateInt(view.offset, symbols).value_or(-1) * ByteWidth(base.dtype());
  int64_t bytes = ByteWidth(base.dtype());
  for (const int64_t dim : dims) bytes *= dim;
  const auto held = static_cast<int64_t>(dense.bytes().size());
  if (offset < 0 || bytes < 0 || offset + bytes > held) {
    return absl::InternalError("a view reaches out of its base");
  }
  const auto begin = dense.bytes().begin() + offset;
  return Constant::Dense(base.dtype(), std::move(dims), {begin, begin + bytes});
}

// Where the value is a box, into what it is a box of; what is made of boxes is zero until then.
void Keep(const Graph& graph, const std::vector<ValueView>& views, ValueId value, Constant result,
          const SymbolValues& symbols, Values& values) {
  for (const ValueView& box : views) {
    if (box.value != value || !box.IsBox()) continue;
    if (!values.contains(box.base)) {
      const std::vector<int64_t> dims = DimsOf(graph, box.base, symbols);
      int64_t bytes = ByteWidth(result.dtype());
      for (const int64_t dim : dims) bytes *= dim;
      values.emplace(box.base, Constant::Dense(result.dtype(), dims,
                                               std::vector<uint8_t>(static_cast<size_t>(bytes))));
    }
    PutBox(result, LogicalBoxOf(graph, box, symbols), values.at(box.base));
    for (const ValueView& other : views) {
      if (other.base == box.base) values.erase(other.value);  // seen anew
    }
  }
  values.insert_or_assign(value, std::move(result));
}

absl::Status RunKernel(const Graph& graph, const FusedKernel& fused,
                       const std::vector<ValueView>& views, const SymbolValues& symbols,
                       Values& values) {
  std::vector<Constant> inputs;
  for (size_t i = 0; i < fused.args.size(); ++i) {
    if (fused.kernel.tensors[fused.kernel.params[i]].role == TensorRole::kOutput) continue;
    const auto value = values.find(fused.args[i]);
    if (value == values.end()) {
      return absl::InternalError(StrCat(fused.kernel.name, " reads what was not computed yet"));
    }
    inputs.push_back(value->second);
  }
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> results,
                        EvaluateKernel(fused.kernel, inputs, symbols));
  for (size_t i = 0; i < results.size(); ++i) {
    Keep(graph, views, fused.args[inputs.size() + i], results[i], symbols, values);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Constant>> EvaluateFused(const Graph& graph, const FusedGraph& fused,
                                                    const std::vector<Constant>& inputs,
                                                    const SymbolValues& symbols) {
  Values values;
  for (ValueId id : graph.values.ids()) {
    if (graph.values[id].constant) values.emplace(id, *graph.values[id].constant);
  }
  const Region& main = graph.main_region();
  for (size_t i = 0; i < inputs.size(); ++i) values.insert_or_assign(main.inputs[i], inputs[i]);
  const auto add_views = [&]() -> absl::Status {
    for (const ValueView& view : fused.views) {
      const auto base = values.find(view.base);
      if (base == values.end() || values.contains(view.value)) continue;
      AOTC_ASSIGN_OR_RETURN(Constant value, ViewOf(graph, view, base->second, symbols));
      values.emplace(view.value, std::move(value));
    }
    return absl::OkStatus();
  };
  AOTC_RETURN_IF_ERROR(add_views());
  for (const FusedKernel& kernel : fused.kernels) {
    AOTC_RETURN_IF_ERROR(RunKernel(graph, kernel, fused.views, symbols, values));
    AOTC_RETURN_IF_ERROR(add_views());
  }
  std::vector<Constant> outputs;
  for (ValueId id : main.outputs) outputs.push_back(values.at(id));
  return outputs;
}

absl::Status CheckFusedNumbers(const Graph& graph, const FusedGraph& fused,
                               const SubtestLine& line) {
  const SymbolValues symbols = DrawSymbols(graph.symbols, line);
  const auto seed = static_cast<uint64_t>(line.Number("seed", 1));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs, DrawInputs(graph, symbols, seed));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        EvaluateGraph(graph, inputs, symbols));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual,
                        EvaluateFused(graph, fused, inputs, symbols));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = RelativeError(actual[i], expected[i]);
    if (error <= 1e-5) continue;
    return absl::InternalError(StrCat("output ", i, " of the kernels differs by ", error));
  }
  return absl::OkStatus();
}

}  // namespace

SubtestResult RunFuse(const GoldenCase& golden, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(const Graph graph, ParseTyped(golden));
  const bool cuda = std::ranges::count(line.words, "cuda") != 0;
  AOTC_ASSIGN_OR_RETURN(const Target target, MakeTarget(cuda ? "cuda" : "cpu"));
  AOTC_ASSIGN_OR_RETURN(const FusedGraph fused,
                        Fuse(graph, {.costs = KernelCosts(target.estimate)}));
  for (const FusedKernel& kernel : fused.kernels) {
    AOTC_RETURN_IF_ERROR(VerifyKernel(kernel.kernel));
  }
  AOTC_RETURN_IF_ERROR(CheckFusedNumbers(graph, fused, line));
  return PrintFused(graph, fused);
}

}  // namespace aotc
