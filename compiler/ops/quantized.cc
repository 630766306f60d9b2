// Quantised operators of com.microsoft, in terms of QuantizeLinear, DequantizeLinear and the
// operators of ONNX between them; products of bytes are summed in i32.
#include <string>

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr auto kF32 = static_cast<int64_t>(DType::kF32);

// Three inputs in a row: elements, scale, zero point (which may be absent).
ValueId Dequantized(Expansion& e, size_t first) {
  return e.Emit("DequantizeLinear", {e.Input(first), e.Input(first + 1), e.Input(first + 2)});
}

// With the scale at an input and the zero point at the next, else that of u8 is 0.
ValueId Quantized(Expansion& e, ValueId x, size_t scale) {
  return e.Emit("QuantizeLinear", {x, e.Input(scale), e.Input(scale + 1)});
}

template <const char* kOp>
absl::Status QLinearBinary(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 3, 4, 6}));
  const ValueId result = e.Emit(kOp, {Dequantized(e, 0), Dequantized(e, 3)});
  e.SetOutput(0, Quantized(e, result, 6));
  return absl::OkStatus();
}
constexpr char kAdd[] = "Add", kMul[] = "Mul", kSigmoid[] = "Sigmoid", kLeakyRelu[] = "LeakyRelu";

Expansion::NamedValues Kept(const Expansion& e, std::initializer_list<const char*> names) {
  Expansion::NamedValues kept;
  for (const char* name : names) {
    const AttributeValue* value = e.attributes().Find(name);
    if (value != nullptr) kept.emplace_back(name, *value);
  }
  return kept;
}

// Inputs: x with scale and zero point, scale and zero point of the result.
template <const char* kOp>
absl::Status QLinearUnary(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 3}));
  const ValueId y = e.Emit(kOp, {Dequantized(e, 0)}, Kept(e, {"alpha"}));
  e.SetOutput(0, Quantized(e, y, 3));
  return absl::OkStatus();
}

// The same, whose channels may be the last axis.
absl::Status QLinearAveragePool(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 3}));
  const auto spatial = static_cast<int64_t>(e.attributes().Ints("kernel_shape").size());
  const bool last = e.attributes().Int("channels_last") != 0;
  std::vector<int64_t> to_front = {0, spatial + 1}, to_end = {0};
  for (int64_t axis = 1; axis <= spatial; ++axis) {
    to_front.push_back(axis);
    to_end.push_back(axis + 1);
  }
  to_end.push_back(1);
  ValueId x = Dequantized(e, 0);
  if (last) x = e.Emit("Transpose", {x}, {{"perm", to_front}});
  x = e.Emit(
      "AveragePool", {x},
      Kept(e, {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}));
  if (last) x = e.Emit("Transpose", {x}, {{"perm", to_end}});
  e.SetOutput(0, Quantized(e, x, 3));
  return absl::OkStatus();
}

// The mean of all axes between the first and the last, which stay as axes of 1.
ValueId MeanInFrontOfLast(Expansion& e, ValueId x) {
  const ValueId rank = e.Emit("Shape", {e.Emit("Shape", {x})});
  const ValueId last = e.Emit("Sub", {rank, e.Ints("one", {1})});
  const ValueId first = e.Add("first", Constant::SplatInt(DType::kI64, {}, 1));
  const ValueId step = e.Add("step", Constant::SplatInt(DType::kI64, {}, 1));
  const ValueId end = e.Emit("Squeeze", {last});
  return e.Emit("ReduceMean", {x, e.Emit("Range", {first, end, step})});
}

absl::Status QLinearGlobalAveragePool(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 3}));
  const ValueId x = Dequantized(e, 0);
  const bool last = e.attributes().Int("channels_last") != 0;
  e.SetOutput(0,
              Quantized(e, last ? MeanInFrontOfLast(e, x) : e.Emit("GlobalAveragePool", {x}), 3));
  return absl::OkStatus();
}

// Before opset 13, which an attribute says, over all axes from `axis` on.
absl::Status QLinearSoftmax(Rebuilder& rebuilder, const Node& node) {
  constexpr int64_t kOneAxis = 13;
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 3}));
  const bool one_axis = e.attributes().Int("opset") >= kOneAxis;
  const int64_t axis = e.attributes().Int("axis", one_axis ? -1 : 1);
  ValueId x = Dequantized(e, 0);
  if (one_axis || axis == -1) {
    x = e.Emit("Softmax", {x}, {{"axis", axis}});
  } else {
    const ValueId shape = e.Emit("Shape", {x});
    x = e.Emit("Softmax", {e.Emit("Flatten", {x}, {{"axis", axis}})}, {{"axis", int64_t{-1}}});
    x = e.Emit("Reshape", {x, shape}, {{"allowzero", int64_t{1}}});
  }
  e.SetOutput(0, Quantized(e, x, 3));
  return absl::OkStatus();
}

