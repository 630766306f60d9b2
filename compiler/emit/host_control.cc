#include "compiler/emit/host_control.h"

#include "compiler/emit/c_expr.h"
#include "compiler/emit/host_expr.h"
#include "compiler/ir/program_control.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string LoopHead(const EmitContext& context, const Step& step, const std::string& condition) {
  std::string test;
  if (step.trip.valid()) {
    test = HostExpr(context, Lt(Var(step.counter), step.trip), BoundsOf(context.program.symbols),
                    {step.counter});
  }
  if (!condition.empty()) StrAppend(&test, test.empty() ? "" : " && ", condition);
  if (step.counter.empty()) return test.empty() ? "for (;;) {" : StrCat("while (", test, ") {");
  const std::string loop = StrCat("for (int64_t ", step.counter, " = 0; ", test, "; ");
  if (step.rounds.empty()) return StrCat(loop, "++", step.counter, ") {");
  return StrCat("int64_t ", step.rounds, " = 0;\n", loop, step.rounds, " = ++", step.counter,
                ") {");
}

// Per step, whether it stands in a branch or loop.
std::vector<bool> StepsUnderControl(const Program& program) {
  std::vector<bool> inside;
  int depth = 0;
  for (const Step& step : program.steps) {
    if (step.kind == StepKind::kEnd) --depth;
    inside.push_back(depth > 0);
    if (OpensBlock(step)) ++depth;
  }
  return inside;
}

}  // namespace

std::string ControlLine(const EmitContext& context, const Step& step,
                        const std::string& condition) {
  switch (step.kind) {
    case StepKind::kIf: return StrCat("if (", condition, ") {");
    case StepKind::kElse: return "} else {";
    case StepKind::kLoop: return LoopHead(context, step, condition);
    default: return "}";
  }
}

std::string ControlTitle(const Program& program, size_t index) {
  const Step& step = program.steps[index];
  const std::string sources = CommentText(StrJoin(step.sources, ", "));
  switch (step.kind) {
    case StepKind::kIf: return StrCat("Step ", index, ": ", sources, ", where it is true.");
    case StepKind::kElse: return StrCat("Step ", index, ": ", sources, ", where it is not.");
    case StepKind::kLoop: return StrCat("Step ", index, ": the rounds of ", sources, ".");
    default: return StrCat("Step ", index, ": the end of ", sources, ".");
  }
}

std::vector<bool> StepsThatWait(const Program& program) {
  std::vector<bool> waits = StepsUnderControl(program);
  for (size_t i = 0; i < waits.size(); ++i) {
    const Step& step = program.steps[i];
    const bool to_host =
        step.kind == StepKind::kCopy && program.buffers[step.args[1]].kind == BufferKind::kHost;
    waits[i] =
        to_host || step.kind == StepKind::kDecode || (step.kind == StepKind::kCheck && waits[i]);
  }
  return waits;
}

size_t LateChecks(const Program& program) {
  const std::vector<bool> waits = StepsThatWait(program);
  size_t count = 0;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (program.steps[i].kind == StepKind::kCheck && !waits[i]) ++count;
  }
  return count;
}

}  // namespace aotc
