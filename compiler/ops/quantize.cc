// Between numbers and their quantised form: QuantizeLinear, DequantizeLinear,
// DynamicQuantizeLinear.
#include "compiler/ops/helpers.h"
#include "compiler/ops/quantization.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// How scale and zero point lie over the input: for all of it, per position of an axis, or per
// block of positions.
struct Grid {
  size_t axis = 0;
  int64_t block = 0;  // 0: none

  Expr At(const Tensor& param, const Indices& i) const {
    if (param.rank() == 0) return param({});
    if (IsOne(param)) return param({Expr(0)});
    if (block == 0) return param({i[axis]});
    Indices indices = i;
    indices[axis] = FloorDiv(i[axis], block);
    return param(indices);
  }

  // One element for all of the input.
  static bool IsOne(const Tensor& param) {
    return param.rank() == 0 || (param.rank() == 1 && param.dim(0).IsInt(1));
  }
};

absl::Status CheckBlocks(OpContext& op, const Grid& grid, const Tensor& x, const Tensor& scale) {
  AOTC_RETURN_IF_ERROR(RequireRank(scale, x.rank(), x.rank()));
  for (size_t d = 0; d < x.shape().size(); ++d) {
    Expr blocks = d == grid.axis ? CeilDiv(x.shape()[d], grid.block) : x.shape()[d];
    AOTC_RETURN_IF_ERROR(op.RequireEqual(scale.shape()[d], Simplify(blocks, op.bounds()),
                                         StrCat("the scale does not have one element per block of ",
                                                grid.block, " along axis ", grid.axis)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Grid> GridOf(OpContext& op, const Tensor& x, const Tensor& scale) {
  Grid grid = {.block = op.attributes().Int("block_size")};
  if (grid.block == 0 && Grid::IsOne(scale)) return grid;
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", 1, x.rank()));
  grid.axis = static_cast<size_t>(axis);
  if (grid.block < 0) return AOTC_REFUSAL(InvalidArgument, "attribute block_size is negative");
  if (grid.block > 0) {
    AOTC_RETURN_IF_ERROR(CheckBlocks(op, grid, x, scale));
    return grid;
  }
  AOTC_RETURN_IF_ERROR(RequireRank(scale, 1, 1));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(scale.dim(0), x.shape()[grid.axis],
                                       "the scale must have one element per position of its axis"));
  return grid;
}

// The zero point, which has the shape of the scale; nothing where there is none.
absl::StatusOr<std::optional<Tensor>> ZeroOf(OpContext& op, const Tensor& scale) {
  if (!op.HasInput(2)) return std::optional<Tensor>();
  AOTC_ASSIGN_OR_RETURN(Tensor zero, op.Input(2));
  const bool both_one = Grid::IsOne(zero) && Grid::IsOne(scale);
  if (both_one) return std::optional<Tensor>(zero);
  constexpr const char* kDiffer = "scale and zero point have different shapes";
  if (zero.rank() != scale.rank()) return AOTC_REFUSAL(InvalidArgument, kDiffer);
  for (int d = 0; d < zero.rank(); ++d) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(zero.dim(d), scale.dim(d), kDiffer));
  }
  return std::optional<Tensor>(zero);
}

// The type that an attribute names, or `fallback` where it is absent or 0.
absl::StatusOr<DType> NamedType(const OpContext& op, std::string_view name, DType fallback) {
  const int64_t number = op.attributes().Int(name);
  if (number == 0) return fallback;
  if (number == static_cast<int>(number) && IsKnownDType(static_cast<int>(number))) {
    return static_cast<DType>(number);
  }
  return AOTC_REFUSAL(Unimplemented, StrCat("ONNX element type ", number));
}

// limit(round(x / scale) + zero); floats of 4 and 8 bits round by themselves
absl::Status QuantizeLinear(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor scale, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  const bool whole = scale.dtype() == DType::kI32;  // of opset 19 on
  if (!whole) AOTC_RETURN_IF_ERROR(RequireFloat(scale));
  AOTC_ASSIGN_OR_RETURN(const Grid grid, GridOf(op, x, scale));
  AOTC_ASSIGN_OR_RETURN(std::optional<Tensor> zero, ZeroOf(op, scale));
  AOTC_ASSIGN_OR_RETURN(DType type, NamedType(op, "output_dtype", DType::kU8));
  if (zero) type = zero->dtype();
  const bool is_float = IsFloat8(type) || type == DType::kF4E2M1;
  if (!is_float) AOTC_RETURN_IF_ERROR(RequireQuantized(type));
  AOTC_ASSIGN_OR_RETURN(const DType precision,
                        NamedType(op, "precision", whole ? DType::kF32 : scale.dtype()));
  if (!IsFloat(precision)) return AOTC_REFUSAL(InvalidArgument, "precision must be a float type");
  const DType compute = ComputeType(precision);
  const bool saturate = op.attributes().Int("saturate", 1) != 0;
  // A stage of its own, so that all round the quotient before they round it to an integer.
  Tensor quotient = op.b().Compute(compute, x.shape(), [&](const Indices& i) {
    return Div(Cast(compute, x(i)), Cast(compute, grid.At(scale, i)));
  });
  auto body = [&](const Indices& i) {
    Expr value = quotient(i);
    Expr offset = zero ? Cast(compute, grid.At(*zero, i)) : Number(0, value);
    if (is_float) return saturate ? CastWithin(type, value + offset) : value + offset;
    return Requantized(value, offset, type);
  };
  op.SetOutput(0, op.b().Compute(type, x.shape(), body));
  return absl::OkStatus();
}

// (x - zero) * scale
absl::Status DequantizeLinear(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor scale, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireFloat(scale));
  AOTC_ASSIGN_OR_RETURN(const Grid grid, GridOf(op, x, scale));
  AOTC_ASSIGN_OR_RETURN(std::optional<Tensor> zero, ZeroOf(op, scale));
  if (zero) AOTC_RETURN_IF_ERROR(RequireSameType({x, *zero}));
  AOTC_ASSIGN_OR_RETURN(const DType type, NamedType(op, "output_dtype", scale.dtype()));
  if (!IsFloat(type)) return AOTC_REFUSAL(InvalidArgument, "output_dtype must be a float type");
  auto body = [&](const Indices& i) {
    const DType exact = IsFloat(x.dtype()) ? DType::kF32 : DType::kI32;
    Expr value = Cast(exact, x(i));
    if (zero) value = value - Cast(exact, grid.At(*zero, i));
    Expr factor = grid.At(scale, i);
    return Cast(factor.dtype(), value) * factor;
  };
  op.SetOutput(0, op.b().Compute(type, x.shape(), body));
  return absl::OkStatus();
}

