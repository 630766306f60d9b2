// DeformConv: a convolution whose taps are moved by offsets, each interpolated between the elements
// around it, and weighted by a mask (ONNX DeformConv-22), of any rank.
//
// The taps are sampled first, once for all output channels, then summed as a convolution.
#include "compiler/ops/contraction.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct DeformConv {
  Convolution conv = {};
  Tensor offset = {};  // [N, offset groups * taps * rank, out...]
  Tensor mask = {};    // [N, offset groups * taps, out...]; ones where absent
  Tensor bias = {};    // [M]
  int64_t offset_groups = 1;
  int64_t group_channels = 1;  // input channels per offset group

  size_t rank() const { return conv.window.rank(); }
  int64_t Taps() const {
    int64_t taps = 1;
    for (int64_t extent : conv.window.kernel) taps *= extent;
    return taps;
  }
};

// [N, channels, out...]
absl::Status CheckPlaces(OpContext& op, const DeformConv& deform, const Tensor& x, int64_t channels,
                         std::string_view what) {
  AOTC_RETURN_IF_ERROR(RequireRank(x, deform.conv.x.rank(), deform.conv.x.rank()));
  Shape wanted = {deform.conv.x.dim(0), Expr(channels)};
  wanted.insert(wanted.end(), deform.conv.window.out.begin(), deform.conv.window.out.end());
  for (size_t d = 0; d < wanted.size(); ++d) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(
        x.shape()[d], wanted[d],
        StrCat("the ", what, " does not have the dims of the taps and the result along axis ", d)));
  }
  return absl::OkStatus();
}

absl::Status ReadOffsets(OpContext& op, DeformConv& deform) {
  const int64_t channels = *deform.conv.weight.dim(1).AsInt() * deform.conv.groups;
  deform.offset_groups = op.attributes().Int("offset_group", 1);
  if (deform.offset_groups < 1 || channels % deform.offset_groups != 0) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat(channels, " input channels do not divide into offset_group = ",
                               deform.offset_groups));
  }
  deform.group_channels = channels / deform.offset_groups;
  const int64_t taps = deform.offset_groups * deform.Taps();
  AOTC_ASSIGN_OR_RETURN(deform.offset, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireSameType({deform.conv.x, deform.offset}));
  AOTC_RETURN_IF_ERROR(
      CheckPlaces(op, deform, deform.offset, taps * static_cast<int64_t>(deform.rank()), "offset"));
  if (!op.HasInput(4)) return absl::OkStatus();
  AOTC_ASSIGN_OR_RETURN(deform.mask, op.Input(4));
  AOTC_RETURN_IF_ERROR(RequireSameType({deform.conv.x, deform.mask}));
  return CheckPlaces(op, deform, deform.mask, taps, "mask");
}

absl::StatusOr<DeformConv> ReadDeformConv(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor weight, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, weight}));
  DeformConv deform;
  AOTC_ASSIGN_OR_RETURN(deform.conv, ConvolutionOf(op, x, weight));
  AOTC_RETURN_IF_ERROR(ReadOffsets(op, deform));
  if (!op.HasInput(3)) return deform;
  AOTC_ASSIGN_OR_RETURN(deform.bias, op.Input(3));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, deform.bias}));
  AOTC_RETURN_IF_ERROR(RequireRank(deform.bias, 1, 1));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(deform.bias.dim(0), weight.dim(0),
                                       "the bias must have one element per output channel"));
  return deform;
}

// Indices [n, channel or group, taps..., out...] taken apart.
struct Place {
  Indices taps;
  Indices out;
  Expr tap;  // row-major

  Place(const DeformConv& deform, const Indices& i) {
    const auto taps_begin = i.begin() + 2,
               out_begin = taps_begin + static_cast<int64_t>(deform.rank());
    taps.assign(taps_begin, out_begin);
    out.assign(out_begin, i.end());
    tap = LinearIndex(taps, RowMajorStrides(MakeShape(deform.conv.window.kernel)));
  }
  // The element of a tensor [N, channels, out...].
  Indices At(const Expr& sample, const Expr& channel) const {
    Indices indices = {sample, channel};
    indices.insert(indices.end(), out.begin(), out.end());
    return indices;
  }
};

Shape PlacesShape(const DeformConv& deform, int64_t channels) {
  Shape shape = {deform.conv.x.dim(0), Expr(channels)};
  for (int64_t extent : deform.conv.window.kernel) shape.push_back(extent);
  const Shape& out = deform.conv.window.out;
  shape.insert(shape.end(), out.begin(), out.end());
  return shape;
}

