// Ops that move elements to other places, or add up those that meet: ReverseSequence,
// CenterCropPad, MaxUnpool, Col2Im.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/transposed_window.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The first lengths[b] elements of the time axis in reverse order, for each b of the batch axis.
absl::Status ReverseSequence(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor lengths, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  AOTC_RETURN_IF_ERROR(RequireRank(lengths, 1, 1));
  AOTC_ASSIGN_OR_RETURN(const int batch, op.Axis("batch_axis", 1, x.rank()));
  AOTC_ASSIGN_OR_RETURN(const int time, op.Axis("time_axis", 0, x.rank()));
  if (batch == time) return AOTC_REFUSAL(InvalidArgument, "batch_axis and time_axis are the same");
  constexpr const char* kWrong = "needs one integer length per element of the batch axis";
  if (!IsInteger(lengths.dtype())) return AOTC_REFUSAL(InvalidArgument, kWrong);
  AOTC_RETURN_IF_ERROR(op.RequireEqual(lengths.dim(0), x.dim(batch), kWrong));
  op.SetOutput(0, op.b().Compute(x.dtype(), x.shape(), [&](const Indices& i) {
    Expr length = Cast(DType::kI64, lengths({i[static_cast<size_t>(batch)]}));
    const Expr& at = i[static_cast<size_t>(time)];
    Indices indices = i;
    indices[static_cast<size_t>(time)] =
        Clamp(Select(Lt(at, length), length - 1 - at, at), 0, x.dim(time) - 1);
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// Axes of attribute "axes", by default all.
absl::StatusOr<std::vector<size_t>> AxesOf(const OpContext& op, int rank) {
  std::vector<size_t> axes;
  if (!op.attributes().Has("axes")) {
    for (int d = 0; d < rank; ++d) axes.push_back(static_cast<size_t>(d));
  }
  for (int64_t axis : op.attributes().Ints("axes")) {
    AOTC_ASSIGN_OR_RETURN(int normalized, op.NormalizeAxis(axis, rank));
    axes.push_back(static_cast<size_t>(normalized));
  }
  return axes;
}

// Along each named axis the middle of the input, or the input in the middle of zeros; where that is
// uneven, one element more is cut or added at the end.
absl::Status CenterCropPad(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> sizes, op.IntElements(1));
  AOTC_ASSIGN_OR_RETURN(std::vector<size_t> axes, AxesOf(op, x.rank()));
  if (sizes.size() != axes.size()) return AOTC_REFUSAL(InvalidArgument, "needs one size per axis");
  Shape shape = x.shape();
  Indices first(shape.size(), Expr(0));  // input index of the result's element 0
  for (size_t k = 0; k < axes.size(); ++k) {
    Expr &dim = shape[axes[k]], size = Simplify(sizes[k], op.bounds());
    if (Prove(Lt(size, 0), op.bounds()) == true) {
      return AOTC_REFUSAL(InvalidArgument, "a size is negative");
    }
    Expr less = Expr(0) - FloorDiv(size - dim, 2);
    first[axes[k]] = Simplify(Select(Lt(size, dim), FloorDiv(dim - size, 2), less), op.bounds());
    dim = size;
  }
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Indices indices;
    Expr inside = Bool(true);
    for (size_t d = 0; d < i.size(); ++d) {
      indices.push_back(i[d] + first[d]);
      if (!ProveEqual(shape[d], x.shape()[d], op.bounds())) {
        inside = And(inside, InBounds(indices[d], x.shape()[d]));
      }
    }
    Expr value = x.Stored(indices);
    Expr zero = x.dtype() == DType::kBool ? Bool(false)
                                          : Cast(x.dtype(), NumberConst(0, ComputeType(x.dtype())));
    return Select(inside, value, zero);
  }));
  return absl::OkStatus();
}

// The dims that a MaxPool had read, from what it gave.
absl::StatusOr<Shape> UnpooledShape(const OpContext& op, const Tensor& x) {
  const std::vector<int64_t> kernel = op.attributes().Ints("kernel_shape");
  const size_t rank = static_cast<size_t>(x.rank()) - 2;
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> strides, IntsOr(op, "strides", rank, 1));
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> pads, IntsOr(op, "pads", rank * 2, 0));
  if (kernel.size() != rank) {
    return AOTC_REFUSAL(InvalidArgument,
                        "attribute kernel_shape does not fit the rank of the input");
  }
  Shape shape = {x.dim(0), x.dim(1)};
  for (size_t d = 0; d < rank; ++d) {
    Expr dim = (x.shape()[d + 2] - 1) * strides[d] + (kernel[d] - pads[d] - pads[d + rank]);
    shape.push_back(Simplify(dim, op.bounds()));
  }
  return shape;
}