// To u8 over the range of the input and 0: the values, the scale and the zero point. An input of
// zeros has the scale 1.
absl::Status DynamicQuantizeLinear(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  if (ComputeType(x.dtype()) != DType::kF32) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("takes f32, not ", TypeName(x.dtype())));
  }
  TensorBuilder& b = op.b();
  std::vector<int> axes;
  for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
  Tensor most = b.ReduceAxes("max", x, axes, /*keep_dims=*/false);
  Tensor least = b.ReduceAxes("min", x, axes, /*keep_dims=*/false);
  const Expr zero = FloatConst(0), levels = FloatConst(255);
  Tensor scale = b.Map({most, least}, [&](const auto& v) {
    Expr range = Max(v[0], zero) - Min(v[1], zero);
    return Select(Eq(range, zero), FloatConst(1), Div(range, levels));
  });
  // Quotients are stages of their own, so that all round them before they round to integers.
  auto divide = [](const auto& v) { return Div(v[0], v[1]); };
  Tensor place =
      b.Map({least, scale}, [&](const auto& v) { return Div(zero - Min(v[0], zero), v[1]); });
  Tensor offset = b.Map(
      {place}, [&](const auto& v) { return Unary(ExprOp::kRound, Clamp(v[0], zero, levels)); });
  Tensor quotient = b.Map({x, scale}, divide);
  auto quantize = [](const auto& v) { return Requantized(v[0], v[1], DType::kU8); };
  op.SetOutput(0, b.Map({quotient, offset}, quantize, DType::kU8));
  op.SetOutput(1, scale);
  op.SetOutput(2, b.Compute(DType::kU8, {}, [&](const Indices& i) {
    return Cast(DType::kU8, Cast(DType::kI32, offset(i)));
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "DequantizeLinear", .compute = DequantizeLinear, .summary = "(x - zero) * scale"},
    {.name = "DynamicQuantizeLinear",
     .compute = DynamicQuantizeLinear,
     .summary = "u8 over the range of the input, with scale and zero point"},
    {.name = "QuantizeLinear",
     .compute = QuantizeLinear,
     .summary = "x / scale + zero, rounded to an integer type",
     .traits = kChangesType},
};

}  // namespace

std::span<const OpDef> QuantizeOps() { return kOps; }

}  // namespace aotc
