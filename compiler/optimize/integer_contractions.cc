#include "compiler/optimize/integer_contractions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/optimize/integer_operands.h"

namespace aotc {
namespace {

// What becomes of sums: sums + bias, in i32, times a factor per channel.
struct Scaling {
  bool is_convolution = false;
  std::vector<double> factors = {};  // one per output channel, numbers of f32
  std::vector<double> bias = {};     // in i32; empty: none
};

// The sums plus bias, times factors.
ValueId EmitScaled(RewriteSite& site, ValueId sums, const Scaling& scaling) {
  const Shape dims = site.TypeOf(sums).dims;
  if (!scaling.bias.empty()) {
    const ValueId bias = site.EmitConstant(
        "_bias", PerChannel(DType::kI32, scaling.bias, scaling.is_convolution, dims.size()));
    sums = site.Emit("Add", {sums, bias}, {}, TensorType(DType::kI32, dims));
  }
  const ValueId factors = site.EmitConstant(
      "_factors", PerChannel(DType::kF32, scaling.factors, scaling.is_convolution, dims.size()));
  return EmitScaled(site, sums, factors);
}

std::string_view SumOp(bool is_convolution) {
  return is_convolution ? "ConvInteger" : "MatMulInteger";
}

// ---- Operands that are dequantised ---

// The rows of a matrix as columns.
Constant Transposed(const Constant& matrix) {
  const int64_t rows = matrix.dims()[0], columns = matrix.dims()[1];
  const std::span<const uint8_t> from = matrix.bytes();
  std::vector<uint8_t> bytes;
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) bytes.push_back(from[static_cast<size_t>(r * columns + c)]);
  }
  return Constant::Dense(matrix.dtype(), {columns, rows}, std::move(bytes));
}

// A node over dequantised operands, as integers.
struct Dequantized {
  ValueId input = {};
  QuantGrid grid = {};  // of the input
  IntegerWeights weights = {};
  std::vector<double> weight_scales = {};
  std::vector<double> weight_zeros = {};
  ValueId bias = {};
};

// The axis of the scales is that of the output channels.
bool IsPerChannel(const Node& dequantize, const Constant& scales, int64_t rank, int64_t axis) {
  if (scales.element_count() == 1) return true;
  const int64_t stated = dequantize.attributes.Int("axis", 1);
  return (stated < 0 ? stated + rank : stated) == axis;
}

bool ReadWeights(const RewriteSite& site, const Node& dequantize, Dequantized& result) {
  const Node& node = site.node();
  const bool is_convolution = node.op == "Conv";
  const bool is_transposed = node.op == "Gemm" && node.attributes.Int("transB") != 0;
  const Constant* stored = site.ConstantOf(dequantize.inputs[0]);
  const Constant* scales = site.ConstantOf(dequantize.inputs[1]);
  auto weights = IntegerWeightsOf(stored, is_convolution);
  if (!weights || scales == nullptr || scales->dtype() != DType::kF32) return false;
  if (dequantize.attributes.Int("block_size") != 0) return false;
  const auto rank = static_cast<int64_t>(stored->dims().size());
  const auto axis = is_transposed ? 0 : static_cast<int64_t>(weights->axis);
  if (!IsPerChannel(dequantize, *scales, rank, axis)) return false;
  if (is_transposed) {
    weights->stored = Transposed(weights->stored);
    weights->channels = stored->dims()[0];
  }
  const auto factors = NumbersOf(scales, weights->channels);
  if (!factors) return false;
  result.weight_scales = *factors;
  result.weight_zeros.assign(factors->size(), 0);
  if (dequantize.inputs.size() > 2 && dequantize.inputs[2].valid()) {
    const auto zeros = NumbersOf(site.ConstantOf(dequantize.inputs[2]), weights->channels);
    if (!zeros) return false;
    result.weight_zeros = *zeros;
  }
  result.weights = *std::move(weights);
  return true;
}

