// Slice: every step-th element of a range along some axes.
#include <cstdlib>
#include <optional>

#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/run_axes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct AxisRange {
  Expr start = 0;
  Expr size = {};
  Expr step = 1;
};

constexpr int64_t kFar = int64_t{1} << 40;
constexpr const char* kOtherLengths = "starts, ends, axes and steps have different lengths";

// A position as users write it (negative from the end, any size) within [low, high] of an axis of
// `dim`. Sizes beyond the range of dims are settled here: the integer algebra never sees them.
Expr ClampPosition(const Expr& position, const Expr& dim, const Expr& low, const Expr& high) {
  if (std::optional<int64_t> value = position.AsInt()) {
    if (*value >= kFar) return high;
    if (*value <= -kFar) return low;
    return Clamp(*value < 0 ? dim + position : position, low, high);
  }
  return Clamp(Select(Lt(position, 0), position + dim, position), low, high);
}

// How many positions there are from `start` to `end` on an axis of `dim`. Where numbers say from
// which end they count, in one term for each of them: slices of slices would else get sizes that
// grow with the square of their number and more.
Expr Extent(const Expr& start, const Expr& end, const Expr& dim) {
  const Expr first = ClampPosition(start, dim, 0, dim), last = ClampPosition(end, dim, 0, dim);
  const std::optional<int64_t> from = start.AsInt(), to = end.AsInt();
  if (!from || !to || *from < 0 || *from >= kFar || *to <= -kFar) return Max(last - first, 0);
  if (*to < 0) return Max(dim + *to - *from, 0);
  return Max((*to >= kFar ? dim : Min(dim, end)) - *from, 0);
}

AxisRange RangeOfAxis(const Expr& start, const Expr& end, int64_t step, const Expr& dim) {
  AxisRange range = {.step = step};
  if (step > 0) {
    range.start = ClampPosition(start, dim, 0, dim);
    range.size = CeilDiv(Extent(start, end, dim), step);
  } else {
    range.start = Min(ClampPosition(start, dim, 0, dim - 1), dim - 1);  // -1 where there is none
    range.size = CeilDiv(range.start - ClampPosition(end, dim, -1, dim - 1), -step);
  }
  range.size = Max(range.size, 0);
  return range;
}

// The same of a step whose sign only a run knows, and which is not 0.
AxisRange RangeOfAxis(const Expr& start, const Expr& end, const Expr& step, const Expr& dim) {
  const Expr first = ClampPosition(start, dim, 0, dim);
  const Expr last = Min(ClampPosition(start, dim, 0, dim - 1), dim - 1);
  const Expr down = last - ClampPosition(end, dim, -1, dim - 1);
  const Expr up = Lt(0, step);
  return {.start = Select(up, first, last),
          .size = Max(Select(up, CeilDiv(Extent(start, end, dim), Max(step, 1)),
                             CeilDiv(down, Max(-step, 1))),
                      0),
          .step = step};
}

// Axes or steps that only a run knows.
absl::StatusOr<std::vector<AxisRange>> RangesOfRun(OpContext& op, const Tensor& x,
                                                   const std::vector<Expr>& starts,
                                                   const std::vector<Expr>& ends) {
  std::vector<Expr> axes, steps(starts.size(), Expr(1));
  for (size_t k = 0; k < starts.size(); ++k) axes.push_back(static_cast<int64_t>(k));
  if (op.HasInput(3)) {
    // What the list has to be is required of it there.
    AOTC_RETURN_IF_ERROR(RunAxes::Read(op, 3, x.rank()).status());
    AOTC_ASSIGN_OR_RETURN(axes, op.IntElements(3));
  }
  if (op.HasInput(4)) {
    AOTC_ASSIGN_OR_RETURN(steps, op.IntElements(4));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return AOTC_REFUSAL(InvalidArgument, kOtherLengths);
  }
  for (const Expr& step : steps) AOTC_RETURN_IF_ERROR(op.Require(Ne(step, 0), "a step of 0"));
  std::vector<AxisRange> ranges;
  for (int d = 0; d < x.rank(); ++d) {
    AxisRange range = {.size = x.dim(d)};
    for (size_t k = 0; k < axes.size(); ++k) {
      const Expr named = NamesAxis(axes[k], d, x.rank());
      const AxisRange own = RangeOfAxis(starts[k], ends[k], steps[k], x.dim(d));
      range = {.start = Select(named, own.start, range.start),
               .size = Select(named, own.size, range.size),
               .step = Select(named, own.step, range.step)};
    }
    ranges.push_back(range);
  }
  return ranges;
}

// The axes that starts and ends are about: input 3, or the first ones.
absl::StatusOr<std::vector<int>> SlicedAxes(const OpContext& op, size_t count, int rank) {
  std::vector<int64_t> given;
  for (size_t d = 0; d < count; ++d) given.push_back(static_cast<int64_t>(d));
  if (op.HasInput(3)) {
    AOTC_ASSIGN_OR_RETURN(given, op.ConstInts(3));
  }
  std::vector<int> axes;
  for (int64_t axis : given) {
    AOTC_ASSIGN_OR_RETURN(int normalized, op.NormalizeAxis(axis, rank));
    axes.push_back(normalized);
  }
  return axes;
}

