#include "compiler/plan/place_scratch.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "compiler/support/rounding.h"

namespace aotc {
namespace {

struct Range {
  int64_t begin = 0, end = 0;
  int64_t bytes() const { return end - begin; }
};

std::set<BufferId> ScratchOf(const Program& program) {
  std::set<BufferId> scratch;
  for (const Step& step : program.steps) {
    if (step.scratch.valid()) scratch.insert(step.scratch);
  }
  return scratch;
}

// What is taken while the buffer is alive, by offset.
std::vector<Range> TakenBeside(const Program& program, const Buffer& buffer,
                               const std::vector<AliasClass>& rest) {
  std::vector<Range> taken;
  for (const AliasClass& other : rest) {
    const bool is_beside =
        other.first_step <= buffer.last_step && buffer.first_step <= other.last_step;
    const int64_t offset = program.buffers[other.members[0]].offset;
    if (is_beside) taken.push_back({offset, RoundUp(offset + other.bytes, program.arena_align)});
  }
  std::ranges::sort(taken, {}, &Range::begin);
  return taken;
}

// The largest one below `most` bytes; what lies behind all that is taken has no end but that.
Range LargestGap(const std::vector<Range>& taken, int64_t most) {
  Range largest;
  int64_t end = 0;
  for (const Range& range : taken) {
    if (range.begin - end > largest.bytes()) largest = {end, range.begin};
    end = std::max(end, range.end);
  }
  return most - end > largest.bytes() ? Range{end, most} : largest;
}

// The lowest place for so many bytes.
int64_t LowestFit(const std::vector<Range>& taken, int64_t bytes) {
  int64_t end = 0;
  for (const Range& range : taken) {
    if (range.begin - end >= bytes) return end;
    end = std::max(end, range.end);
  }
  return end;
}

}  // namespace

std::vector<AliasClass> WithoutScratch(const Program& program,
                                       const std::vector<AliasClass>& classes) {
  const std::set<BufferId> scratch = ScratchOf(program);
  std::vector<AliasClass> rest;
  std::ranges::copy_if(classes, std::back_inserter(rest), [&](const AliasClass& shared) {
    return !scratch.contains(shared.members[0]);
  });
  return rest;
}

void PlaceScratch(Program& program, const std::vector<AliasClass>& rest, int64_t most,
                  const SmallerVariant& smaller) {
  ScratchRoom gaps;
  for (const Step& step : program.steps) {
    gaps.push_back(0);
    if (!step.scratch.valid()) continue;
    const Buffer& buffer = program.buffers[step.scratch];
    gaps.back() = LargestGap(TakenBeside(program, buffer, rest), most).bytes();
  }
  FitScratch(program, gaps, smaller);
  for (const Step& step : program.steps) {
    if (!step.scratch.valid()) continue;
    Buffer& buffer = program.buffers[step.scratch];
    buffer.offset = LowestFit(TakenBeside(program, buffer, rest), buffer.bytes);
    const int64_t end = RoundUp(buffer.offset + buffer.bytes, program.arena_align);
    program.arena_bytes = std::max(program.arena_bytes, end);
  }
}

}  // namespace aotc