// [N, offset groups, taps..., out...]: where the taps lie along a spatial axis, in elements.
Tensor PositionsAlong(TensorBuilder& b, const DeformConv& deform, size_t axis) {
  const DType compute = ComputeType(deform.offset.dtype());
  const auto rank = static_cast<int64_t>(deform.rank());
  return b.Compute(compute, PlacesShape(deform, deform.offset_groups), [&](const Indices& i) {
    const Place place(deform, i);
    const Expr tap = i[1] * deform.Taps() + place.tap;
    const Expr moved = deform.offset(place.At(i[0], tap * rank + static_cast<int64_t>(axis)));
    return Cast(compute, deform.conv.window.Position(axis, place.out[axis], place.taps[axis])) +
           moved;
  });
}

// [N, C, taps..., out...]: the input at the taps, in the compute type. What is outside is 0.
Tensor SampledTaps(TensorBuilder& b, const DeformConv& deform) {
  std::vector<Tensor> positions;
  for (size_t d = 0; d < deform.rank(); ++d) positions.push_back(PositionsAlong(b, deform, d));
  const Tensor& x = deform.conv.x;
  const DType compute = ComputeType(x.dtype());
  const int64_t channels = deform.group_channels * deform.offset_groups;
  const Shape corners(deform.rank(), Expr(2)), shape = PlacesShape(deform, channels);
  return b.Reduce("sum", compute, shape, corners, [&](const Indices& i, const Indices& r) {
    Indices at = {i[0], i[1]}, group = i;
    group[1] = FloorDiv(i[1], deform.group_channels);
    Expr weight, inside = Bool(true);
    for (size_t d = 0; d < deform.rank(); ++d) {
      const Expr length = deform.conv.window.input[d], position = positions[d](group);
      // Beyond the first element outside all is 0: so that no position is too large for an index.
      const Expr near = Clamp(position, NumberConst(-1, compute), Cast(compute, length));
      const Expr low = Unary(ExprOp::kFloor, near), far = Eq(r[d], 1);
      const Expr fraction = near - low, index = Cast(DType::kI64, low) + r[d];
      const Expr share = Select(far, fraction, Number(1, fraction) - fraction);
      weight = d == 0 ? share : weight * share;
      inside = d == 0 ? InBounds(index, length) : And(inside, InBounds(index, length));
      at.push_back(Clamp(index, 0, length - 1));
    }
    return Select(inside, x(at) * weight, NumberConst(0, compute));
  });
}

// The sums over the input channels of the group and the taps, in the compute type: [N, M, out...].
Tensor SumsOfTaps(TensorBuilder& b, const DeformConv& deform, const Tensor& sampled) {
  const Convolution& conv = deform.conv;
  const int64_t outputs = *conv.weight.dim(0).AsInt() / conv.groups;
  const int64_t inputs = *conv.weight.dim(1).AsInt();
  Contraction sums = {
      .accumulator = ComputeType(conv.x.dtype()),
      .shape = {conv.x.dim(0), conv.weight.dim(0)},
      .reduce_shape = Shape(conv.weight.shape().begin() + 1, conv.weight.shape().end())};
  sums.shape.insert(sums.shape.end(), conv.window.out.begin(), conv.window.out.end());
  sums.left = [&](const Indices& i, const Indices& r) {
    const Expr group = conv.groups == 1 ? Expr(0) : FloorDiv(i[1], outputs);
    Indices at = {i[0], group * inputs + r[0]};
    at.insert(at.end(), r.begin() + 1, r.end());
    at.insert(at.end(), i.begin() + 2, i.end());
    return sampled(at);
  };
  sums.right = [&](const Indices& i, const Indices& r) {
    Indices at = {i[1]};
    at.insert(at.end(), r.begin(), r.end());
    return conv.weight(at);
  };
  return SumOfProducts(b, sums);
}

absl::Status DeformConvOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const DeformConv deform, ReadDeformConv(op));
  TensorBuilder& b = op.b();
  Tensor sampled = SampledTaps(b, deform);
  if (deform.mask.valid()) {
    const Tensor plain = sampled;
    const Shape& shape = plain.shape();
    sampled = b.Compute(plain.dtype(), shape, [&](const Indices& i) {
      const Place place(deform, i);
      const Expr tap = FloorDiv(i[1], deform.group_channels) * deform.Taps() + place.tap;
      return plain(i) * deform.mask(place.At(i[0], tap));
    });
  }
  const Tensor sums = SumsOfTaps(b, deform, sampled);
  const Shape& shape = sums.shape();
  op.SetOutput(0, b.Compute(deform.conv.x.dtype(), shape, [&](const Indices& i) {
    return deform.bias.valid() ? sums(i) + deform.bias({i[1]}) : sums(i);
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "DeformConv",
     .compute = DeformConvOp,
     .summary = "convolution whose taps are moved by offsets"},
};

}  // namespace

std::span<const OpDef> DeformConvOps() { return kOps; }

}  // namespace aotc
