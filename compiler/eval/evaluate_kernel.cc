#include <utility>

#include "compiler/eval/evaluate.h"
#include "compiler/eval/stage_plan.h"
#include "compiler/eval/stage_runner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::StatusOr<std::vector<int64_t>> DimsOf(const KernelTensor& tensor,
                                            const SymbolValues& symbols) {
  std::vector<int64_t> dims;
  for (const Expr& dim : tensor.shape) {
    std::optional<int64_t> value = EvaluateInt(dim, symbols);
    if (!value || *value < 0) {
      return absl::InternalError(StrCat("a dim of %", tensor.name, " has no value"));
    }
    dims.push_back(*value);
  }
  return dims;
}

absl::StatusOr<TensorData> ReadInput(const KernelTensor& tensor, const Constant& input,
                                     const SymbolValues& symbols) {
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> dims, DimsOf(tensor, symbols));
  if (input.dtype() != tensor.dtype || input.dims() != dims) {
    return absl::InternalError(StrCat("input %", tensor.name, " is ", DTypeName(tensor.dtype), "[",
                                      StrJoin(dims, ", "), "], got ", DTypeName(input.dtype()), "[",
                                      StrJoin(input.dims(), ", "), "]"));
  }
  return ReadTensor(input);
}

bool IsInput(const KernelTensor& tensor) {
  return tensor.role == TensorRole::kInput || tensor.role == TensorRole::kConstant;
}

absl::StatusOr<std::vector<TensorData>> ReadInputs(const Kernel& kernel,
                                                   const std::vector<Constant>& inputs,
                                                   const SymbolValues& symbols) {
  std::vector<TensorData> tensors(kernel.tensors.size());
  size_t next = 0;
  for (TensorId id : kernel.params) {
    if (!IsInput(kernel.tensors[id])) continue;
    if (next == inputs.size()) return absl::InternalError("too few inputs for the kernel");
    AOTC_ASSIGN_OR_RETURN(tensors[static_cast<size_t>(id.index())],
                          ReadInput(kernel.tensors[id], inputs[next++], symbols));
  }
  if (next != inputs.size()) return absl::InternalError("too many inputs for the kernel");
  return tensors;
}

absl::Status RunStage(const Kernel& kernel, const Stage& stage, const SymbolValues& symbols,
                      std::vector<TensorData>& tensors) {
  AOTC_ASSIGN_OR_RETURN(StagePlan plan, PlanStage(stage, symbols, tensors));
  for (const StageResult& result : stage.results) {
    const KernelTensor& tensor = kernel.tensors[result.tensor];
    AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> dims, DimsOf(tensor, symbols));
    tensors[static_cast<size_t>(result.tensor.index())] =
        MakeTensor(tensor.dtype, std::move(dims), plan.splat);
  }
  return StageRunner(stage, plan, tensors).Run();
}

// The kernel only renames indices: elements stay where they are in row-major order.
bool KeepsElements(const Kernel& kernel) {
  if (kernel.stages.size() != 1 || kernel.params.size() != 2) return false;
  const Stage& stage = kernel.stages[0];
  if (stage.IsReduction() || stage.body[0].op() != ExprOp::kLoad) return false;
  const KernelTensor& input = kernel.tensors[kernel.params[0]];
  const KernelTensor& output = kernel.tensors[kernel.params[1]];
  if (stage.body[0]->tensor != kernel.params[0] || input.dtype != output.dtype) return false;
  Expr from = LinearIndex(stage.body[0].args(), RowMajorStrides(input.shape));
  std::vector<Expr> indices;
  for (const Axis& axis : stage.axes) indices.push_back(Var(axis.name));
  Expr to = LinearIndex(indices, RowMajorStrides(output.shape));
  return ProveEqual(ElementCount(input.shape), ElementCount(output.shape)) &&
         ProveEqual(from, to, StageBounds(kernel, stage));
}

// The input itself under other dims, where the kernel does no more and that is worth a proof.
std::optional<Constant> Reinterpreted(const Kernel& kernel, const std::vector<Constant>& inputs) {
  constexpr int64_t kWorthAProof = 1024;
  if (inputs.size() != 1 || inputs[0].element_count() < kWorthAProof) return std::nullopt;
  if (!KeepsElements(kernel)) return std::nullopt;
  const KernelTensor& input = kernel.tensors[kernel.params[0]];
  const KernelTensor& output = kernel.tensors[kernel.params[1]];
  std::optional<std::vector<int64_t>> from = StaticDims(input.shape), to = StaticDims(output.shape);
  if (!from || !to || inputs[0].dtype() != input.dtype || inputs[0].dims() != *from) {
    return std::nullopt;
  }
  return inputs[0].Reshaped(*to);
}

}  // namespace

absl::StatusOr<std::vector<Constant>> EvaluateKernel(const Kernel& kernel,
                                                     const std::vector<Constant>& inputs,
                                                     const SymbolValues& symbols) {
  if (std::optional<Constant> same = Reinterpreted(kernel, inputs))
    return std::vector<Constant>{*same};
  AOTC_ASSIGN_OR_RETURN(std::vector<TensorData> tensors, ReadInputs(kernel, inputs, symbols));
  for (const Stage& stage : kernel.stages) {
    if (absl::Status status = RunStage(kernel, stage, symbols, tensors); !status.ok()) {
      std::string name = kernel.tensors[stage.results[0].tensor].name;
      return absl::Status(status.code(),
                          StrCat("stage %", name, " of @", kernel.name, ": ", status.message()));
    }
  }
  std::vector<Constant> outputs;
  for (TensorId id : kernel.params) {
    if (kernel.tensors[id].role != TensorRole::kOutput) continue;
    outputs.push_back(WriteTensor(std::move(tensors[static_cast<size_t>(id.index())])));
  }
  return outputs;
}

}  // namespace aotc
