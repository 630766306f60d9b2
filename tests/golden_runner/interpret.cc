#include <algorithm>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/air_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "tests/golden_runner/seeded_inputs.h"
#include "tests/golden_runner/subtest.h"
#include "tests/interpreter/run_loops.h"

namespace aotc {
namespace {

Memory MemoryOf(const KernelTensor& tensor, std::vector<uint8_t>& bytes) {
  const auto width = static_cast<size_t>(ByteWidth(tensor.dtype));
  return {tensor.name, tensor.dtype, bytes.data(), static_cast<int64_t>(bytes.size() / width)};
}

absl::Status CheckVariant(const Kernel& kernel, const KernelVariant& variant,
                          const SymbolValues& symbols, const std::vector<Constant>& inputs) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> expected,
                        EvaluateKernel(kernel, inputs, symbols));
  std::vector<std::vector<uint8_t>> bytes;
  for (const Constant& input : inputs) {
    const Constant dense = input.Expanded();
    bytes.emplace_back(dense.bytes().begin(), dense.bytes().end());
  }
  for (const Constant& output : expected) {
    bytes.emplace_back(output.Expanded().bytes().size(), 0xFF);
  }
  std::vector<Memory> params;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const KernelTensor& tensor = kernel.tensors[kernel.params[i]];
    if (!tensor.layout.IsPlain()) return absl::UnimplementedError("tensors are row-major here");
    params.push_back(MemoryOf(tensor, bytes[i]));
  }
  AOTC_ASSIGN_OR_RETURN(const LoopRunner runner, LoopRunner::Make(variant.loops));
  AOTC_RETURN_IF_ERROR(runner.Run(params, symbols));
  for (size_t i = 0; i < expected.size(); ++i) {
    const Constant& wanted = expected[i];
    const Constant actual =
        Constant::Dense(wanted.dtype(), wanted.dims(), bytes[inputs.size() + i]);
    const double error = RelativeError(actual, wanted);
    if (error <= 1e-5) continue;
    return absl::InternalError(
        StrCat("output ", i, " of ", variant.feature, " differs by ", error));
  }
  return absl::OkStatus();
}

}  // namespace

SubtestResult RunInterpret(const GoldenCase& golden, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<AirModule> modules, ParseAir(golden.input, golden.place));
  const Kernel* kernel = std::get_if<Kernel>(&modules[0]);
  if (kernel == nullptr) return absl::InvalidArgumentError("only kernels are interpreted");
  AOTC_RETURN_IF_ERROR(VerifyAir(*kernel));
  const SymbolValues symbols = DrawSymbols(kernel->symbols, line);
  const auto seed = static_cast<uint64_t>(line.Number("seed", 1));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> inputs, DrawInputs(*kernel, symbols, seed));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Isa> isas,
                        ParseCpuList("portable,x86-64,x86-64-v3,x86-64-v4"));
  AOTC_ASSIGN_OR_RETURN(const ProgramKernel scheduled,
                        ScheduleOnCpu(*kernel, {.isas = isas, .templates = false}));
  for (const KernelVariant& variant : scheduled.variants) {
    AOTC_RETURN_IF_ERROR(CheckVariant(*kernel, variant, symbols, inputs));
  }
  return std::nullopt;
}

}  // namespace aotc