// Inputs: scale and zero point of the result, then each operand with scale and zero point.
absl::Status QLinearConcat(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  if (node.inputs.size() < 5 || node.inputs.size() % 3 != 2) {
    return AOTC_REFUSAL(InvalidArgument, "needs three inputs for each operand, behind two");
  }
  std::vector<ValueId> operands;
  for (size_t first = 2; first < node.inputs.size(); first += 3) {
    operands.push_back(Quantized(e, Dequantized(e, first), 0));
  }
  e.SetOutput(0, e.Emit("Concat", operands, {{"axis", e.attributes().Int("axis")}}));
  return absl::OkStatus();
}

// f32(sums) * (a_scale * b_scale) + bias, of i32 sums [..., M, N]; the scale of B may be [N].
ValueId Scaled(Expansion& e, ValueId sums, ValueId a_scale, ValueId b_scale, ValueId bias) {
  const ValueId floats = e.Emit("Cast", {sums}, {{"to", kF32}});
  const ValueId result = e.Emit("Mul", {floats, e.Emit("Mul", {a_scale, b_scale})});
  return bias.valid() ? e.Emit("Add", {result, bias}) : result;
}

// Inputs: A, B, scales of A and B, zero points of A and B, bias. Scales, bias and result may be of
// f16, which holds no sum above 65504.
absl::Status MatMulIntegerToFloat(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2, 3}));
  auto in_f32 = [&e](size_t index) {
    return e.HasInput(index) ? e.Emit("Cast", {e.Input(index)}, {{"to", kF32}}) : ValueId();
  };
  const ValueId sums = e.Emit("MatMulInteger", {e.Input(0), e.Input(1), e.Input(4), e.Input(5)});
  const ValueId result = Scaled(e, sums, in_f32(2), in_f32(3), in_f32(6));
  e.SetOutput(0, e.Emit("CastLike", {result, e.Input(2)}));
  return absl::OkStatus();
}

// Inputs: A in f32, B, scale of B, zero point of B, bias.
absl::Status DynamicQuantizeMatMul(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const std::vector<ValueId> a = e.EmitSeveral("DynamicQuantizeLinear", {e.Input(0)}, 3);
  const ValueId sums = e.Emit("MatMulInteger", {a[0], e.Input(1), a[2], e.Input(3)});
  e.SetOutput(0, Scaled(e, sums, a[1], e.Input(2), e.Input(4)));
  return absl::OkStatus();
}

ValueId Turned(Expansion& e, size_t index, const char* attribute) {
  if (e.attributes().Int(attribute) == 0) return e.Input(index);
  return e.Emit("Transpose", {e.Input(index)}, {{"perm", std::vector<int64_t>{1, 0}}});
}

// alpha * a_scale * b_scale * (A * B + C), quantised where the result has a scale. C is i32.
absl::Status QGemm(Rebuilder& rebuilder, const Node& node) {
  constexpr size_t kA = 0, kB = 3, kC = 6, kScale = 7;
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({kA, kA + 1, kB, kB + 1}));
  ValueId sums = e.Emit("MatMulInteger", {Turned(e, kA, "transA"), Turned(e, kB, "transB"),
                                          e.Input(kA + 2), e.Input(kB + 2)});
  if (e.HasInput(kC)) sums = e.Emit("Add", {sums, e.Input(kC)});
  ValueId a_scale = e.Input(kA + 1);
  const float alpha = e.attributes().Float("alpha", 1);
  if (alpha != 1) a_scale = e.Emit("Mul", {e.Number("alpha", DType::kF32, alpha), a_scale});
  if (!e.HasInput(kScale)) {
    e.SetOutput(0, Scaled(e, sums, a_scale, e.Input(kB + 1), {}));
    return absl::OkStatus();
  }
  // Steps as those of QLinearMatMul: the scales are joined first, so that all round alike.
  const ValueId factor =
      e.Emit("Div", {e.Emit("Mul", {a_scale, e.Input(kB + 1)}), e.Input(kScale)});
  const ValueId scaled = e.Emit("Mul", {e.Emit("Cast", {sums}, {{"to", kF32}}), factor});
  e.SetOutput(
      0, e.Emit("QuantizeLinear", {scaled, e.Number("one", DType::kF32, 1), e.Input(kScale + 1)}));
  return absl::OkStatus();
}

