#include "compiler/canonicalize/phases_apart.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/transposed_window.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Ints = std::vector<int64_t>;

// Phase `remainder` along one axis of the window.
struct PhaseAxis {
  int64_t first_tap = 0;  // of the transposed weight: taps first_tap, first_tap + stride ...
  int64_t taps = 0;
  int64_t pad_begin = 0, pad_end = 0;  // of the convolution
  Expr count = {};                     // of its result
};

std::optional<PhaseAxis> PhaseAlong(const TransposedWindow& window, size_t axis, int64_t remainder,
                                    const Bounds& bounds) {
  const std::optional<int64_t> cut = window.pad_begin[axis].AsInt();
  if (!cut) return std::nullopt;
  const int64_t stride = window.strides[axis], at = remainder + *cut;
  PhaseAxis phase{.first_tap = at % stride};
  phase.taps = (window.kernel[axis] - phase.first_tap + stride - 1) / stride;
  phase.count = Simplify(CeilDiv(window.out[axis] - remainder, stride), bounds);
  phase.pad_begin = phase.taps - 1 - at / stride;
  const std::optional<int64_t> beyond =
      Simplify(phase.count + at / stride - window.input[axis], bounds).AsInt();
  if (phase.taps < 1 || phase.pad_begin < 0 || beyond.value_or(-1) < 0) return std::nullopt;
  phase.pad_end = *beyond;
  return phase;
}

class PhaseEmitter {
 public:
  PhaseEmitter(Rebuilder& rebuilder, const Node& node) : rebuilder_(rebuilder), node_(node) {}

  bool Read(int64_t block) {
    const Graph& graph = rebuilder_.old_graph();
    if (node_.op != "ConvTranspose" || node_.inputs.size() < 2) return false;
    const std::optional<Constant>& weight = graph.values[node_.inputs[1]].constant;
    if (!weight) return false;
    type_ = graph.values[node_.outputs[0]].type;
    weight_ = weight->Expanded();
    groups_ = node_.attributes.Int("group", 1);
    const Bounds bounds = BoundsOf(graph.symbols);
    absl::StatusOr<TransposedWindow> window = MakeTransposedWindow(
        node_, graph.values[node_.inputs[0]].type.dims, weight_.dims(), bounds);
    if (!window.ok()) return false;  // the op itself complains
    strides_ = window->strides;
    const auto is_one = [](int64_t dilation) { return dilation == 1; };
    if (Phases() == 1 || Phases() > kMostPhases || weight_.dims()[1] * groups_ % block != 0 ||
        !std::ranges::all_of(window->dilations, is_one))
      return false;
    axes_.resize(strides_.size());
    for (size_t d = 0; d < strides_.size(); ++d) {
      for (int64_t remainder = 0; remainder < strides_[d]; ++remainder) {
        const std::optional<PhaseAxis> phase = PhaseAlong(*window, d, remainder, bounds);
        if (!phase) return false;
        axes_[d].push_back(*phase);
      }
    }
    return true;
  }

  // The phases whose leading remainders are `phase`, joined along the other axes.
  ValueId Emit(const std::vector<size_t>& phase = {}) {
    const size_t d = phase.size();
    if (d == axes_.size()) return Convolution(phase);
    std::vector<ValueId> parts;
    for (size_t remainder = 0; remainder < axes_[d].size(); ++remainder) {
      std::vector<size_t> next = phase;
      next.push_back(remainder);
      parts.push_back(Emit(next));
    }
    if (parts.size() == 1) return parts[0];
    Shape shape = rebuilder_.graph().values[parts[0]].type.dims;
    shape[d + 2] = type_.dims[d + 2];
    Attributes axis;
    axis.Set("axis", static_cast<int64_t>(d) + 2);
    return rebuilder_.Emit("Interleave", std::move(parts), std::move(axis),
                           TensorType(type_.dtype, std::move(shape)), node_);
  }

 private:
  // ConvTranspose has at most three spatial axes of stride 2; each phase is a launch.
  static constexpr int64_t kMostPhases = 8;

