#include "compiler/plan/fit_scratch.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/program_access.h"
#include "compiler/plan/alias_classes.h"
#include "compiler/plan/lend_idle.h"

namespace aotc {
namespace {

// Bytes alive and not idle at each step, scratch left out.
std::vector<int64_t> BusyBytes(const Program& program) {
  std::set<BufferId> scratch;
  for (const Step& step : program.steps) {
    if (step.scratch.valid()) scratch.insert(step.scratch);
  }
  std::vector<int64_t> bytes(program.steps.size(), 0);
  const auto add = [&](int64_t size, int first, int last) {
    for (int step = first; step <= last; ++step) bytes[static_cast<size_t>(step)] += size;
  };
  const std::vector<AliasClass> classes = AliasClasses(program);
  for (const AliasClass& shared : classes) {
    if (!scratch.contains(shared.members[0]))
      add(shared.bytes, shared.first_step, shared.last_step);
  }
  for (const IdleRange& idle : IdleRanges(program, classes))
    add(-idle.bytes, idle.first_step, idle.last_step);
  return bytes;
}

int64_t BytesOfCaller(const Program& program) {
  int64_t bytes = 0;
  for (const std::vector<BufferId>* buffers : {&program.inputs, &program.outputs}) {
    for (const BufferId id : *buffers) bytes += program.buffers[id].bytes;
  }
  return bytes;
}

// Whether the kernel takes no more than that, with other variants if need be.
bool Shrink(const SmallerVariant& smaller, int64_t most, double times, int64_t align,
            ProgramKernel& kernel) {
  if (ScratchBytes(kernel, align) <= most) return true;
  std::vector<KernelVariant> variants = kernel.variants;
  for (KernelVariant& variant : variants) {
    if (variant.loops.scratch_bytes <= most) continue;
    std::optional<KernelVariant> other = smaller(kernel.kernel, variant, most, times);
    if (!other) return false;
    variant = *std::move(other);
  }
  kernel.variants = std::move(variants);
  return ScratchBytes(kernel, align) <= most;
}

// Until several workers have scratch, as far as that is worth its time; or as little as there is.
void MakeSmaller(const Program& program, int64_t room, const SmallerVariant& smaller,
                 ProgramKernel& kernel) {
  constexpr struct {
    int64_t workers;
    double times;
  } kWorth[] = {{8, 1.25}, {4, 1.25}, {2, 2}};
  constexpr int64_t kLittle = 1 << 14;
  const int64_t align = program.arena_align;
  for (const auto& [some, times] : kWorth) {
    const int64_t workers = std::clamp<int64_t>(some, 1, ScratchWorkers(program, kernel));
    if (Shrink(smaller, room / workers, times, align, kernel)) return;
  }
  for (int64_t most = std::max(room, kLittle); most < ScratchBytes(kernel, align); most *= 2) {
    if (Shrink(smaller, most, std::end(kWorth)[-1].times, align, kernel)) return;
  }
}

// Scratch of the step for as many workers as so many bytes have room for, two at least.
void SetScratch(Program& program, const Step& step, int64_t room) {
  constexpr int64_t kFewestWorkers = 2;
  const ProgramKernel& kernel = program.kernels[step.kernel];
  int64_t workers = program.max_workers;
  while (workers > kFewestWorkers && ScratchBytes(program, kernel, workers) > room) --workers;
  Buffer& buffer = program.buffers[step.scratch];
  buffer.bytes = ScratchBytes(program, kernel, workers);
  buffer.shape = {buffer.bytes};
}

}  // namespace

int64_t MostArena(const Program& program) {
  constexpr int64_t kShare = 20, kLittle = 1 << 12, kSmallShare = 8;
  const std::vector<int64_t> busy = BusyBytes(program);
  const int64_t least = busy.empty() ? 0 : *std::ranges::max_element(busy);
  const int64_t caller = BytesOfCaller(program);
  return std::max(least + std::max(least / kShare, kLittle),
                  std::min(least + caller / kShare, caller / kSmallShare));
}

void FitScratch(Program& program, int64_t most, const SmallerVariant& smaller) {
  ScratchRoom room;
  const std::vector<int64_t> busy = BusyBytes(program);
  for (size_t i = 0; i < busy.size(); ++i) room.push_back(most - busy[i]);
  FitScratch(program, room, smaller);
}

void FitScratch(Program& program, const ScratchRoom& room, const SmallerVariant& smaller) {
  std::map<KernelId, int64_t> least;  // of all steps of a kernel
  for (size_t i = 0; i < program.steps.size(); ++i) {
    if (!program.steps[i].scratch.valid()) continue;
    int64_t& bytes = least.try_emplace(program.steps[i].kernel, room[i]).first->second;
    bytes = std::min(bytes, room[i]);
  }
  for (const auto& [kernel, bytes] : least) {
    if (smaller) MakeSmaller(program, bytes, smaller, program.kernels[kernel]);
  }
  for (size_t i = 0; i < program.steps.size(); ++i) {
    if (program.steps[i].scratch.valid()) SetScratch(program, program.steps[i], room[i]);
  }
}

}  // namespace aotc
