// Taps of ConvInteger that only read padding: what they add is nothing, as long as padding stands
// for the zero point of the input. Small images under large windows have many of them:
//
//   %y = ConvInteger(%x, %w, %zx) {pads=[1, 1, 1, 1]}     // %x: [1, 8, 1, 1], %w: [8, 8, 3, 3]
//
//   %y = ConvInteger(%x, %v, %zx)                         // %v: [8, 8, 1, 1]
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/optimize/integer_operands.h"

namespace aotc {
namespace {

constexpr size_t kSpatial = 2;  // the first such axis

struct Taps {
  int64_t begin = 0, end = 0;
};

// One spatial axis of a convolution.
struct SlidingAxis {
  int64_t input = 0, output = 0, taps = 0, stride = 1, dilation = 1, before = 0;

  // Those that read an element of some window; at least one.
  Taps Used() const {
    Taps used{0, taps};
    const auto first = [&](int64_t tap) { return tap * dilation - before; };
    while (used.begin + 1 < taps && (output - 1) * stride + first(used.begin) < 0) ++used.begin;
    while (used.end > used.begin + 1 && first(used.end - 1) >= input) --used.end;
    return used;
  }
};

int64_t At(const std::vector<int64_t>& values, size_t index, int64_t otherwise) {
  return index < values.size() ? values[index] : otherwise;
}

// Nothing where sizes are those of the run.
std::optional<SlidingAxis> AxisOf(const RewriteSite& site, const Constant& weights, size_t axis) {
  const Attributes& attributes = site.node().attributes;
  const auto input = site.InputType(0).dims[kSpatial + axis].AsInt();
  const auto output = site.type().dims[kSpatial + axis].AsInt();
  if (!input || !output) return std::nullopt;
  return SlidingAxis{.input = *input,
                     .output = *output,
                     .taps = weights.dims()[kSpatial + axis],
                     .stride = At(attributes.Ints("strides"), axis, 1),
                     .dilation = At(attributes.Ints("dilations"), axis, 1),
                     .before = At(attributes.Ints("pads"), axis, 0)};
}

// The taps along `axis` of bytes.
Constant WithTaps(const Constant& weights, size_t axis, const Taps& taps) {
  std::vector<int64_t> dims = weights.dims();
  size_t inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= static_cast<size_t>(dims[i]);
  const auto all = static_cast<size_t>(dims[axis]) * inner;
  const std::span<const uint8_t> from = weights.bytes();
  std::vector<uint8_t> bytes;
  for (size_t outer = 0; outer < from.size(); outer += all) {
    const auto row = from.subspan(outer + static_cast<size_t>(taps.begin) * inner,
                                  static_cast<size_t>(taps.end - taps.begin) * inner);
    bytes.insert(bytes.end(), row.begin(), row.end());
  }
  dims[axis] = taps.end - taps.begin;
  return Constant::Dense(weights.dtype(), std::move(dims), std::move(bytes));
}

// The elements of `value` along an axis.
ValueId EmitPart(RewriteSite& site, ValueId value, size_t axis, int64_t begin, int64_t end) {
  ValueType type = site.TypeOf(value);
  type.dims[axis] = end - begin;
  const auto number = [&](int64_t n) { return site.EmitConstant("_bound", Constant::Ints({n})); };
  const ValueId first = number(begin), last = number(end);
  return site.Emit("Slice", {value, first, last, number(static_cast<int64_t>(axis))}, {}, type);
}

}  // namespace

bool WithoutPaddingTaps(RewriteSite& site) {
  const Node node = site.node();
  if (node.op != "ConvInteger" || node.attributes.Has("pad_value")) return false;
  if (node.attributes.String("auto_pad", "NOTSET") != "NOTSET") return false;
  const auto weights = IntegerWeightsOf(site.ConstantInput(1), /*is_convolution=*/true);
  if (!weights) return false;
  Constant stored = weights->stored;
  const size_t rank = stored.dims().size() - kSpatial;
  std::vector<int64_t> pads = node.attributes.Ints("pads");
  pads.resize(2 * rank, 0);
  ValueId input = node.inputs[0];
  for (size_t d = 0; d < rank; ++d) {
    const std::optional<SlidingAxis> axis = AxisOf(site, stored, d);
    if (!axis) continue;
    const Taps used = axis->Used();
    if (used.begin == 0 && used.end == axis->taps) continue;
    stored = WithTaps(stored, kSpatial + d, used);
    pads[d] -= used.begin * axis->dilation;
    pads[rank + d] -= (axis->taps - used.end) * axis->dilation;
    const int64_t begin = std::max<int64_t>(0, -pads[d]);
    const int64_t end = axis->input + std::min<int64_t>(0, pads[rank + d]);
    if (begin >= end) return false;  // no tap reads an element
    if (begin > 0 || end < axis->input) input = EmitPart(site, input, kSpatial + d, begin, end);
    pads[d] = std::max<int64_t>(0, pads[d]);
    pads[rank + d] = std::max<int64_t>(0, pads[rank + d]);
  }
  if (stored.element_count() == weights->stored.element_count()) return false;
  Attributes attributes = node.attributes;
  attributes.Erase("kernel_shape");
  attributes.Set("pads", std::move(pads));
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = input;
  inputs[1] = site.EmitConstant("_taps", stored);
  return site.ReplaceBy(site.Emit(node.op, std::move(inputs), std::move(attributes), site.type()));
}

}  // namespace aotc
