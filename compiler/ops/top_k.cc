// The k greatest (or least) elements along an axis, in order.
//
// An element's place is the number of elements that go before it: n * n comparisons, all parallel,
// unless a target sorts.
// Equal elements keep their order; NaN counts as the greatest.
#include "compiler/ir/expr_text.h"
#include "compiler/ir/order.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// [.., n, ..]: how many elements of the row go before each.
Tensor PlacesOf(TensorBuilder& b, const Tensor& x, size_t along, bool largest) {
  auto body = [&](const Indices& i, const Indices& r) {
    Indices other = i;
    other[along] = r[0];
    const Expr first = ComesBefore(x(other), r[0], x(i), i[along], largest);
    return Select(first, Expr(1), Expr(0));
  };
  return b.Reduce("sum", DType::kI64, x.shape(), {x.shape()[along]}, body);
}

absl::StatusOr<Expr> CountOf(OpContext& op, const Expr& dim, int axis) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> elements, op.IntElements(1));
  if (elements.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs k of one element");
  const Expr count = Simplify(elements[0], op.bounds());
  AOTC_RETURN_IF_ERROR(
      op.Require(And(Le(0, count), Le(count, dim)),
                 StrCat(count.IsConst() ? StrCat("k = ", PrintExpr(count)) : "k",
                        " is not within 0 .. ", PrintExpr(dim), ", the dim of the axis")));
  return op.Size(count, 0, axis, dim);
}

absl::Status TopK(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", -1, x.rank()));
  const auto along = static_cast<size_t>(axis);
  const Expr dim = x.dim(axis);
  Shape shape = x.shape();
  AOTC_ASSIGN_OR_RETURN(shape[along], CountOf(op, dim, axis));
  Tensor places = PlacesOf(op.b(), x, along, op.attributes().Int("largest", 1) != 0);
  auto find = [&](const Indices& i, const Indices& r) {
    Indices indices = i;
    indices[along] = r[0];
    return Select(Eq(places(indices), i[along]), r[0], Expr(0));
  };
  Tensor chosen = op.b().Reduce("max", DType::kI64, shape, {dim}, find);
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Indices indices = i;
    indices[along] = Clamp(chosen(i), 0, dim - 1);
    return x.Stored(indices);
  }));
  op.SetOutput(1, chosen);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "TopK",
     .compute = TopK,
     .summary = "the greatest or least elements of an axis",
     .places = PlacesResult{.output = 1, .axis = -1}},
};

}  // namespace

std::span<const OpDef> TopKOps() { return kOps; }

}  // namespace aotc