std::optional<Dequantized> DequantizedOf(const RewriteSite& site) {
  const Node& node = site.node();
  const bool is_gemm = node.op == "Gemm";
  if (node.op != "Conv" && node.op != "MatMul" && !is_gemm) return std::nullopt;
  if (is_gemm && (node.attributes.Int("transA") != 0 || node.attributes.Float("alpha", 1) != 1 ||
                  node.attributes.Float("beta", 1) != 1)) {
    return std::nullopt;
  }
  const Node *x = site.Producer(0), *w = site.Producer(1);
  if (x == nullptr || w == nullptr || w->op != "DequantizeLinear" || x->op != "DequantizeLinear") {
    return std::nullopt;
  }
  const auto grid = GridOf(site, *x);
  Dequantized result{.input = x->inputs[0]};
  if (!grid || !ReadWeights(site, *w, result)) return std::nullopt;
  result.grid = *grid;
  if (site.HasInput(2)) result.bias = node.inputs[2];
  return result;
}

// The bias in units of the factors, where it is whole numbers of them (a DequantizeLinear of i32
// was folded): f32(n) * factor gives it bit by bit.
std::optional<std::vector<double>> WholeBias(const RewriteSite& site, const Dequantized& d,
                                             const std::vector<double>& factors) {
  const Constant* bias = d.bias.valid() ? site.ConstantOf(d.bias) : nullptr;
  if (bias == nullptr) return std::nullopt;
  const auto numbers = NumbersOf(bias, static_cast<int64_t>(factors.size()));
  if (!numbers) return std::nullopt;
  std::vector<double> whole;
  for (size_t c = 0; c < factors.size(); ++c) {
    const double count = std::nearbyint((*numbers)[c] / factors[c]);
    // A scale that was multiplied in another precision is off by a few units in the last place.
    const double off = std::abs(count * factors[c] - (*numbers)[c]);
    constexpr double kRounding = 0x1p-22;
    if (!(std::abs(count) <= INT32_MAX) || off > kRounding * std::abs((*numbers)[c]))
      return std::nullopt;
    whole.push_back(count);
  }
  return whole;
}

// No sum leaves i32, whatever the input holds.
bool FitsSums(const Dequantized& d, const std::vector<double>& bias) {
  std::vector<double> most(d.weight_scales.size(), 0);
  if (!bias.empty()) {
    std::ranges::transform(bias, most.begin(), [](double b) { return std::abs(b); });
  }
  constexpr double kMostInput = 255;
  d.weights.ForEach([&](size_t channel, int64_t element) {
    most[channel] += kMostInput * std::abs(static_cast<double>(element) - d.weight_zeros[channel]);
  });
  return std::ranges::all_of(most, [](double sum) { return sum <= INT32_MAX; });
}

ValueId EmitZero(RewriteSite& site, const char* suffix, DType type,
                 const std::vector<double>& zeros) {
  const bool any = std::ranges::any_of(zeros, [](double zero) { return zero != 0; });
  if (!any) return {};
  const bool same = std::ranges::all_of(zeros, [&](double zero) { return zero == zeros[0]; });
  if (same) return site.EmitConstant(suffix, Constant::Splat(type, {}, zeros[0]));
  return site.EmitConstant(suffix, PerChannel(type, zeros, false, 1));
}

