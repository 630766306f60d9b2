// Running sums and products along an axis: CumSum and CumProd.
//
// The axis is cut into blocks: an element combines those of its own block up to it, and what the
// blocks before that combine to, which is found in the same way. That takes a constant number of
// steps for each element, all parallel.
#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/run_axes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

struct Running {
  Tensor x = {};
  size_t axis = 0;
  bool reverse = false;
  bool exclusive = false;
  std::string_view combiner = "sum";
  Expr identity = {};
  int64_t block = 1;

  const Expr& length() const { return x.shape()[axis]; }

  // The element that is `place`-th in the order of combination; the identity where there is none
  // or `counted` does not hold.
  Expr Element(const Indices& i, const Expr& place, const Expr& counted) const {
    Indices indices = i;
    indices[axis] = reverse ? length() - 1 - place : place;
    return Select(And(Lt(place, length()), counted), x(indices), identity);
  }

  // Places before this one, and itself unless exclusive.
  Expr Counted(const Expr& place, const Expr& self) const {
    return exclusive ? Lt(place, self) : Le(place, self);
  }
};

// [..., blocks, ...]: what all elements of each block combine to.
Tensor BlockTotals(TensorBuilder& b, const Running& run) {
  Shape shape = run.x.shape();
  shape[run.axis] = CeilDiv(run.length(), run.block);
  auto body = [&](const Indices& i, const Indices& r) {
    return run.Element(i, i[run.axis] * run.block + r[0], Bool(true));
  };
  return b.Reduce(run.combiner, run.identity.dtype(), shape, {Expr(run.block)}, body);
}

// [..., n, ...] in the order of combination: elements of the own block up to each place.
Tensor WithinBlocks(TensorBuilder& b, const Running& run) {
  auto body = [&](const Indices& i, const Indices& r) {
    Expr place = FloorDiv(i[run.axis], run.block) * run.block + r[0];
    return run.Element(i, place, run.Counted(place, i[run.axis]));
  };
  return b.Reduce(run.combiner, run.identity.dtype(), run.x.shape(), {Expr(run.block)}, body);
}

// The side of a square of the length, which makes two levels do, where that is short enough.
int64_t BlockFor(int64_t longest) {
  constexpr int64_t kShort = 16, kBlock = 32;
  if (longest <= kShort) return std::max<int64_t>(longest, 1);
  if (longest > kBlock * kBlock) return kBlock;
  return static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(longest))));
}

// [..., n, ...] in the order of combination: what all up to each place combine to.
Tensor InOrder(OpContext& op, Running run) {
  TensorBuilder& b = op.b();
  const int64_t longest = RangeOf(run.length(), op.bounds()).max;
  run.block = BlockFor(longest);
  const Tensor within = WithinBlocks(b, run);
  if (longest <= run.block) return within;
  const Tensor before = InOrder(op, {.x = BlockTotals(b, run),
                                     .axis = run.axis,
                                     .exclusive = true,
                                     .combiner = run.combiner,
                                     .identity = run.identity});
  return b.Compute(run.identity.dtype(), run.x.shape(), [&](const Indices& i) {
    Indices block = i;
    block[run.axis] = FloorDiv(i[run.axis], run.block);
    return run.combiner == "prod" ? before(block) * within(i) : before(block) + within(i);
  });
}

// Running sums of run.x, in place of its elements.
Tensor Cumulated(OpContext& op, Running run) {
  run.reverse = op.attributes().Int("reverse") != 0;
  run.exclusive = op.attributes().Int("exclusive") != 0;
  run.identity = NumberConst(run.combiner == "prod" ? 1 : 0, ComputeType(run.x.dtype()));
  const Tensor in_order = InOrder(op, run);
  return op.b().Compute(run.x.dtype(), run.x.shape(), [&](const Indices& i) {
    Indices place = i;
    if (run.reverse) place[run.axis] = run.length() - 1 - i[run.axis];
    return in_order(place);
  });
}

// An axis of the run: of a tensor that has it again at the end, and dim 1 in its place.
absl::Status CumulateAlongRun(OpContext& op, const Tensor& x, std::string_view combiner) {
  AOTC_ASSIGN_OR_RETURN(const RunAxes axes, RunAxes::Read(op, 1, x.rank()));
  const Shape& dims = x.shape();
  const auto named = [&](const std::vector<Expr>& of_axes) {
    Expr result = 0;
    for (size_t d = of_axes.size(); d-- > 0;) result = Select(axes.Names(d), of_axes[d], result);
    return result;
  };
  Shape moved;
  for (size_t d = 0; d < dims.size(); ++d) {
    moved.push_back(Select(axes.Names(d), Expr(1), dims[d]));
  }
  moved.push_back(named(dims));
  const Tensor at_end = op.b().Compute(x.dtype(), moved, [&](const Indices& i) {
    Indices indices;
    for (size_t d = 0; d < dims.size(); ++d) {
      indices.push_back(Select(axes.Names(d), i.back(), i[d]));
    }
    return x.Stored(indices);
  });
  const Tensor sums = Cumulated(op, {.x = at_end, .axis = dims.size(), .combiner = combiner});
  op.SetOutput(0, op.b().Compute(x.dtype(), dims, [&](const Indices& i) {
    Indices indices;
    for (size_t d = 0; d < dims.size(); ++d) {
      indices.push_back(Select(axes.Names(d), Expr(0), i[d]));
    }
    indices.push_back(named(i));
    return sums.Stored(indices);
  }));
  return absl::OkStatus();
}

absl::Status Cumulate(OpContext& op, std::string_view combiner) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> axis, op.IntElements(1));
  if (axis.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs one axis");
  const std::optional<int64_t> known = Simplify(axis[0], op.bounds()).AsInt();
  if (!known) return CumulateAlongRun(op, x, combiner);
  AOTC_ASSIGN_OR_RETURN(const int normalized, op.NormalizeAxis(*known, x.rank()));
  op.SetOutput(
      0, Cumulated(op, {.x = x, .axis = static_cast<size_t>(normalized), .combiner = combiner}));
  return absl::OkStatus();
}

absl::Status CumSum(OpContext& op) { return Cumulate(op, "sum"); }
absl::Status CumProd(OpContext& op) { return Cumulate(op, "prod"); }

constexpr OpDef kOps[] = {
    {.name = "CumProd", .compute = CumProd, .summary = "running products along an axis"},
    {.name = "CumSum",
     .compute = CumSum,
     .summary = "running sums along an axis",
     .gradient = GradientOfCumSum},
};

}  // namespace

std::span<const OpDef> CumulativeOps() { return kOps; }

}  // namespace aotc
