// ConvInteger and MatMulInteger in the form that tiles take: u8 times i8 without zero points. What
// those contribute is added to the sums, constants where that can be:
//
//   sum((a - za) * (w - zw)) = sum(a * w) - za * sum(w) - zw * (sum(a) - terms * za)
#include <algorithm>
#include <utility>

#include "compiler/optimize/channel_affine.h"
#include "compiler/optimize/integer_operands.h"

namespace aotc {
namespace {

// A node with its operands as they are rewritten.
struct IntegerNode {
  bool is_convolution = false;
  IntegerWeights weights = {};
  std::vector<int64_t> weight_zeros = {};  // one per channel
  std::optional<int64_t> input_zero = 0;   // nothing: `zero_value`, of the run
  ValueId zero_value = {};                 // one element
};

bool HasZero(const std::vector<int64_t>& zeros) {
  return std::ranges::any_of(zeros, [](int64_t zero) { return zero != 0; });
}

std::optional<IntegerNode> IntegerNodeOf(const RewriteSite& site) {
  IntegerNode node{.is_convolution = site.node().op == "ConvInteger"};
  if (!node.is_convolution && site.node().op != "MatMulInteger") return std::nullopt;
  auto weights = IntegerWeightsOf(site.ConstantInput(1), node.is_convolution);
  if (!weights || !IsByte(site.InputType(0).dtype)) return std::nullopt;
  if (site.node().attributes.Has("pad_value")) return std::nullopt;  // the form that we make
  node.weights = *std::move(weights);
  const int64_t channels = node.weights.channels;
  node.weight_zeros.assign(static_cast<size_t>(channels), 0);
  if (site.HasInput(3)) {
    const auto zeros = NumbersOf(site.ConstantInput(3), channels);
    if (!zeros) return std::nullopt;
    std::ranges::transform(*zeros, node.weight_zeros.begin(),
                           [](double zero) { return static_cast<int64_t>(zero); });
  }
  if (!site.HasInput(2)) return node;
  const Shape& dims = site.InputType(2).dims;
  if (dims.size() > 1 || (dims.size() == 1 && !dims[0].IsInt(1))) return std::nullopt;
  node.input_zero = std::nullopt;
  node.zero_value = site.node().inputs[2];
  if (const auto zero = NumbersOf(site.ConstantInput(2), 1))
    node.input_zero = static_cast<int64_t>((*zero)[0]);
  // Padding stands for the zero point, which a convolution must know.
  if (node.is_convolution && !node.input_zero) return std::nullopt;
  return node;
}

// The elements less the shifts of their channels, as i8.
Constant Shifted(const IntegerWeights& weights, const std::vector<int64_t>& shifts) {
  std::vector<uint8_t> bytes;
  weights.ForEach([&](size_t channel, int64_t element) {
    bytes.push_back(static_cast<uint8_t>(element - shifts[channel]));
  });
  return Constant::Dense(DType::kI8, weights.stored.dims(), std::move(bytes));
}

// As i8: without their zero points where those differences fit, else u8 less 128, zero points too.
void MakeSigned(IntegerNode& node) {
  bool fits = true;
  node.weights.ForEach([&](size_t channel, int64_t element) {
    const int64_t difference = element - node.weight_zeros[channel];
    fits = fits && difference >= INT8_MIN && difference <= INT8_MAX;
  });
  constexpr int64_t kHalf = 128;
  std::vector<int64_t> shifts(node.weight_zeros.size(),
                              node.weights.stored.dtype() == DType::kU8 ? kHalf : 0);
  if (fits) shifts = node.weight_zeros;
  node.weights.stored = Shifted(node.weights, shifts);
  for (size_t c = 0; c < shifts.size(); ++c) node.weight_zeros[c] -= shifts[c];
}

// An i8 value as u8, 128 more: rounded to that at once, else moved.
ValueId AsUnsigned(RewriteSite& site, ValueId value) {
  constexpr int64_t kHalf = 128;
  const Shape dims = site.TypeOf(value).dims;
  const Node* producer = site.ProducerOf(value);
  if (producer != nullptr && producer->op == "QuantizeLinear") {
    const Node quantize = *producer;
    if (const auto grid = GridOf(site, quantize)) {
      const ValueId zero =
          site.EmitConstant("_zero", Constant::SplatInt(DType::kU8, {}, grid->zero + kHalf));
      Attributes attributes = quantize.attributes;
      attributes.Erase("output_dtype");
      return site.Emit("QuantizeLinear", {quantize.inputs[0], quantize.inputs[1], zero},
                       std::move(attributes), TensorType(DType::kU8, dims));
    }
  }
  const ValueId wide =
      site.Emit("Cast", {value}, CastTo(DType::kI32), TensorType(DType::kI32, dims));
  const ValueId half = site.EmitConstant("_half", Constant::SplatInt(DType::kI32, {}, kHalf));
  const ValueId moved = site.Emit("Add", {wide, half}, {}, TensorType(DType::kI32, dims));
  return site.Emit("Cast", {moved}, CastTo(DType::kU8), TensorType(DType::kU8, dims));
}

// One per channel, wrapped as the sums are.
std::vector<double> Wrapped(const std::vector<int64_t>& numbers) {
  std::vector<double> wrapped;
  for (int64_t number : numbers) wrapped.push_back(static_cast<int32_t>(number));
  return wrapped;
}

// The zero point of the run in i32, one number.
ValueId WideZero(RewriteSite& site, const IntegerNode& node) {
  const ValueId zero = site.EmitReshape(node.zero_value, {});
  return site.Emit("Cast", {zero}, CastTo(DType::kI32), TensorType(DType::kI32, {}));
}

// Sums of one term are none: (a - za) * (w - zw), element by element.
bool ProductsOfOneTerm(RewriteSite& site) {
  std::optional<IntegerNode> node = IntegerNodeOf(site);
  if (!node || node->is_convolution || node->weights.TermCount() != 1) return false;
  if (node->weights.stored.dims().size() != 2) return false;
  const ValueId a = site.node().inputs[0];
  const ValueType wide = TensorType(DType::kI32, site.TypeOf(a).dims);
  ValueId moved = site.Emit("Cast", {a}, CastTo(DType::kI32), wide);
  const int64_t zero = node->input_zero.value_or(0);
  if (!node->input_zero) {
    moved = site.Emit("Sub", {moved, WideZero(site, *node)}, {}, wide);
  } else if (zero != 0) {
    const ValueId number = site.EmitConstant("_zero", Constant::SplatInt(DType::kI32, {}, zero));
    moved = site.Emit("Sub", {moved, number}, {}, wide);
  }
  std::vector<double> weights;
  node->weights.ForEach([&](size_t channel, int64_t element) {
    weights.push_back(static_cast<double>(element - node->weight_zeros[channel]));
  });
  const ValueId numbers = site.EmitConstant("_weights", VectorConstant(DType::kI32, weights));
  return site.ReplaceBy(site.Emit("Mul", {moved, numbers}, {}, site.type()));
}

class SumBuilder {
 public:
  SumBuilder(RewriteSite& site, const IntegerNode& node, ValueId input)
      : site_(site), node_(node), input_(input), type_(site.type()) {}

