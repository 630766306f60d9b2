#include "compiler/plan/plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ir/program_access.h"
#include "compiler/plan/alias_classes.h"
#include "compiler/plan/assign_arena.h"
#include "compiler/plan/barriers.h"
#include "compiler/plan/fit_scratch.h"
#include "compiler/plan/lend_idle.h"
#include "compiler/plan/liveness.h"
#include "compiler/plan/order_steps.h"
#include "compiler/plan/place_in_pools.h"
#include "compiler/plan/place_scratch.h"
#include "compiler/plan/verify_plan.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

std::string FreshName(const std::set<std::string>& taken, const std::string& stem) {
  std::string name = stem;
  for (int i = 2; taken.count(name); ++i) name = absl::StrCat(stem, "_", i);
  return name;
}

Buffer ScratchBuffer(std::string name, int64_t bytes) {
  Buffer buffer;
  buffer.name = buffer.value = std::move(name);
  buffer.dtype = DType::kU8;
  buffer.shape = {bytes};
  buffer.bytes = bytes;
  return buffer;
}

// A buffer with room for all workers for every launch whose kernel wants scratch.
void AddScratch(Program& program) {
  std::set<std::string> names;
  for (const Buffer& buffer : program.buffers) names.insert(buffer.name);
  for (Step& step : program.steps) {
    if (step.kind != StepKind::kLaunch || step.scratch.valid()) continue;
    const ProgramKernel& kernel = program.kernels[step.kernel];
    const int64_t bytes = ScratchBytes(program, kernel, program.max_workers);
    if (bytes == 0) continue;
    const std::string name = FreshName(names, kernel.kernel.name + "_scratch");
    names.insert(name);
    step.scratch = program.buffers.Add(ScratchBuffer(name, bytes));
  }
}

std::vector<ArenaBlock> BlocksOf(const std::vector<AliasClass>& classes) {
  std::vector<ArenaBlock> blocks;
  for (const AliasClass& shared : classes) {
    blocks.push_back({shared.bytes, shared.first_step, shared.last_step});
  }
  return blocks;
}

absl::Status SetOffsetsInPools(Program& program) {
  const std::vector<AliasClass> classes = AliasClasses(program);
  program.lower_bound = LiveBytesBound(BlocksOf(classes), program.arena_align);
  return PlaceInPools(program, classes);
}

void SetOffsets(Program& program, const std::vector<AliasClass>& classes) {
  const std::vector<ArenaBlock> blocks = BlocksOf(classes);
  const std::vector<IdleRange> idle = IdleRanges(program, classes);
  program.lower_bound = BusyBytesBound(blocks, idle, program.arena_align);
  const ArenaAssignment assignment = AssignWithLending(blocks, idle, program.arena_align);
  program.arena_bytes = assignment.bytes;
  program.arena_is_least = assignment.is_smallest && program.arena_bytes > program.lower_bound;
  for (size_t i = 0; i < classes.size(); ++i) {
    for (BufferId member : classes[i].members) {
      program.buffers[member].offset = assignment.offsets[i];
    }
  }
}

// Scratch in the gaps of the rest, as far as those below `most` bytes have room for it.
void SetOffsetsAround(Program& program, const std::optional<int64_t>& most,
                      const SmallerVariant& smaller) {
  const std::vector<AliasClass> rest = WithoutScratch(program, AliasClasses(program));
  SetOffsets(program, rest);
  PlaceScratch(program, rest, most.value_or(program.arena_bytes), smaller);
  const std::vector<AliasClass> placed = AliasClasses(program);
  program.lower_bound =
      BusyBytesBound(BlocksOf(placed), IdleRanges(program, placed), program.arena_align);
  program.arena_is_least = false;
}

// All at once, or, where that leaves gaps, scratch in those of the rest: of fewer workers if the
// arena then has its least size.
void SetOffsets(Program& program, const SmallerVariant& smaller) {
  const int64_t most = MostArena(program);
  FitScratch(program, most, smaller);
  SetOffsets(program, AliasClasses(program));
  if (program.arena_bytes > most) SetOffsetsAround(program, most, smaller);
  if (program.arena_bytes <= program.lower_bound || program.arena_is_least) return;
  Program around = program;
  SetOffsetsAround(around, std::nullopt, {});
  const bool is_least = around.arena_bytes <= around.lower_bound;
  if (is_least && around.arena_bytes < program.arena_bytes) program = std::move(around);
}

}  // namespace

absl::Status PlanMemory(Program& program, const SmallerVariant& smaller) {
  AddScratch(program);
  OrderSteps(program);
  SetLifetimes(program);
  if (program.pools.empty()) {
    SetOffsets(program, smaller);
  } else {
    FitScratch(program, MostArena(program), smaller);
    AOTC_RETURN_IF_ERROR(SetOffsetsInPools(program));
  }
  SetBarriers(program);
  return VerifyPlan(program);
}

}  // namespace aotc
