// Positions of extremes: ArgMax and ArgMin.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// (value, position): b replaces a where its value is beyond a's, or the same at a position that is
// preferred. The identity is the value that all others beat, at the position that any other is
// preferred to.
Combiner ArgCombiner(DType value_type, bool maximum, bool prefer_last) {
  Expr a = Var("a0", value_type), b = Var("b0", value_type);
  Expr a_place = Var("a1"), b_place = Var("b1");
  Expr beyond = maximum ? Lt(a, b) : Lt(b, a);
  Expr preferred = prefer_last ? Lt(a_place, b_place) : Lt(b_place, a_place);
  Expr replace = Or(beyond, And(Eq(a, b), preferred));
  Combiner combiner;
  combiner.identity = {maximum ? LowestOf(value_type) : HighestOf(value_type),
                       Expr(prefer_last ? int64_t{-1} : INT64_MAX)};
  combiner.combine = {Select(replace, b, a), Select(replace, b_place, a_place)};
  return combiner;
}

template <bool kMaximum>
absl::Status ArgExtreme(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", 0, x.rank()));
  bool keep_dims = op.attributes().Int("keepdims", 1) != 0;
  bool prefer_last = op.attributes().Int("select_last_index") != 0;
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  if (keep_dims) shape.insert(shape.begin() + axis, Expr(1));
  auto body = [&](const Indices& i, const Indices& r) {
    Indices indices = i;
    if (keep_dims) indices.erase(indices.begin() + axis);
    indices.insert(indices.begin() + axis, r[0]);
    return std::vector<Expr>{x(indices), r[0]};
  };
  Combiner combiner = ArgCombiner(ComputeType(x.dtype()), kMaximum, prefer_last);
  op.SetOutput(0, op.b().ReduceTuple(combiner, shape, {x.dim(axis)}, body)[1]);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ArgMax", .compute = ArgExtreme<true>, .summary = "position of the maximum"},
    {.name = "ArgMin", .compute = ArgExtreme<false>, .summary = "position of the minimum"},
};

}  // namespace

std::span<const OpDef> ArgOps() { return kOps; }

}  // namespace aotc
