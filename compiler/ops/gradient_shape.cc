// Rules of differentiation of ops that move elements: the gradient goes the way back, where several
// were made of one it is summed, and where nothing was it is 0.
#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/support/refusal.h"

namespace aotc {

absl::Status GradientOfIdentity(GradientContext& c) {
  c.Give(0, c.OfResult());
  return absl::OkStatus();
}

absl::Status GradientOfReshape(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, ShapedAs(c.OfResult(), c.Operand()));
  return absl::OkStatus();
}

absl::Status GradientOfExpand(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, SummedTo(c.OfResult(), c.Operand()));
  return absl::OkStatus();
}

absl::Status GradientOfTranspose(GradientContext& c) {
  const std::vector<int64_t> order = c.attributes().Ints("perm");
  if (!c.attributes().Has("perm")) {
    c.Give(0, c.OfResult().To("Transpose"));
    return absl::OkStatus();
  }
  const auto rank = static_cast<int64_t>(order.size());
  std::vector<int64_t> back(order.size(), 0);
  for (size_t d = 0; d < order.size(); ++d) {
    const int64_t axis = order[d] < 0 ? order[d] + rank : order[d];
    if (axis < 0 || axis >= rank) {
      return AOTC_REFUSAL(InvalidArgument, "attribute perm names an axis that is not there");
    }
    back[static_cast<size_t>(axis)] = static_cast<int64_t>(d);
  }
  c.Give(0, c.OfResult().To("Transpose", {}, {{"perm", back}}));
  return absl::OkStatus();
}

// The other triangle is 0 in both.
absl::Status GradientOfTrilu(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, c.OfResult().To("Trilu", {c.Operand(1)}, c.AttributesAnd({})));
  return absl::OkStatus();
}

// Parts as long as the operands.
absl::Status GradientOfConcat(GradientContext& c) {
  const int64_t axis = c.attributes().Int("axis");
  Expansion::NamedValues of_axis = {{"start", axis}};
  if (axis != -1) of_axis.emplace_back("end", axis + 1);
  std::vector<ValueId> sizes;
  for (size_t k = 0; k < c.OperandCount(); ++k) {
    sizes.push_back(c.Operand(k).To("Shape", {}, of_axis).id());
  }
  const ValueId all = c.emit().Emit("Concat", sizes, {{"axis", int64_t{0}}});
  const std::vector<ValueId> parts =
      c.emit().EmitSeveral("Split", {c.OfResult().id(), all}, c.OperandCount(), {{"axis", axis}});
  for (size_t k = 0; k < parts.size(); ++k) c.Give(k, Quantity(&c, parts[k]));
  return absl::OkStatus();
}

absl::Status GradientOfSplit(GradientContext& c) {
  if (!c.Wants(0)) return absl::OkStatus();
  // For the shapes of those that nobody reads.
  const std::vector<ValueId> again = c.emit().EmitSeveral(
      "Split", {c.Operand(0).id(), c.Operand(1).id()}, c.ResultCount(), c.AttributesAnd({}));
  std::vector<ValueId> parts;
  for (size_t i = 0; i < c.ResultCount(); ++i) {
    parts.push_back((c.HasOfResult(i) ? c.OfResult(i) : ZerosLike(Quantity(&c, again[i]))).id());
  }
  const int64_t axis = c.attributes().Int("axis");
  c.Give(0, Quantity(&c, c.emit().Emit("Concat", parts, {{"axis", axis}})));
  return absl::OkStatus();
}

absl::Status GradientOfSlice(GradientContext& c) {
  if (!c.Wants(0)) return absl::OkStatus();
  std::vector<Quantity> others;
  for (size_t k = 1; k < 5; ++k) others.push_back(c.Operand(k));
  others.push_back(c.OfResult());
  c.Give(0, c.Operand().To("SliceGradient", others));
  return absl::OkStatus();
}

// What was added is dropped, and what was dropped is 0. The fill has all other elements.
absl::Status GradientOfPad(GradientContext& c) {
  if (c.attributes().String("mode", "constant") != "constant") {
    return AOTC_REFUSAL(Unimplemented, "it repeats elements; hint: mode 'constant' is supported");
  }
  const Quantity g = c.OfResult();
  const Quantity inner = g.To("Pad", {-c.Operand(1), Quantity(), c.Operand(3)});
  c.Give(0, inner);
  if (c.Wants(2)) {
    const Expansion::NamedValues scalar = {{"keepdims", int64_t{0}}};
    const Quantity rest = g.To("ReduceSum", {}, scalar) - inner.To("ReduceSum", {}, scalar);
    c.Give(2, ShapedAs(rest, c.Operand(2)));
  }
  return absl::OkStatus();
}

absl::Status GradientOfGather(GradientContext& c) {
  const Expansion::NamedValues axis = {{"axis", c.attributes().Int("axis")}};
  if (c.Wants(0)) {
    c.Give(0, c.Operand(0).To("GatherGradient", {c.Operand(1), c.OfResult()}, axis));
  }
  return absl::OkStatus();
}

absl::Status GradientOfGatherElements(GradientContext& c) {
  if (!c.Wants(0)) return absl::OkStatus();
  c.Give(0, ZerosLike(c.Operand())
                .To("ScatterElements", {c.Operand(1), c.OfResult()},
                    {{"axis", c.attributes().Int("axis")}, {"reduction", std::string("add")}}));
  return absl::OkStatus();
}

absl::Status GradientOfGatherNd(GradientContext& c) {
  if (c.attributes().Int("batch_dims") != 0) {
    return AOTC_REFUSAL(Unimplemented, "with batch_dims; hint: name the batch in the indices");
  }
  if (!c.Wants(0)) return absl::OkStatus();
  c.Give(0,
         ZerosLike(c.Operand())
             .To("ScatterND", {c.Operand(1), c.OfResult()}, {{"reduction", std::string("add")}}));
  return absl::OkStatus();
}

}  // namespace aotc
