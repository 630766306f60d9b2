// The rule of differentiation of Conv, and the gradients of its input and weight, which are sums of
// products too.
#include "compiler/ops/contraction.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/transposed_window.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

constexpr const char* kOperand = "operand";  // whose gradient it is: 0 the input, 1 the weight

Expansion::NamedValues AttributesOfConv(const GradientContext& c) {
  Expansion::NamedValues attributes;
  for (const auto& [name, value] : c.attributes()) {
    if (name != kOperand) attributes.emplace_back(name, value);
  }
  return attributes;
}

// Of g, the other operand, and the one whose gradient it is.
Quantity OfOperandOfConv(GradientContext& c, int64_t operand, const Quantity& g,
                         const Quantity& other, const Quantity& like) {
  Expansion::NamedValues attributes = AttributesOfConv(c);
  attributes.emplace_back(kOperand, operand);
  return g.To("ConvGradient", {other, like}, attributes);
}

}  // namespace

// The bias is added to all elements of a channel.
absl::Status GradientOfConv(GradientContext& c) {
  const Quantity g = c.OfResult(), x = c.Operand(0), weight = c.Operand(1);
  if (c.Wants(0)) c.Give(0, OfOperandOfConv(c, 0, g, weight, x));
  if (c.Wants(1)) c.Give(1, OfOperandOfConv(c, 1, g, x, weight));
  if (c.Wants(2)) c.Give(2, SummedToChannels(g));
  return absl::OkStatus();
}

namespace {

// Element (n, c, q) sums over the output channels m of the group and the taps k for which some
// window p has p * stride + k * dilation - pad = q.
Tensor SumsForInput(TensorBuilder& b, const Convolution& conv, const Tensor& g) {
  const Tensor& weight = conv.weight;
  const int64_t group_outputs = *weight.dim(0).AsInt() / conv.groups;
  const int64_t group_inputs = *weight.dim(1).AsInt();
  const TransposedWindow window = {.input = conv.window.out,
                                   .out = conv.window.input,
                                   .kernel = conv.window.kernel,
                                   .strides = conv.window.strides,
                                   .dilations = conv.window.dilations,
                                   .pad_begin = conv.window.pad_begin};
  Contraction sums = {.accumulator = AccumulatorOf(g.dtype()),
                      .shape = conv.x.shape(),
                      .reduce_shape = {Expr(group_outputs)}};
  sums.reduce_shape.insert(sums.reduce_shape.end(), weight.shape().begin() + 2,
                           weight.shape().end());
  auto output = [=, groups = conv.groups](const Indices& i, const Indices& r) {
    return groups == 1 ? r[0] : FloorDiv(i[1], group_inputs) * group_outputs + r[0];
  };
  sums.left = [&, output](const Indices& i, const Indices& r) {
    const Indices places(i.begin() + 2, i.end()), taps(r.begin() + 1, r.end());
    Indices indices = {i[0], output(i, r)};
    for (const Expr& position : window.Positions(places, taps)) indices.push_back(position);
    const Expr value = g(indices);
    return Select(window.Reached(places, taps), value, Number(0, value));
  };
  sums.right = [&, output](const Indices& i, const Indices& r) {
    Indices indices = {output(i, r), conv.groups == 1 ? i[1] : Mod(i[1], group_inputs)};
    indices.insert(indices.end(), r.begin() + 1, r.end());
    return weight(indices);
  };
  return SumOfProducts(b, sums);
}

// Element (m, c, k) sums over the batch and all windows.
Tensor SumsForWeight(TensorBuilder& b, const Convolution& conv, const Tensor& g) {
  const int64_t group_outputs = *conv.weight.dim(0).AsInt() / conv.groups;
  const int64_t group_inputs = *conv.weight.dim(1).AsInt();
  Contraction sums = {.accumulator = AccumulatorOf(g.dtype()),
                      .shape = conv.weight.shape(),
                      .reduce_shape = {conv.x.dim(0)}};
  sums.reduce_shape.insert(sums.reduce_shape.end(), conv.window.out.begin(), conv.window.out.end());
  sums.left = [&](const Indices& i, const Indices& r) {
    const Indices windows(r.begin() + 1, r.end()), taps(i.begin() + 2, i.end());
    const Expr group = conv.groups == 1 ? Expr(0) : FloorDiv(i[0], group_outputs);
    Indices indices = {r[0], group * group_inputs + i[1]};
    for (const Expr& position : conv.window.Positions(windows, taps)) indices.push_back(position);
    const Expr value = conv.x(indices);
    return Select(conv.window.Inside(windows, taps), value, Number(0, value));
  };
  sums.right = [&](const Indices& i, const Indices& r) {
    Indices indices = {r[0], i[0]};
    indices.insert(indices.end(), r.begin() + 1, r.end());
    return g(indices);
  };
  return SumOfProducts(b, sums);
}

absl::Status ConvGradient(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor g, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor other, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Tensor like, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireFloat(g));
  AOTC_RETURN_IF_ERROR(RequireSameType({g, other, like}));
  const bool of_input = op.attributes().Int(kOperand) == 0;
  AOTC_ASSIGN_OR_RETURN(const Convolution conv,
                        ConvolutionOf(op, of_input ? like : other, of_input ? other : like));
  AOTC_RETURN_IF_ERROR(RequireRank(g, conv.x.rank(), conv.x.rank()));
  const Tensor sums = of_input ? SumsForInput(op.b(), conv, g) : SumsForWeight(op.b(), conv, g);
  op.SetOutput(0, op.b().Convert(sums, g.dtype()));
  return absl::OkStatus();
}

// For `h`, the gradient of the result: both are linear in g and in the other operand, and the sum
// of h * ConvGradient(g, other) is that of g * Conv with h in the place of the operand.
absl::Status GradientOfConvGradient(GradientContext& c) {
  const Quantity h = c.OfResult(), g = c.Operand(0), other = c.Operand(1);
  const bool of_input = c.attributes().Int(kOperand) == 0;
  const Quantity &x = of_input ? h : other, &weight = of_input ? other : h;
  if (c.Wants(0)) c.Give(0, x.To("Conv", {weight}, AttributesOfConv(c)));
  if (c.Wants(1)) c.Give(1, OfOperandOfConv(c, of_input ? 1 : 0, g, h, other));
  c.GiveNothing(2);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ConvGradient",
     .compute = ConvGradient,
     .summary = "the gradient of the input or of the weight of Conv",
     .traits = kOwn,
     .gradient = GradientOfConvGradient},
};

}  // namespace

std::span<const OpDef> GradientConvOps() { return kOps; }

}  // namespace aotc
