#include "compiler/ir/program_access.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/ir/program_control.h"
#include "compiler/support/rounding.h"

namespace aotc {

BufferId BaseOf(const Program& program, BufferId buffer) {
  const Buffer& found = program.buffers[buffer];
  return found.kind == BufferKind::kView ? found.base : buffer;
}

bool IsShared(const Program& program, BufferId port) {
  const Buffer& buffer = program.buffers[port];
  return buffer.kind == BufferKind::kView && program.buffers.Contains(buffer.base) &&
         program.buffers[buffer.base].kind == BufferKind::kOutput;
}

std::vector<BufferAccess> StepAccesses(const Program& program, const Step& step) {
  std::vector<BufferAccess> accesses;
  for (size_t i = 0; i < step.args.size(); ++i) {
    bool written = (step.kind == StepKind::kCopy || step.kind == StepKind::kDecode) && i == 1;
    if (step.kind == StepKind::kLaunch) {
      const Kernel& kernel = program.kernels[step.kernel].kernel;
      written = kernel.tensors[kernel.params[i]].role == TensorRole::kOutput;
    }
    accesses.push_back({step.args[i], written});
  }
  if (step.scratch.valid()) accesses.push_back({step.scratch, true});
  return accesses;
}

Expr ElementOffset(const Buffer& buffer) {
  return buffer.kind == BufferKind::kView ? buffer.element_offset : Expr(0);
}

namespace {

// Between the first and one past the last element of a box.
Expr SpanOf(const Shape& extents, const std::vector<Expr>& strides) {
  Expr last = 0;
  for (size_t i = 0; i < extents.size(); ++i) last = last + (extents[i] - 1) * strides[i];
  return last + 1;
}

// Along axis i one box ends where the other begins or before, or they never meet between two steps.
bool AreApartAlong(const Buffer& a, const Buffer& b, size_t i, const Bounds& bounds) {
  if (Prove(Le(EndAlong(a, i), b.start[i]), bounds) == true) return true;
  if (Prove(Le(EndAlong(b, i), a.start[i]), bounds) == true) return true;
  const int64_t common = std::gcd(StepAlong(a, i), StepAlong(b, i));
  const std::optional<int64_t> distance = Simplify(a.start[i] - b.start[i], bounds).AsInt();
  return distance && *distance % common != 0;
}

// Boxes in the same base.
bool BoxesAreApart(const Buffer& a, const Buffer& b, const Bounds& bounds) {
  for (size_t i = 0; i < a.start.size(); ++i) {
    if (AreApartAlong(a, b, i, bounds)) return true;
  }
  return false;
}

// The parities in an expression: what is 0 or 1, such as mod(round, 2).
std::vector<Expr> ParitiesIn(const Expr& e) {
  std::vector<Expr> found;
  Visit(e, [&](const Expr& node) {
    const bool is_parity = node.op() == ExprOp::kMod && node.arg(1).IsInt(2);
    const auto is_node = [&](const Expr& other) { return Same(other, node); };
    if (is_parity && std::ranges::none_of(found, is_node)) found.push_back(node);
  });
  return found;
}

// Whether it holds for each combination of parities.
bool ProveForParities(const Expr& e, const Bounds& bounds) {
  const std::vector<Expr> parities = ParitiesIn(e);
  if (parities.empty()) return Prove(e, bounds) == true;
  for (const int64_t parity : {0, 1}) {
    const Expr with = Transform(
        e, [&](const Expr& node) { return Same(node, parities.front()) ? Expr(parity) : node; });
    if (!ProveForParities(with, bounds)) return false;
  }
  return true;
}

// Elements that lie together, in the same base.
bool StretchesAreApart(const Program& program, const Buffer& a, const Buffer& b,
                       const Bounds& bounds) {
  const Expr end_of_a = ElementOffset(a) + ReachedElements(program, a);
  const Expr end_of_b = ElementOffset(b) + ReachedElements(program, b);
  return ProveForParities(Or(Le(end_of_a, ElementOffset(b)), Le(end_of_b, ElementOffset(a))),
                          bounds);
}

}  // namespace

int64_t StepAlong(const Buffer& box, size_t axis) { return box.step.empty() ? 1 : box.step[axis]; }

Expr EndAlong(const Buffer& box, size_t axis) {
  const Expr extent = StorageShape(box.layout, box.shape)[axis];
  return box.start[axis] + (extent - 1) * StepAlong(box, axis) + 1;
}

std::vector<Expr> BoxStrides(const Program& program, const Buffer& box) {
  const Buffer& base = program.buffers[box.base];
  std::vector<Expr> strides = RowMajorStrides(StorageShape(base.layout, base.shape));
  for (size_t i = 0; i < strides.size(); ++i) strides[i] = strides[i] * StepAlong(box, i);
  return strides;
}

Expr ReachedElements(const KernelTensor& tensor) {
  if (tensor.strides.empty()) return StorageElements(tensor.layout, tensor.shape);
  return SpanOf(StorageShape(tensor.layout, tensor.shape), tensor.strides);
}

Expr ReachedElements(const Program& program, const Buffer& buffer) {
  if (buffer.start.empty()) return StorageElements(buffer.layout, buffer.shape);
  return SpanOf(StorageShape(buffer.layout, buffer.shape), BoxStrides(program, buffer));
}

bool AreApart(const Program& program, BufferId a, BufferId b) {
  const Buffer& first = program.buffers[a];
  const Buffer& second = program.buffers[b];
  const bool boxes = !first.start.empty() && first.start.size() == second.start.size();
  return a != b && boxes && BoxesAreApart(first, second, BoundsOf(program.symbols));
}

bool AreApartInStep(const Program& program, BufferId a, BufferId b) {
  const Buffer& first = program.buffers[a];
  const Buffer& second = program.buffers[b];
  if (!first.start.empty() || !second.start.empty()) return AreApart(program, a, b);
  return StretchesAreApart(program, first, second, BoundsOf(program));
}

int64_t MaxBytes(const Expr& elements, DType dtype, const Bounds& bounds) {
  const Interval range = RangeOf(Simplify(elements, bounds), bounds);
  const int64_t bits = std::max(BitWidth(dtype), ByteWidth(dtype) * 8);
  if (range.max < 0 || range.max > (INT64_MAX - 7) / std::max<int64_t>(bits, 1)) return -1;
  return (range.max * bits + 7) / 8;
}

int64_t ScratchBytes(const KernelVariant& variant, int64_t align) {
  return RoundUp(variant.loops.scratch_bytes, align);
}

int64_t ScratchBytes(const ProgramKernel& kernel, int64_t align) {
  int64_t bytes = 0;
  for (const KernelVariant& variant : kernel.variants) {
    bytes = std::max(bytes, ScratchBytes(variant, align));
  }
  return bytes;
}

int64_t ScratchBytes(const Program& program, const ProgramKernel& kernel, int64_t workers) {
  const Bounds bounds = BoundsOf(program.symbols);
  int64_t bytes = 0;
  for (const KernelVariant& variant : kernel.variants) {
    const int64_t having = std::min(workers, RangeOf(variant.loops.tasks, bounds).max);
    bytes = std::max(bytes, having * ScratchBytes(variant, program.arena_align));
  }
  return bytes;
}

int64_t ScratchWorkers(const Program& program, const ProgramKernel& kernel) {
  const Bounds bounds = BoundsOf(program.symbols);
  int64_t most = 0;
  for (const KernelVariant& variant : kernel.variants) {
    most = std::max(most, RangeOf(variant.loops.tasks, bounds).max);
  }
  return std::min(most, program.max_workers);
}

int64_t WorkersWithScratch(const Program& program, const Step& step) {
  if (!step.scratch.valid()) return program.max_workers;
  const ProgramKernel& kernel = program.kernels[step.kernel];
  const int64_t bytes = program.buffers[step.scratch].bytes;
  int64_t workers = program.max_workers;
  while (ScratchBytes(program, kernel, workers) > bytes) --workers;
  return workers;
}

}  // namespace aotc