// Elements back at the positions that a MaxPool took them from, zeros elsewhere. Positions count
// in the whole unpooled tensor; those of a channel lie in the channel, as MaxPool gives them.
absl::Status MaxUnpool(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3));
  constexpr const char* kWrong = "needs one i64 index per element";
  if (places.dtype() != DType::kI64 || places.rank() != x.rank()) {
    return AOTC_REFUSAL(InvalidArgument, kWrong);
  }
  for (int d = 0; d < x.rank(); ++d) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(places.dim(d), x.dim(d), kWrong));
  }
  AOTC_ASSIGN_OR_RETURN(const Shape unpooled, UnpooledShape(op, x));
  Shape shape = unpooled;
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(shape, op.IntElements(2));
    if (shape.size() != unpooled.size()) {
      return AOTC_REFUSAL(InvalidArgument, "the output shape has another rank than the input");
    }
  }
  const Shape taps(x.shape().begin() + 2, x.shape().end());
  auto body = [&](const Indices& i, const Indices& r) {
    Indices source = {i[0], i[1]};
    source.insert(source.end(), r.begin(), r.end());
    Expr hit = Eq(places(source), LinearIndex(i, RowMajorStrides(unpooled)));
    return Select(hit, LinearIndex(r, RowMajorStrides(taps)), -1);
  };
  Tensor last = op.b().Reduce("max", DType::kI64, unpooled, taps, body);
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Expr inside = Bool(true);
    Indices at;
    for (size_t d = 0; d < i.size(); ++d) {
      const bool same = ProveEqual(shape[d], unpooled[d], op.bounds());
      if (!same) inside = And(inside, Lt(i[d], unpooled[d]));
      at.push_back(same ? i[d] : Min(i[d], unpooled[d] - 1));
    }
    Indices source = {Min(i[0], x.dim(0) - 1), Min(i[1], x.dim(1) - 1)};
    const std::vector<Expr> strides = RowMajorStrides(taps);
    for (size_t d = 0; d < taps.size(); ++d) {
      source.push_back(Mod(FloorDiv(Max(last(at), 0), strides[d]), taps[d]));
    }
    Expr value = x(source);
    return Select(And(inside, Le(0, last(at))), value, Number(0, value));
  }));
  return absl::OkStatus();
}

// The geometry of Col2Im: blocks are the taps, columns the input of a transposed convolution.
absl::StatusOr<TransposedWindow> ColumnWindow(OpContext& op, const Shape& block) {
  const size_t rank = block.size();
  TransposedWindow w;
  AOTC_ASSIGN_OR_RETURN(w.out, op.IntElements(1));
  AOTC_ASSIGN_OR_RETURN(w.strides, IntsOr(op, "strides", rank, 1));
  AOTC_ASSIGN_OR_RETURN(w.dilations, IntsOr(op, "dilations", rank, 1));
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> pads, IntsOr(op, "pads", rank * 2, 0));
  if (w.out.size() != rank) {
    return AOTC_REFUSAL(InvalidArgument, "image_shape and block_shape have different ranks");
  }
  for (size_t d = 0; d < rank; ++d) {
    if (w.strides[d] < 1 || w.dilations[d] < 1) {
      return AOTC_REFUSAL(InvalidArgument, "strides and dilations must be at least 1");
    }
    AOTC_RETURN_IF_ERROR(op.Require(Le(1, block[d]), "a block has no element along an axis"));
    w.pad_begin.push_back(pads[d]);
    const Expr reach = (block[d] - 1) * w.dilations[d] + 1;
    const Expr room = w.out[d] + (pads[d] + pads[d + rank]) - reach;
    w.input.push_back(Simplify(FloorDiv(room, w.strides[d]) + 1, op.bounds()));
  }
  return w;
}

// [N, C * block elements, columns] -> [N, C, image...]: the sum of all block elements that lie
// on a pixel.
absl::Status Col2Im(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3, 3));
  AOTC_ASSIGN_OR_RETURN(const Shape block, op.IntElements(2));
  AOTC_ASSIGN_OR_RETURN(const TransposedWindow window, ColumnWindow(op, block));
  const Expr count = ElementCount(block);
  const Expr channels = Simplify(FloorDiv(x.dim(1), Max(count, 1)), op.bounds());
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(channels * count, x.dim(1), "the channels do not divide into blocks"));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(x.dim(2), ElementCount(window.input),
                                       "the number of columns is not that of the blocks' places"));
  Shape shape = {x.dim(0), channels};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  auto body = [&](const Indices& i, const Indices& r) {
    const Indices pixel(i.begin() + 2, i.end());
    Expr channel = i[1] * count + LinearIndex(r, RowMajorStrides(block));
    Expr column = LinearIndex(window.Positions(pixel, r), RowMajorStrides(window.input));
    Expr value = x({i[0], channel, Clamp(column, 0, x.dim(2) - 1)});
    return Select(window.Reached(pixel, r), value, Number(0, value));
  };
  op.SetOutput(0, op.b().Reduce("sum", x.dtype(), shape, block, body));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "CenterCropPad",
     .compute = CenterCropPad,
     .summary = "the middle of a tensor, or the tensor amid zeros",
     .traits = kMovesOperands},
    {.name = "Col2Im", .compute = Col2Im, .summary = "sums of blocks where they overlap"},
    {.name = "MaxUnpool",
     .compute = MaxUnpool,
     .summary = "elements where a MaxPool took them from",
     .indices = IndexOperand{.from_end = false, .flat = true}},
    {.name = "ReverseSequence",
     .compute = ReverseSequence,
     .summary = "the first elements of each sequence in reverse",
     .traits = kMovesOperands,
     .indices = IndexOperand{.axis = "time_axis", .from_end = false, .inclusive = true}},
};

}  // namespace

std::span<const OpDef> PlaceChangeOps() { return kOps; }

}  // namespace aotc
