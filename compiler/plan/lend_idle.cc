#include "compiler/plan/lend_idle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/support/rounding.h"

namespace aotc {
namespace {

// Bytes of a base, and the first step that touches one of them.
struct Touched {
  int64_t begin = 0, end = 0;
  int first_step = 0;
};

// What an access may touch of the buffer's base: all of it where that is not known.
Touched TouchedBy(const Program& program, BufferId id, int step) {
  const Buffer& buffer = program.buffers[id];
  const Touched all = {0, program.buffers[BaseOf(program, id)].bytes, step};
  if (buffer.start.empty()) return all;
  const Bounds bounds = BoundsOf(program.symbols);
  const std::optional<int64_t> offset = Simplify(buffer.element_offset, bounds).AsInt();
  const int64_t bytes = MaxBytes(ReachedElements(program, buffer), buffer.dtype, bounds);
  if (!offset || bytes < 0) return all;
  const int64_t begin = *offset * ByteWidth(buffer.dtype);
  return {begin, begin + bytes, step};
}

// By base; those that lie among one another are one.
std::map<BufferId, std::vector<Touched>> TouchedOfBases(const Program& program) {
  std::map<BufferId, std::vector<Touched>> bases;
  std::map<BufferId, int> whole;  // first step that touches all
  for (int step = 0; step < static_cast<int>(program.steps.size()); ++step) {
    for (const BufferAccess& access : StepAccesses(program, program.steps[step])) {
      const BufferId base = BaseOf(program, access.buffer);
      const Touched touched = TouchedBy(program, access.buffer, step);
      const bool is_whole = touched.end - touched.begin >= program.buffers[base].bytes;
      if (is_whole) whole.emplace(base, step);
      if (!is_whole) bases[base].push_back(touched);
    }
  }
  for (auto& [base, parts] : bases) {
    std::ranges::sort(parts, {}, &Touched::begin);
    std::vector<Touched> apart;
    for (const Touched& part : parts) {
      if (apart.empty() || apart.back().end <= part.begin) {
        apart.push_back(part);
        continue;
      }
      apart.back().end = std::max(apart.back().end, part.end);
      apart.back().first_step = std::min(apart.back().first_step, part.first_step);
    }
    const auto all = whole.find(base);
    for (Touched& part : apart) {
      if (all != whole.end()) part.first_step = std::min(part.first_step, all->second);
    }
    parts = std::move(apart);
  }
  return bases;
}

ArenaBlock Remainder(const ArenaBlock& block, int64_t bytes) {
  return {bytes, block.first_step, block.last_step};
}

// Which blocks lie in which ranges.
class Lender {
 public:
  Lender(const std::vector<ArenaBlock>& blocks, const std::vector<IdleRange>& idle, int64_t align)
      : blocks_(blocks), idle_(idle), align_(align), host_(blocks.size(), -1) {}

  // Lends at the worst step as long as something fits.
  void Run() {
    while (LendOne(PeakStep())) {
    }
  }

  bool any() const {
    return std::ranges::any_of(host_, [](int host) { return host >= 0; });
  }

  ArenaAssignment Assign() const {
    std::vector<int> rest;
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) {
      if (host_[i] < 0) rest.push_back(i);
    }
    const ArenaAssignment outer = AssignArena(Of(rest), align_);
    ArenaAssignment all{.offsets = std::vector<int64_t>(blocks_.size(), 0), .bytes = outer.bytes};
    for (size_t i = 0; i < rest.size(); ++i) all.offsets[rest[i]] = outer.offsets[i];
    std::vector<int> ranges;  // that of a longer life may be the host of another's host
    for (int r = 0; r < static_cast<int>(idle_.size()); ++r) ranges.push_back(r);
    std::ranges::stable_sort(ranges, [&](int a, int b) { return Length(a) > Length(b); });
    for (const int range : ranges) {
      const std::vector<int> guests = GuestsOf(range);
      const ArenaAssignment inner = AssignArena(Of(guests), align_);
      for (size_t i = 0; i < guests.size(); ++i) {
        all.offsets[guests[i]] =
            all.offsets[idle_[range].block] + idle_[range].offset + inner.offsets[i];
      }
    }
    return all;
  }

 private:
  int Length(int range) const {
    const ArenaBlock& block = blocks_[idle_[range].block];
    return block.last_step - block.first_step;
  }

  std::vector<ArenaBlock> Of(const std::vector<int>& indices) const {
    std::vector<ArenaBlock> blocks;
    for (const int index : indices) blocks.push_back(blocks_[index]);
    return blocks;
  }

