// Reading at computed indices.
//
// An index at run time is clamped into its axis, so that no read is out of bounds whatever the
// data; an index that is known at compile time is checked there.
#include "compiler/ir/expr_text.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status RequireIndices(const Tensor& indices) {
  if (IsInteger(indices.dtype())) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, "needs integer indices");
}

// An index of [-dim, dim) from the data as one of [0, dim).
Expr SafeIndex(const Expr& index, const Expr& dim) {
  Expr wide = Cast(DType::kI64, index);
  return Clamp(Select(Lt(wide, 0), wide + dim, wide), 0, dim - 1);
}

// The index where the operand holds a single one that is known; an error where it is out of range.
absl::StatusOr<Expr> KnownIndex(const OpContext& op, const Expr& dim) {
  absl::StatusOr<std::vector<Expr>> elements = op.IntElements(1);
  if (!elements.ok() || elements->size() != 1) return Expr();
  Expr index = (*elements)[0];
  if (Prove(Lt(index, 0), op.bounds()) == true) index = Simplify(index + dim, op.bounds());
  std::optional<bool> valid = Prove(InBounds(index, dim), op.bounds());
  if (valid == false) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("the index ", PrintExpr((*elements)[0]),
                               " is out of range: the axis has ", PrintExpr(dim), " elements"));
  }
  return valid == true ? index : Expr();
}

// [..., dim, ...] at indices of any rank along one axis.
absl::Status Gather(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireIndices(places));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", 0, x.rank()));
  AOTC_ASSIGN_OR_RETURN(Expr known, KnownIndex(op, x.dim(axis)));
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), places.shape().begin(), places.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    auto place_begin = i.begin() + axis, place_end = place_begin + places.rank();
    Indices indices(i.begin(), place_begin);
    indices.push_back(
        known.valid() ? known : SafeIndex(places(Indices(place_begin, place_end)), x.dim(axis)));
    indices.insert(indices.end(), place_end, i.end());
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// out[i] = x[i with i[axis] replaced by places[i]]
absl::Status GatherElements(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireIndices(places));
  AOTC_RETURN_IF_ERROR(RequireRank(places, x.rank(), x.rank()));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", 0, x.rank()));
  for (int d = 0; d < x.rank(); ++d) {
    if (d == axis) continue;
    AOTC_RETURN_IF_ERROR(op.Require(Le(places.dim(d), x.dim(d)),
                                    StrCat("the indices are longer than the data along axis ", d)));
  }
  op.SetOutput(0, op.b().Compute(x.dtype(), places.shape(), [&](const Indices& i) {
    Indices indices = i;
    indices[static_cast<size_t>(axis)] = SafeIndex(places(i), x.dim(axis));
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// The last axis of the indices holds positions in the axes after the `batch_dims` that both
// operands share.
absl::Status GatherNd(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireIndices(places));
  AOTC_RETURN_IF_ERROR(RequireRank(places, 1));
  int64_t batch = op.attributes().Int("batch_dims");
  std::optional<int64_t> depth = places.dim(-1).AsInt();
  if (!depth || *depth < 1 || batch < 0 || batch >= places.rank() || batch + *depth > x.rank()) {
    return AOTC_REFUSAL(InvalidArgument, "the indices do not fit the rank of the data");
  }
  for (int d = 0; d < batch; ++d) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(
        x.dim(d), places.dim(d), StrCat("the operands have different dims along batch axis ", d)));
  }
  Shape shape(places.shape().begin(), places.shape().end() - 1);
  size_t lookups = shape.size();
  shape.insert(shape.end(), x.shape().begin() + batch + *depth, x.shape().end());
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Indices indices(i.begin(), i.begin() + batch);
    for (int64_t k = 0; k < *depth; ++k) {
      Indices place(i.begin(), i.begin() + static_cast<int64_t>(lookups));
      place.push_back(k);
      indices.push_back(SafeIndex(places(place), x.dim(static_cast<int>(batch + k))));
    }
    indices.insert(indices.end(), i.begin() + static_cast<int64_t>(lookups), i.end());
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// The depth of a OneHot that only a run knows, and that is no size: i64 []. Of what is no number,
// more than any tensor has. Ours.
absl::Status OneHotDepth(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Expr depth, OneElement(op, 0, DType::kF64));
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) {
    const Expr least = NumberConst(-kNoSize, DType::kF64), none = NumberConst(kNoSize, DType::kF64);
    return Cast(DType::kI64, Select(Lt(depth, none), Max(depth, least), none));
  }));
  return absl::OkStatus();
}

