#include "tests/slice/slice_program.h"

#include "compiler/lower/build_program.h"
#include "compiler/plan/plan.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cpu/host.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {
namespace {

// A graph without nodes whose values are the kernel's params, and the kernel over them.
struct Wrapped {
  Graph graph;
  FusedGraph fused;
};

void AddOutput(const KernelTensor& tensor, const SliceOptions& options, Wrapped& wrapped,
               FusedKernel& kernel) {
  Graph& graph = wrapped.graph;
  const ValueId id = graph.AddValue(tensor.name, TensorType(tensor.dtype, tensor.shape));
  graph.values[id].layout = tensor.layout;
  kernel.args.push_back(id);
  auto found = options.destinations.find(tensor.name);
  if (found == options.destinations.end()) return graph.main_region().outputs.push_back(id);
  const ValueId base =
      graph.AddValue(tensor.name + "_all", TensorType(tensor.dtype, found->second.shape));
  graph.main_region().outputs.push_back(base);
  const auto& [shape, start] = found->second;
  wrapped.fused.views.push_back({.value = id,
                                 .base = base,
                                 .offset = LinearIndex(start, RowMajorStrides(shape)),
                                 .start = start});
}

Wrapped Wrap(const SliceOptions& options) {
  Wrapped wrapped;
  Graph& graph = wrapped.graph;
  graph.symbols = options.kernel.symbols;
  FusedKernel kernel{.kernel = options.kernel};
  size_t constants = 0;
  for (TensorId id : options.kernel.params) {
    const KernelTensor& tensor = options.kernel.tensors[id];
    if (tensor.role == TensorRole::kConstant) {
      kernel.args.push_back(graph.AddConstant(tensor.name, options.constants.at(constants++)));
    } else if (tensor.role == TensorRole::kInput) {
      kernel.args.push_back(graph.AddValue(tensor.name, TensorType(tensor.dtype, tensor.shape)));
      graph.main_region().inputs.push_back(kernel.args.back());
    } else {
      AddOutput(tensor, options, wrapped, kernel);
    }
  }
  wrapped.fused.kernels.push_back(std::move(kernel));
  return wrapped;
}

}  // namespace

absl::StatusOr<Program> SliceProgram(const SliceOptions& options) {
  CpuOptions cpu{.templates = options.templates};
  AOTC_ASSIGN_OR_RETURN(cpu.isas, ParseCpuList(options.cpu));
  const Scheduler schedule = [&](const Kernel& kernel) {
    return options.target == "cuda" ? ScheduleOnCuda(kernel, {.templates = options.templates})
                                    : ScheduleOnCpu(kernel, cpu);
  };
  Wrapped wrapped = Wrap(options);
  AOTC_ASSIGN_OR_RETURN(Program program,
                        BuildProgram(wrapped.graph, std::move(wrapped.fused), schedule));
  program.name = "slice";
  AOTC_RETURN_IF_ERROR(PlanMemory(program));
  AOTC_RETURN_IF_ERROR(VerifyProgram(program));
  return program;
}

absl::StatusOr<OutputFiles> SliceFiles(const Program& program, const SliceOptions& options) {
  EmitOptions emit{.host = CpuHost()};
  if (options.target == "cuda") {
    emit.host = CudaHost();
    std::vector<const ProgramKernel*> kernels;
    for (const ProgramKernel& kernel : program.kernels) kernels.push_back(&kernel);
    emit.kernels = {{"slice_kernels.cu", EmitCudaKernels(kernels, program.name)}};
  } else {
    emit.kernels = CpuKernelFiles(program);
  }
  return EmitOutput(program, emit);
}

}  // namespace aotc
