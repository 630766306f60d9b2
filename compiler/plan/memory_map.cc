#include "compiler/plan/memory_map.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace aotc {
namespace {

std::string ViewsOf(const Program& program, BufferId base) {
  std::string text;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::kView || buffer.base != base) continue;
    absl::StrAppend(&text, text.empty() ? " (seen as %" : ", %", buffer.name);
  }
  return text.empty() ? text : text + ")";
}

std::string Line(const Program& program, BufferId id) {
  const Buffer& buffer = program.buffers[id];
  const std::string steps = absl::StrCat(buffer.first_step, "-", buffer.last_step);
  return absl::StrFormat("%10d %12d %8s   %%%s%s\n", buffer.offset, buffer.bytes, steps,
                         buffer.name, ViewsOf(program, id));
}

}  // namespace

std::string_view ArenaProof(const Program& program) {
  if (program.arena_bytes <= program.lower_bound) return "lower_bound";
  return program.arena_is_least ? "search" : "none";
}

double ArenaRatio(const Program& program) {
  if (program.lower_bound == 0) return 1.0;
  return static_cast<double>(program.arena_bytes) / static_cast<double>(program.lower_bound);
}

std::string DescribeArena(const Program& program) {
  std::string text = absl::StrCat("arena ", program.arena_bytes, " bytes, ");
  if (program.arena_bytes <= program.lower_bound) return text + "its lower bound";
  absl::StrAppendFormat(&text, "%.3f times its lower bound of %d", ArenaRatio(program),
                        program.lower_bound);
  return program.arena_is_least ? text + ", proven smallest" : text;
}

std::string PrintMemoryMap(const Program& program) {
  std::vector<BufferId> arena;
  for (BufferId id : program.buffers.ids()) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.kind == BufferKind::kArena && buffer.first_step >= 0) arena.push_back(id);
  }
  std::stable_sort(arena.begin(), arena.end(), [&](BufferId a, BufferId b) {
    const Buffer& left = program.buffers[a];
    const Buffer& right = program.buffers[b];
    return std::pair(left.offset, left.first_step) < std::pair(right.offset, right.first_step);
  });
  std::string text = DescribeArena(program);
  absl::StrAppend(&text, "\n    offset        bytes    steps   buffer\n");
  for (BufferId id : arena) absl::StrAppend(&text, Line(program, id));
  return text;
}

}  // namespace aotc
