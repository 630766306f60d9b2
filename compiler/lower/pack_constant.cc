// Packing of constants into the layouts that schedules want: once, at compile time.
#include <cstring>

#include "compiler/lower/build_program.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

constexpr int64_t kWeightsAlign = 64;  // bytes

// Walks storage in order; for each element finds the logical index by adding up storage axes.
class Packer {
 public:
  Packer(const Constant& constant, const Layout& layout, DType dtype)
      : constant_(constant), layout_(layout), dtype_(dtype) {
    if (layout_.axes.empty()) {
      for (size_t i = 0; i < constant.dims().size(); ++i)
        layout_.axes.push_back({static_cast<int>(i)});
    }
    extents_ = *StaticDims(StorageShape(layout_, MakeShape(constant.dims())));
    strides_.assign(constant.dims().size(), 1);
    for (size_t i = strides_.size(); i-- > 1;) strides_[i - 1] = strides_[i] * constant.dims()[i];
    logical_.assign(constant.dims().size(), 0);
    for (size_t i = 0; i < logical_.size() && !layout_.halo.empty(); ++i)
      logical_[i] = -layout_.halo[i].before;
  }

  void AppendTo(std::vector<uint8_t>& blob) {
    int64_t count = 1;
    for (const int64_t extent : extents_) count *= extent;
    const size_t start = blob.size();
    blob.resize(start + static_cast<size_t>(StorageBytes(dtype_, count)));
    bytes_ = blob.data() + start;
    Walk(0);
  }

 private:
  void Walk(size_t level) {
    if (level == extents_.size()) return Write();
    const StorageAxis& axis = layout_.axes[level];
    int64_t& logical = logical_[static_cast<size_t>(axis.axis)];
    const int64_t start = logical;
    for (int64_t i = 0; i < extents_[level]; ++i) {
      Walk(level + 1);
      logical += axis.divisor;
    }
    logical = start;
  }

  void Write() {
    const int64_t to = next_++;
    int64_t from = 0;
    for (size_t i = 0; i < logical_.size(); ++i) {
      if (logical_[i] < 0 || logical_[i] >= constant_.dims()[i]) {
        if (layout_.HasHalo()) StoreElement(dtype_, bytes_, to, layout_.fill);
        return;
      }
      from += logical_[i] * strides_[i];
    }
    if (dtype_ != constant_.dtype() || IsSubByte(dtype_)) {
      StoreElement(dtype_, bytes_, to, constant_.FloatAt(from));
      return;
    }
    const int width = ByteWidth(dtype_);
    const uint8_t* source = constant_.bytes().data() + (constant_.is_splat() ? 0 : from * width);
    std::memcpy(bytes_ + to * width, source, static_cast<size_t>(width));
  }

  const Constant& constant_;
  Layout layout_;
  const DType dtype_;
  std::vector<int64_t> extents_, strides_, logical_;
  uint8_t* bytes_ = nullptr;
  int64_t next_ = 0;
};

}  // namespace

int64_t AppendPacked(const Constant& constant, const Layout& layout, DType dtype,
                     std::vector<uint8_t>& blob) {
  const int64_t start = RoundUp(static_cast<int64_t>(blob.size()), kWeightsAlign);
  blob.resize(static_cast<size_t>(start));
  if (layout.IsPlain() && dtype == constant.dtype() && !constant.is_splat()) {
    blob.insert(blob.end(), constant.bytes().begin(), constant.bytes().end());
  } else {
    Packer(constant, layout, dtype).AppendTo(blob);
  }
  return start;
}

size_t RoomForWeights(const Graph& graph) {
  size_t bytes = 0;
  for (const Value& value : graph.values) {
    if (value.constant) bytes += value.constant->bytes().size() + kWeightsAlign;
  }
  return bytes + bytes / 8;
}

}  // namespace aotc
