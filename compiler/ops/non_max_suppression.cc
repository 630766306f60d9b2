// NonMaxSuppression: of boxes that overlap the one with the highest score.
//
// The boxes of every batch and class are taken in the order of their scores, one each round of a
// loop: one that is still kept removes those behind it that overlap it. Rounds end with the last
// box whose score counts. What is kept in the end, up to the limit, is chosen as by a condition
// (compact.h).
#include <cstdint>
#include <vector>

#include "compiler/ops/compact.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// What is known of a box: its sides along either axis, and its area.
enum BoxColumn : int64_t { kLeft, kRight, kTop, kBottom, kArea, kBoxColumns };

// boxes: [batches, n, 4], by two corners (y, x) or, where `center_point_box`, by the middle (x, y)
// and the size -> [batches, n, kBoxColumns].
absl::Status BoxSides(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor boxes, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(boxes, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireFloat(boxes));
  if (!boxes.dim(2).IsInt(4)) return AOTC_REFUSAL(InvalidArgument, "boxes have four numbers each");
  const bool center = op.attributes().Int("center_point_box") != 0;
  const Shape shape = {boxes.dim(0), boxes.dim(1), Expr(kBoxColumns)};
  const auto column = [&](const Indices& i) {
    // An end along an axis: 0 is x, 1 y.
    const auto side = [&](int64_t axis, bool last) {
      const int64_t k = center ? axis : 1 - axis;
      const Expr a = boxes({i[0], i[1], Expr(k)}), b = boxes({i[0], i[1], Expr(k + 2)});
      if (!center) return last ? Max(a, b) : Min(a, b);
      const Expr half = b * Number(0.5, b);
      return last ? a + half : a - half;
    };
    const Expr sides[] = {side(0, false), side(0, true), side(1, false), side(1, true)};
    Expr result = (sides[kRight] - sides[kLeft]) * (sides[kBottom] - sides[kTop]);
    for (int64_t k : {kBottom, kTop, kRight, kLeft}) result = Select(Eq(i[2], k), sides[k], result);
    return result;
  };
  op.SetOutput(0, op.b().Compute(ComputeType(boxes.dtype()), shape, column));
  return absl::OkStatus();
}

// A tensor of one element, of any rank.
Expr OnlyElement(const Tensor& x) { return x(Indices(static_cast<size_t>(x.rank()), Expr(0))); }

// sides: [batches, n, kBoxColumns], order: i64[batches, classes, n], kept: bool of that shape,
// round: i64 [], threshold: optional -> kept, without what the box of the round removes: boxes
// whose intersection with it is more than that part of their union. Without area they overlap
// nothing.
absl::Status RemoveOverlaps(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor sides, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor order, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Tensor kept, op.Input(2));
  AOTC_ASSIGN_OR_RETURN(const Tensor round, op.Input(3));
  AOTC_RETURN_IF_ERROR(RequireRank(order, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(kept, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(round, 0, 0));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(sides.dim(0), order.dim(0),
                                       "boxes and scores have different numbers of batches"));
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(sides.dim(1), order.dim(2), "there is not one score for each box and class"));
  Tensor threshold;
  if (op.HasInput(4)) {
    AOTC_ASSIGN_OR_RETURN(threshold, op.Input(4));
    if (ComputeType(threshold.dtype()) != sides.dtype()) {
      return AOTC_REFUSAL(InvalidArgument, "iou_threshold is of another type than the boxes");
    }
  }
  // The order and the round are below the number of boxes.
  const auto now = [&](const Indices& i) { return Indices{i[0], i[1], round({})}; };
  TensorBuilder& b = op.b();
  const Tensor best = b.Compute(
      sides.dtype(), {kept.dim(0), kept.dim(1), Expr(kBoxColumns)},
      [&](const Indices& i) { return sides({i[0], order(now(i)), i[2]}); }, "best");
  op.SetOutput(0, b.Compute(DType::kBool, kept.shape(), [&](const Indices& i) {
    const auto other = [&](BoxColumn k) { return sides({i[0], order(i), Expr(k)}); };
    const auto of_best = [&](BoxColumn k) { return best({i[0], i[1], Expr(k)}); };
    // How much of an axis both boxes have.
    const auto common = [&](BoxColumn begin, BoxColumn end) {
      return Min(of_best(end), other(end)) - Max(of_best(begin), other(begin));
    };
    const Expr width = common(kLeft, kRight), height = common(kTop, kBottom);
    const Expr none = Number(0, width);
    const auto positive = [&](const Expr& e) { return Lt(none, e); };
    const Expr whole = of_best(kArea) + other(kArea) - width * height;
    const Expr most = threshold.valid() ? OnlyElement(threshold) : none;
    const Expr have_area = And(positive(of_best(kArea)), positive(other(kArea)));
    const Expr meet = And(positive(width), positive(height));
    const Expr overlap =
        And(And(meet, have_area), And(positive(whole), Lt(most, Div(width * height, whole))));
    return And(kept(i), Not(And(And(Lt(round({}), i[2]), kept(now(i))), overlap)));
  }));
  return absl::OkStatus();
}

