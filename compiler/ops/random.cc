// Random numbers: RandomUniform, RandomNormal and their Like forms, Bernoulli, Multinomial, and
// Dropout, which draws in training. ONNX leaves the numbers open; ops/random_bits.h says ours.
#include <numbers>
#include <vector>

#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/random_bits.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The only element of a scalar that the compiler has made.
absl::StatusOr<Expr> ElementOf(OpContext& op, size_t index) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(index));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 0, 0));
  return x({});
}

absl::StatusOr<RandomStream> StreamOf(OpContext& op) {
  Expr key;
  if (op.attributes().Has(kKeyedAttribute)) {
    AOTC_ASSIGN_OR_RETURN(key, ElementOf(op, op.InputCount() - 1));
  }
  return RandomStream(op.attributes().Int(kStreamAttribute), key);
}

absl::StatusOr<DType> TypeOf(const OpContext& op, DType fallback) {
  const int64_t stated = op.attributes().Int("dtype", static_cast<int>(fallback));
  if (stated == static_cast<int>(stated) && IsKnownDType(static_cast<int>(stated))) {
    const auto type = static_cast<DType>(stated);
    const bool number = type == DType::kBool || IsInteger(type) || IsFloat(type);
    if (number && (type == DType::kBool || BitWidth(type) >= 8)) return type;
  }
  return AOTC_REFUSAL(Unimplemented, StrCat("random numbers of ONNX element type ", stated));
}

absl::StatusOr<DType> FloatTypeOf(const OpContext& op, DType fallback) {
  AOTC_ASSIGN_OR_RETURN(const DType type, TypeOf(op, fallback));
  if (IsFloat(type)) return type;
  return AOTC_REFUSAL(InvalidArgument, StrCat("random numbers of type ", TypeName(type)));
}

// What is made of the random bits of an element, a word or two, in the compute type of the result.
struct Draw {
  size_t words = 1;
  Expr (*of)(const OpContext& op, const std::vector<Expr>& bits, DType type) = nullptr;
};

// In [low, high); rounding to the type may give high itself.
Expr UniformNumber(const OpContext& op, const std::vector<Expr>& bits, DType type) {
  const double low = op.attributes().Float("low", 0), high = op.attributes().Float("high", 1);
  return NumberConst(low, type) + UniformOf(bits[0], type) * NumberConst(high - low, type);
}

// Box and Muller: a length and an angle of two uniform numbers.
Expr NormalNumber(const OpContext& op, const std::vector<Expr>& bits, DType type) {
  const double mean = op.attributes().Float("mean", 0), scale = op.attributes().Float("scale", 1);
  const Expr first = InnerUniformOf(bits[0], type), second = UniformOf(bits[1], type);
  const Expr length = Sqrt(NumberConst(-2, type) * Unary(ExprOp::kLog, first));
  const Expr angle = NumberConst(2 * std::numbers::pi, type) * second;
  return NumberConst(mean, type) + NumberConst(scale, type) * length * Unary(ExprOp::kCos, angle);
}

constexpr Draw kUniform = {1, UniformNumber}, kNormal = {2, NormalNumber};

absl::Status SetDrawn(OpContext& op, const Shape& shape, DType type, const Draw& draw) {
  AOTC_ASSIGN_OR_RETURN(const RandomStream stream, StreamOf(op));
  std::vector<Tensor> words = {stream.Bits(op.b(), shape)};
  while (words.size() < draw.words) {
    words.push_back(stream.Other(words.size()).Bits(op.b(), shape));
  }
  op.SetOutput(0, op.b().Compute(type, shape, [&](const Indices& i) {
    std::vector<Expr> bits;
    for (const Tensor& word : words) bits.push_back(word(i));
    return draw.of(op, bits, ComputeType(type));
  }));
  return absl::OkStatus();
}

absl::Status DrawShape(OpContext& op, const Draw& draw) {
  if (!op.attributes().Has("shape"))
    return AOTC_REFUSAL(InvalidArgument, "needs the attribute shape");
  const std::vector<int64_t> dims = op.attributes().Ints("shape");
  for (int64_t dim : dims) {
    if (dim < 0) return AOTC_REFUSAL(InvalidArgument, StrCat("a dim of ", dim));
  }
  AOTC_ASSIGN_OR_RETURN(const DType type, FloatTypeOf(op, DType::kF32));
  return SetDrawn(op, MakeShape(dims), type, draw);
}

