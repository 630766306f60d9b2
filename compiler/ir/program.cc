#include "compiler/ir/program.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ir/expr_text.h"

namespace aotc {
namespace {

std::string Quoted(const std::string& text) { return absl::StrCat("\"", text, "\""); }

std::string PrintSymbol(const Symbol& symbol) {
  std::string text = absl::StrCat("  symbol ", symbol.var, " in ", symbol.min, "..", symbol.max);
  if (symbol.step != 1) absl::StrAppend(&text, " step ", symbol.step);
  if (symbol.name != symbol.var) absl::StrAppend(&text, " of ", Quoted(symbol.name));
  return absl::StrCat(text, "\n");
}

std::string PrintType(const Buffer& buffer) {
  std::string dims = absl::StrJoin(buffer.shape, ", ", [](std::string* out, const Expr& dim) {
    absl::StrAppend(out, PrintExpr(dim));
  });
  std::string text = absl::StrCat(std::string(DTypeName(buffer.dtype)), "[", dims, "]");
  const std::string layout = PrintLayout(buffer.layout);
  if (!layout.empty()) absl::StrAppend(&text, " ", layout);
  return text;
}

const char* KindName(BufferKind kind) {
  switch (kind) {
    case BufferKind::kInput: return "input";
    case BufferKind::kOutput: return "output";
    case BufferKind::kWeights: return "weights";
    case BufferKind::kArena: return "arena";
    case BufferKind::kView: return "view";
  }
  return "?";
}

std::string PrintBuffer(const Program& program, const Buffer& buffer) {
  std::string text = absl::StrCat("  ", KindName(buffer.kind), " %", buffer.name);
  if (buffer.kind == BufferKind::kView) {
    absl::StrAppend(&text, " = %", program.buffers[buffer.base].name, " + ",
                    PrintExpr(buffer.element_offset));
  }
  absl::StrAppend(&text, ": ", PrintType(buffer), " bytes ", buffer.bytes);
  const bool placed = buffer.kind == BufferKind::kWeights || buffer.kind == BufferKind::kArena;
  if (placed) absl::StrAppend(&text, " offset ", buffer.offset);
  if (buffer.first_step >= 0) {
    absl::StrAppend(&text, " steps ", buffer.first_step, "..", buffer.last_step);
  }
  if (buffer.value != buffer.name) absl::StrAppend(&text, " of ", Quoted(buffer.value));
  return absl::StrCat(text, "\n");
}

std::string PrintVariant(const KernelVariant& variant) {
  std::string text = absl::StrCat("    variant @", variant.loops.name);
  if (!variant.guard.IsInt(1)) absl::StrAppend(&text, " if ", PrintExpr(variant.guard));
  if (!variant.feature.empty()) absl::StrAppend(&text, " feature ", Quoted(variant.feature));
  absl::StrAppend(&text, " tasks ", PrintExpr(variant.loops.tasks), " scratch ",
                  variant.loops.scratch_bytes, " ", variant.realisation);
  if (!variant.schedule.empty()) absl::StrAppend(&text, " schedule ", Quoted(variant.schedule));
  if (!variant.reason.empty()) absl::StrAppend(&text, " reason ", Quoted(variant.reason));
  return absl::StrCat(text, "\n");
}

std::string PrintKernel(const ProgramKernel& kernel) {
  std::string text = absl::StrCat("  kernel @", kernel.kernel.name, " {\n");
  for (const KernelVariant& variant : kernel.variants)
    absl::StrAppend(&text, PrintVariant(variant));
  return absl::StrCat(text, "  }\n");
}

std::string PrintStep(const Program& program, const Step& step) {
  const std::string args = absl::StrJoin(step.args, ", ", [&](std::string* out, BufferId id) {
    absl::StrAppend(out, "%", program.buffers[id].name);
  });
  std::string text = step.kind == StepKind::kCheck ? "check" : "copy";
  if (step.kind == StepKind::kLaunch) {
    text = absl::StrCat("launch @", program.kernels[step.kernel].kernel.name);
  }
  absl::StrAppend(&text, "(", args, ")");
  for (const auto& [output, input] : step.in_place) {
    absl::StrAppend(&text, " in_place ", output, " <- ", input);
  }
  if (step.scratch.valid()) {
    absl::StrAppend(&text, " scratch %", program.buffers[step.scratch].name);
  }
  if (!step.barrier) absl::StrAppend(&text, " no_barrier");
  return text;
}

}  // namespace

IdVector<KernelId, int64_t> LaunchCounts(const Program& program) {
  IdVector<KernelId, int64_t> counts(program.kernels.size());
  for (const Step& step : program.steps) {
    if (step.kind == StepKind::kLaunch) ++counts[step.kernel];
  }
  return counts;
}

std::string PrintProgram(const Program& program) {
  std::string text =
      absl::StrCat("program @", program.name, " arena ", program.arena_bytes, " align ",
                   program.arena_align, " bound ", program.lower_bound, " {\n");
  for (const Symbol& symbol : program.symbols) absl::StrAppend(&text, PrintSymbol(symbol));
  for (const Buffer& buffer : program.buffers) {
    absl::StrAppend(&text, PrintBuffer(program, buffer));
  }
  for (const ProgramKernel& kernel : program.kernels) absl::StrAppend(&text, PrintKernel(kernel));
  for (size_t i = 0; i < program.steps.size(); ++i) {
    absl::StrAppend(&text, "  step ", i, ": ", PrintStep(program, program.steps[i]), "\n");
  }
  return absl::StrCat(text, "}\n");
}

}  // namespace aotc
