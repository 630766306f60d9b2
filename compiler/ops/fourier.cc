// DFT and STFT: discrete Fourier transforms as sums over the definition; complex numbers are the
// last axis, of one element (real) or two. Rfft and Irfft of com.microsoft in terms of DFT. Behind
// type inference the pass split-transforms writes those of a known length as products with the
// matrices of its factors (optimize/split_transforms.h), with ComplexProduct and StftFrames.
//
// Angles are reduced to one turn in integers before they are floats: sines keep their digits
// however long the transform is.
#include <numbers>
#include <optional>
#include <vector>

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/run_axes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Complex {
  Expr real, imaginary;
};

// The sine of so many steps, below 5 * length, of which 4 * length are a turn: that of an angle
// within a quarter turn of 0, which keeps its digits and is 0 where it should be.
Expr Sine(const Expr& steps, const Expr& length, DType type) {
  const Expr turned = Mod(steps, length * 4);
  const Expr behind = Select(Le(turned, length * 3), length * 2 - turned, turned - length * 4);
  const Expr near = Select(Le(turned, length), turned, behind);
  const Expr step = Div(NumberConst(std::numbers::pi / 2, type), Cast(type, length));
  return Unary(ExprOp::kSin, Cast(type, near) * step);
}

// e^(i angle) of `steps` of the `length` steps of a turn, times x; the part that `part` says.
Expr Turned(const Complex& x, const Expr& steps, const Expr& length, const Expr& part) {
  const DType type = x.real.dtype();
  const Expr quarters = Mod(steps, length) * 4;
  const Expr cosine = Sine(quarters + length, length, type), sine = Sine(quarters, length, type);
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

// The number at i, whose last index is none.
Complex NumberAt(const Tensor& x, Indices i) {
  i.push_back(0);
  const Expr real = x(i);
  if (x.dim(-1).IsInt(1)) return {real, Number(0, real)};
  i.back() = 1;
  return {real, x(i)};
}

struct Transform {
  Tensor x;                 // [..., n, ..., 1 or 2]
  std::vector<Expr> along;  // of each axis but the last: whether it is that of the signal
  Expr length;              // of the transform
  bool inverse = false;
  bool onesided = false;

  bool to_real() const { return inverse && onesided; }
  Expr bins() const { return FloorDiv(length, 2) + 1; }
  // Of what there is for each axis that of the signal's.
  Expr Along(const std::vector<Expr>& of_axes) const {
    Expr result = of_axes[0];
    for (size_t d = along.size(); d-- > 1;) result = Select(along[d], of_axes[d], result);
    return result;
  }
  // Dims of x with `dim` for the signal's.
  Shape With(const Expr& dim) const {
    Shape shape = x.shape();
    for (size_t d = 0; d < along.size(); ++d) shape[d] = Select(along[d], dim, shape[d]);
    return shape;
  }
  // The number that takes part in what is at i of the result, as the r-th of the signal. Below a
  // bound of the user's a dim of the result is just required to be that of x.
  Complex At(const Indices& i, const Expr& r) const {
    Indices at;
    for (size_t d = 0; d < along.size(); ++d) {
      const Expr other = along[d].IsConst() ? i[d] : Min(i[d], x.dim(static_cast<int>(d)) - 1);
      at.push_back(Select(along[d], r, other));
    }
    return NumberAt(x, at);
  }
};

constexpr char kLastAxis[] = "the last axis, of complex numbers, cannot be transformed";

absl::Status ReadAxis(OpContext& op, Transform& t) {
  AOTC_ASSIGN_OR_RETURN(const Expr axis, ScalarOr(op, 2, -2));
  const int last = t.x.rank() - 1;
  if (axis.AsInt()) {
    AOTC_ASSIGN_OR_RETURN(const int normalized, op.NormalizeAxis(*axis.AsInt(), t.x.rank()));
    if (normalized == last) return AOTC_REFUSAL(InvalidArgument, kLastAxis);
    for (int d = 0; d < last; ++d) t.along.push_back(Bool(d == normalized));
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(const RunAxes axes, RunAxes::Read(op, 2, t.x.rank()));
  AOTC_RETURN_IF_ERROR(op.Require(Not(axes.Names(static_cast<size_t>(last))), kLastAxis));
  // The first where it is none of the others, so that it is one of them whatever the run gives.
  Expr other = Bool(false);
  t.along.push_back(other);
  for (int d = 1; d < last; ++d) {
    t.along.push_back(axes.Names(static_cast<size_t>(d)));
    other = Or(other, t.along.back());
  }
  t.along[0] = Not(other);
  return absl::OkStatus();
}

// The rest of it, of a known `along`.
absl::Status ReadTransform(OpContext& op, Transform& t) {
  t.inverse = op.attributes().Int("inverse") != 0;
  t.onesided = op.attributes().Int("onesided") != 0;
  const Expr dim = t.Along(t.x.shape());
  AOTC_ASSIGN_OR_RETURN(t.length, ScalarOr(op, 1, t.to_real() ? (dim - 1) * 2 : dim));
  t.length = Simplify(t.length, op.bounds());
  AOTC_RETURN_IF_ERROR(op.Require(Le(1, t.length), "the transform's length is not above 0"));
  if (t.onesided && !t.x.dim(-1).IsInt(t.inverse ? 2 : 1)) {
    return AOTC_REFUSAL(InvalidArgument, t.inverse ? "a one-sided inverse needs complex numbers"
                                                   : "a one-sided transform needs real numbers");
  }
  return absl::OkStatus();
}

// A bin stands for its mirror image too, but for the first and, of even lengths, the last.
Complex WithMirror(const Transform& t, const Complex& x, const Expr& bin) {
  const Expr alone = Or(Eq(bin, 0), Eq(bin * 2, t.length));
  return {x.real * Select(alone, Number(1, x.real), Number(2, x.real)),
          Select(alone, Number(0, x.real), x.imaginary * Number(2, x.real))};
}

// X[k] = sum over n of x[n] e^(-2 pi i k n / N); with the other sign, and over N, the inverse.
absl::Status Dft(OpContext& op) {
  Transform t;
  AOTC_ASSIGN_OR_RETURN(t.x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireComplex(t.x));
  AOTC_RETURN_IF_ERROR(ReadAxis(op, t));
  AOTC_RETURN_IF_ERROR(ReadTransform(op, t));
  const Expr given = t.to_real() ? t.bins() : t.length;
  const Expr terms = Simplify(Min(given, t.Along(t.x.shape())), op.bounds());
  Shape shape = t.With(t.onesided && !t.inverse ? t.bins() : t.length);
  shape.back() = t.to_real() ? 1 : 2;
  auto body = [&](const Indices& i, const Indices& r) {
    Complex x = t.At(i, r[0]);
    if (t.to_real()) x = WithMirror(t, x, r[0]);
    const Expr steps = t.Along(i) * r[0];
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

// Windows of a signal that start `step` apart.
struct Frames {
  Tensor x;       // [batch, samples, 1 or 2]
  Tensor window;  // [length], or invalid
  Expr step, length, count;

  Complex At(const Expr& batch, const Expr& frame, const Expr& place) const;
};

Complex Frames::At(const Expr& batch, const Expr& frame, const Expr& place) const {
  Complex number = NumberAt(x, {batch, Clamp(frame * step + place, 0, x.dim(1) - 1)});
  if (!window.valid()) return number;
  const Expr weight = Cast(number.real.dtype(), window({place}));
  return {number.real * weight, number.imaginary * weight};
}

absl::StatusOr<Frames> ReadFrames(OpContext& op) {
  Frames f;
  AOTC_ASSIGN_OR_RETURN(f.x, SignalOf(op));
  const Expr& samples = f.x.dim(1);
  AOTC_ASSIGN_OR_RETURN(f.step, ScalarOr(op, 1, 0));
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(f.window, op.Input(2));
    AOTC_RETURN_IF_ERROR(RequireRank(f.window, 1, 1));
  }
  AOTC_ASSIGN_OR_RETURN(f.length, ScalarOr(op, 3, f.window.valid() ? f.window.dim(0) : samples));
  if (f.window.valid()) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(f.window.dim(0), f.length,
                                         "the window does not have frame_length elements"));
  }
  AOTC_RETURN_IF_ERROR(op.Require(And(Le(1, f.step), And(Le(1, f.length), Le(f.length, samples))),
                                  "frame_step is below 1, or frame_length not between 1 and the "
                                  "signal's length"));
  // What only a run knows is within its limits behind that.
  f.step = Simplify(Max(f.step, 1), op.bounds());
  f.length = Simplify(Max(f.length, 1), op.bounds());
  f.count = Simplify(FloorDiv(samples - f.length, f.step) + 1, op.bounds());
  return f;
}

// [batch, frames, bins, 2]: transforms of frames.
absl::Status Stft(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Frames f, ReadFrames(op));
  const bool onesided = op.attributes().Int("onesided", 1) != 0;
  const Expr bins = onesided ? FloorDiv(f.length, 2) + 1 : f.length;
  auto body = [&](const Indices& i, const Indices& r) {
    return Turned(f.At(i[0], i[1], r[0]), -(i[2] * r[0]), f.length, i[3]);
  };
  op.SetOutput(0,
               op.b().Reduce("sum", f.x.dtype(), {f.x.dim(0), f.count, bins, 2}, {f.length}, body));
  return absl::OkStatus();
}

