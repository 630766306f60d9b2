#include "compiler/targets/cpu/host_launch.h"

#include <algorithm>
#include <cstdint>

#include "compiler/emit/host_expr.h"
#include "compiler/emit/host_parts.h"
#include "compiler/ir/program_access.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/kernel_symbol.h"

namespace aotc {
namespace {

bool HaveSameTasks(const std::vector<KernelVariant>& variants) {
  return std::ranges::all_of(variants, [&](const KernelVariant& variant) {
    return Same(variant.loops.tasks, variants[0].loops.tasks);
  });
}

bool HaveSameScratch(const std::vector<KernelVariant>& variants) {
  return std::ranges::all_of(variants, [&](const KernelVariant& variant) {
    return variant.loops.scratch_bytes == variants[0].loops.scratch_bytes;
  });
}

}  // namespace

LaunchWriter::LaunchWriter(const EmitContext& context, const IsaTests& isas)
    : context_(context),
      program_(context.program),
      isas_(isas),
      bounds_(BoundsOf(context.program.symbols)) {}

absl::Status LaunchWriter::Emit(const Step& step, CodeWriter& w) {
  const std::vector<KernelVariant>& variants = program_.kernels[step.kernel].variants;
  AOTC_ASSIGN_OR_RETURN(const std::string arguments, KernelArguments(context_, step));
  const KernelVariant& last = variants.back();
  std::string callee = KernelSymbol(context_.interface.prefix, last);
  std::string tasks = HostExpr(context_, last.loops.tasks, bounds_);
  const auto call = [&](const std::string& range) {
    w.Line(StrCat(callee, "(", arguments, range, ", ", Scratch(step), ");"));
  };
  if (variants.size() == 1 && !context_.HasThreads()) {
    call("0, " + tasks);
    return absl::OkStatus();
  }
  const auto block = w.Block("{");
  if (variants.size() > 1) {
    w.Line(StrCat("auto *kernel = ", callee, ";"));
    const bool same_tasks = HaveSameTasks(variants);
    if (!same_tasks) w.Line(StrCat("int64_t tasks = ", tasks, ";"));
    if (context_.HasThreads() && !HaveSameScratch(variants))
      w.Line(StrCat("size_t room = ", RoomOf(last), ";"));
    Choose(variants, same_tasks, w);
    callee = "kernel";
    if (!same_tasks) tasks = "tasks";
  }
  if (!context_.HasThreads()) {
    call("0, " + tasks);
    return absl::OkStatus();
  }
  if (!dealt_.IsInt(0)) {
    const std::string before = HostExpr(context_, dealt_, bounds_);
    w.Line(StrCat("const int32_t turn = aotc_turn(", before, ", worker, workers);"));
  }
  w.Line(StrCat("const aotc_range range = ", Range(step, tasks), ";"));
  call("range.begin, range.end");
  dealt_ = Simplify(dealt_ + last.loops.tasks, bounds_);
  return absl::OkStatus();
}

// The first variant whose guard and feature hold; the last one is already chosen.
void LaunchWriter::Choose(const std::vector<KernelVariant>& variants, bool same_tasks,
                          CodeWriter& w) const {
  const bool same_room = !context_.HasThreads() || HaveSameScratch(variants);
  for (size_t i = 0; i + 1 < variants.size(); ++i) {
    const KernelVariant& variant = variants[i];
    const std::string otherwise = i == 0 ? "" : "else ";
    const auto branch = w.Block(StrCat(otherwise, "if (", Condition(variant), ") {"));
    w.Line(StrCat("kernel = ", KernelSymbol(context_.interface.prefix, variant), ";"));
    if (!same_tasks)
      w.Line(StrCat("tasks = ", HostExpr(context_, variant.loops.tasks, bounds_), ";"));
    if (!same_room) w.Line(StrCat("room = ", RoomOf(variant), ";"));
  }
}

std::string LaunchWriter::Condition(const KernelVariant& variant) const {
  const std::string isa = isas_.Condition(variant, "self->isas");
  if (variant.guard.IsInt(1)) return isa.empty() ? "true" : isa;
  const std::string guard = HostExpr(context_, variant.guard, bounds_);
  return isa.empty() ? guard : StrCat(isa, " && (", guard, ")");
}

// The name of the worker's place among those that deal out tasks.
std::string LaunchWriter::Turn() const { return dealt_.IsInt(0) ? "worker" : "turn"; }

// Where scratch is short, only the first workers have tasks.
std::string LaunchWriter::Range(const Step& step, const std::string& tasks) const {
  const int64_t most = WorkersWithScratch(program_, step);
  if (most == program_.max_workers)
    return StrCat("aotc_task_range(", tasks, ", ", Turn(), ", workers)");
  return StrCat("aotc_task_range_of(", most, ", ", tasks, ", ", Turn(), ", workers)");
}

std::string LaunchWriter::Scratch(const Step& step) const {
  if (!step.scratch.valid()) return "nullptr";
  const Buffer& buffer = program_.buffers[step.scratch];
  std::string place = ArenaPlace(context_, buffer);
  if (!context_.HasThreads()) return place;
  const ProgramKernel& kernel = program_.kernels[step.kernel];
  const bool all =
      program_.max_workers * ScratchBytes(kernel, program_.arena_align) <= buffer.bytes;
  return StrCat("(", place, ") + (size_t)",
                all ? Turn() : StrCat("(range.begin < range.end ? ", Turn(), " : 0)"), " * ",
                HaveSameScratch(kernel.variants) ? RoomOf(kernel.variants.back()) : "room");
}

// What a worker of the variant has of the scratch.
std::string LaunchWriter::RoomOf(const KernelVariant& variant) const {
  return StrCat(ScratchBytes(variant, program_.arena_align));
}

}  // namespace aotc
