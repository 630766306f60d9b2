#include "compiler/plan/idle_boxes.h"

#include <cstdint>
#include <map>
#include <set>

#include "compiler/ir/program_access.h"

namespace aotc {
namespace {

bool Lives(const Buffer& buffer, int step) {
  return buffer.first_step >= 0 && buffer.first_step <= step && step <= buffer.last_step;
}

int PeakStep(const Program& program) {
  int peak = 0;
  int64_t most = 0;
  for (int step = 0; step < static_cast<int>(program.steps.size()); ++step) {
    int64_t bytes = 0;
    for (const Buffer& buffer : program.buffers) {
      if (buffer.kind == BufferKind::kArena && Lives(buffer, step)) bytes += buffer.bytes;
    }
    if (bytes <= most) continue;
    most = bytes;
    peak = step;
  }
  return peak;
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

}  // namespace

std::string IdlestValue(const Program& program) {
  const int step = PeakStep(program);
  std::map<BufferId, int64_t> idle;
  for (BufferId id : MadeOfBoxes(program)) {
    const Buffer& base = program.buffers[id];
    if (base.kind == BufferKind::kArena && Lives(base, step)) idle[id] = base.bytes;
  }
  for (const Buffer& box : program.buffers) {
    const auto base = idle.find(box.base);
    if (box.start.empty() || base == idle.end() || box.first_step > step) continue;
    base->second -= box.bytes;
  }
  std::string value;
  int64_t most = 0;
  for (const auto& [id, bytes] : idle) {
    if (bytes <= most) continue;
    most = bytes;
    value = program.buffers[id].value;
  }
  return value;
}

}  // namespace aotc