absl::Status DrawLike(OpContext& op, const Draw& draw) {
  const ValueType& like = op.InputType(0);
  if (!like.ranked) return AOTC_REFUSAL(InvalidArgument, "needs an input of known rank");
  AOTC_ASSIGN_OR_RETURN(const DType type, FloatTypeOf(op, like.dtype));
  return SetDrawn(op, Shape(like.dims), type, draw);
}

absl::Status RandomUniform(OpContext& op) { return DrawShape(op, kUniform); }
absl::Status RandomNormal(OpContext& op) { return DrawShape(op, kNormal); }
absl::Status RandomUniformLike(OpContext& op) { return DrawLike(op, kUniform); }
absl::Status RandomNormalLike(OpContext& op) { return DrawLike(op, kNormal); }

// 1 with the probability that an element of the input says, else 0.
absl::Status Bernoulli(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(const DType type, TypeOf(op, x.dtype()));
  AOTC_ASSIGN_OR_RETURN(const RandomStream stream, StreamOf(op));
  const Tensor bits = stream.Bits(op.b(), x.shape());
  op.SetOutput(0, op.b().Compute(type, x.shape(), [&](const Indices& i) {
    const Expr p = x(i);
    const Expr is_one = Lt(UniformOf(bits(i), p.dtype()), p);
    const DType compute = ComputeType(type);
    return type == DType::kBool ? is_one
                                : Select(is_one, NumberConst(1, compute), NumberConst(0, compute));
  }));
  return absl::OkStatus();
}

// [batch, samples]: a class each, of which the input has logarithms of what is proportional to the
// probabilities. The class where the sum of logarithm and Gumbel noise is greatest is one drawn so.
absl::Status Multinomial(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2, 2));
  const int64_t samples = op.attributes().Int("sample_size", 1);
  if (samples < 1) return AOTC_REFUSAL(InvalidArgument, "sample_size must be at least 1");
  AOTC_ASSIGN_OR_RETURN(const DType type, TypeOf(op, DType::kI32));
  if (!IsInteger(type)) return AOTC_REFUSAL(InvalidArgument, "the classes need an integer type");
  AOTC_ASSIGN_OR_RETURN(const RandomStream stream, StreamOf(op));
  const Shape shape = {x.dim(0), Expr(samples)}, classes = {x.dim(1)};
  const Shape all = {shape[0], shape[1], classes[0]};
  // Rare classes need the resolution of f64.
  const Combiner combiner = ArgCombiner(DType::kF64, /*maximum=*/true, /*prefer_last=*/false);
  const std::vector<Tensor> best =
      op.b().ReduceTuple(combiner, shape, classes, [&](const Indices& i, const Indices& r) {
        const Expr position = LinearIndex({i[0], i[1], r[0]}, RowMajorStrides(all));
        const Expr drawn = InnerUniformOf(stream.BitsAt(position), DType::kF64);
        const Expr noise = -Unary(ExprOp::kLog, -Unary(ExprOp::kLog, drawn));
        return std::vector<Expr>{Cast(DType::kF64, x({i[0], r[0]})) + noise, r[0]};
      });
  op.SetOutput(0, op.b().Convert(best[1], type));
  return absl::OkStatus();
}

// An operand of Dropout: a constant where it is known, else the only element of the input; the
// fallback where it is absent.
absl::StatusOr<Expr> ScalarOf(OpContext& op, size_t index, const Expr& fallback) {
  if (!op.HasInput(index)) return fallback;
  const Constant* constant = op.ConstInput(index);
  AOTC_RETURN_IF_ERROR(RequireOneElement(constant));
  if (constant != nullptr) return NumberConst(constant->FloatAt(0), fallback.dtype());
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(index));
  for (const Expr& dim : x.shape()) {
    if (!dim.IsInt(1)) return AOTC_REFUSAL(InvalidArgument, "ratio and training_mode are scalars");
  }
  return Cast(fallback.dtype(), x(Indices(x.shape().size(), Expr(0))));
}

