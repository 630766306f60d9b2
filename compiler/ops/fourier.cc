// DFT and STFT: discrete Fourier transforms as sums over the definition; complex numbers are the
// last axis, of one element (real) or two. Rfft and Irfft of com.microsoft in terms of DFT.
//
// Angles are reduced to one turn in integers before they are floats: sines keep their digits
// however long the transform is.
#include <numbers>

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Complex {
  Expr real, imaginary;
};

// e^(i angle) of `steps` of the `length` steps of a turn, times x; the part that `part` says.
Expr Turned(const Complex& x, const Expr& steps, const Expr& length, const Expr& part) {
  const DType type = x.real.dtype();
  const Expr turn = Div(NumberConst(2 * std::numbers::pi, type), Cast(type, length));
  const Expr angle = Cast(type, Mod(steps, length)) * turn;
  const Expr cosine = Unary(ExprOp::kCos, angle), sine = Unary(ExprOp::kSin, angle);
  return Select(Eq(part, 0), x.real * cosine - x.imaginary * sine,
                x.real * sine + x.imaginary * cosine);
}

// A scalar operand, or `fallback` where it is absent.
absl::StatusOr<Expr> ScalarOr(const OpContext& op, size_t index, const Expr& fallback) {
  if (!op.HasInput(index)) return fallback;
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> elements, op.IntElements(index));
  if (elements.size() == 1) return Simplify(elements[0], op.bounds());
  return AOTC_REFUSAL(InvalidArgument, StrCat("input ", index, " needs one element"));
}

absl::Status RequireComplex(const Tensor& x) {
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  if (x.dim(-1).IsInt(1) || x.dim(-1).IsInt(2)) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument,
                      "the last axis needs one element, or two for complex numbers");
}

// The number at i, whose last index is none; zero where `exists` does not hold.
Complex NumberAt(const Tensor& x, Indices i, const Expr& exists) {
  i.push_back(0);
  const Expr real = x(i), zero = Number(0, real);
  if (x.dim(-1).IsInt(1)) return {Select(exists, real, zero), zero};
  i.back() = 1;
  return {Select(exists, real, zero), Select(exists, x(i), zero)};
}

struct Transform {
  Tensor x;         // [..., 1 or 2]
  size_t axis = 0;  // of the signal
  Expr length;      // of the transform
  bool inverse = false;
  bool onesided = false;

  bool to_real() const { return inverse && onesided; }
  Expr bins() const { return FloorDiv(length, 2) + 1; }
};

absl::StatusOr<Transform> ReadTransform(OpContext& op) {
  Transform t;
  AOTC_ASSIGN_OR_RETURN(t.x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireComplex(t.x));
  t.inverse = op.attributes().Int("inverse") != 0;
  t.onesided = op.attributes().Int("onesided") != 0;
  AOTC_ASSIGN_OR_RETURN(const Expr axis, ScalarOr(op, 2, -2));
  if (!axis.AsInt()) return AOTC_REFUSAL(InvalidArgument, "the axis is not known");
  AOTC_ASSIGN_OR_RETURN(const int normalized, op.NormalizeAxis(*axis.AsInt(), t.x.rank()));
  if (normalized == t.x.rank() - 1) {
    return AOTC_REFUSAL(InvalidArgument,
                        "the last axis, of complex numbers, cannot be transformed");
  }
  t.axis = static_cast<size_t>(normalized);
  const Expr dim = t.x.dim(normalized);
  AOTC_ASSIGN_OR_RETURN(t.length, ScalarOr(op, 1, t.to_real() ? (dim - 1) * 2 : dim));
  t.length = Simplify(t.length, op.bounds());
  if (Prove(Le(1, t.length), op.bounds()) != true) {
    return AOTC_REFUSAL(InvalidArgument, "the transform's length is not for all sizes above 0");
  }
  if (t.onesided && !t.x.dim(-1).IsInt(t.inverse ? 2 : 1)) {
    return AOTC_REFUSAL(InvalidArgument, t.inverse ? "a one-sided inverse needs complex numbers"
                                                   : "a one-sided transform needs real numbers");
  }
  return t;
}

// A bin stands for its mirror image too, but for the first and, of even lengths, the last.
Complex WithMirror(const Transform& t, const Complex& x, const Expr& bin) {
  const Expr alone = Or(Eq(bin, 0), Eq(bin * 2, t.length));
  return {x.real * Select(alone, Number(1, x.real), Number(2, x.real)),
          Select(alone, Number(0, x.real), x.imaginary * Number(2, x.real))};
}

// X[k] = sum over n of x[n] e^(-2 pi i k n / N); with the other sign, and over N, the inverse.
absl::Status Dft(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Transform t, ReadTransform(op));
  const Shape& from = t.x.shape();
  Shape shape = from;
  shape[t.axis] = t.onesided && !t.inverse ? t.bins() : t.length;
  shape.back() = t.to_real() ? 1 : 2;
  const Expr terms = Simplify(Min(t.to_real() ? t.bins() : t.length, from[t.axis]), op.bounds());
  auto body = [&](const Indices& i, const Indices& r) {
    Indices at(i.begin(), i.end() - 1);
    at[t.axis] = r[0];
    Complex x = NumberAt(t.x, at, Bool(true));
    if (t.to_real()) x = WithMirror(t, x, r[0]);
    const Expr steps = i[t.axis] * r[0];
    return Turned(x, t.inverse ? steps : -steps, t.length, i.back());
  };
  TensorBuilder& b = op.b();
  Tensor sums = b.Reduce("sum", ComputeType(t.x.dtype()), shape, {terms}, body);
  auto scaled = [&](const auto& v) {
    return t.inverse ? Div(v[0], Cast(v[0].dtype(), t.length)) : v[0];
  };
  op.SetOutput(0, b.Map({sums}, scaled, t.x.dtype()));
  return absl::OkStatus();
}