// The frames of an STFT with the same operands: [batch, frames, 1 or 2, length].
absl::Status StftFrames(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Frames f, ReadFrames(op));
  op.SetOutput(0,
               op.b().Compute(ComputeType(f.x.dtype()), {f.x.dim(0), f.count, f.x.dim(2), f.length},
                              [&](const Indices& i) {
                                const Complex number = f.At(i[0], i[1], i[3]);
                                return Select(Eq(i[2], 0), number.real, number.imaginary);
                              }));
  return absl::OkStatus();
}

// Products of complex numbers [..., 1 or 2, n] and [..., 2, n], whose other dims broadcast.
absl::Status ComplexProduct(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor by, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Shape shape, op.b().Broadcast({x.shape(), by.shape()}));
  const auto part_of = [&](const Tensor& t, Indices i, const Expr& part) {
    i[i.size() - 2] = part;
    return t(BroadcastIndices(t.shape(), i));
  };
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    const Expr& part = i[i.size() - 2];
    if (x.dim(-2).IsInt(1)) return part_of(x, i, 0) * part_of(by, i, part);
    const Expr same = part_of(x, i, part) * part_of(by, i, 0);
    const Expr other = part_of(x, i, 1 - part) * part_of(by, i, 1);
    return same + Select(Eq(part, 0), -other, other);
  }));
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