// The operators of ONNX under another name.
template <const char* kOp>
absl::Status Renamed(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  Expansion::NamedValues attributes;
  for (const auto& [name, value] : e.attributes()) attributes.emplace_back(name, value);
  e.SetOutput(0, e.Emit(kOp, {e.Input(0), e.Input(1), e.Input(2)}, attributes));
  return absl::OkStatus();
}
constexpr char kQuantizeLinear[] = "QuantizeLinear", kDequantizeLinear[] = "DequantizeLinear";

// Numbers of 2, 4 or 8 bits, several a byte with the first one in the low bits, in blocks of
// `block` that share a scale and a zero point.
struct PackedBlocks {
  int64_t bits = 4;
  int64_t block = 32;
  int64_t blocks = 1;  // of a row

  int64_t PerByte() const { return 8 / bits; }
  // Number `place` of a byte, in u32.
  Expr Unpacked(const Expr& byte, const Expr& place) const {
    const Expr shift = Cast(DType::kU32, Mod(place, PerByte()) * bits);
    const Expr shifted = Binary(ExprOp::kShiftRight, Cast(DType::kU32, byte), shift);
    return Binary(ExprOp::kBitAnd, shifted, IntConst((int64_t{1} << bits) - 1, DType::kU32));
  }
  // A tensor of `width` elements a row, given as rows or as one list.
  static Expr At(const Tensor& x, const Expr& row, const Expr& column, int64_t width) {
    return x.rank() == 1 ? x({row * width + column}) : x({row, column});
  }
};

absl::Status RequireElements(const Tensor& x, int64_t rows, int64_t width, const char* what) {
  const bool is_list = x.rank() == 1 && x.dim(0).IsInt(rows * width);
  const bool is_matrix = x.rank() == 2 && x.dim(0).IsInt(rows) && x.dim(1).IsInt(width);
  if (is_list || is_matrix) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, StrCat("the ", what, " are not ", rows, " x ", width));
}

// Ours: weights [K, N] in the type of the scales, of MatMulNBits. Inputs: u8 [N, blocks, bytes],
// scales, zero points: packed as the weights are, or of the type of the scales; half of the range
// where they are absent; the block of each of the K rows, whose scale and zero point it has, where
// that is not the block that it lies in.
absl::Status UnpackedWeights(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor packed, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor scales, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireFloat(scales));
  const int64_t k = op.attributes().Int("K"), n = op.attributes().Int("N");
  PackedBlocks p = {.bits = op.attributes().Int("bits", 4),
                    .block = op.attributes().Int("block_size")};
  if ((p.bits != 2 && p.bits != 4 && p.bits != 8) || k < 1 || n < 1 || p.block < p.PerByte() ||
      p.block % p.PerByte() != 0) {
    return AOTC_REFUSAL(Unimplemented, StrCat("K = ", k, ", N = ", n, ", bits = ", p.bits,
                                              " and block_size = ", p.block, " are not supported"));
  }
  p.blocks = (k + p.block - 1) / p.block;
  const int64_t bytes = p.block / p.PerByte();
  if (packed.dtype() != DType::kU8 || packed.rank() != 3 || !packed.dim(0).IsInt(n) ||
      !packed.dim(1).IsInt(p.blocks) || !packed.dim(2).IsInt(bytes)) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("the weights are not u8 of ", n, " x ", p.blocks, " x ", bytes));
  }
  AOTC_RETURN_IF_ERROR(RequireElements(scales, n, p.blocks, "scales"));
  const int64_t zero_width = (p.blocks + p.PerByte() - 1) / p.PerByte();
  Tensor zeros;
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(zeros, op.Input(2));
    const int64_t width = zeros.dtype() == DType::kU8 ? zero_width : p.blocks;
    if (zeros.dtype() != DType::kU8) AOTC_RETURN_IF_ERROR(RequireSameType({zeros, scales}));
    AOTC_RETURN_IF_ERROR(RequireElements(zeros, n, width, "zero points"));
  }
  Tensor groups;
  if (op.HasInput(3)) {
    AOTC_ASSIGN_OR_RETURN(groups, op.Input(3));
    AOTC_RETURN_IF_ERROR(RequireRank(groups, 1, 1));
    AOTC_RETURN_IF_ERROR(op.Require(Le(k, groups.dim(0)), "g_idx has less than K elements"));
  }
  const DType compute = ComputeType(scales.dtype());
  op.SetOutput(0, op.b().Compute(scales.dtype(), {k, n}, [&](const Indices& i) {
    const Expr own = FloorDiv(i[0], p.block), place = Mod(i[0], p.block);
    const Expr byte = packed({i[1], own, FloorDiv(place, p.PerByte())});
    const Expr block =
        groups.valid() ? Clamp(Cast(DType::kI64, groups({i[0]})), 0, p.blocks - 1) : own;
    const Expr number = Cast(compute, p.Unpacked(byte, place));
    Expr zero = NumberConst(static_cast<double>(int64_t{1} << (p.bits - 1)), compute);
    if (zeros.valid() && zeros.dtype() == DType::kU8) {
      const Expr zero_byte =
          PackedBlocks::At(zeros, i[1], FloorDiv(block, p.PerByte()), zero_width);
      zero = Cast(compute, p.Unpacked(zero_byte, block));
    } else if (zeros.valid()) {
      zero = PackedBlocks::At(zeros, i[1], block, p.blocks);
    }
    return (number - zero) * PackedBlocks::At(scales, i[1], block, p.blocks);
  }));
  return absl::OkStatus();
}