// [batch, length, 1 or 2]. Real numbers may come without their last axis: PyTorch writes them so,
// and onnxruntime takes them.
absl::StatusOr<Tensor> SignalOf(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  if (x.rank() == 2) {
    x = op.b().Compute(x.dtype(), {x.dim(0), x.dim(1), 1},
                       [&](const Indices& i) { return x.Stored({i[0], i[1]}); });
  }
  AOTC_RETURN_IF_ERROR(RequireComplex(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3, 3));
  return x;
}

// [batch, frames, bins, 2]: transforms of windows that start frame_step apart.
absl::Status Stft(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, SignalOf(op));
  AOTC_ASSIGN_OR_RETURN(const Expr step, ScalarOr(op, 1, 0));
  Tensor window;
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(window, op.Input(2));
    AOTC_RETURN_IF_ERROR(RequireRank(window, 1, 1));
  }
  AOTC_ASSIGN_OR_RETURN(const Expr length,
                        ScalarOr(op, 3, window.valid() ? window.dim(0) : x.dim(1)));
  if (window.valid() && !ProveEqual(window.dim(0), length, op.bounds())) {
    return AOTC_REFUSAL(InvalidArgument, "the window does not have frame_length elements");
  }
  if (Prove(And(Le(1, step), And(Le(1, length), Le(length, x.dim(1)))), op.bounds()) != true) {
    return AOTC_REFUSAL(
        InvalidArgument,
        "frame_step or frame_length is not for all sizes between 1 and the signal's length");
  }
  const bool onesided = op.attributes().Int("onesided", 1) != 0;
  const Expr frames = Simplify(FloorDiv(x.dim(1) - length, step) + 1, op.bounds());
  const Shape shape = {x.dim(0), frames, onesided ? FloorDiv(length, 2) + 1 : length, 2};
  auto body = [&](const Indices& i, const Indices& r) {
    Complex number = NumberAt(x, {i[0], i[1] * step + r[0]}, Bool(true));
    if (window.valid()) {
      const Expr weight = Cast(number.real.dtype(), window({r[0]}));
      number = {number.real * weight, number.imaginary * weight};
    }
    return Turned(number, -(i[2] * r[0]), length, i[3]);
  };
  op.SetOutput(0, op.b().Reduce("sum", x.dtype(), shape, {length}, body));
  return absl::OkStatus();
}

// The transform along an axis counted from the end, behind which complex numbers are the last.
ValueId TransformAlong(Expansion& e, ValueId x, int64_t axis,
                       const Expansion::NamedValues& attributes) {
  return e.Emit("DFT", {x, {}, e.Add("axis", Constant::SplatInt(DType::kI64, {}, axis))},
                attributes);
}

// How many of the last axes the node transforms.
absl::StatusOr<int64_t> TransformedAxes(const Expansion& e) {
  constexpr int64_t kMost = 3;
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const int64_t axes = e.attributes().Int("signal_ndim", 1);
  if (axes < 1 || axes > kMost) {
    return AOTC_REFUSAL(InvalidArgument, "attribute 'signal_ndim' is not from 1 to 3");
  }
  if (e.attributes().Int("normalized") == 0 && e.attributes().Int("onesided", 1) == 1) return axes;
  return AOTC_REFUSAL(Unimplemented, "takes onesided=1 and normalized=0 only");
}

// Of real x [.., n] the first n / 2 + 1 complex numbers, [.., n / 2 + 1, 2].
absl::Status Rfft(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_ASSIGN_OR_RETURN(const int64_t axes, TransformedAxes(e));
  ValueId y = e.Emit("Unsqueeze", {e.Input(0), e.Ints("last", {-1})});
  y = TransformAlong(e, y, -2, {{"onesided", int64_t{1}}});
  for (int64_t k = 1; k < axes; ++k) y = TransformAlong(e, y, -2 - k, {});
  e.SetOutput(0, y);
  return absl::OkStatus();
}

// Of the first m complex numbers [.., m, 2] of such a transform the real x, [.., 2 * (m - 1)]. The
// others mirror those between the ends.
absl::Status Irfft(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_ASSIGN_OR_RETURN(const int64_t axes, TransformedAxes(e));
  const Expansion::NamedValues inverse = {{"inverse", int64_t{1}}};
  ValueId y = e.Input(0);
  for (int64_t k = 1; k < axes; ++k) y = TransformAlong(e, y, -2 - k, inverse);
  const ValueId back = e.Emit("Slice", {y, e.Ints("first", {-2}), e.Ints("end", {0}),
                                        e.Ints("along", {-2}), e.Ints("step", {-1})});
  const ValueId sign = e.Emit("CastLike", {e.Numbers("sign", DType::kF32, {2}, {1, -1}), back});
  const ValueId all = e.Emit("Concat", {y, e.Emit("Mul", {back, sign})}, {{"axis", int64_t{-2}}});
  const ValueId x = TransformAlong(e, all, -2, inverse);
  e.SetOutput(0, e.Emit("Gather", {x, e.Add("real", Constant::SplatInt(DType::kI64, {}, 0))},
                        {{"axis", int64_t{-1}}}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "com.microsoft.Irfft", .expand = Irfft, .summary = "real numbers of a transform"},
    {.name = "com.microsoft.Rfft", .expand = Rfft, .summary = "half a transform of real numbers"},
    {.name = "DFT", .compute = Dft, .summary = "discrete Fourier transform along an axis"},
    {.name = "STFT", .compute = Stft, .summary = "Fourier transforms of overlapping frames"},
};

}  // namespace

std::span<const OpDef> FourierOps() { return kOps; }

}  // namespace aotc