// wanted: bool[batches, classes, n] -> i64 []: how many places there are up to the last of a class
// that has one.
absl::Status LastWanted(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor wanted, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(wanted, 3, 3));
  const Tensor last = op.b().Reduce(
      "max", DType::kI64, {}, wanted.shape(),
      [&](const Indices&, const Indices& r) { return Select(wanted(r), r[2] + 1, Expr(0)); });
  op.SetOutput(0, op.b().Map({last}, [](const auto& v) { return Max(v[0], 0); }));  // where n is 0
  return absl::OkStatus();
}

// order: i64[batches, classes, n], places: i64[count] in it -> i64[count, 3]: batch, class, box.
absl::Status ChosenBoxes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor order, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(order, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(places, 1, 1));
  Shape dims = order.shape();
  const Shape shape = {places.dim(0), Expr(3)};
  op.SetOutput(0, op.b().Compute(DType::kI64, shape, [&](const Indices& i) {
    const Indices at = Unraveled(places({i[0]}), dims);
    return Select(Eq(i[1], 0), at[0], Select(Eq(i[1], 1), at[1], order(at)));
  }));
  return absl::OkStatus();
}

// The first of each batch and class, as many as the limit (i64, optional) allows; without, none.
ValueId Limited(Expansion& e, ValueId kept, ValueId limit) {
  const ValueId ones = e.Emit("Cast", {kept}, {{"to", static_cast<int64_t>(DType::kI64)}});
  const ValueId counts = e.Emit("CumSum", {ones, e.Number("last_axis", DType::kI64, 2)});
  if (!limit.valid()) limit = e.Number("limit", DType::kI64, 0);
  return e.Emit("And", {kept, e.Emit("LessOrEqual", {counts, limit})});
}

// ONNX NonMaxSuppression, opset 10 and 11. Without a threshold all scores count but NaN.
absl::Status NonMaxSuppression(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  const ValueId boxes = e.Input(0), scores = e.Input(1), threshold = e.Input(4);
  const std::vector<ValueId> best = e.EmitSeveral(
      "TopK", {scores, e.Emit("Gather", {e.Emit("Shape", {scores}), e.Ints("axis", {2})})}, 2);
  const ValueId sorted = best[0], order = best[1];
  const ValueId wanted = threshold.valid() ? e.Emit("Greater", {sorted, threshold})
                                           : e.Emit("Equal", {sorted, sorted});
  const ValueId sides =
      e.Emit("BoxSides", {boxes}, {{"center_point_box", e.attributes().Int("center_point_box")}});
  const auto remove = [&](ValueId round, ValueId kept) {
    return e.Emit("RemoveOverlaps", {sides, order, kept, round, e.Input(3)});
  };
  AOTC_ASSIGN_OR_RETURN(const ValueId kept,
                        e.EmitLoop(e.Emit("LastWanted", {wanted}), wanted, remove));
  const ValueId flat = e.Emit("Reshape", {Limited(e, kept, e.Input(2)), e.Ints("flat", {-1})});
  e.SetOutput(0, e.Emit("ChosenBoxes", {order, EmitTruePlaces(e, flat)}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "BoxSides",
     .compute = BoxSides,
     .summary = "the sides and areas of boxes",
     .traits = kOwn},
    {.name = "ChosenBoxes",
     .compute = ChosenBoxes,
     .summary = "batch, class and number of boxes",
     .traits = kOwn},
    {.name = "LastWanted",
     .compute = LastWanted,
     .summary = "places up to the last that is wanted",
     .traits = kOwn},
    {.name = "NonMaxSuppression",
     .expand = NonMaxSuppression,
     .summary = "of boxes that overlap those with the highest scores"},
    {.name = "RemoveOverlaps",
     .compute = RemoveOverlaps,
     .summary = "what the box of a round of NonMaxSuppression leaves",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> NonMaxSuppressionOps() { return kOps; }

}  // namespace aotc
