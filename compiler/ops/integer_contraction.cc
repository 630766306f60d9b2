// Contractions of quantised operands: MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv.
//
// Products of i32 differences from the zero points are summed in i32; the QLinear forms scale the
// sum in f32 and round it to the result's type. ConvInteger has an attribute that ONNX does not
// know: `pad_value`, what stands for the padding of an input without a zero point.
#include "compiler/ops/contraction.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/quantization.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status RequireBytes(const Tensor& x) {
  if (IsInteger(x.dtype()) && BitWidth(x.dtype()) == 8) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("needs operands of u8 or i8, not ", TypeName(x.dtype())));
}

struct Product {
  Tensor a, b;       // [..., m, k] and [..., k, n]; of rank 1 a row and a column
  ZeroPoint a_zero;  // one, or one per row
  ZeroPoint b_zero;  // one, or one per column

  bool HasRows() const { return a.rank() > 1; }
  bool HasColumns() const { return b.rank() > 1; }
  Expr Rows() const { return HasRows() ? a.dim(-2) : Expr(1); }
  Expr Columns() const { return HasColumns() ? b.dim(-1) : Expr(1); }
};

Shape BatchOf(const Tensor& x) {
  return x.rank() <= 2 ? Shape() : Shape(x.shape().begin(), x.shape().end() - 2);
}

// Operands `a` and `b` with their zero points at these inputs.
absl::StatusOr<Product> ProductOf(OpContext& op, size_t b, size_t a_zero, size_t b_zero) {
  Product p;
  AOTC_ASSIGN_OR_RETURN(p.a, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(p.b, op.Input(b));
  for (const Tensor& operand : {p.a, p.b}) {
    AOTC_RETURN_IF_ERROR(RequireBytes(operand));
    AOTC_RETURN_IF_ERROR(RequireRank(operand, 1));
  }
  AOTC_RETURN_IF_ERROR(op.RequireEqual(p.a.dim(-1), p.b.dim(p.HasColumns() ? -2 : -1),
                                       "the inner dims of the operands differ"));
  AOTC_ASSIGN_OR_RETURN(p.a_zero, ZeroPointOf(op, a_zero, p.a.dtype(), p.Rows()));
  AOTC_ASSIGN_OR_RETURN(p.b_zero, ZeroPointOf(op, b_zero, p.b.dtype(), p.Columns()));
  return p;
}

// The sums in i32: [..., m, n] without the dims that operands of rank 1 do not have.
absl::StatusOr<Tensor> ProductSums(TensorBuilder& builder, const Product& p) {
  AOTC_ASSIGN_OR_RETURN(Shape shape, builder.Broadcast({BatchOf(p.a), BatchOf(p.b)}));
  const auto batch_rank = static_cast<int64_t>(shape.size());
  if (p.HasRows()) shape.push_back(p.Rows());
  if (p.HasColumns()) shape.push_back(p.Columns());
  auto indices = [=](const Tensor& x, const Indices& i, const Indices& inner) {
    Indices at = BroadcastIndices(BatchOf(x), Indices(i.begin(), i.begin() + batch_rank));
    at.insert(at.end(), inner.begin(), inner.end());
    return at;
  };
  auto left = [=](const Indices& i, const Indices& r) {
    const Expr row = p.HasRows() ? i[static_cast<size_t>(batch_rank)] : Expr(0);
    const Indices inner = p.HasRows() ? Indices{row, r[0]} : Indices{r[0]};
    return p.a_zero.Subtracted(p.a(indices(p.a, i, inner)), row);
  };
  auto right = [=](const Indices& i, const Indices& r) {
    const Expr column = p.HasColumns() ? i.back() : Expr(0);
    const Indices inner = p.HasColumns() ? Indices{r[0], column} : Indices{r[0]};
    return p.b_zero.Subtracted(p.b(indices(p.b, i, inner)), column);
  };
  return SumOfProducts(builder, {.accumulator = DType::kI32,
                                 .shape = shape,
                                 .reduce_shape = {p.a.dim(-1)},
                                 .left = left,
                                 .right = right});
}

absl::Status MatMulInteger(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Product product, ProductOf(op, 1, 2, 3));
  AOTC_ASSIGN_OR_RETURN(Tensor sums, ProductSums(op.b(), product));
  op.SetOutput(0, sums);
  return absl::OkStatus();
}

// round(sum * (left * right / result)) + zero: what turns sums into quantised results.
struct Requantization {
  QuantParam left, right, result;  // scales
  ZeroPoint zero;
  DType type = DType::kU8;

  // `row` and `column`: the index of a sum in the scales of the left and the right operand. Each
  // step is a stage of its own, so that all round alike before they round to an integer; all have
  // the axes of the sums, so that they run element by element.
  Tensor Apply(TensorBuilder& b, const Tensor& sums, const TensorBuilder::Body& row,
               const TensorBuilder::Body& column) const {
    auto number = [](const Expr& e) { return Cast(DType::kF32, e); };
    Tensor products = b.Compute(DType::kF32, sums.shape(), [&](const Indices& i) {
      return number(left.At(row(i))) * number(right.At(column(i)));
    });
    Tensor factors = b.Compute(DType::kF32, sums.shape(), [&](const Indices& i) {
      return Div(products(i), number(result.At(0)));
    });
    Tensor scaled = b.Compute(DType::kF32, sums.shape(),
                              [&](const Indices& i) { return number(sums(i)) * factors(i); });
    return b.Compute(type, sums.shape(), [&](const Indices& i) {
      return Requantized(scaled(i), zero.AsFloat(0), type);
    });
  }
};