  int64_t Phases() const {
    return std::accumulate(strides_.begin(), strides_.end(), int64_t{1}, std::multiplies<>());
  }

  ValueId Convolution(const std::vector<size_t>& phase) {
    Ints begins, ends;
    Shape shape = {type_.dims[0], type_.dims[1]};
    std::string suffix = "phase";
    for (size_t d = 0; d < phase.size(); ++d) {
      const PhaseAxis& axis = axes_[d][phase[d]];
      begins.push_back(axis.pad_begin);
      ends.push_back(axis.pad_end);
      shape.push_back(axis.count);
      StrAppend(&suffix, "_", phase[d]);
    }
    begins.insert(begins.end(), ends.begin(), ends.end());
    Attributes attributes;
    if (groups_ > 1) attributes.Set("group", groups_);
    attributes.Set("pads", begins);
    const std::string& name = rebuilder_.old_graph().values[node_.outputs[0]].name;
    std::vector<ValueId> inputs = {
        rebuilder_.Mapped(node_.inputs[0]),
        rebuilder_.graph().AddConstant(StrCat(name, "_weight_", suffix), WeightOf(phase))};
    if (HasInput(node_, 2)) inputs.push_back(rebuilder_.Mapped(node_.inputs[2]));
    return rebuilder_.Emit("Conv", std::move(inputs), std::move(attributes),
                           TensorType(type_.dtype, std::move(shape)), node_);
  }

  // The taps of one channel pair: offsets in the transposed weight, in the convolution's order,
  // which is the reverse.
  Ints TapsOf(const std::vector<size_t>& phase) const {
    Ints taps = {0};
    for (size_t d = 0; d < phase.size(); ++d) {
      const PhaseAxis& axis = axes_[d][phase[d]];
      Ints next;
      for (const int64_t before : taps) {
        for (int64_t j = axis.taps; j-- > 0;) {
          next.push_back(before * weight_.dims()[d + 2] + axis.first_tap + strides_[d] * j);
        }
      }
      taps = std::move(next);
    }
    return taps;
  }

  // [M, C / groups, taps...] of [C, M / groups, kernel...].
  Constant WeightOf(const std::vector<size_t>& phase) const {
    const Ints& from = weight_.dims();
    const Ints taps = TapsOf(phase);
    const int64_t group_inputs = from[0] / groups_, group_outputs = from[1];
    int64_t kernel = 1;
    Ints dims = {group_outputs * groups_, group_inputs};
    for (size_t d = 0; d < phase.size(); ++d) {
      dims.push_back(axes_[d][phase[d]].taps);
      kernel *= from[d + 2];
    }
    const auto width = static_cast<int64_t>(ByteWidth(weight_.dtype()));
    std::vector<uint8_t> bytes;
    for (int64_t m = 0; m < dims[0]; ++m) {
      for (int64_t c = 0; c < group_inputs; ++c) {
        const int64_t input = m / group_outputs * group_inputs + c;
        const int64_t first = (input * group_outputs + m % group_outputs) * kernel;
        for (const int64_t tap : taps) {
          const auto element = weight_.bytes().begin() + (first + tap) * width;
          bytes.insert(bytes.end(), element, element + width);
        }
      }
    }
    return Constant::Dense(weight_.dtype(), std::move(dims), std::move(bytes));
  }

  Rebuilder& rebuilder_;
  const Node& node_;
  ValueType type_ = {};
  Constant weight_ = {};  // [C, M / groups, kernel...]
  int64_t groups_ = 1;
  Ints strides_ = {};
  std::vector<std::vector<PhaseAxis>> axes_ = {};  // per axis and remainder
};

}  // namespace

bool EmitPhasesApart(Rebuilder& rebuilder, const Node& node, int64_t block) {
  PhaseEmitter emitter(rebuilder, node);
  if (!emitter.Read(block)) return false;
  rebuilder.Replace(node.outputs[0], emitter.Emit());
  return true;
}

}  // namespace aotc