  ValueId Build() {
    const ValueId weights = site_.EmitConstant("_weights", node_.weights.stored);
    ValueId sums = Contract(weights, type_);
    const std::vector<int64_t> columns = ColumnSums();
    std::vector<int64_t> constant(columns.size(), 0);
    const int64_t terms = node_.weights.TermCount();
    for (size_t c = 0; c < columns.size(); ++c) {
      const int64_t zero = node_.input_zero.value_or(0);
      constant[c] = zero * (node_.weight_zeros[c] * terms - columns[c]);
    }
    if (HasZero(constant)) sums = Combined("Add", sums, Numbers("_correction", constant));
    if (!node_.input_zero) {
      std::vector<int64_t> factors(columns.size());
      for (size_t c = 0; c < columns.size(); ++c)
        factors[c] = columns[c] - node_.weight_zeros[c] * terms;
      sums = Combined("Sub", sums, TimesInputZero(Numbers("_column_sums", factors)));
    }
    if (!HasZero(node_.weight_zeros)) return sums;
    return Combined("Sub", sums, InputSumsTimesZeros());
  }

 private:
  ValueId Contract(ValueId weights, const ValueType& type) {
    Attributes attributes = site_.node().attributes;
    attributes.Erase("pad_value");
    if (node_.is_convolution && *node_.input_zero != 0)
      attributes.Set("pad_value", *node_.input_zero);
    return site_.Emit(site_.node().op, {input_, weights}, std::move(attributes), type);
  }