// depth values along a new axis: `on` at the index, `off` elsewhere; indices out of range are all
// off.
absl::Status OneHot(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor values, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireNumber(places));
  const Constant* float_depth = op.ConstInput(1);
  Expr depth;
  constexpr size_t kWorkedOut = 3;  // what OneHotDepth gives
  if (float_depth != nullptr && float_depth->element_count() == 1) {
    depth = static_cast<int64_t>(float_depth->FloatAt(0));
  } else {
    AOTC_ASSIGN_OR_RETURN(std::vector<Expr> elements,
                          SizeElements(op, op.HasInput(kWorkedOut) ? kWorkedOut : 1));
    if (elements.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs a depth of one element");
    depth = elements[0];
    AOTC_RETURN_IF_ERROR(op.Require(Le(0, depth), "the depth is negative"));
  }
  const std::string text = "needs two values, off and on";
  if (values.rank() != 1) return AOTC_REFUSAL(InvalidArgument, text);
  AOTC_RETURN_IF_ERROR(op.RequireEqual(values.dim(0), Expr(2), text));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", -1, places.rank() + 1));
  Shape shape = places.shape();
  shape.insert(shape.begin() + axis, depth);
  op.SetOutput(0, op.b().Compute(values.dtype(), shape, [&](const Indices& i) {
    Indices place = i;
    place.erase(place.begin() + axis);
    Expr index = Cast(DType::kI64, places(place));
    Expr hot = Eq(Select(Lt(index, 0), index + depth, index), i[static_cast<size_t>(axis)]);
    return Select(hot, values.Stored({Expr(1)}), values.Stored({Expr(0)}));
  }));
  return absl::OkStatus();
}

// One whose depth only a run knows, and which is no size: what it is becomes one more operand.
absl::Status ExpandOneHot(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  std::vector<ValueId> inputs = {e.Input(0), e.Input(1), e.Input(2)};
  inputs.push_back(e.Emit("OneHotDepth", {e.Input(1)}));
  e.SetOutput(0, rebuilder.Emit("OneHot", inputs, node.attributes, UnknownType(), node));
  return absl::OkStatus();
}

constexpr int kBitsOfByte = 8;

// Numbers of few bits as bytes: those of a byte of `packed`, lowest bits first, stand one behind
// another along its last axis.
ValueId Unpacked(Expansion& e, ValueId packed, int64_t bits) {
  const int64_t mask = (int64_t{1} << bits) - 1;
  std::vector<ValueId> numbers;
  for (int64_t shift = 0; shift < kBitsOfByte; shift += bits) {
    const ValueId places = e.Number("shift", DType::kU8, static_cast<double>(shift));
    const ValueId shifted =
        e.Emit("BitShift", {packed, places}, {{"direction", std::string("RIGHT")}});
    const ValueId number =
        e.Emit("BitwiseAnd", {shifted, e.Number("mask", DType::kU8, static_cast<double>(mask))});
    numbers.push_back(e.Emit("Unsqueeze", {number, e.Ints("axes", {-1})}));
  }
  const ValueId outer = e.Emit("Shape", {packed}, {{"end", int64_t{-1}}});
  const ValueId last = e.Emit("Mul", {e.Emit("Shape", {packed}, {{"start", int64_t{-1}}}),
                                      e.Ints("of_a_byte", {kBitsOfByte / bits})});
  const ValueId shape = e.Emit("Concat", {outer, last}, {{"axis", int64_t{0}}});
  const ValueId numbers_of_bytes = e.Emit("Concat", numbers, {{"axis", int64_t{-1}}});
  return e.Emit("Reshape", {numbers_of_bytes, shape}, {{"allowzero", int64_t{1}}});
}

