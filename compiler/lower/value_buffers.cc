#include "compiler/lower/value_buffers.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/program_access.h"
#include "compiler/lower/build_program.h"
#include "compiler/support/rounding.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Expr StorageOf(const Value& value) { return StorageElements(value.layout, value.type.dims); }

}  // namespace

bool ValueBuffers::WriteInto(ValueId value, BufferId target) {
  const Buffer& buffer = program_.buffers[target];
  if (buffer.kind == BufferKind::kHost || !buffer.start.empty()) return false;
  if (!CanBeWrittenInto(value)) return false;
  buffers_[HomeOf(value)] = target;
  return true;
}

bool ValueBuffers::CanBeWrittenInto(ValueId value) const {
  const ValueId home = HomeOf(value);
  if (IsPlaced(home) || graph_.values[home].constant) return false;
  return home == value || !HasBoxes(home);  // which step as that lies, not the target
}

std::pair<BufferId, int64_t> ValueBuffers::AddRooms(const std::vector<ValueId>& values) {
  const DType dtype = graph_.values[values.front()].type.dtype;
  int64_t bytes = 0;
  for (const ValueId id : values) {
    bytes =
        std::max(bytes, MaxBytes(StorageOf(graph_.values[id]), dtype, BoundsOf(graph_.symbols)));
  }
  bytes = RoundUp(bytes, program_.arena_align);
  const int64_t elements = bytes / ByteWidth(dtype);
  const BufferId rooms = Add(values.front(), BufferKind::kArena);
  Buffer& buffer = program_.buffers[rooms];
  buffer.name = UniqueName(StrCat(buffer.name, "_in_turn"));
  buffer.shape = {2, elements};
  buffer.layout = {};
  buffer.bytes = 2 * bytes;
  return {rooms, elements};
}

bool ValueBuffers::HasBoxes(ValueId base) const {
  return std::ranges::any_of(
      views_, [&](const auto& view) { return view.second.IsBox() && view.second.base == base; });
}

ValueId ValueBuffers::HomeOf(ValueId id) const {
  auto view = views_.find(id);
  if (view == views_.end() || view->second.IsBox() || !view->second.offset.IsInt(0)) return id;
  const ValueId base = view->second.base;
  return SameShape({StorageOf(graph_.values[id])}, {StorageOf(graph_.values[base])}) ? base : id;
}

std::string ValueBuffers::UniqueVariable(std::string_view name) {
  while (true) {
    std::string unique = UniqueName(name);
    if (std::ranges::find(graph_.symbols, unique, &Symbol::var) == graph_.symbols.end())
      return unique;
  }
}

BufferId ValueBuffers::Add(ValueId id, BufferKind kind) {
  const Value& value = graph_.values[id];
  Buffer buffer{.name = names_.Unique(ShortIdentifier(value.name)),
                .value = value.output_name.empty() ? value.name : value.output_name,
                .dtype = value.type.dtype,
                .shape = value.type.dims,
                .layout = value.layout,
                .kind = kind};
  const int64_t bytes = MaxBytes(StorageOf(value), buffer.dtype, BoundsOf(graph_.symbols));
  buffer.bytes = std::max<int64_t>(bytes, 0);
  if (kind == BufferKind::kInput && value.elements) buffer.elements = *value.elements;
  return program_.buffers.Add(std::move(buffer));
}

BufferId ValueBuffers::AddBytes(ValueId id) {
  const BufferId buffer = Add(id, BufferKind::kArena);
  Buffer& bytes = program_.buffers[buffer];
  bytes.dtype = DType::kU8;
  const Expr elements = StorageElements(bytes.layout, bytes.shape);
  bytes.bytes = std::max<int64_t>(MaxBytes(elements, bytes.dtype, BoundsOf(graph_.symbols)), 0);
  return buffer;
}

BufferId ValueBuffers::Of(ValueId id) {
  if (const auto found = buffers_.find(id); found != buffers_.end()) return found->second;
  auto view = views_.find(id);
  if (view == views_.end()) return buffers_[id] = Add(id, BufferKind::kArena);
  const BufferId buffer = AddView(id, Of(view->second.base), view->second.offset);
  program_.buffers[buffer].start = view->second.start;
  program_.buffers[buffer].step = view->second.step;
  return buffers_[id] = buffer;
}

BufferId ValueBuffers::AddView(ValueId id, BufferId base, const Expr& offset) {
  const BufferId buffer = Add(id, BufferKind::kView);
  program_.buffers[buffer].base = BaseOf(program_, base);
  program_.buffers[buffer].element_offset = ElementOffset(program_.buffers[base]) + offset;
  return buffer;
}

BufferId ValueBuffers::Read(ValueId id) {
  if (!graph_.values[id].constant) return Of(id);
  return Weights(id, KernelTensor{.dtype = graph_.values[id].type.dtype});
}

BufferId ValueBuffers::Weights(ValueId id, const KernelTensor& tensor) {
  const Constant& constant = *graph_.values[id].constant;
  const auto key = std::tuple(id, PrintLayout(tensor.layout), tensor.dtype);
  auto found = weights_.find(key);
  if (found != weights_.end()) return found->second;
  int64_t offset = 0;
  if (has_weights_) offset = AppendPacked(constant, tensor.layout, tensor.dtype, program_.weights);
  const BufferId buffer = Add(id, BufferKind::kWeights);
  Buffer& weights = program_.buffers[buffer];
  weights.dtype = tensor.dtype;
  weights.layout = tensor.layout;
  weights.offset = offset;
  weights.bytes = static_cast<int64_t>(program_.weights.size()) - offset;
  return weights_[key] = buffer;
}

}  // namespace aotc