  ValueId Combined(std::string_view op, ValueId a, ValueId b) {
    return site_.Emit(op, {a, b}, {}, type_);
  }

  ValueId Numbers(std::string_view suffix, const std::vector<int64_t>& numbers) {
    return site_.EmitConstant(
        suffix, PerChannel(DType::kI32, Wrapped(numbers), node_.is_convolution, type_.dims.size()));
  }

  std::vector<int64_t> ColumnSums() const {
    std::vector<int64_t> sums(node_.weight_zeros.size(), 0);
    node_.weights.ForEach([&](size_t channel, int64_t element) { sums[channel] += element; });
    return sums;
  }

  ValueId TimesInputZero(ValueId factors) {
    return site_.Emit("Mul", {factors, WideZero(site_, node_)}, {}, site_.TypeOf(factors));
  }

  // zw * sum(a) of what each result is summed over: a contraction with ones, times the zero points.
  // Each group has sums of its own: there the weights are the zero points themselves.
  ValueId InputSumsTimesZeros() {
    std::vector<int64_t> dims = node_.weights.stored.dims();
    if (site_.node().attributes.Int("group", 1) > 1) {
      IntegerWeights zeros = node_.weights;
      zeros.stored = Constant::SplatInt(DType::kI8, dims, 0).Expanded();
      std::vector<int64_t> shifts = node_.weight_zeros;
      for (int64_t& shift : shifts) shift = -shift;
      return Contract(site_.EmitConstant("_zeros", Shifted(zeros, shifts)), type_);
    }
    ValueType type = type_;
    if (node_.is_convolution) {
      dims[0] = 1;
      type.dims[1] = 1;
    } else if (dims.size() > 1) {
      dims[1] = 1;
      type.dims.back() = 1;
    }
    const ValueId ones = site_.EmitConstant("_ones", Constant::SplatInt(DType::kI8, dims, 1));
    const ValueId sums = Contract(ones, type);
    return site_.Emit("Mul", {sums, Numbers("_weight_zeros", node_.weight_zeros)}, {}, type_);
  }

  RewriteSite& site_;
  const IntegerNode& node_;
  const ValueId input_;
  const ValueType type_;
};

bool WithoutZeroPoints(RewriteSite& site) {
  std::optional<IntegerNode> node = IntegerNodeOf(site);
  if (!node) return false;
  const bool is_signed = site.InputType(0).dtype == DType::kI8;
  const bool done = !is_signed && node->weights.stored.dtype() == DType::kI8 &&
                    !HasZero(node->weight_zeros) && !site.HasInput(2) && !site.HasInput(3);
  if (done) return false;
  MakeSigned(*node);
  ValueId input = site.node().inputs[0];
  constexpr int64_t kHalf = 128;
  if (is_signed) {
    input = AsUnsigned(site, input);
    if (node->input_zero) {
      *node->input_zero += kHalf;
    } else {
      const Shape dims = site.TypeOf(node->zero_value).dims;
      const ValueType wide = TensorType(DType::kI32, dims);
      node->zero_value = site.Emit("Cast", {node->zero_value}, CastTo(DType::kI32), wide);
      const ValueId half = site.EmitConstant("_half", Constant::SplatInt(DType::kI32, {}, kHalf));
      node->zero_value = site.Emit("Add", {node->zero_value, half}, {}, wide);
    }
  }
  return site.ReplaceBy(SumBuilder(site, *node, input).Build());
}

constexpr RewriteRule kRules[] = {WithoutPaddingTaps, ProductsOfOneTerm, WithoutZeroPoints};

}  // namespace

std::span<const RewriteRule> IntegerSumRules() { return kRules; }

}  // namespace aotc