absl::StatusOr<std::vector<AxisRange>> Ranges(OpContext& op, const Tensor& x) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> starts, op.IntElements(1));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> ends, op.IntElements(2));
  for (size_t input : {size_t{3}, size_t{4}}) {
    if (!op.HasInput(input)) continue;
    AOTC_ASSIGN_OR_RETURN(const bool of_run, HasRunElements(op, input));
    if (of_run) return RangesOfRun(op, x, starts, ends);
  }
  AOTC_ASSIGN_OR_RETURN(std::vector<int> axes, SlicedAxes(op, starts.size(), x.rank()));
  std::vector<int64_t> steps(starts.size(), 1);
  if (op.HasInput(4)) {
    AOTC_ASSIGN_OR_RETURN(steps, op.ConstInts(4));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return AOTC_REFUSAL(InvalidArgument, kOtherLengths);
  }
  std::vector<AxisRange> ranges;
  for (int d = 0; d < x.rank(); ++d) ranges.push_back({.size = x.dim(d)});
  for (size_t k = 0; k < axes.size(); ++k) {
    if (steps[k] == 0) return AOTC_REFUSAL(InvalidArgument, "a step of 0");
    // Steps beyond the dims take one element, as the largest of them does.
    int64_t step = std::clamp<int64_t>(steps[k], -INT32_MAX, INT32_MAX);
    AxisRange range = RangeOfAxis(starts[k], ends[k], step, x.dim(axes[k]));
    range.start = Simplify(range.start, op.bounds());
    range.size = Simplify(range.size, op.bounds());
    ranges[static_cast<size_t>(axes[k])] = range;
  }
  return ranges;
}

// Where on an axis of `dim` the i-th element is that is taken. `size` is a symbol that stands for
// range.size and does not say what that says: that none is beyond the axis. No number changes.
Expr WithinAxis(const AxisRange& range, const Expr& size, const Expr& i, const Expr& dim) {
  if (range.step.IsInt(1)) return Max(Min(range.start, dim - size), 0) + i;
  return Clamp(range.start + i * range.step, 0, dim - 1);
}

absl::Status Slice(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<AxisRange> ranges, Ranges(op, x));
  Shape shape, named;  // a size that --bound limits has a symbol
  for (const AxisRange& range : ranges) {
    named.push_back(op.Size(range.size, 0, static_cast<int>(shape.size())));
    shape.push_back(range.size);
  }
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Indices indices;
    for (size_t d = 0; d < i.size(); ++d) {
      const AxisRange& range = ranges[d];
      const bool is_limited = named[d].IsVar() && !Simplify(range.size, op.bounds()).IsVar();
      indices.push_back(is_limited ? WithinAxis(range, named[d], i[d], x.shape()[d])
                                   : range.start + i[d] * range.step);
    }
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// The gradient of input 0, of which that of the slice stands behind the inputs of Slice: 0 for
// elements that are not taken. Ours.
absl::Status SliceGradient(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor g, op.Input(5));
  AOTC_ASSIGN_OR_RETURN(std::vector<AxisRange> ranges, Ranges(op, x));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, g}));
  AOTC_RETURN_IF_ERROR(RequireFloat(g));
  for (const AxisRange& range : ranges) {
    if (range.step.AsInt()) continue;
    return AOTC_REFUSAL(Unimplemented,
                        "the gradient of a slice needs steps that are known at compile time; hint: "
                        "make them a constant");
  }
  op.SetOutput(0, op.b().Compute(x.dtype(), x.shape(), [&](const Indices& i) {
    Indices indices;
    Expr is_taken = Bool(true);
    for (size_t d = 0; d < i.size(); ++d) {
      const int64_t step = *ranges[d].step.AsInt();
      const Expr distance = step > 0 ? i[d] - ranges[d].start : ranges[d].start - i[d];
      const Expr place = FloorDiv(distance, std::abs(step));
      is_taken = And(is_taken, InBounds(place, ranges[d].size));
      if (std::abs(step) > 1) is_taken = And(is_taken, Eq(Mod(distance, std::abs(step)), 0));
      indices.push_back(place);
    }
    return Select(is_taken, g(indices), Number(0, g(indices)));
  }));
  return absl::OkStatus();
}

// A slice of the gradient of the result.
absl::Status GradientOfSliceGradient(GradientContext& c) {
  std::vector<Quantity> others;
  for (size_t k = 1; k < 5; ++k) others.push_back(c.Operand(k));
  c.GiveNothing(0);
  c.Give(5, c.OfResult().To("Slice", others));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Slice",
     .compute = Slice,
     .summary = "ranges along some axes, with steps",
     .traits = kMovesElements | kMovesOperands,
     .clamped = 1U << 1 | 1U << 2,
     .gradient = GradientOfSlice},
    {.name = "SliceGradient",
     .compute = SliceGradient,
     .summary = "the gradient of the input of Slice",
     .traits = kOwn,
     .gradient = GradientOfSliceGradient},
};

}  // namespace

std::span<const OpDef> SliceOps() { return kOps; }

}  // namespace aotc
