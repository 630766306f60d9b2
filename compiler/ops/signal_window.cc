// Windows of signal processing: HannWindow, HammingWindow, BlackmanWindow.
//
// Sums of cosines over n = 2 pi i / N, where N is the size of a periodic window, else one less;
// computed in f64.
#include <numbers>

#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// constant + once * cos(n) + twice * cos(2 n)
struct CosineSum {
  double constant = 0;
  double once = 0;
  double twice = 0;
};

Expr CosineTerm(double factor, const Expr& angle) {
  return Number(factor, angle) * Unary(ExprOp::kCos, angle);
}

absl::Status Window(OpContext& op, const CosineSum& sum) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> sizes, op.IntElements(0));
  if (sizes.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs a size of one element");
  const Expr size = Simplify(sizes[0], op.bounds());
  if (Prove(Lt(size, 0), op.bounds()) == true) {
    return AOTC_REFUSAL(InvalidArgument, "the size is negative");
  }
  const int64_t to = op.attributes().Int("output_datatype", static_cast<int64_t>(DType::kF32));
  const auto dtype = static_cast<DType>(to);
  if (to != static_cast<int>(to) || !IsKnownDType(static_cast<int>(to)) ||
      (!IsFloat(dtype) && !IsInteger(dtype))) {
    return AOTC_REFUSAL(Unimplemented, StrCat("a window of ONNX element type ", to));
  }
  const bool periodic = op.attributes().Int("periodic", 1) != 0;
  const Expr period = Cast(DType::kF64, periodic ? size : size - 1);
  op.SetOutput(0, op.b().Compute(dtype, {size}, [&](const Indices& i) {
    Expr angle =
        Div(Cast(DType::kF64, i[0]) * NumberConst(2 * std::numbers::pi, DType::kF64), period);
    Expr value = NumberConst(sum.constant, DType::kF64) + CosineTerm(sum.once, angle);
    if (sum.twice == 0) return value;
    return value + CosineTerm(sum.twice, angle * NumberConst(2, DType::kF64));
  }));
  return absl::OkStatus();
}

absl::Status HannWindow(OpContext& op) { return Window(op, {.constant = 0.5, .once = -0.5}); }

absl::Status HammingWindow(OpContext& op) {
  return Window(op, {.constant = 25.0 / 46, .once = -21.0 / 46});
}

absl::Status BlackmanWindow(OpContext& op) {
  return Window(op, {.constant = 0.42, .once = -0.5, .twice = 0.08});
}

constexpr OpDef kOps[] = {
    {.name = "BlackmanWindow", .compute = BlackmanWindow, .summary = "a Blackman window"},
    {.name = "HammingWindow", .compute = HammingWindow, .summary = "a Hamming window"},
    {.name = "HannWindow", .compute = HannWindow, .summary = "a Hann window"},
};

}  // namespace

std::span<const OpDef> SignalWindowOps() { return kOps; }

}  // namespace aotc