// A * weights + bias, the weights being numbers of few bits. The products are summed in floats,
// whatever accuracy_level allows.
absl::Status MatMulNBits(Rebuilder& rebuilder, const Node& node) {
  constexpr size_t kZeros = 3, kGroups = 4, kBias = 5;
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  if (e.attributes().Int("weight_prepacked") != 0) {
    return AOTC_REFUSAL(Unimplemented,
                        "attribute 'weight_prepacked' says that the weights lie as one GPU wants "
                        "them; hint: export the model without it");
  }
  const ValueId weights =
      e.Emit("UnpackedWeights", {e.Input(1), e.Input(2), e.Input(kZeros), e.Input(kGroups)},
             {{"K", e.attributes().Int("K")},
              {"N", e.attributes().Int("N")},
              {"bits", e.attributes().Int("bits", 4)},
              {"block_size", e.attributes().Int("block_size")}});
  const ValueId result = e.Emit("MatMul", {e.Input(0), weights});
  e.SetOutput(0, e.HasInput(kBias) ? e.Emit("Add", {result, e.Input(kBias)}) : result);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "UnpackedWeights",
     .compute = UnpackedWeights,
     .summary = "weights of few bits as floats",
     .traits = kOwn,
     .indices = IndexOperand{.input = 3, .fixed_axis = 1, .from_end = false}},
    {.name = "com.microsoft.DequantizeLinear",
     .expand = Renamed<kDequantizeLinear>,
     .summary = "(x - zero) * scale"},
    {.name = "com.microsoft.DynamicQuantizeMatMul",
     .expand = DynamicQuantizeMatMul,
     .summary = "matrix product with a quantised operand"},
    {.name = "com.microsoft.MatMulIntegerToFloat",
     .expand = MatMulIntegerToFloat,
     .summary = "scaled matrix product of bytes"},
    {.name = "com.microsoft.MatMulNBits",
     .expand = MatMulNBits,
     .summary = "matrix product with weights of few bits"},
    {.name = "com.microsoft.QGemm",
     .expand = QGemm,
     .summary = "alpha * A * B + C of quantised operands"},
    {.name = "com.microsoft.QLinearAdd",
     .expand = QLinearBinary<kAdd>,
     .summary = "sum of quantised tensors"},
    {.name = "com.microsoft.QLinearAveragePool",
     .expand = QLinearAveragePool,
     .summary = "means of windows of a quantised tensor"},
    {.name = "com.microsoft.QLinearConcat",
     .expand = QLinearConcat,
     .summary = "quantised tensors one behind the other"},
    {.name = "com.microsoft.QLinearGlobalAveragePool",
     .expand = QLinearGlobalAveragePool,
     .summary = "means of channels of a quantised tensor"},
    {.name = "com.microsoft.QLinearLeakyRelu",
     .expand = QLinearUnary<kLeakyRelu>,
     .summary = "x, or alpha * x below 0, quantised"},
    {.name = "com.microsoft.QLinearMul",
     .expand = QLinearBinary<kMul>,
     .summary = "product of quantised tensors"},
    {.name = "com.microsoft.QLinearSigmoid",
     .expand = QLinearUnary<kSigmoid>,
     .summary = "1 / (1 + exp(-x)), quantised"},
    {.name = "com.microsoft.QLinearSoftmax",
     .expand = QLinearSoftmax,
     .summary = "exp(x) / sum(exp(x)) along an axis, quantised"},
    {.name = "com.microsoft.QuantizeLinear",
     .expand = Renamed<kQuantizeLinear>,
     .summary = "x / scale + zero, rounded to an integer type"},
};

}  // namespace

std::span<const OpDef> QuantizedOps() { return kOps; }

}  // namespace aotc
