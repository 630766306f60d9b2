#include "compiler/ir/program_sizes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

template <class... Parts>
absl::Status Wrong(size_t step, const Parts&... parts) {
  return absl::InternalError(absl::StrCat("program: step ", step, ": ", parts...));
}

void AddVars(const Expr& e, std::set<std::string>& vars) {
  if (e.valid()) vars.merge(FreeVars(e));
}

void AddVars(const std::vector<Expr>& list, std::set<std::string>& vars) {
  for (const Expr& e : list) AddVars(e, vars);
}

absl::Status CheckSizeStep(const Program& program, size_t index) {
  const Step& step = program.steps[index];
  if (step.kind == StepKind::kSetSizes) {
    const bool all_vars =
        std::ranges::all_of(step.elements, [](const Expr& e) { return e.IsVar(); });
    const bool fits = step.args.empty() && step.values.size() == step.elements.size() && all_vars;
    return fits ? absl::OkStatus() : Wrong(index, "sets no sizes");
  }
  if (step.args.empty()) return absl::OkStatus();
  if (step.args.size() != 1) return Wrong(index, "sizes come from one argument");
  const Buffer& buffer = program.buffers[step.args[0]];
  const Expr count = ElementCount(buffer.shape);
  if (!HoldsShape(buffer.dtype) || !count.IsInt(static_cast<int64_t>(step.elements.size()))) {
    return Wrong(index, "%", buffer.name, " does not hold ", step.elements.size(), " sizes");
  }
  return absl::OkStatus();
}

}  // namespace

SizeSteps::SizeSteps(const Program& program) {
  for (size_t i = 0; i < program.steps.size(); ++i) {
    if (program.steps[i].kind != StepKind::kSizes) continue;
    std::set<std::string> vars;
    AddVars(program.steps[i].elements, vars);
    for (const std::string& var : vars) steps_.emplace(var, static_cast<int>(i));
  }
  if (steps_.empty()) return;
  for (const Symbol& symbol : program.symbols) {
    if (!symbol.value.valid() || symbol.computed) continue;
    const int step = StepOf(symbol.value);
    if (step != kBeforeAnyStep) steps_.emplace(symbol.var, step);
  }
}

int SizeSteps::StepOf(const std::string& var) const {
  const auto found = steps_.find(var);
  return found == steps_.end() ? kBeforeAnyStep : found->second;
}

int SizeSteps::StepOf(const Expr& e) const {
  int latest = kBeforeAnyStep;
  if (empty() || !e.valid()) return latest;
  for (const std::string& var : FreeVars(e)) latest = std::max(latest, StepOf(var));
  return latest;
}

int SizeSteps::StepOf(const Shape& shape) const {
  int latest = kBeforeAnyStep;
  for (const Expr& dim : shape) latest = std::max(latest, StepOf(dim));
  return latest;
}

std::set<std::string> SizesOf(const Program& program, const Step& step) {
  std::set<std::string> vars;
  AddVars(step.trip, vars);
  AddVars(step.values, vars);
  if (step.kind == StepKind::kLaunch) {
    const ProgramKernel& kernel = program.kernels[step.kernel];
    for (const Symbol& symbol : kernel.kernel.symbols) vars.insert(symbol.var);
    for (const KernelVariant& variant : kernel.variants) {
      AddVars(variant.guard, vars);
      AddVars(variant.loops.tasks, vars);
      for (const Symbol& symbol : variant.loops.symbols) vars.insert(symbol.var);
    }
  }
  for (const BufferId id : step.args) {
    const Buffer& buffer = program.buffers[id];
    AddVars(ElementOffset(buffer), vars);
    AddVars(buffer.start, vars);
    const bool moves_whole = step.kind == StepKind::kCopy || step.kind == StepKind::kDecode;
    if (moves_whole) AddVars(buffer.shape, vars);
    if (!buffer.start.empty()) AddVars(program.buffers[buffer.base].shape, vars);
  }
  return vars;
}

void DropUndefinedSizes(Program& program) {
  std::set<std::string> defined, gone;
  for (const Step& step : program.steps) AddVars(step.elements, defined);
  for (Symbol& symbol : program.symbols) {
    const bool has_step = !symbol.computed || defined.contains(symbol.var);
    if (!has_step || (symbol.value.valid() && NamesAny(symbol.value, gone)))
      gone.insert(symbol.var);
    std::erase_if(symbol.checks,
                  [&](const SizeCheck& check) { return NamesAny(check.holds, gone); });
  }
  std::erase_if(program.symbols, [&](const Symbol& s) { return gone.contains(s.var); });
}

absl::Status CheckSizes(const Program& program) {
  const SizeSteps known(program);
  // Steps that have defined sizes, of each branch or loop that is open.
  std::vector<std::set<int>> open(1);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const auto index = static_cast<int>(i);
    if (step.kind == StepKind::kElse || step.kind == StepKind::kEnd) open.pop_back();
    if (step.kind == StepKind::kElse || OpensBlock(step)) open.emplace_back();
    if (step.kind == StepKind::kSizes || step.kind == StepKind::kSetSizes) {
      AOTC_RETURN_IF_ERROR(CheckSizeStep(program, i));
    }
    if (known.empty()) continue;
    for (const std::string& var : SizesOf(program, step)) {
      const int defined = known.StepOf(var);
      const bool is_known =
          defined == kBeforeAnyStep || std::ranges::any_of(open, [&](const std::set<int>& steps) {
            return steps.contains(defined);
          });
      if (!is_known) return Wrong(i, "needs '", var, "', which is known behind step ", defined);
    }
    if (step.kind == StepKind::kSizes) open.back().insert(index);
  }
  return absl::OkStatus();
}

}  // namespace aotc