// With the scales of the operands at inputs 1 and 4, that of the result at 6, its zero point at 7.
absl::StatusOr<Requantization> RequantizationOf(OpContext& op, const Expr& rows,
                                                const Expr& columns) {
  Requantization r;
  AOTC_ASSIGN_OR_RETURN(r.left, ScaleOf(op, 1, rows));
  AOTC_ASSIGN_OR_RETURN(r.right, ScaleOf(op, 4, columns));
  AOTC_ASSIGN_OR_RETURN(r.result, ScaleOf(op, 6, 1));
  r.type = op.InputType(7).dtype;
  AOTC_RETURN_IF_ERROR(RequireQuantized(r.type));
  AOTC_ASSIGN_OR_RETURN(r.zero, ZeroPointOf(op, 7, r.type, 1));
  return r;
}

absl::Status QLinearMatMul(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Product product, ProductOf(op, 3, 2, 5));
  AOTC_ASSIGN_OR_RETURN(const Requantization requantize,
                        RequantizationOf(op, product.Rows(), product.Columns()));
  AOTC_ASSIGN_OR_RETURN(Tensor sums, ProductSums(op.b(), product));
  const size_t columns = product.HasColumns() ? 1 : 0;
  auto row = [&](const Indices& i) {
    return product.HasRows() ? i[i.size() - 1 - columns] : Expr(0);
  };
  auto column = [&](const Indices& i) { return columns == 0 ? Expr(0) : i.back(); };
  op.SetOutput(0, requantize.Apply(op.b(), sums, row, column));
  return absl::OkStatus();
}

// The sums of a convolution whose weight and zero points are at these inputs.
absl::StatusOr<Tensor> QuantizedSums(OpContext& op, size_t weight_index, size_t x_zero,
                                     size_t weight_zero) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor weight, op.Input(weight_index));
  AOTC_RETURN_IF_ERROR(RequireBytes(x));
  AOTC_RETURN_IF_ERROR(RequireBytes(weight));
  AOTC_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(op, x, weight));
  AOTC_ASSIGN_OR_RETURN(const ZeroPoint of_x, ZeroPointOf(op, x_zero, x.dtype(), 1));
  AOTC_ASSIGN_OR_RETURN(const ZeroPoint of_weight,
                        ZeroPointOf(op, weight_zero, weight.dtype(), weight.dim(0)));
  ConvolutionLifts lifts;
  if (op.attributes().Has("pad_value")) lifts.padding = op.attributes().Int("pad_value");
  if (of_x.param && lifts.padding) {
    return absl::InternalError("pad_value stands where there is no zero point");
  }
  if (of_x.param) lifts.x = [&](const Expr& e) { return of_x.Subtracted(e, 0); };
  if (of_weight.param) {
    lifts.weight = [&](const Expr& e, const Expr& m) { return of_weight.Subtracted(e, m); };
  }
  return ConvolutionSums(op.b(), conv, lifts);
}

absl::Status ConvInteger(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor sums, QuantizedSums(op, 1, 2, 3));
  op.SetOutput(0, sums);
  return absl::OkStatus();
}

absl::Status QLinearConv(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor sums, QuantizedSums(op, 3, 2, 5));
  AOTC_ASSIGN_OR_RETURN(const Requantization requantize, RequantizationOf(op, 1, sums.dim(1)));
  if (op.HasInput(8)) {
    AOTC_ASSIGN_OR_RETURN(Tensor bias, op.Input(8));
    constexpr const char* kWrong = "the bias must have one i32 per output channel";
    if (bias.dtype() != DType::kI32 || bias.rank() != 1) {
      return AOTC_REFUSAL(InvalidArgument, kWrong);
    }
    AOTC_RETURN_IF_ERROR(op.RequireEqual(bias.dim(0), sums.dim(1), kWrong));
    sums = op.b().Compute(DType::kI32, sums.shape(),
                          [&](const Indices& i) { return sums(i) + bias({i[1]}); });
  }
  auto channel = [](const Indices& i) { return i[1]; };
  op.SetOutput(0, requantize.Apply(op.b(), sums, channel, channel));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ConvInteger",
     .compute = ConvInteger,
     .summary = "convolution of bytes, in i32",
     .traits = kConvolves},
    {.name = "MatMulInteger",
     .compute = MatMulInteger,
     .summary = "matrix product of bytes, in i32"},
    {.name = "QLinearConv", .compute = QLinearConv, .summary = "convolution of quantised tensors"},
    {.name = "QLinearMatMul",
     .compute = QLinearMatMul,
     .summary = "matrix product of quantised tensors"},
};

}  // namespace

std::span<const OpDef> IntegerContractionOps() { return kOps; }

}  // namespace aotc
