#include "compiler/plan/idle_boxes.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/program_access.h"

namespace aotc {
namespace {

bool Lives(const Buffer& buffer, int step) {
  return buffer.first_step >= 0 && buffer.first_step <= step && step <= buffer.last_step;
}

int64_t BytesAlive(const Program& program, int step) {
  int64_t bytes = 0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind == BufferKind::kArena && Lives(buffer, step)) bytes += buffer.bytes;
  }
  return bytes;
}

// Bases that no step writes as a whole.
std::set<BufferId> MadeOfBoxes(const Program& program) {
  std::set<BufferId> boxed, whole;
  for (const Step& step : program.steps) {
    for (const BufferAccess& access : StepAccesses(program, step)) {
      const bool is_box = !program.buffers[access.buffer].start.empty();
      if (access.written) (is_box ? boxed : whole).insert(BaseOf(program, access.buffer));
    }
  }
  for (BufferId id : whole) boxed.erase(id);
  return boxed;
}

// Of each of `bases` that is alive, the bytes that no box has been written to.
std::map<BufferId, int64_t> IdleBytes(const Program& program, const std::set<BufferId>& bases,
                                      int step) {
  std::map<BufferId, int64_t> idle;
  for (BufferId id : bases) {
    const Buffer& base = program.buffers[id];
    if (base.kind == BufferKind::kArena && Lives(base, step)) idle[id] = base.bytes;
  }
  for (const Buffer& box : program.buffers) {
    const auto base = idle.find(box.base);
    if (box.start.empty() || base == idle.end() || box.first_step > step) continue;
    base->second -= box.bytes;
  }
  return idle;
}

}  // namespace

std::string IdlestValue(const Program& program, int64_t most) {
  const std::set<BufferId> bases = MadeOfBoxes(program);
  std::pair<int64_t, int64_t> idlest = {-1, 0};  // bytes without use, of all
  std::string value;
  for (int step = 0; step < static_cast<int>(program.steps.size()); ++step) {
    if (BytesAlive(program, step) <= most) continue;
    for (const auto& [id, bytes] : IdleBytes(program, bases, step)) {
      const std::pair<int64_t, int64_t> size = {bytes, program.buffers[id].bytes};
      if (size <= idlest) continue;
      idlest = size;
      value = program.buffers[id].value;
    }
  }
  return value;
}

}  // namespace aotc