  std::vector<int> GuestsOf(int range) const {
    std::vector<int> guests;
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) {
      if (host_[i] == range) guests.push_back(i);
    }
    return guests;
  }

  bool LivesAt(int block, int step) const {
    return blocks_[block].first_step <= step && step <= blocks_[block].last_step;
  }

  int PeakStep() const {
    std::map<int, int64_t> changes;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (host_[i] >= 0) continue;
      changes[blocks_[i].first_step] += RoundUp(blocks_[i].bytes, align_);
      changes[blocks_[i].last_step + 1] -= RoundUp(blocks_[i].bytes, align_);
    }
    int peak = 0;
    int64_t live = 0, most = 0;
    for (const auto& [step, bytes] : changes) {
      live += bytes;
      if (live > most) peak = step;
      most = std::max(most, live);
    }
    return peak;
  }

  // The largest block of the step that fits into a range, and the smallest such range.
  bool LendOne(int step) {
    int guest = -1, host = -1;
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) {
      if (host_[i] >= 0 || !LivesAt(i, step) || blocks_[i].bytes == 0) continue;
      if (guest >= 0 && blocks_[i].bytes <= blocks_[guest].bytes) continue;
      const int range = RangeFor(i);
      if (range < 0) continue;
      guest = i;
      host = range;
    }
    if (guest >= 0) host_[guest] = host;
    return guest >= 0;
  }

  int RangeFor(int block) {
    int best = -1;
    for (int r = 0; r < static_cast<int>(idle_.size()); ++r) {
      const bool smaller = best < 0 || idle_[r].bytes < idle_[best].bytes;
      if (smaller && Fits(block, r)) best = r;
    }
    return best;
  }

  bool Fits(int block, int range) {
    const IdleRange& idle = idle_[range];
    const bool within = idle.block != block && blocks_[block].bytes <= idle.bytes &&
                        idle.first_step <= blocks_[block].first_step &&
                        blocks_[block].last_step <= idle.last_step;
    if (!within) return false;
    host_[block] = range;
    const int64_t bytes = AssignArena(Of(GuestsOf(range)), align_).bytes;
    host_[block] = -1;
    return bytes <= idle.bytes;
  }

  const std::vector<ArenaBlock>& blocks_;
  const std::vector<IdleRange>& idle_;
  const int64_t align_;
  std::vector<int> host_;  // per block: the range it lies in, or -1
};

}  // namespace

std::vector<IdleRange> IdleRanges(const Program& program, const std::vector<AliasClass>& classes) {
  std::vector<IdleRange> ranges;
  if (!Constructs(program).empty()) return ranges;
  const std::map<BufferId, std::vector<Touched>> touched = TouchedOfBases(program);
  const int64_t align = program.arena_align;
  for (int c = 0; c < static_cast<int>(classes.size()); ++c) {
    const AliasClass& shared = classes[c];
    const auto found = touched.find(shared.members[0]);
    if (shared.members.size() != 1 || found == touched.end()) continue;
    for (const Touched& part : found->second) {
      const int64_t begin = RoundUp(part.begin, align), bytes = part.end / align * align - begin;
      if (part.first_step == shared.first_step || bytes <= 0) continue;
      ranges.push_back({c, begin, bytes, shared.first_step, part.first_step - 1});
    }
  }
  return ranges;
}

int64_t BusyBytesBound(const std::vector<ArenaBlock>& blocks, const std::vector<IdleRange>& idle,
                       int64_t align) {
  std::vector<ArenaBlock> busy;
  for (const ArenaBlock& block : blocks)
    busy.push_back(Remainder(block, RoundUp(block.bytes, align)));
  for (const IdleRange& range : idle) {
    busy[range.block].bytes -= range.bytes;
    busy.push_back({range.bytes, range.last_step + 1, blocks[range.block].last_step});
  }
  return LiveBytesBound(busy, align);
}

ArenaAssignment AssignWithLending(const std::vector<ArenaBlock>& blocks,
                                  const std::vector<IdleRange>& idle, int64_t align) {
  ArenaAssignment whole = AssignArena(blocks, align);
  if (idle.empty()) return whole;
  const int64_t bound = BusyBytesBound(blocks, idle, align);
  whole.is_smallest = whole.bytes == bound;  // the search knows nothing of lending
  if (whole.is_smallest) return whole;
  Lender lender(blocks, idle, align);
  lender.Run();
  if (!lender.any()) return whole;
  ArenaAssignment lent = lender.Assign();
  lent.is_smallest = lent.bytes == bound;
  return lent.bytes < whole.bytes ? lent : whole;
}

}  // namespace aotc
