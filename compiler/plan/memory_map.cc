#include "compiler/plan/memory_map.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/plan/traffic.h"

namespace aotc {
namespace {

// Bytes that are used, and what they cannot be less than.
struct Usage {
  int64_t bytes = 0;
  int64_t lower_bound = 0;
  bool is_least = false;
};

Usage UsageOf(const Program& program) {
  return {program.arena_bytes, program.lower_bound, program.arena_is_least};
}

std::string_view Proof(const Usage& usage) {
  if (usage.bytes <= usage.lower_bound) return "lower_bound";
  return usage.is_least ? "search" : "none";
}

double Ratio(const Usage& usage) {
  if (usage.lower_bound == 0) return 1.0;
  return static_cast<double>(usage.bytes) / static_cast<double>(usage.lower_bound);
}

// ", its lower bound"
std::string Compared(const Usage& usage) {
  if (usage.bytes <= usage.lower_bound) return ", its lower bound";
  const std::string text =
      absl::StrFormat(", %.3f times its lower bound of %d", Ratio(usage), usage.lower_bound);
  return usage.is_least ? text + ", proven smallest" : text;
}

std::string ViewsOf(const Program& program, BufferId base) {
  std::string text;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::kView || buffer.base != base) continue;
    absl::StrAppend(&text, text.empty() ? " (seen as %" : ", %", buffer.name);
  }
  return text.empty() ? text : text + ")";
}

// `start` is the offset of the pool in which it lies.
std::string Line(const Program& program, BufferId id, int64_t start) {
  const Buffer& buffer = program.buffers[id];
  const std::string steps = absl::StrCat(buffer.first_step, "-", buffer.last_step);
  return absl::StrFormat("%10d %12d %8s   %%%s%s\n", buffer.offset - start, buffer.bytes, steps,
                         buffer.name, ViewsOf(program, id));
}

// Those of one pool; all where there are none.
std::vector<BufferId> BuffersIn(const Program& program, PoolId pool) {
  std::vector<BufferId> found;
  for (BufferId id : program.buffers.ids()) {
    const Buffer& buffer = program.buffers[id];
    const bool placed = buffer.kind == BufferKind::kArena && buffer.first_step >= 0;
    if (placed && buffer.pool == pool) found.push_back(id);
  }
  std::stable_sort(found.begin(), found.end(), [&](BufferId a, BufferId b) {
    const Buffer& left = program.buffers[a];
    const Buffer& right = program.buffers[b];
    return std::pair(left.offset, left.first_step) < std::pair(right.offset, right.first_step);
  });
  return found;
}

std::string Table(const Program& program, PoolId pool) {
  std::string text = "    offset        bytes    steps   buffer\n";
  const int64_t start = pool.valid() ? program.pools[pool].offset : 0;
  for (BufferId id : BuffersIn(program, pool)) absl::StrAppend(&text, Line(program, id, start));
  return text;
}

// Bytes that steps read and write in each pool.
IdVector<PoolId, double> PoolTraffic(const Program& program) {
  IdVector<PoolId, double> traffic(program.pools.size(), 0.0);
  const IdVector<BufferId, int64_t> of_buffers = BufferTraffic(program);
  for (PoolId pool : program.pools.ids()) {
    for (BufferId id : BuffersIn(program, pool)) {
      traffic[pool] += static_cast<double>(of_buffers[id]);
    }
  }
  return traffic;
}

// A line for each pool.
std::vector<std::string> PoolLines(const Program& program) {
  const IdVector<PoolId, double> traffic = PoolTraffic(program);
  const double all = std::max(1.0, std::accumulate(traffic.begin(), traffic.end(), 0.0));
  std::vector<std::string> lines;
  for (PoolId id : program.pools.ids()) {
    const Pool& pool = program.pools[id];
    const std::string limit = pool.limit ? absl::StrCat(" of ", *pool.limit) : "";
    lines.push_back(absl::StrFormat(
        "pool %s %d%s bytes%s, %.1f %% of the traffic\n", pool.name, pool.bytes, limit,
        Compared({pool.bytes, pool.lower_bound, pool.is_least}), 100 * traffic[id] / all));
  }
  return lines;
}

}  // namespace

std::string_view ArenaProof(const Program& program) { return Proof(UsageOf(program)); }

std::string_view PoolProof(const Pool& pool) {
  return Proof({pool.bytes, pool.lower_bound, pool.is_least});
}

double ArenaRatio(const Program& program) { return Ratio(UsageOf(program)); }

std::string DescribeArena(const Program& program) {
  return absl::StrCat("arena ", program.arena_bytes, " bytes", Compared(UsageOf(program)));
}

std::string DescribePools(const Program& program) { return absl::StrJoin(PoolLines(program), ""); }

std::string PrintMemoryMap(const Program& program) {
  std::string text = DescribeArena(program) + "\n";
  if (program.pools.empty()) return text + Table(program, {});
  const std::vector<std::string> lines = PoolLines(program);
  for (PoolId pool : program.pools.ids()) {
    absl::StrAppend(&text, lines[pool.index()], Table(program, pool));
  }
  return text;
}

}  // namespace aotc
