#include "compiler/driver/fuse_within_arena.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "compiler/fuse/split_kernels.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/plan/idle_boxes.h"
#include "compiler/plan/plan.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool HasBoxes(const FusedGraph& fused) {
  return std::ranges::any_of(fused.views, &ValueView::IsBox) ||
         std::ranges::any_of(fused.bodies, [](const auto& bodies) {
           return std::ranges::any_of(bodies.second, HasBoxes);
         });
}

// What an arena may take where one of `bytes` would do.
int64_t MostBeside(int64_t bytes, const Planning& planning) {
  return planning.for_size ? bytes : bytes + bytes / 20;
}

int64_t BytesOfBuffers(const Program& program) {
  int64_t bytes = 0;
  for (const Buffer& buffer : program.buffers) bytes += buffer.bytes;
  return bytes;
}

// The program that would come of it, with kernels in as many parts as the target needs.
absl::StatusOr<Program> Planned(Graph graph, FusedGraph fused, const KernelCosts& costs,
                                const Planning& planning) {
  SplitKernels(graph, fused, costs);
  AOTC_ASSIGN_OR_RETURN(Program program,
                        BuildProgram(graph, std::move(fused), planning.schedule,
                                     {.has_weights = false, .threads = planning.threads}));
  AOTC_RETURN_IF_ERROR(PlanMemory(program, planning.smaller));
  return program;
}

}  // namespace

absl::StatusOr<FusedGraph> FuseWithinArena(const Graph& graph, FuseOptions options,
                                           const Planning& planning) {
  AOTC_ASSIGN_OR_RETURN(FusedGraph fused, Fuse(graph, options));
  if (!HasBoxes(fused)) return fused;
  FuseOptions copies = options;
  copies.places = false;
  AOTC_ASSIGN_OR_RETURN(FusedGraph copied, Fuse(graph, copies));
  AOTC_ASSIGN_OR_RETURN(const Program without, Planned(graph, copied, options.costs, planning));
  const int64_t most = MostBeside(without.arena_bytes, planning);
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round) {
    AOTC_ASSIGN_OR_RETURN(const Program program, Planned(graph, fused, options.costs, planning));
    if (program.arena_bytes <= most) return fused;
    const std::string idlest = IdlestValue(program, most);
    if (idlest.empty()) break;
    options.unplaced.insert(idlest);
    AOTC_ASSIGN_OR_RETURN(fused, Fuse(graph, options));
  }
  return copied;
}

absl::StatusOr<bool> MayUseRoomsInTurn(const Graph& graph, const FusedGraph& fused,
                                       const Planning& planning) {
  const auto built = [&](bool in_turn) {
    return BuildProgram(graph, fused, planning.schedule,
                        {.has_weights = false, .in_turn = in_turn});
  };
  AOTC_ASSIGN_OR_RETURN(Program with, built(true));
  const bool has_loops = std::ranges::any_of(
      with.steps, [](const Step& step) { return step.kind == StepKind::kLoop; });
  if (!has_loops) return true;
  AOTC_ASSIGN_OR_RETURN(Program without, built(false));
  const int64_t more = BytesOfBuffers(with) - BytesOfBuffers(without);
  if (more <= 0) return true;
  AOTC_RETURN_IF_ERROR(PlanMemory(with, planning.smaller));
  if (21 * more <= with.arena_bytes) return true;  // the other has 20 parts of 21 at least
  AOTC_RETURN_IF_ERROR(PlanMemory(without, planning.smaller));
  return with.arena_bytes <= MostBeside(without.arena_bytes, planning);
}

Scheduler ScheduledOnce(Scheduler schedule) {
  auto known = std::make_shared<std::map<std::string, ProgramKernel>>();
  return [schedule = std::move(schedule),
          known](const Kernel& kernel) -> absl::StatusOr<ProgramKernel> {
    const std::string text = StrCat(PrintKernel(kernel), StrJoin(kernel.sources, "\n"));
    const auto found = known->find(text);
    if (found != known->end()) return found->second;
    AOTC_ASSIGN_OR_RETURN(ProgramKernel scheduled, schedule(kernel));
    return known->emplace(text, std::move(scheduled)).first->second;
  };
}

}  // namespace aotc
