#include "compiler/ir/program_text.h"

#include "compiler/ir/kernel_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string Run() {
    {
      const auto scope = writer_.Block(Header());
      for (const Pool& pool : program_.pools) writer_.Line(PoolText(pool));
      for (const Symbol& symbol : program_.symbols) writer_.Line(PrintSymbol(symbol));
      for (const Buffer& buffer : program_.buffers) writer_.Line(BufferText(buffer));
      for (const ProgramKernel& kernel : program_.kernels) PrintKernelAndVariants(kernel);
      for (const Step& step : program_.steps) writer_.Line(StrCat("step ", StepText(step)));
    }
    return writer_.Take();
  }

 private:
  std::string Name(BufferId id) const {
    return program_.buffers.Contains(id) ? StrCat("%", program_.buffers[id].name) : "%?";
  }

  std::string Names(const std::vector<BufferId>& ids) const {
    return StrCat("(", StrJoin(ids, ", ", [this](BufferId id) { return Name(id); }), ")");
  }

  std::string Header() const {
    return StrCat("program @", program_.name, Names(program_.inputs), " -> ",
                  Names(program_.outputs), " arena ", program_.arena_bytes, " align ",
                  program_.arena_align, " bound ", program_.lower_bound,
                  program_.arena_is_least ? " least" : "", " workers ", program_.max_workers,
                  " weights ", program_.weights.size(), " {");
  }

  static std::string PoolText(const Pool& pool) {
    std::string text = StrCat("pool %", pool.name);
    if (pool.limit) StrAppend(&text, " limit ", *pool.limit);
    StrAppend(&text, " offset ", pool.offset, " bytes ", pool.bytes, " bound ", pool.lower_bound);
    return pool.is_least ? text + " least" : text;
  }

  std::string BufferText(const Buffer& buffer) const {
    std::string text = StrCat(BufferKindName(buffer.kind), " %", buffer.name);
    if (buffer.kind == BufferKind::kView) {
      StrAppend(&text, " = ", Name(buffer.base), " + ", PrintExpr(buffer.element_offset));
      const auto print = [](const Expr& e) { return PrintExpr(e); };
      if (!buffer.start.empty()) StrAppend(&text, " at [", StrJoin(buffer.start, ", ", print), "]");
      if (!buffer.step.empty()) StrAppend(&text, " step [", StrJoin(buffer.step, ", "), "]");
    }
    StrAppend(&text, ": ", PrintTensorText({buffer.dtype, buffer.shape, buffer.layout}), " bytes ",
              buffer.bytes);
    const bool placed = buffer.kind == BufferKind::kWeights || buffer.kind == BufferKind::kArena;
    if (placed) StrAppend(&text, " offset ", buffer.offset);
    if (program_.pools.Contains(buffer.pool)) {
      StrAppend(&text, " in %", program_.pools[buffer.pool].name);
    }
    if (buffer.first_step >= 0) {
      StrAppend(&text, " steps ", buffer.first_step, "..", buffer.last_step);
    }
    if (buffer.value != buffer.name) StrAppend(&text, " of ", QuotedText(buffer.value));
    if (!buffer.elements.empty()) {
      StrAppend(&text, " elements(", PrintExprList(buffer.elements), ")");
    }
    return text;
  }

  void PrintKernelAndVariants(const ProgramKernel& kernel) {
    writer_.Emit("$kernel$", {{"kernel", WithoutEnd(PrintKernel(kernel.kernel))}});
    for (const std::string& source : kernel.also) {
      writer_.Line(StrCat("also ", QuotedText(source)));
    }
    for (const PackedConstant& packed : kernel.packing) {
      writer_.Line(StrCat("pack %", kernel.kernel.tensors[packed.tensor].name, ": ",
                          DTypeName(packed.dtype), PrintLayout(packed.layout)));
    }
    for (const KernelVariant& variant : kernel.variants) {
      writer_.Line(VariantText(variant));
      writer_.Emit("$loops$", {{"loops", WithoutEnd(PrintLoops(variant.loops))}});
    }
  }

  // Without the newline at the end.
  static std::string WithoutEnd(std::string text) {
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  static std::string VariantText(const KernelVariant& variant) {
    std::string text = StrCat("variant ", variant.realisation);
    if (!variant.guard.IsInt(1)) StrAppend(&text, " if ", PrintExpr(variant.guard));
    auto quoted = [&text](std::string_view word, const std::string& value) {
      if (!value.empty()) StrAppend(&text, " ", word, " ", QuotedText(value));
    };
    quoted("feature", variant.feature);
    quoted("schedule", variant.schedule);
    quoted("reason", variant.reason);
    return text;
  }

  std::string StepText(const Step& step) const {
    std::string text(StepKindName(step.kind));
    if (step.kind == StepKind::kLaunch) {
      const bool exists = program_.kernels.Contains(step.kernel);
      text = StrCat("launch @", exists ? program_.kernels[step.kernel].kernel.name : "?");
    }
    text += Names(step.args);
    for (const auto& [output, input] : step.in_place) {
      StrAppend(&text, " in_place ", output, " <- ", input);
    }
    if (step.scratch.valid()) StrAppend(&text, " scratch ", Name(step.scratch));
    if (!step.elements.empty()) {
      StrAppend(&text, " elements(", PrintExprList(step.elements), ")");
    }
    if (!step.values.empty()) StrAppend(&text, " values(", PrintExprList(step.values), ")");
    if (!step.counter.empty()) StrAppend(&text, " counter ", step.counter);
    if (!step.rounds.empty()) StrAppend(&text, " rounds ", step.rounds);
    if (step.trip.valid()) StrAppend(&text, " to ", PrintExpr(step.trip));
    if (!step.pixel_format.empty()) StrAppend(&text, " as ", QuotedText(step.pixel_format));
    if (!step.barrier) text += " no_barrier";
    if (!step.sources.empty()) {
      StrAppend(&text, " of ", StrJoin(step.sources, ", ", QuotedText));
    }
    return text;
  }

  const Program& program_;
  CodeWriter writer_;
};

}  // namespace

std::string_view BufferKindName(BufferKind kind) {
  switch (kind) {
    case BufferKind::kInput: return "input";
    case BufferKind::kOutput: return "output";
    case BufferKind::kWeights: return "weights";
    case BufferKind::kArena: return "arena";
    case BufferKind::kView: return "view";
    case BufferKind::kHost: return "host";
  }
  return "?";
}

std::string_view StepKindName(StepKind kind) {
  switch (kind) {
    case StepKind::kLaunch: return "launch";
    case StepKind::kCopy: return "copy";
    case StepKind::kCheck: return "check";
    case StepKind::kDecode: return "decode";
    case StepKind::kSizes: return "sizes";
    case StepKind::kSetSizes: return "set_sizes";
    case StepKind::kIf: return "if";
    case StepKind::kElse: return "else";
    case StepKind::kLoop: return "loop";
    case StepKind::kEnd: return "end";
  }
  return "?";
}

std::string_view StepName(const Program& program, const Step& step) {
  if (step.kind != StepKind::kLaunch) return StepKindName(step.kind);
  return program.kernels[step.kernel].kernel.name;
}

std::string PrintProgram(const Program& program) { return Printer(program).Run(); }

}  // namespace aotc
