// Ops that give the elements of a tensor another shape, in the same order.
#include <algorithm>
#include <numeric>

#include "compiler/ops/emit.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/index_map.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/run_axes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Sets output 0 to the elements of x under `shape`, which has as many.
void SetReshaped(OpContext& op, const Tensor& x, const Shape& shape) {
  Bounds bounds = op.bounds();
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    return x.Stored(ReshapeIndices(x.shape(), shape, i, bounds));
  }));
}

// The most that a dim of the result can be; invalid where x may be empty: then another dim is 0.
Expr MostOfDim(const OpContext& op, const Tensor& x) {
  const Expr count = ElementCount(x.shape());
  return Prove(Lt(0, count), op.bounds()) == true ? count : Expr();
}

// The same of a shape that has as many elements in the runs that this allows only.
absl::Status SetReshapedInRun(OpContext& op, const Tensor& x, Shape shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] = op.Size(shape[d], 0, static_cast<int>(d), MostOfDim(op, x));
  }
  AOTC_RETURN_IF_ERROR(op.RequireEqual(ElementCount(shape), ElementCount(x.shape()),
                                       "the shape has another number of elements than the input"));
  SetReshaped(op, x, shape);
  return absl::OkStatus();
}

// The dim for -1: all elements divided by the other dims.
absl::StatusOr<Expr> InferredDim(const Tensor& x, const Shape& others, const Bounds& bounds) {
  Expr total = ElementCount(x.shape()), rest = ElementCount(others);
  if (Prove(Eq(rest, 0), bounds) == true) {
    return AOTC_REFUSAL(InvalidArgument, "a dim of -1 beside a dim of 0 has no value");
  }
  Expr dim = Simplify(FloorDiv(total, rest), bounds);
  if (Prove(Ne(dim * rest, total), bounds) == true) {
    return AOTC_REFUSAL(InvalidArgument,
                        "the number of elements is no multiple of the dims beside -1");
  }
  return dim;
}

// The dim for -1 at position `beside` of a shape of the run; no dim is divided by as 0.
Expr DimBeside(const Tensor& x, const Shape& dims, size_t beside) {
  Expr dim = ElementCount(x.shape());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d != beside) dim = FloorDiv(dim, Max(dims[d], 1));
  }
  return dim;
}

// A shape of which only a run knows which dims are 0 or -1.
absl::StatusOr<Shape> ShapeOfRun(OpContext& op, const Tensor& x, const std::vector<Expr>& target) {
  const bool copy_zero = op.attributes().Int("allowzero") == 0;
  Shape own;
  Expr inferred = 0;
  for (size_t d = 0; d < target.size(); ++d) {
    const Expr& dim = target[d];
    AOTC_RETURN_IF_ERROR(op.Require(Le(-1, dim), StrCat("dim ", d, " of the shape is below -1")));
    inferred = inferred + Select(Eq(dim, -1), Expr(1), Expr(0));
    if (copy_zero && d < x.shape().size()) {
      own.push_back(Select(Eq(dim, 0), x.shape()[d], dim));
      continue;
    }
    own.push_back(dim);
    if (!copy_zero) continue;
    AOTC_RETURN_IF_ERROR(op.Require(
        Ne(dim, 0), StrCat("dim ", d, " of the shape is 0, and the input has no such axis")));
  }
  AOTC_RETURN_IF_ERROR(op.Require(Le(inferred, 1), "more than one dim is -1"));
  Shape shape;
  for (size_t d = 0; d < target.size(); ++d) {
    shape.push_back(Select(Eq(target[d], -1), DimBeside(x, own, d), own[d]));
  }
  return shape;
}

bool MayBeSpecial(const OpContext& op, const Expr& dim) {
  return op.IsOfRun(dim) && Prove(Lt(0, dim), op.bounds()) != true;
}

// Element of the shape operand: 0 copies the dim of the input (unless allowzero), -1 takes what is
// left.
absl::StatusOr<Shape> TargetShape(OpContext& op, const Tensor& x) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> target, op.IntElements(1));
  for (Expr& dim : target) dim = Simplify(dim, op.bounds());
  if (std::ranges::any_of(target, [&](const Expr& dim) { return MayBeSpecial(op, dim); })) {
    return ShapeOfRun(op, x, target);
  }
  bool copy_zero = op.attributes().Int("allowzero") == 0;
  Shape shape, others;
  std::optional<size_t> inferred;
  for (size_t d = 0; d < target.size(); ++d) {
    Expr dim = target[d];
    if (dim.IsInt(-1)) {
      if (inferred) return AOTC_REFUSAL(InvalidArgument, "more than one dim is -1");
      inferred = d;
    } else if (dim.IsInt(0) && copy_zero) {
      AOTC_RETURN_IF_ERROR(RequireRank(x, static_cast<int>(d) + 1));
      dim = x.dim(static_cast<int>(d));
    } else if (Prove(Lt(dim, 0), op.bounds()) == true) {
      return AOTC_REFUSAL(InvalidArgument, "a dim of the shape is negative");
    }
    shape.push_back(dim);
    if (inferred != d) others.push_back(dim);
  }
  if (inferred) {
    AOTC_ASSIGN_OR_RETURN(shape[*inferred], InferredDim(x, others, op.bounds()));
  }
  return shape;
}

absl::Status Reshape(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Shape shape, TargetShape(op, x));
  return SetReshapedInRun(op, x, shape);
}

absl::Status Flatten(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  int64_t axis = op.attributes().Int("axis", 1);
  if (axis != x.rank()) {
    AOTC_ASSIGN_OR_RETURN(axis, op.NormalizeAxis(axis, std::max(x.rank(), 1)));
  }
  auto split = x.shape().begin() + axis;
  SetReshaped(
      op, x,
      {ElementCount(Shape(x.shape().begin(), split)), ElementCount(Shape(split, x.shape().end()))});
  return absl::OkStatus();
}