// The zero points of gathered bytes, as many as there are scales: the middle where none is given.
ValueId ZeroPoints(Expansion& e, ValueId given, ValueId scales, int64_t bits) {
  if (!given.valid()) {
    const double middle = static_cast<double>(int64_t{1} << (bits - 1));
    return e.Emit("Expand", {e.Number("middle", DType::kU8, middle), e.Emit("Shape", {scales})});
  }
  if (bits == kBitsOfByte) return given;
  const ValueId count = e.Emit("Shape", {scales}, {{"start", int64_t{-1}}});
  return e.Emit("Slice",
                {Unpacked(e, given, bits), e.Ints("first", {0}), count, e.Ints("axes", {-1})});
}

// Of weights with a scale for each block along an axis, what is gathered: before it is made floats,
// so that the weights stay as small as they are. Inputs: weights (also of 2, 4 or 8 bits in bytes),
// indices, scales, zero points (0 where they are absent, and the middle in bytes).
absl::Status GatherBlockQuantized(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const ValueType& data = e.InputType(0);
  const int64_t bits = data.dtype == DType::kU8 ? e.attributes().Int("bits", 4) : 0;
  if (data.dtype == DType::kU8 && bits != 2 && bits != 4 && bits != kBitsOfByte) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("bits of bytes are 2, 4 or 8, not ", bits));
  }
  if (!IsKnownType(data)) {
    return AOTC_REFUSAL(Unimplemented, "takes weights whose rank is known from the first");
  }
  const auto rank = static_cast<int64_t>(data.dims.size());
  auto axis_of = [&](const char* name, int64_t fallback) {
    const int64_t axis = e.attributes().Int(name, fallback);
    return axis < 0 ? axis + rank : axis;
  };
  const int64_t gathered = axis_of("gather_axis", 0), blocked = axis_of("quantize_axis", 1);
  auto gather = [&](ValueId x) {
    return x.valid() ? e.Emit("Gather", {x, e.Input(1)}, {{"axis", gathered}}) : x;
  };
  auto floats = [&](ValueId numbers, ValueId scales, ValueId zeros, int64_t axis) {
    return e.Emit("DequantizeLinear", {numbers, scales, zeros},
                  {{"axis", axis}, {"block_size", e.attributes().Int("block_size", 128)}});
  };
  if (gathered == blocked) {  // what is gathered of a block is no block
    if (bits != 0) {
      return AOTC_REFUSAL(Unimplemented, "gathers bytes along another axis than their blocks only");
    }
    e.SetOutput(0, gather(floats(e.Input(0), e.Input(2), e.Input(3), blocked)));
    return absl::OkStatus();
  }
  ValueId numbers = gather(e.Input(0)), scales = gather(e.Input(2)), zeros = gather(e.Input(3));
  if (bits != 0) {
    if (bits != kBitsOfByte) numbers = Unpacked(e, numbers, bits);
    zeros = ZeroPoints(e, zeros, scales, bits);
  }
  // From the end, where that of the indices comes before it.
  const int64_t axis = blocked > gathered ? blocked - rank : blocked;
  e.SetOutput(0, floats(numbers, scales, zeros, axis));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "com.microsoft.GatherBlockQuantized",
     .expand = GatherBlockQuantized,
     .summary = "what is gathered of weights that are quantised in blocks"},
    {.name = "Gather",
     .compute = Gather,
     .summary = "slices at indices along an axis",
     .traits = kMovesElements | kMovesOperands,
     .indices = IndexOperand{.axis = "axis"},
     .gradient = GradientOfGather},
    {.name = "GatherElements",
     .compute = GatherElements,
     .summary = "elements at indices along an axis",
     .traits = kMovesElements | kMovesOperands,
     .indices = IndexOperand{.axis = "axis"},
     .gradient = GradientOfGatherElements},
    {.name = "GatherND",
     .compute = GatherNd,
     .summary = "slices at positions in several axes",
     .traits = kMovesElements | kMovesOperands,
     .indices = IndexOperand{.axis = "batch_dims", .positions = true},
     .gradient = GradientOfGatherNd},
    {.name = "OneHot",
     .compute = OneHot,
     .expand = ExpandOneHot,
     .summary = "indices as vectors with one element on",
     .traits = kMovesOperands},
    {.name = "OneHotDepth",
     .compute = OneHotDepth,
     .summary = "the depth of a OneHot",
     .traits = kOwn | kCounts},
};

}  // namespace

std::span<const OpDef> GatherOps() { return kOps; }

}  // namespace aotc
