// MelWeightMatrix: triangles over the bins of a spectrum, evenly spaced on the mel scale.
//
// mel(f) = 2595 log10(1 + f / 700). Ends of triangles are whole bins; computed in f64. Frequencies
// that only a run knows are read by each element.
#include <cmath>
#include <iterator>
#include <numbers>
#include <optional>
#include <vector>

#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr double kMelScale = 2595, kMelFrequency = 700;

Expr Real(double value) { return NumberConst(value, DType::kF64); }
Expr Real(const Expr& size) {
  const std::optional<int64_t> known = size.AsInt();
  return known ? Real(static_cast<double>(*known)) : Cast(DType::kF64, size);
}

// One of the five operands: a number where it is known.
struct Frequency {
  std::optional<double> known;
  Expr read;  // f64

  Expr Mel() const {
    if (known) return Real(kMelScale * std::log10(1 + *known / kMelFrequency));
    const Expr decades = Div(Unary(ExprOp::kLog, Real(1.0) + Div(read, Real(kMelFrequency))),
                             Real(std::numbers::ln10));
    return Real(kMelScale) * decades;
  }
};

struct MelBands {
  Expr bands, dft_length, sample_rate;  // i64
  Frequency low, high;                  // in hertz

  // The bin at which triangle `number` begins.
  Expr Bin(const Expr& number) const {
    const Expr mel = Cast(DType::kF64, number) * Step() + low.Mel();
    const Expr power = Binary(ExprOp::kPow, Real(10.0), Div(mel, Real(kMelScale)));
    const Expr hertz = Real(kMelFrequency) * (power - Real(1.0));
    const Expr place = Div(Real(dft_length + 1) * hertz, Real(sample_rate));
    return Cast(DType::kI64, Unary(ExprOp::kFloor, place));
  }

 private:
  // From the begin of a triangle to the next.
  Expr Step() const { return Div(high.Mel() - low.Mel(), Real(bands + 2)); }
};

absl::StatusOr<Frequency> ReadFrequency(OpContext& op, size_t index) {
  const Constant* constant = op.ConstInput(index);
  if (constant != nullptr) {
    AOTC_RETURN_IF_ERROR(RequireOneElement(constant));
    return Frequency{.known = constant->FloatAt(0), .read = {}};
  }
  AOTC_ASSIGN_OR_RETURN(const Expr read, OneElement(op, index, DType::kF64));
  return Frequency{.known = {}, .read = read};
}

absl::StatusOr<MelBands> ReadBands(OpContext& op) {
  MelBands mel;
  Expr* const sizes[] = {&mel.bands, &mel.dft_length, &mel.sample_rate};
  for (size_t k = 0; k < std::size(sizes); ++k) {
    AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> elements, op.IntElements(k));
    if (elements.size() != 1) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("input ", k, " needs one element"));
    }
    AOTC_RETURN_IF_ERROR(op.Require(Le(1, elements[0]), StrCat("input ", k, " is not positive")));
    *sizes[k] = Simplify(Max(elements[0], 1), op.bounds());
  }
  AOTC_ASSIGN_OR_RETURN(mel.low, ReadFrequency(op, 3));
  AOTC_ASSIGN_OR_RETURN(mel.high, ReadFrequency(op, 4));
  const double low = mel.low.known.value_or(0), high = mel.high.known.value_or(low);
  if (!(low >= 0 && low <= high)) {
    return AOTC_REFUSAL(InvalidArgument, "frequencies must be positive, and ascend");
  }
  return mel;
}

// [dft_length / 2 + 1, bands]: 1 at the middle of each triangle.
absl::Status MelWeightMatrix(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const MelBands mel, ReadBands(op));
  const int64_t to = op.attributes().Int("output_datatype", static_cast<int64_t>(DType::kF32));
  const auto dtype = static_cast<DType>(to);
  if (to != static_cast<int>(to) || !IsKnownDType(static_cast<int>(to)) ||
      (!IsFloat(dtype) && !IsInteger(dtype))) {
    return AOTC_REFUSAL(Unimplemented, StrCat("a matrix of ONNX element type ", to));
  }
  const Shape shape = {FloorDiv(mel.dft_length, 2) + 1, mel.bands};
  op.SetOutput(0, op.b().Compute(dtype, shape, [&](const Indices& i) {
    const Expr left = mel.Bin(i[1]), middle = mel.Bin(i[1] + 1), right = mel.Bin(i[1] + 2);
    auto ratio = [](const Expr& part, const Expr& whole) {
      return Div(Cast(DType::kF64, part), Cast(DType::kF64, whole));
    };
    const Expr zero = Real(0.0), one = Real(1.0);
    const Expr steep = Select(Eq(i[0], middle), one, zero);
    const Expr rising =
        Select(And(Le(left, i[0]), Le(i[0], middle)), ratio(i[0] - left, middle - left), zero);
    const Expr falling = ratio(right - i[0], right - middle);
    return Select(And(Le(middle, i[0]), Lt(i[0], right)), falling,
                  Select(Eq(left, middle), steep, rising));
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "MelWeightMatrix",
     .compute = MelWeightMatrix,
     .summary = "triangles on the mel scale over the bins of a spectrum"},
};

}  // namespace

std::span<const OpDef> MelWeightMatrixOps() { return kOps; }

}  // namespace aotc
