#include <algorithm>

#include "compiler/format/clang_format.h"
#include "compiler/ir/air_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "tests/golden_runner/subtest.h"

namespace aotc {
namespace {

bool HasWord(const SubtestLine& line, std::string_view word) {
  return std::find(line.words.begin(), line.words.end(), word) != line.words.end();
}

// Of `cpu=NAME`; a name may stand for several.
absl::StatusOr<std::vector<Isa>> IsasOf(const SubtestLine& line) {
  const auto cpu = line.options.find("cpu");
  if (cpu == line.options.end()) return absl::InvalidArgumentError("expected cpu=NAME or cuda");
  return ParseCpuList(cpu->second);
}

absl::StatusOr<ProgramKernel> Schedule(const GoldenCase& golden, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<AirModule> modules, ParseAir(golden.input, golden.place));
  const Kernel* kernel = std::get_if<Kernel>(&modules[0]);
  if (kernel == nullptr) return absl::InvalidArgumentError("only kernels are lowered");
  AOTC_RETURN_IF_ERROR(VerifyAir(*kernel));
  const bool templates = !HasWord(line, "plain");
  if (HasWord(line, "cuda")) return ScheduleOnCuda(*kernel, {.templates = templates});
  AOTC_ASSIGN_OR_RETURN(const std::vector<Isa> isas, IsasOf(line));
  return ScheduleOnCpu(*kernel, {.isas = isas, .templates = templates});
}

absl::StatusOr<std::string> CheckedText(const LoopFunction& loops) {
  AOTC_RETURN_IF_ERROR(VerifyLoops(loops));
  std::string text = PrintLoops(loops);
  AOTC_ASSIGN_OR_RETURN(const LoopFunction again, ParseLoops(text));
  AOTC_RETURN_IF_ERROR(VerifyLoops(again));
  if (PrintLoops(again) == text) return text;
  return absl::InternalError(StrCat("prints differently after parsing:\n", PrintLoops(again)));
}

}  // namespace

SubtestResult RunLower(const GoldenCase& golden, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(const ProgramKernel kernel, Schedule(golden, line));
  std::string text;
  for (const KernelVariant& variant : kernel.variants) {
    StrAppend(&text, "// ", variant.feature, " ", variant.schedule, ": ", variant.reason, "\n");
    AOTC_ASSIGN_OR_RETURN(const std::string loops, CheckedText(variant.loops));
    text += loops;
  }
  return text;
}

SubtestResult RunEmit(const GoldenCase& golden, const SubtestLine& line) {
  AOTC_ASSIGN_OR_RETURN(const ProgramKernel kernel, Schedule(golden, line));
  if (HasWord(line, "cuda")) {
    return FormatSource(EmitCudaKernels({&kernel}, "golden"), SourceKind::kCuda);
  }
  Program program;
  program.name = "golden";
  program.kernels.Add(kernel);
  std::string text;
  for (const KernelFile& file : CpuKernelFiles(program)) text += file.text;
  return FormatSource(text, SourceKind::kCpp);
}

}  // namespace aotc
