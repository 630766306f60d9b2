#include "compiler/canonicalize/split_phases.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/canonicalize/phases_apart.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/transposed_window.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Ints = std::vector<int64_t>;

int64_t ProductOf(const Ints& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{1}, std::multiplies<>());
}

struct Plan {
  TransposedWindow window = {};
  Constant weight = {};  // [C, M / groups, kernel...]
  std::optional<Constant> bias = {};
  int64_t groups = 1;
  Ints taps = {};    // of the convolution, per axis
  Ints pads = {};    // of the convolution: begins, ends
  Ints cut = {};     // leading elements of the joined phases that are no part of the result
  Shape count = {};  // spatial dims of the convolution's result

  size_t rank() const { return taps.size(); }
  int64_t Phases() const { return ProductOf(window.strides); }
  int64_t Outputs() const { return weight.dims()[1] * groups; }
};

// Fills in one axis; false where its pads are not known.
bool AddAxis(Plan& plan, size_t d, const Bounds& bounds) {
  const TransposedWindow& w = plan.window;
  const int64_t stride = w.strides[d];
  const std::optional<int64_t> begin = w.pad_begin[d].AsInt();
  // The last result reads input element L - 1 + beyond with its first tap.
  const Expr last = FloorDiv(w.pad_begin[d] + w.out[d] - 1, stride);
  const std::optional<int64_t> beyond = Simplify(last - (w.input[d] - 1), bounds).AsInt();
  if (!begin || !beyond) return false;
  const int64_t taps = (w.Reach(d) + stride - 1) / stride;
  const int64_t first = std::min(*begin / stride, taps - 1);
  plan.taps.push_back(taps);
  plan.pads.insert(plan.pads.begin() + static_cast<int64_t>(d), taps - 1 - first);
  plan.pads.push_back(std::max<int64_t>(*beyond, 0));
  plan.cut.push_back(*begin - first * stride);
  plan.count.push_back(
      Simplify(w.input[d] + (plan.pads[d] + plan.pads.back() - (taps - 1)), bounds));
  return true;
}

// Whether nearly all weights of the phases would be zeros: a stride or a dilation far beyond the
// kernel.
bool IsSparse(const Plan& plan) {
  constexpr double kMostGrowth = 64;
  double growth = 1;
  for (size_t d = 0; d < plan.taps.size(); ++d) {
    growth *= static_cast<double>(plan.taps[d]) * static_cast<double>(plan.window.strides[d]) /
              static_cast<double>(plan.weight.dims()[d + 2]);
  }
  return growth > kMostGrowth;
}

// Whether some phase has fewer taps than others: a weight of zero in their place makes NaN of an
// infinity that the result does not depend on.
bool HasHoles(const Plan& plan) {
  for (size_t d = 0; d < plan.rank(); ++d) {
    if (plan.window.dilations[d] != 1 || plan.window.kernel[d] % plan.window.strides[d] != 0)
      return true;
  }
  return false;
}

std::optional<Plan> PlanFor(const Graph& graph, const Node& node) {
  if (node.op != "ConvTranspose" || node.inputs.size() < 2) return std::nullopt;
  const std::optional<Constant>& weight = graph.values[node.inputs[1]].constant;
  if (!weight) return std::nullopt;
  Plan plan;
  plan.weight = weight->Expanded();
  plan.groups = node.attributes.Int("group", 1);
  if (HasInput(node, 2)) {
    const std::optional<Constant>& bias = graph.values[node.inputs[2]].constant;
    if (!bias) return std::nullopt;
    plan.bias = bias->Expanded();
  }
  const Bounds bounds = BoundsOf(graph.symbols);
  absl::StatusOr<TransposedWindow> window = MakeTransposedWindow(
      node, graph.values[node.inputs[0]].type.dims, plan.weight.dims(), bounds);
  if (!window.ok()) return std::nullopt;  // the op itself complains
  plan.window = *std::move(window);
  for (size_t d = 0; d < plan.window.rank(); ++d) {
    if (!AddAxis(plan, d, bounds)) return std::nullopt;
  }
  if (IsSparse(plan)) return std::nullopt;
  return plan;
}

