// NonMaxSuppression: of boxes that overlap the one with the highest score.
//
// The boxes of every batch and class are taken in the order of their scores, one each round of a
// loop: one that is still kept removes those behind it that overlap it. What is kept in the end, up
// to the limit, is chosen as by a condition (compact.h).
#include <cstdint>
#include <utility>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/compact.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

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
  AOTC_RETURN_IF_ERROR(RequireRank(order, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(kept, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(round, 0, 0));
  if (!boxes.dim(2).IsInt(4)) return absl::InvalidArgumentError("boxes have four numbers each");
  AOTC_RETURN_IF_ERROR(op.RequireEqual(boxes.dim(0), order.dim(0),
                                       "boxes and scores have different numbers of batches"));
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(boxes.dim(1), order.dim(2), "there is not one score for each box and class"));
  Tensor threshold;
  if (op.HasInput(4)) {
    AOTC_ASSIGN_OR_RETURN(threshold, op.Input(4));
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

// Emits the parts of one NonMaxSuppression.
class Suppression {
 public:
  Suppression(Rebuilder& rebuilder, const Node& node) : rebuilder_(rebuilder), node_(node) {}

  absl::Status Run() {
    const ValueId scores = Input(1);
    boxes_ = Input(0);
    const ValueId count = Dim(scores, 2, /*as_scalar=*/false);
    const auto [sorted, order] = Sorted(scores, count);
    order_ = order;
    const ValueId threshold = Input(4);
    // Without a threshold all, but for those whose score is NaN.
    const ValueId wanted =
        threshold.valid() ? Emit("Greater", {sorted, threshold}) : Emit("Equal", {sorted, sorted});
    AOTC_ASSIGN_OR_RETURN(const ValueId kept, Kept(wanted, Dim(scores, 2, /*as_scalar=*/true)));
    const ValueId flat = Emit("Reshape", {Limited(kept), Ints("flat", -1)});
    const ValueId places = EmitTruePlaces(rebuilder_, flat, node_).places;
    rebuilder_.Replace(node_.outputs[0], Emit("ChosenBoxes", {order_, places}));
    return absl::OkStatus();
  }

 private:
  ValueId Input(size_t index) {
    return HasInput(node_, index) ? rebuilder_.Mapped(node_.inputs[index]) : ValueId();
  }

  ValueId Emit(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return rebuilder_.Emit(op, std::move(inputs), std::move(attributes), UnknownType(), node_);
  }

  std::string NameOf(const char* what) const {
    return StrCat(rebuilder_.old_graph().values[node_.outputs[0]].name, "_", what);
  }

  ValueId Ints(const char* what, int64_t value) {
    return rebuilder_.graph().AddConstant(NameOf(what), Constant::Ints({value}));
  }

  ValueId Scalar(const char* what, DType dtype, int64_t value) {
    return rebuilder_.graph().AddConstant(NameOf(what), Constant::SplatInt(dtype, {}, value));
  }

  // i64 [] or [1]
  ValueId Dim(ValueId x, int64_t axis, bool as_scalar) {
    const ValueId index = as_scalar ? Scalar("axis", DType::kI64, axis) : Ints("axis", axis);
    return Emit("Gather", {Emit("Shape", {x}), index});
  }

  std::pair<ValueId, ValueId> Sorted(ValueId scores, ValueId count) {
    Graph& graph = rebuilder_.graph();
    const std::pair results(graph.AddValue(NameOf("scores"), UnknownType()),
                            graph.AddValue(NameOf("order"), UnknownType()));
    graph.AddNode(rebuilder_.region(), {.op = "TopK",
                                        .inputs = {scores, count},
                                        .outputs = {results.first, results.second},
                                        .locations = node_.locations});
    return results;
  }

  // A Loop over the boxes in their order.
  absl::StatusOr<ValueId> Kept(ValueId wanted, ValueId rounds) {
    Graph& graph = rebuilder_.graph();
    Node loop = {.op = "Loop", .inputs = {rounds, {}, wanted}, .locations = node_.locations};
    AOTC_ASSIGN_OR_RETURN(loop.regions["body"], rebuilder_.BuildRegion([&](RegionId body) {
      const ValueId round = graph.AddValue(NameOf("round"), TensorType(DType::kI64, {}));
      const ValueId more = graph.AddValue(NameOf("more"), TensorType(DType::kBool, {}));
      const ValueId kept = graph.AddValue(NameOf("kept"), UnknownType());
      graph.regions[body].inputs = {round, more, kept};
      Attributes center;
      center.Set("center_point_box", node_.attributes.Int("center_point_box"));
      std::vector<ValueId> inputs = {boxes_, order_, kept, round};
      if (const ValueId most = Input(3); most.valid()) inputs.push_back(most);
      const ValueId next = Emit("RemoveOverlaps", std::move(inputs), std::move(center));
      graph.regions[body].outputs = {Emit("Identity", {more}), next};
      return absl::OkStatus();
    }));
    const ValueId result = graph.AddValue(NameOf("kept"), UnknownType());
    loop.outputs = {result};
    graph.AddNode(rebuilder_.region(), std::move(loop));
    return result;
  }

  // The first of each batch and class, as many as the limit allows; without one, none.
  ValueId Limited(ValueId kept) {
    Attributes to;
    to.Set("to", static_cast<int64_t>(DType::kI64));
    const ValueId counts =
        Emit("CumSum", {Emit("Cast", {kept}, std::move(to)), Scalar("last_axis", DType::kI64, 2)});
    ValueId limit = Input(2);
    if (!limit.valid()) limit = Scalar("limit", DType::kI64, 0);
    return Emit("And", {kept, Emit("LessOrEqual", {counts, limit})});
  }

  Rebuilder& rebuilder_;
  const Node& node_;
  ValueId boxes_, order_;
};

// ONNX NonMaxSuppression, opset 10 and 11.
absl::Status NonMaxSuppression(Rebuilder& rebuilder, const Node& node) {
  if (!HasInput(node, 0) || !HasInput(node, 1)) {
    return absl::InvalidArgumentError("needs boxes and scores");
  }
  return Suppression(rebuilder, node).Run();
}

constexpr OpDef kOps[] = {
    {.name = "ChosenBoxes", .compute = ChosenBoxes, .summary = "batch, class and number of boxes"},
    {.name = "NonMaxSuppression",
     .expand = NonMaxSuppression,
     .summary = "of boxes that overlap those with the highest scores"},
    {.name = "RemoveOverlaps",
     .compute = RemoveOverlaps,
     .summary = "what the box of a round of NonMaxSuppression leaves"},
};

}  // namespace

std::span<const OpDef> NonMaxSuppressionOps() { return kOps; }

}  // namespace aotc