// Of the first m complex numbers [.., m, 2] of such a transform the real x, [.., 2 * (m - 1)].
absl::Status Irfft(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_ASSIGN_OR_RETURN(const int64_t axes, TransformedAxes(e));
  ValueId y = e.Input(0);
  for (int64_t k = 1; k < axes; ++k) y = TransformAlong(e, y, -2 - k, {{"inverse", int64_t{1}}});
  y = TransformAlong(e, y, -2, {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}});
  e.SetOutput(0, e.Emit("Squeeze", {y, e.Ints("last", {-1})}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ComplexProduct",
     .compute = ComplexProduct,
     .summary = "products of complex numbers, whose parts are the last axis but one",
     .traits = kOwn},
    {.name = "com.microsoft.Irfft", .expand = Irfft, .summary = "real numbers of a transform"},
    {.name = "com.microsoft.Rfft", .expand = Rfft, .summary = "half a transform of real numbers"},
    {.name = "DFT", .compute = Dft, .summary = "discrete Fourier transform along an axis"},
    {.name = "StftFrames", .compute = StftFrames, .summary = "frames of a STFT", .traits = kOwn},
    {.name = "STFT", .compute = Stft, .summary = "Fourier transforms of overlapping frames"},
};

}  // namespace

std::span<const OpDef> FourierOps() { return kOps; }

}  // namespace aotc
