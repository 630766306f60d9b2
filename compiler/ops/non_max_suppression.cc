// NonMaxSuppression: of boxes that overlap the one with the highest score.
//
// The boxes of every batch and class are taken in the order of their scores, one each round of a
// loop: one that is still kept removes those behind it that overlap it. What is kept in the end, up
// to the limit, is chosen as by a condition (compact.h).
#include <cstdint>
#include <vector>

#include "compiler/ops/compact.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// A box along one axis.
struct Span {
  Expr begin = {};
  Expr end = {};

  Expr length() const { return end - begin; }
};

struct Box {
  Span x = {};
  Span y = {};

  Expr area() const { return x.length() * y.length(); }
};

// boxes: [batches, n, 4], by two corners or, where `center`, by the middle and the size.
Box BoxAt(const Tensor& boxes, const Expr& batch, const Expr& number, bool center) {
  const auto value = [&](int64_t k) { return boxes({batch, number, Expr(k)}); };
  const auto span = [&](int64_t a, int64_t b) -> Span {
    if (!center) return {Min(value(a), value(b)), Max(value(a), value(b))};
    const Expr half = value(b) * Number(0.5, value(b));
    return {value(a) - half, value(a) + half};
  };
  if (center) return {.x = span(0, 2), .y = span(1, 3)};
  return {.x = span(1, 3), .y = span(0, 2)};
}

Span Common(const Span& a, const Span& b) { return {Max(a.begin, b.begin), Min(a.end, b.end)}; }

// Whether the intersection of two boxes is more than that part of their union; boxes without area
// overlap nothing.
Expr Overlap(const Box& a, const Box& b, const Expr& threshold) {
  const Box common = {.x = Common(a.x, b.x), .y = Common(a.y, b.y)};
  const Expr none = Number(0, a.area());
  const Expr whole = a.area() + b.area() - common.area();
  const auto positive = [&](const Expr& e) { return Lt(none, e); };
  const Expr meet = And(positive(common.x.length()), positive(common.y.length()));
  const Expr have_area = And(And(positive(a.area()), positive(b.area())), positive(whole));
  return And(And(meet, have_area), Lt(threshold, Div(common.area(), whole)));
}

// A tensor of one element, of any rank.
Expr OnlyElement(const Tensor& x) { return x(Indices(static_cast<size_t>(x.rank()), Expr(0))); }

// boxes, order: i64[batches, classes, n], kept: bool of that shape, round: i64 [], threshold:
// optional -> kept, without what the box of the round removes.
absl::Status RemoveOverlaps(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor boxes, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor order, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Tensor kept, op.Input(2));
  AOTC_ASSIGN_OR_RETURN(const Tensor round, op.Input(3));
  AOTC_RETURN_IF_ERROR(RequireRank(boxes, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireFloat(boxes));
  AOTC_RETURN_IF_ERROR(RequireRank(order, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(kept, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(round, 0, 0));
  if (!boxes.dim(2).IsInt(4)) return AOTC_REFUSAL(InvalidArgument, "boxes have four numbers each");
  AOTC_RETURN_IF_ERROR(op.RequireEqual(boxes.dim(0), order.dim(0),
                                       "boxes and scores have different numbers of batches"));
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(boxes.dim(1), order.dim(2), "there is not one score for each box and class"));
  Tensor threshold;
  if (op.HasInput(4)) {
    AOTC_ASSIGN_OR_RETURN(threshold, op.Input(4));
    AOTC_RETURN_IF_ERROR(RequireSameType({boxes, threshold}));
  }
  const bool center = op.attributes().Int("center_point_box") != 0;
  const Expr last = Max(order.dim(2) - 1, 0);
  const auto box = [&](const Indices& at) {
    return BoxAt(boxes, at[0], Clamp(order(at), 0, last), center);
  };
  op.SetOutput(0, op.b().Compute(DType::kBool, kept.shape(), [&](const Indices& i) {
    const Indices now = {i[0], i[1], Clamp(round({}), 0, last)};
    const Expr none = Number(0, boxes({i[0], Expr(0), Expr(0)}));
    const Expr most = threshold.valid() ? OnlyElement(threshold) : none;
    const Expr removes = And(Lt(now[2], i[2]), kept(now));
    return Select(removes, And(kept(i), Not(Overlap(box(now), box(i), most))), kept(i));
  }));
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

// i64 [] or [1]: the number of boxes.
ValueId BoxCount(Expansion& e, ValueId scores, bool as_scalar) {
  const ValueId axis = as_scalar ? e.Number("axis", DType::kI64, 2) : e.Ints("axis", {2});
  return e.Emit("Gather", {e.Emit("Shape", {scores}), axis});
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
  const std::vector<ValueId> best =
      e.EmitSeveral("TopK", {scores, BoxCount(e, scores, /*as_scalar=*/false)}, 2);
  const ValueId sorted = best[0], order = best[1];
  const ValueId wanted = threshold.valid() ? e.Emit("Greater", {sorted, threshold})
                                           : e.Emit("Equal", {sorted, sorted});
  const auto remove = [&](ValueId round, ValueId kept) {
    return e.Emit("RemoveOverlaps", {boxes, order, kept, round, e.Input(3)},
                  {{"center_point_box", e.attributes().Int("center_point_box")}});
  };
  AOTC_ASSIGN_OR_RETURN(const ValueId kept,
                        e.EmitLoop(BoxCount(e, scores, /*as_scalar=*/true), wanted, remove));
  const ValueId flat = e.Emit("Reshape", {Limited(e, kept, e.Input(2)), e.Ints("flat", {-1})});
  e.SetOutput(0, e.Emit("ChosenBoxes", {order, EmitTruePlaces(e, flat)}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ChosenBoxes",
     .compute = ChosenBoxes,
     .summary = "batch, class and number of boxes",
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
