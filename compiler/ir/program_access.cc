#include "compiler/ir/program_access.h"

#include <algorithm>

#include "compiler/support/rounding.h"

namespace aotc {

BufferId BaseOf(const Program& program, BufferId buffer) {
  const Buffer& found = program.buffers[buffer];
  return found.kind == BufferKind::kView ? found.base : buffer;
}

std::vector<BufferAccess> StepAccesses(const Program& program, const Step& step) {
  std::vector<BufferAccess> accesses;
  for (size_t i = 0; i < step.args.size(); ++i) {
    bool written = step.kind == StepKind::kCopy && i == 1;
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

Expr ReachedElements(const KernelTensor& tensor) {
  if (tensor.strides.empty()) return StorageElements(tensor.layout, tensor.shape);
  const Shape storage = StorageShape(tensor.layout, tensor.shape);
  Expr last = 0;
  for (size_t i = 0; i < storage.size(); ++i) last = last + (storage[i] - 1) * tensor.strides[i];
  return last + 1;
}

int64_t MaxBytes(const Expr& elements, DType dtype, const Bounds& bounds) {
  const Interval range = RangeOf(Simplify(elements, bounds), bounds);
  const int64_t bits = std::max(BitWidth(dtype), ByteWidth(dtype) * 8);
  if (range.max < 0 || range.max > (INT64_MAX - 7) / std::max<int64_t>(bits, 1)) return -1;
  return (range.max * bits + 7) / 8;
}

int64_t ScratchBytes(const ProgramKernel& kernel, int64_t align) {
  int64_t bytes = 0;
  for (const KernelVariant& variant : kernel.variants) {
    bytes = std::max(bytes, variant.loops.scratch_bytes);
  }
  return RoundUp(bytes, align);
}

int64_t ScratchWorkers(const Program& program, const ProgramKernel& kernel) {
  const Bounds bounds = BoundsOf(program.symbols);
  int64_t most = 0;
  for (const KernelVariant& variant : kernel.variants) {
    most = std::max(most, RangeOf(variant.loops.tasks, bounds).max);
  }
  return std::min(most, program.max_workers);
}

}  // namespace aotc