// Axes of input 1, normalised for `rank`, without repetition.
absl::StatusOr<std::vector<int>> NamedAxes(const OpContext& op, int rank) {
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> given, op.ConstInts(1));
  std::vector<int> axes;
  for (int64_t axis : given) {
    AOTC_ASSIGN_OR_RETURN(int normalized, op.NormalizeAxis(axis, rank));
    if (std::find(axes.begin(), axes.end(), normalized) != axes.end()) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("axis ", axis, " is named twice"));
    }
    axes.push_back(normalized);
  }
  return axes;
}

absl::Status SqueezeAlongRun(OpContext& op, const Tensor& x) {
  AOTC_ASSIGN_OR_RETURN(const RunAxes axes, RunAxes::Read(op, 1, x.rank()));
  for (size_t d = 0; d < x.shape().size(); ++d) {
    AOTC_RETURN_IF_ERROR(op.Require(Or(Not(axes.Names(d)), Eq(x.shape()[d], 1)),
                                    StrCat("axis ", d, " cannot be dropped: its dim is not 1")));
  }
  return SetReshapedInRun(op, x, axes.Others(x.shape()));
}

absl::Status Squeeze(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  std::vector<int> axes;
  const bool are_named = op.HasInput(1);
  if (are_named) {
    AOTC_ASSIGN_OR_RETURN(const bool of_run, HasRunElements(op, 1));
    if (of_run) return SqueezeAlongRun(op, x);
    AOTC_ASSIGN_OR_RETURN(axes, NamedAxes(op, x.rank()));
  }
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    if (std::ranges::count(axes, d) > 0) {
      AOTC_RETURN_IF_ERROR(
          op.RequireEqual(x.dim(d), 1, StrCat("axis ", d, " cannot be dropped: its dim is not 1")));
      continue;
    }
    if (!are_named) {
      if (ProveEqual(x.dim(d), 1, op.bounds())) continue;
      AOTC_RETURN_IF_ERROR(op.Require(
          Ne(x.dim(d), 1), StrCat("the result has another rank: axis ", d, " has the dim 1")));
    }
    shape.push_back(x.dim(d));
  }
  SetReshaped(op, x, shape);
  return absl::OkStatus();
}

absl::Status UnsqueezeAlongRun(OpContext& op, const Tensor& x, int rank) {
  // What is to be proved of the sizes grows beyond measure with each axis.
  constexpr int kMostAxes = 3;
  const int count = rank - x.rank();
  if (count > kMostAxes) {
    return AOTC_REFUSAL(Unimplemented,
                        StrCat("adds ", count, " axes that only a run knows, more than ", kMostAxes,
                               "; hint: --bind NAME=FILE makes a constant of an input"));
  }
  AOTC_ASSIGN_OR_RETURN(const RunAxes axes, RunAxes::Read(op, 1, rank));
  Shape shape;
  for (size_t d = 0; d < static_cast<size_t>(rank); ++d) {
    shape.push_back(Select(axes.Names(d), Expr(1), axes.OfOther(d, x.shape())));
  }
  return SetReshapedInRun(op, x, shape);
}

absl::Status Unsqueeze(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> given, op.IntElements(1));
  int rank = x.rank() + static_cast<int>(given.size());
  AOTC_ASSIGN_OR_RETURN(const bool of_run, HasRunElements(op, 1));
  if (of_run) return UnsqueezeAlongRun(op, x, rank);
  AOTC_ASSIGN_OR_RETURN(std::vector<int> axes, NamedAxes(op, rank));
  Shape shape;
  int next = 0;
  for (int d = 0; d < rank; ++d) {
    bool added = std::find(axes.begin(), axes.end(), d) != axes.end();
    shape.push_back(added ? Expr(1) : x.dim(next++));
  }
  SetReshaped(op, x, shape);
  return absl::OkStatus();
}

absl::Status Identity(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  SetReshaped(op, x, x.shape());
  return absl::OkStatus();
}

constexpr std::string_view kIdentity = "Identity";

constexpr OpDef kOps[] = {
    {.name = "Flatten",
     .compute = Flatten,
     .summary = "a matrix of the same elements",
     .traits = kMovesElements | kMovesOperands | kKeepsOrder,
     .gradient = GradientOfReshape},
    {.name = kIdentity,
     .compute = Identity,
     .summary = "the input",
     .traits = kMovesElements | kMovesOperands | kKeepsOrder,
     .gradient = GradientOfIdentity},
    {.name = "Reshape",
     .compute = Reshape,
     .summary = "the same elements under another shape",
     .traits = kMovesElements | kMovesOperands | kKeepsOrder,
     .gradient = GradientOfReshape},
    {.name = "Squeeze",
     .compute = Squeeze,
     .summary = "drops axes of dim 1",
     .traits = kMovesElements | kMovesOperands | kKeepsOrder,
     .gradient = GradientOfReshape},
    {.name = "Unsqueeze",
     .compute = Unsqueeze,
     .summary = "adds axes of dim 1",
     .traits = kMovesElements | kMovesOperands | kKeepsOrder,
     .gradient = GradientOfReshape},
};

}  // namespace

ValueId EmitCopy(Rebuilder& rebuilder, ValueId x, const Node& origin) {
  return rebuilder.Emit(kIdentity, {x}, {}, rebuilder.graph().values[x].type, origin);
}

std::span<const OpDef> ReshapeOps() { return kOps; }

}  // namespace aotc
