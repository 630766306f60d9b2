#include "compiler/plan/verify_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

template <class... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InternalError(absl::StrCat("plan: ", parts...));
}

struct Lifetime {
  int first = -1;
  int last = -1;
};

class PlanVerifier {
 public:
  explicit PlanVerifier(const Program& program)
      : program_(program), bounds_(BoundsOf(program)), lifetimes_(program.buffers.size()) {}

  absl::Status Run() {
    FindLifetimes();
    AOTC_RETURN_IF_ERROR(CheckPools());
    AOTC_RETURN_IF_ERROR(CheckBoxes());
    for (BufferId id : program_.buffers.ids()) {
      const Buffer& buffer = program_.buffers[id];
      if (buffer.kind == BufferKind::kView) AOTC_RETURN_IF_ERROR(CheckView(buffer));
      if (buffer.kind != BufferKind::kArena) continue;
      AOTC_RETURN_IF_ERROR(CheckPlace(id));
      if (lifetimes_[id].first >= 0 && buffer.bytes > 0) arena_.push_back(id);
    }
    return CheckPairs();
  }

 private:
  BufferId Owner(BufferId id) const {
    const Buffer& buffer = program_.buffers[id];
    return buffer.kind == BufferKind::kView ? buffer.base : id;
  }

  void FindLifetimes() {
    for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i) {
      std::vector<BufferId> used = program_.steps[i].args;
      if (program_.steps[i].scratch.valid()) used.push_back(program_.steps[i].scratch);
      for (BufferId id : used) {
        Lifetime& lifetime = lifetimes_[Owner(id)];
        if (lifetime.first < 0) lifetime.first = i;
        lifetime.last = i;
      }
    }
    std::vector<int> open;
    for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i) {
      const StepKind kind = program_.steps[i].kind;
      if (kind == StepKind::kIf || kind == StepKind::kLoop) open.push_back(i);
      if (kind != StepKind::kEnd || open.empty()) continue;
      if (program_.steps[open.back()].kind == StepKind::kLoop) KeepThroughLoop(open.back(), i);
      open.pop_back();
    }
  }

  // A round of a loop must find what was there before the loop, and leave what is read behind it.
  void KeepThroughLoop(int begin, int end) {
    for (Lifetime& lifetime : lifetimes_) {
      const bool apart = lifetime.last < begin || lifetime.first > end;
      const bool within = lifetime.first > begin && lifetime.last < end;
      if (lifetime.first < 0 || apart || within) continue;
      lifetime = {std::min(lifetime.first, begin), std::max(lifetime.last, end)};
    }
  }

  // Pools lie in the arena, aligned, in order and apart, and keep their limits.
  absl::Status CheckPools() const {
    int64_t end = 0;
    for (const Pool& pool : program_.pools) {
      const bool aligned = pool.offset % program_.arena_align == 0;
      if (!aligned || pool.offset < end || pool.bytes < 0)
        return Wrong("pool ", pool.name, " at offset ", pool.offset);
      if (pool.limit && pool.bytes > *pool.limit) {
        return Wrong("pool ", pool.name, " has ", pool.bytes, " bytes of ", *pool.limit);
      }
      end = pool.offset + pool.bytes;
    }
    return end <= program_.arena_bytes ? absl::OkStatus() : Wrong("pools end outside the arena");
  }

  // From its own pool to that one's end.
  absl::Status CheckPool(const Buffer& buffer) const {
    if (!program_.pools.Contains(buffer.pool)) return Wrong("%", buffer.name, " has no pool");
    const Pool& pool = program_.pools[buffer.pool];
    const int64_t start = buffer.offset - pool.offset;
    if (start >= 0 && buffer.bytes <= pool.bytes - start) return absl::OkStatus();
    return Wrong("%", buffer.name, " lies outside pool ", pool.name);
  }

  absl::Status CheckPlace(BufferId id) const {
    const Buffer& buffer = program_.buffers[id];
    const Lifetime& lifetime = lifetimes_[id];
    if (buffer.first_step != lifetime.first || buffer.last_step != lifetime.last) {
      return Wrong("%", buffer.name, " lives from step ", lifetime.first, " to ", lifetime.last);
    }
    if (buffer.offset < 0 || buffer.offset % program_.arena_align != 0) {
      return Wrong("%", buffer.name, " at offset ", buffer.offset);
    }
    if (lifetime.first >= 0 && buffer.bytes > program_.arena_bytes - buffer.offset) {
      return Wrong("%", buffer.name, " ends outside the arena");
    }
    const bool pooled = !program_.pools.empty() && lifetime.first >= 0;
    return pooled ? CheckPool(buffer) : absl::OkStatus();
  }

  absl::Status CheckView(const Buffer& view) const {
    const Buffer& base = program_.buffers[view.base];
    const Expr end = view.element_offset + ReachedElements(program_, view);
    const Interval start_range = RangeOf(Simplify(view.element_offset, bounds_), bounds_);
    const int64_t end_byte = MaxBytes(end, base.dtype, bounds_);
    const bool ends_within = end_byte >= 0 && end_byte <= base.bytes;
    if (base.kind == BufferKind::kView || start_range.min < 0 || !ends_within) {
      return Wrong("view %", view.name, " may leave %", base.name);
    }
    return absl::OkStatus();
  }

  // Where one begins, steps and ends in its base, per storage axis.
  bool IsApart(const Buffer& a, const Buffer& b) const {
    const Shape a_extents = StorageShape(a.layout, a.shape);
    const Shape b_extents = StorageShape(b.layout, b.shape);
    for (size_t i = 0; i < a.start.size() && i < b.start.size(); ++i) {
      const int64_t a_step = a.step.empty() ? 1 : a.step[i];
      const int64_t b_step = b.step.empty() ? 1 : b.step[i];
      const Expr distance = Simplify(b.start[i] - a.start[i], bounds_);
      if (Prove(Lt((a_extents[i] - 1) * a_step, distance), bounds_) == true) return true;
      if (Prove(Lt((b_extents[i] - 1) * b_step, -distance), bounds_) == true) return true;
      const Interval gap = RangeOf(distance, bounds_);
      if (a_step == b_step && gap.min == gap.max && gap.min % a_step != 0) return true;
    }
    return false;
  }

  // What is written into one base as several boxes are boxes apart: none destroys what another
  // holds.
  absl::Status CheckBoxes() const {
    std::map<BufferId, std::set<BufferId>> written;  // by base
    for (const Step& step : program_.steps) {
      for (const BufferAccess& access : StepAccesses(program_, step)) {
        if (access.written) written[Owner(access.buffer)].insert(access.buffer);
      }
    }
    for (const auto& [base, buffers] : written) {
      const auto is_box = [&](BufferId id) { return !program_.buffers[id].start.empty(); };
      if (std::ranges::none_of(buffers, is_box)) continue;
      for (BufferId a : buffers) {
        for (BufferId b : buffers) {
          const Buffer& box = program_.buffers[a];
          const Buffer& other = program_.buffers[b];
          if (a == b || (is_box(a) && is_box(b) && IsApart(box, other))) continue;
          return Wrong("%", box.name, " and %", other.name, " may overlap in %",
                       program_.buffers[base].name);
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckPairs() const {
    for (size_t i = 0; i < arena_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!OverlapInMemory(arena_[i], arena_[j]) || !OverlapInTime(arena_[i], arena_[j]))
          continue;
        if (ComputedInPlace(arena_[i], arena_[j]) || ComputedInPlace(arena_[j], arena_[i]))
          continue;
        if (LiesInIdle(arena_[i], arena_[j]) || LiesInIdle(arena_[j], arena_[i])) continue;
        return Wrong("%", program_.buffers[arena_[i]].name, " and %",
                     program_.buffers[arena_[j]].name, " overlap while both are alive");
      }
    }
    return absl::OkStatus();
  }

  bool OverlapInMemory(BufferId a, BufferId b) const {
    const Buffer& left = program_.buffers[a];
    const Buffer& right = program_.buffers[b];
    return left.offset < right.offset + right.bytes && right.offset < left.offset + left.bytes;
  }

  bool OverlapInTime(BufferId a, BufferId b) const {
    return lifetimes_[a].first <= lifetimes_[b].last && lifetimes_[b].first <= lifetimes_[a].last;
  }

  // `guest` is gone before any step touches what it takes of `host`: every access to that, as a box
  // or as a whole, comes later. In loops a later step may run earlier, too.
  bool LiesInIdle(BufferId guest, BufferId host) const {
    for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i) {
      const Step& step = program_.steps[i];
      if (step.kind == StepKind::kLoop || step.kind == StepKind::kIf) return false;
      if (i > lifetimes_[guest].last) continue;
      for (const BufferAccess& access : StepAccesses(program_, step)) {
        if (Owner(access.buffer) == host && Touches(access.buffer, host, guest)) return false;
      }
    }
    return true;
  }

  // Whether the part of `host` that a box is, or all of it, meets the memory of `guest`.
  bool Touches(BufferId part, BufferId host, BufferId guest) const {
    const Buffer& box = program_.buffers[part];
    const Buffer& other = program_.buffers[guest];
    int64_t begin = program_.buffers[host].offset, end = begin + program_.buffers[host].bytes;
    if (!box.start.empty()) {
      const Interval offset = RangeOf(Simplify(box.element_offset, bounds_), bounds_);
      const int64_t span = MaxBytes(ReachedElements(program_, box), box.dtype, bounds_);
      if (span >= 0 && offset.max < INT64_MAX / 16) {
        end = begin + offset.max * ByteWidth(box.dtype) + span;
        begin += offset.min * ByteWidth(box.dtype);
      }
    }
    return begin < other.offset + other.bytes && other.offset < end;
  }

  // `output` begins at the step where `input` ends, that step names the pair as safe, and no other
  // argument of it touches the memory of either.
  bool ComputedInPlace(BufferId output, BufferId input) const {
    const Buffer& to = program_.buffers[output];
    const Buffer& from = program_.buffers[input];
    if (to.offset != from.offset || to.bytes != from.bytes) return false;
    if (lifetimes_[output].first != lifetimes_[input].last) return false;
    const Step& step = program_.steps[lifetimes_[output].first];
    int touches = 0;
    for (BufferId arg : step.args) touches += Owner(arg) == output || Owner(arg) == input;
    if (touches != 2) return false;
    return std::any_of(step.in_place.begin(), step.in_place.end(), [&](const auto& pair) {
      const BufferId written = step.args[pair.first];
      const BufferId read = step.args[pair.second];
      return Owner(written) == output && Owner(read) == input && Covers(written) && Covers(read);
    });
  }

  bool Covers(BufferId id) const {
    const Buffer& buffer = program_.buffers[id];
    if (buffer.kind != BufferKind::kView) return true;
    return buffer.element_offset.IsInt(0) && buffer.bytes == program_.buffers[buffer.base].bytes;
  }

  const Program& program_;
  const Bounds bounds_;
  IdVector<BufferId, Lifetime> lifetimes_;
  std::vector<BufferId> arena_;
};

}  // namespace

absl::Status VerifyPlan(const Program& program) { return PlanVerifier(program).Run(); }

}  // namespace aotc
