// Rules of differentiation of normalisations, and of Dropout, which inference has beside them.
#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/support/refusal.h"

namespace aotc {

// By given statistics: a scale and a shift of each channel.
absl::Status GradientOfBatchNormalization(GradientContext& c) {
  if (c.attributes().Int("training_mode") != 0) {
    return AOTC_REFUSAL(Unimplemented, "in training; hint: write it as ReduceMean, Mul and Add");
  }
  const Quantity g = c.OfResult(), scale = c.Operand(1), mean = c.Operand(3), var = c.Operand(4);
  const double epsilon = c.attributes().Float("epsilon", 1e-5F);
  const Quantity zeros = ZerosLike(mean), ones = ExpandedTo(mean.Number(1), mean);
  auto normalized = [&](const Quantity& x, const Quantity& factor, const Quantity& middle) {
    return x.To("BatchNormalization", {factor, zeros, middle, var},
                {{"epsilon", static_cast<float>(epsilon)}});
  };
  const Quantity of_x = normalized(g, scale, zeros);
  c.Give(0, of_x);
  const Quantity of_scale = SummedToChannels(g * normalized(c.Operand(), ones, mean));
  c.Give(1, of_scale);
  if (c.Wants(2)) c.Give(2, SummedToChannels(g));
  if (c.Wants(3)) c.Give(3, -SummedToChannels(of_x));
  if (c.Wants(4)) c.Give(4, of_scale * scale / (var + epsilon) * -0.5);
  return absl::OkStatus();
}

absl::Status GradientOfDropout(GradientContext& c) {
  if (c.Operand(2).valid()) {
    return AOTC_REFUSAL(Unimplemented,
                        "where an operand says whether it drops elements; hint: "
                        "leave out the third operand for inference");
  }
  c.Give(0, c.OfResult());
  c.GiveNothing(1);
  return absl::OkStatus();
}

// Of h = (x - mean) / deviation the gradient lacks what changes the mean, and what h has of itself.
absl::Status GradientOfLayerNormalization(GradientContext& c) {
  const int64_t first = c.attributes().Int("axis", -1);
  const bool has_statistics =
      (c.ResultCount() > 1 && c.HasOfResult(1)) || (c.ResultCount() > 2 && c.HasOfResult(2));
  if (first >= 0 || has_statistics || !c.HasOfResult(0)) {
    return AOTC_REFUSAL(Unimplemented,
                        "by its statistics, or with an axis counted from the "
                        "front; hint: -1 is the last axis");
  }
  std::vector<int64_t> last;
  for (int64_t axis = first; axis < 0; ++axis) last.push_back(axis);
  const Quantity axes(&c, c.emit().Ints("axes", last));
  auto mean = [&](const Quantity& x) {
    return x.To("ReduceMean", {axes}, {{"keepdims", int64_t{1}}});
  };
  const Quantity g = c.OfResult(), x = c.Operand(0), scale = c.Operand(1);
  const Quantity centred = x - mean(x);
  const double epsilon = c.attributes().Float("epsilon", 1e-5F);
  const Quantity deviation = (mean(centred * centred) + epsilon).To("Sqrt");
  const Quantity h = centred / deviation, scaled = g * scale;
  if (c.Wants(0)) c.Give(0, (scaled - mean(scaled) - h * mean(scaled * h)) / deviation);
  if (c.Wants(1)) c.Give(1, SummedTo(g * h, scale));
  if (c.Wants(2)) c.Give(2, SummedTo(g, c.Operand(2)));
  return absl::OkStatus();
}

}  // namespace aotc