bool OverDequantized(RewriteSite& site) {
  const std::optional<Dequantized> d = DequantizedOf(site);
  if (!d) return false;
  const bool is_convolution = site.node().op == "Conv";
  Scaling scaling{.is_convolution = is_convolution};
  for (double scale : d->weight_scales) {
    scaling.factors.push_back(static_cast<float>(d->grid.scale * scale));
    if (!std::isnormal(static_cast<float>(scaling.factors.back()))) return false;
  }
  const auto bias = WholeBias(site, *d, scaling.factors);
  if (bias) scaling.bias = *bias;
  if (!FitsSums(*d, scaling.bias)) return false;
  const ValueId weights = site.EmitConstant("_stored", d->weights.stored);
  std::vector<ValueId> inputs = {
      d->input, weights,
      EmitZero(site, "_input_zero", site.TypeOf(d->input).dtype,
               {static_cast<double>(d->grid.zero)}),
      EmitZero(site, "_weight_zero", d->weights.stored.dtype(), d->weight_zeros)};
  while (!inputs.back().valid()) inputs.pop_back();
  const ValueType type = TensorType(DType::kI32, site.type().dims);
  const Attributes attributes = is_convolution ? site.node().attributes : Attributes();
  const ValueId sums = site.Emit(SumOp(is_convolution), std::move(inputs), attributes, type);
  ValueId result = EmitScaled(site, sums, scaling);
  if (d->bias.valid() && !bias) {
    ValueId rest = d->bias;
    if (is_convolution) {
      Shape dims(site.type().dims.size() - 1, Expr(1));
      dims[0] = site.type().dims[1];
      rest = site.EmitReshape(rest, dims);
    }
    result = site.Emit("Add", {result, rest}, {}, site.type());
  }
  return site.ReplaceBy(result);
}

// ---- QLinearConv and QLinearMatMul ---

bool OverQuantized(RewriteSite& site) {
  const Node& node = site.node();
  const bool is_convolution = node.op == "QLinearConv";
  if (!is_convolution && node.op != "QLinearMatMul") return false;
  const auto weights = IntegerWeightsOf(site.ConstantInput(3), is_convolution);
  if (!weights) return false;
  const auto left = NumbersOf(site.ConstantInput(1), 1);
  const auto right = NumbersOf(site.ConstantInput(4), weights->channels);
  const auto result = NumbersOf(site.ConstantInput(6), 1);
  if (!left || !right || !result) return false;
  for (size_t i : {1, 4, 6}) {
    if (site.InputType(i).dtype != DType::kF32) return false;
  }
  Scaling scaling{.is_convolution = is_convolution};
  for (double scale : *right) {  // rounded as the op rounds them
    const float product = static_cast<float>((*left)[0]) * static_cast<float>(scale);
    scaling.factors.push_back(product / static_cast<float>((*result)[0]));
  }
  if (site.HasInput(8)) {
    const auto bias = NumbersOf(site.ConstantInput(8), weights->channels);
    if (!bias) return false;
    scaling.bias = *bias;
  }
  const ValueId zero = site.HasInput(7) ? node.inputs[7] : ValueId();
  std::vector<ValueId> inputs = {node.inputs[0], node.inputs[3], node.inputs[2], node.inputs[5]};
  const ValueId sums = site.Emit(SumOp(is_convolution), std::move(inputs), node.attributes,
                                 TensorType(DType::kI32, site.type().dims));
  return ReplaceByRounded(site, EmitScaled(site, sums, scaling), zero);
}

// What was left as it is (canonicalize/infer_and_fold.cc) becomes a constant: Emit folds.
bool DequantizedConstant(RewriteSite& site) {
  const bool is_constant = site.node().op == "DequantizeLinear" && site.ConstantInput(0) != nullptr;
  if (!is_constant || site.node().attributes.Has("stored")) return false;
  const ValueId result =
      site.Emit(site.node().op, site.node().inputs, site.node().attributes, site.type());
  return site.ConstantOf(result) != nullptr && site.ReplaceBy(result);
}

constexpr RewriteRule kRules[] = {OverDequantized, OverQuantized};
constexpr RewriteRule kLeftovers[] = {DequantizedConstant};

}  // namespace

absl::StatusOr<Graph> IntegerContractions(const Graph& graph, PassContext&) {
  std::vector<RewriteRule> rules(std::begin(kRules), std::end(kRules));
  for (std::span<const RewriteRule> table :
       {IntegerSumRules(), IntegerProductRules(), QuantizeRules()}) {
    rules.insert(rules.end(), table.begin(), table.end());
  }
  absl::StatusOr<Graph> rewritten = RewriteUntilDone(graph, rules);
  if (!rewritten.ok()) return rewritten;
  return RewriteUntilDone(*rewritten, kLeftovers);
}

}  // namespace aotc