// Calls `visit` with every index of a box, in row-major order.
void ForEachIndex(const Ints& dims, const std::function<void(const Ints&)>& visit) {
  Ints index(dims.size(), 0);
  for (int64_t n = ProductOf(dims); n > 0; --n) {
    visit(index);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}

// Where in the taps of the transposed weight, or nothing, tap `tap` of phase `phase` comes from.
std::optional<int64_t> TapOffset(const Plan& plan, const Ints& phase, const Ints& tap) {
  int64_t offset = 0;
  for (size_t d = 0; d < plan.rank(); ++d) {
    const int64_t at = (plan.taps[d] - 1 - tap[d]) * plan.window.strides[d] + phase[d];
    const int64_t dilation = plan.window.dilations[d];
    if (at % dilation != 0 || at / dilation >= plan.window.kernel[d]) return std::nullopt;
    offset = offset * plan.window.kernel[d] + at / dilation;
  }
  return offset;
}

// Where the element for output m and input c of its group, at the first tap, lies in the taps of
// all channels: of the transposed weight [C, M / groups, ...] and of one phase of the
// convolution's.
struct ChannelOffsets {
  int64_t from, to;
};

ChannelOffsets OffsetsOf(const Plan& plan, int64_t phase, int64_t m, int64_t c) {
  const int64_t group_inputs = plan.weight.dims()[0] / plan.groups;
  const int64_t group_outputs = plan.weight.dims()[1];
  const int64_t first_input = m / group_outputs * group_inputs;
  const int64_t from = (first_input + c) * group_outputs + m % group_outputs;
  return {from, (m * plan.Phases() + phase) * group_inputs + c};
}

// [M * phases, C / groups, taps...] of the convolution.
Constant ConvolutionWeight(const Plan& plan) {
  const int64_t group_inputs = plan.weight.dims()[0] / plan.groups;
  const int64_t taps = ProductOf(plan.taps), kernel = ProductOf(plan.window.kernel);
  Ints dims = {plan.Outputs() * plan.Phases(), group_inputs};
  dims.insert(dims.end(), plan.taps.begin(), plan.taps.end());
  const auto width = static_cast<size_t>(ByteWidth(plan.weight.dtype()));
  std::vector<uint8_t> bytes(static_cast<size_t>(ProductOf(dims)) * width);
  const auto copy = [&](int64_t to, int64_t from) {
    std::memcpy(bytes.data() + static_cast<size_t>(to) * width,
                plan.weight.bytes().data() + static_cast<size_t>(from) * width, width);
  };
  const auto copy_tap = [&](int64_t phase, int64_t tap, int64_t source_tap) {
    for (int64_t m = 0; m < plan.Outputs(); ++m) {
      for (int64_t c = 0; c < group_inputs; ++c) {
        const ChannelOffsets at = OffsetsOf(plan, phase, m, c);
        copy(at.to * taps + tap, at.from * kernel + source_tap);
      }
    }
  };
  int64_t phase_index = 0;
  ForEachIndex(plan.window.strides, [&](const Ints& phase) {
    int64_t tap_index = 0;
    ForEachIndex(plan.taps, [&](const Ints& tap) {
      const std::optional<int64_t> source_tap = TapOffset(plan, phase, tap);
      if (source_tap) copy_tap(phase_index, tap_index, *source_tap);
      ++tap_index;
    });
    ++phase_index;
  });
  return Constant::Dense(plan.weight.dtype(), std::move(dims), std::move(bytes));
}

// Each element once per phase.
Constant ConvolutionBias(const Plan& plan) {
  const std::span<const uint8_t> bytes = plan.bias->bytes();
  const auto width = static_cast<size_t>(ByteWidth(plan.bias->dtype()));
  std::vector<uint8_t> repeated;
  for (size_t begin = 0; begin < bytes.size(); begin += width) {
    for (int64_t p = 0; p < plan.Phases(); ++p) {
      repeated.insert(repeated.end(), bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                      bytes.begin() + static_cast<std::ptrdiff_t>(begin + width));
    }
  }
  return Constant::Dense(plan.bias->dtype(), {plan.Outputs() * plan.Phases()}, std::move(repeated));
}

class Emitter {
 public:
  Emitter(Rebuilder& rebuilder, const Node& node, const Plan& plan)
      : rebuilder_(rebuilder),
        node_(node),
        plan_(plan),
        type_(rebuilder.old_graph().values[node.outputs[0]].type) {}

  ValueId Emit() {
    ValueId result = Convolution();
    if (plan_.Phases() > 1) result = JoinPhases(result);
    return Cut(result);
  }

 private:
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
              Shape shape) {
    return rebuilder_.Emit(op, std::move(inputs), std::move(attributes),
                           TensorType(type_.dtype, std::move(shape)), node_);
  }

  std::string Name(std::string_view suffix) const {
    return StrCat(rebuilder_.old_graph().values[node_.outputs[0]].name, "_", suffix);
  }

  ValueId Numbers(std::string_view suffix, const Ints& values) {
    return rebuilder_.graph().AddConstant(Name(suffix), Constant::Ints(values));
  }

  ValueId Convolution() {
    Graph& graph = rebuilder_.graph();
    std::vector<ValueId> inputs = {rebuilder_.Mapped(node_.inputs[0]),
                                   graph.AddConstant(Name("weight"), ConvolutionWeight(plan_))};
    if (plan_.bias) inputs.push_back(graph.AddConstant(Name("bias"), ConvolutionBias(plan_)));
    Attributes attributes;
    if (plan_.groups > 1) attributes.Set("group", plan_.groups);
    attributes.Set("pads", plan_.pads);
    Shape shape = {type_.dims[0], Expr(plan_.Outputs() * plan_.Phases())};
    shape.insert(shape.end(), plan_.count.begin(), plan_.count.end());
    return Add("Conv", std::move(inputs), std::move(attributes), std::move(shape));
  }

  // The elements under another shape, which may hold symbols.
  ValueId Reshape(ValueId x, Shape shape) {
    ValueId target;
    if (std::optional<Ints> dims = StaticDims(shape)) {
      target = Numbers("shape", *dims);
    } else {
      const Shape rank = {Expr(static_cast<int64_t>(shape.size()))};
      target = rebuilder_.Emit("Elements", {}, {}, TensorType(DType::kI64, rank), node_);
      rebuilder_.graph().values[target].elements = shape;
    }
    return Add("Reshape", {x, target}, {}, std::move(shape));
  }

  // [N, M * phases, count...] -> [N, M, count * stride...]
  ValueId JoinPhases(ValueId x) {
    const size_t rank = plan_.rank();
    Shape apart = {type_.dims[0], Expr(plan_.Outputs())}, ordered = apart, joined = apart;
    Ints order = {0, 1};
    for (int64_t stride : plan_.window.strides) apart.push_back(Expr(stride));
    apart.insert(apart.end(), plan_.count.begin(), plan_.count.end());
    for (size_t d = 0; d < rank; ++d) {
      const Expr& count = plan_.count[d];
      const int64_t stride = plan_.window.strides[d];
      ordered.insert(ordered.end(), {count, Expr(stride)});
      joined.push_back(Simplify(count * stride, BoundsOf(rebuilder_.graph().symbols)));
      order.push_back(static_cast<int64_t>(2 + rank + d));
      order.push_back(static_cast<int64_t>(2 + d));
    }
    Attributes perm;
    perm.Set("perm", order);
    x = Add("Transpose", {Reshape(x, apart)}, std::move(perm), ordered);
    return Reshape(x, joined);
  }

  // The part that is the result: [cut, cut + out) of each spatial axis.
  ValueId Cut(ValueId x) {
    Ints begins, axes;
    Shape ends;
    for (size_t d = 0; d < plan_.rank(); ++d) {
      const Expr whole = plan_.count[d] * plan_.window.strides[d];
      const Bounds bounds = BoundsOf(rebuilder_.graph().symbols);
      if (plan_.cut[d] == 0 && ProveEqual(whole, plan_.window.out[d], bounds)) continue;
      begins.push_back(plan_.cut[d]);
      axes.push_back(static_cast<int64_t>(d) + 2);
      // From the end, where the dim is a symbol.
      const Expr end = plan_.window.out[d] + plan_.cut[d];
      ends.push_back(end.AsInt() ? end : Simplify(end - whole, bounds));
      if (ends.back().IsInt(0)) ends.back() = Expr(INT64_MAX);
    }
    if (axes.empty()) return x;
    return Add(
        "Slice",
        {x, Numbers("begin", begins), Numbers("end", *StaticDims(ends)), Numbers("axes", axes)}, {},
        type_.dims);
  }

  Rebuilder& rebuilder_;
  const Node& node_;
  const Plan& plan_;
  const ValueType type_;
};

}  // namespace

absl::StatusOr<Graph> SplitPhases(const Graph& graph, PassContext& context) {
  const bool exact = context.Config(kFastMath) == 0;
  const int64_t block = context.target().contracts.channel_block;
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (EmitPhasesApart(rebuilder, node, std::max<int64_t>(block, 1))) return true;
    const std::optional<Plan> plan = PlanFor(graph, node);
    if (!plan || (exact && HasHoles(*plan))) return false;
    rebuilder.Replace(node.outputs[0], Emitter(rebuilder, node, *plan).Emit());
    return true;
  });
}

}  // namespace aotc
