// MelWeightMatrix: triangles over the bins of a spectrum, evenly spaced on the mel scale.
//
// mel(f) = 2595 log10(1 + f / 700). Ends of triangles are whole bins; computed in f64.
#include <cmath>

#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr double kMelScale = 2595, kMelFrequency = 700;

double MelOf(double hertz) { return kMelScale * std::log10(1 + hertz / kMelFrequency); }

struct MelBands {
  int64_t bands = 0, dft_length = 0, sample_rate = 0;
  double lowest = 0, step = 0;  // in mel

  // The bin at which triangle `number` begins.
  Expr Bin(const Expr& number) const {
    auto real = [](double value) { return NumberConst(value, DType::kF64); };
    const Expr mel = Cast(DType::kF64, number) * real(step) + real(lowest);
    const Expr power = Binary(ExprOp::kPow, real(10), Div(mel, real(kMelScale)));
    const Expr hertz = real(kMelFrequency) * (power - real(1));
    const Expr place = Div(real(static_cast<double>(dft_length + 1)) * hertz,
                           real(static_cast<double>(sample_rate)));
    return Cast(DType::kI64, Unary(ExprOp::kFloor, place));
  }
};

absl::StatusOr<MelBands> ReadBands(const OpContext& op) {
  int64_t whole[3] = {};
  double edges[2] = {};
  for (size_t k = 0; k < 5; ++k) {
    const Constant* constant = op.ConstInput(k);
    if (constant == nullptr)
      return AOTC_REFUSAL(InvalidArgument, StrCat("input ", k, " is not known"));
    AOTC_RETURN_IF_ERROR(RequireOneElement(constant));
    if (k < 3) {
      whole[k] = constant->IntAt(0);
    } else {
      edges[k - 3] = constant->FloatAt(0);
    }
  }
  if (whole[0] < 1 || whole[1] < 1 || whole[2] < 1 || !(edges[0] >= 0 && edges[0] <= edges[1])) {
    return AOTC_REFUSAL(InvalidArgument, "sizes and frequencies must be positive, edges ascending");
  }
  const double low = MelOf(edges[0]), high = MelOf(edges[1]);
  return MelBands{.bands = whole[0],
                  .dft_length = whole[1],
                  .sample_rate = whole[2],
                  .lowest = low,
                  .step = (high - low) / static_cast<double>(whole[0] + 2)};
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
  const Shape shape = {mel.dft_length / 2 + 1, mel.bands};
  op.SetOutput(0, op.b().Compute(dtype, shape, [&](const Indices& i) {
    const Expr left = mel.Bin(i[1]), middle = mel.Bin(i[1] + 1), right = mel.Bin(i[1] + 2);
    auto ratio = [](const Expr& part, const Expr& whole) {
      return Div(Cast(DType::kF64, part), Cast(DType::kF64, whole));
    };
    const Expr zero = NumberConst(0, DType::kF64), one = NumberConst(1, DType::kF64);
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