struct DropoutOperands {
  Tensor x;
  Expr ratio;     // of the elements that training drops, in the compute type
  Expr training;  // bool

  bool DropsNothing() const {
    return training.IsInt(0) || (ratio.IsConst() && ratio->float_value == 0);
  }
};

absl::StatusOr<DropoutOperands> ReadDropout(OpContext& op) {
  DropoutOperands dropout;
  AOTC_ASSIGN_OR_RETURN(dropout.x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(dropout.x));
  const DType compute = ComputeType(dropout.x.dtype());
  AOTC_RETURN_IF_ERROR(RequireOneElement(op.ConstInput(1)));
  AOTC_ASSIGN_OR_RETURN(dropout.training, ScalarOf(op, 2, Bool(false)));
  if (dropout.DropsNothing()) return dropout;
  AOTC_ASSIGN_OR_RETURN(dropout.ratio, ScalarOf(op, 1, NumberConst(0.5, compute)));
  const bool known = dropout.ratio.IsConst();
  if (!known || (dropout.ratio->float_value >= 0 && dropout.ratio->float_value < 1)) return dropout;
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("the ratio ", dropout.ratio->float_value, " is not in [0, 1)"));
}

// Inference: the input, and a mask that is true everywhere. In training each element is dropped
// with the probability `ratio`, and the others are scaled, so that the mean stays.
absl::Status Dropout(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const DropoutOperands dropout, ReadDropout(op));
  const Tensor& x = dropout.x;
  const Shape shape = x.shape();
  AOTC_ASSIGN_OR_RETURN(const RandomStream stream, StreamOf(op));
  const bool all = dropout.DropsNothing();
  const Tensor bits = all ? x : stream.Bits(op.b(), shape);
  const auto kept = [&](const Indices& i) {
    const Expr drawn = UniformOf(bits(i), dropout.ratio.dtype());
    return Or(Not(dropout.training), Le(dropout.ratio, drawn));
  };
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    if (all) return x.Stored(i);
    const Expr one = Number(1, dropout.ratio), rest = one - dropout.ratio;
    const Expr scaled = x(i) * Select(dropout.training, Div(one, rest), one);
    return Select(kept(i), scaled, Number(0, scaled));
  }));
  if (!op.WantsOutput(1)) return absl::OkStatus();
  op.SetOutput(1, op.b().Compute(DType::kBool, shape,
                                 [&](const Indices& i) { return all ? Bool(true) : kept(i); }));
  return absl::OkStatus();
}

// u64 []: of a key, which may be absent, and of a number within it, i64 []. Ours: what a node draws
// depends on it.
absl::Status RandomKey(OpContext& op) {
  Expr key;
  if (op.HasInput(0)) {
    AOTC_ASSIGN_OR_RETURN(key, ElementOf(op, 0));
  }
  AOTC_ASSIGN_OR_RETURN(const Expr number, ElementOf(op, 1));
  op.SetOutput(0, MixedKey(op.b(), key, number));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Bernoulli", .compute = Bernoulli, .summary = "ones with given probabilities"},
    {.name = "Dropout",
     .compute = Dropout,
     .summary = "the input in inference; in training some elements are dropped at random",
     .gradient = GradientOfDropout},
    {.name = "Multinomial", .compute = Multinomial, .summary = "classes with given probabilities"},
    {.name = "RandomKey",
     .compute = RandomKey,
     .summary = "what random numbers depend on besides their node",
     .traits = kOwn},
    {.name = "RandomNormal", .compute = RandomNormal, .summary = "normally distributed numbers"},
    {.name = "RandomNormalLike",
     .compute = RandomNormalLike,
     .summary = "normally distributed numbers in the shape of a tensor",
     .traits = kReadsShapeOnly},
    {.name = "RandomUniform", .compute = RandomUniform, .summary = "evenly distributed numbers"},
    {.name = "RandomUniformLike",
     .compute = RandomUniformLike,
     .summary = "evenly distributed numbers in the shape of a tensor",
     .traits = kReadsShapeOnly},
};

}  // namespace

std::span<const OpDef> RandomOps() { return kOps; }

}  // namespace aotc
