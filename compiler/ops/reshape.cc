// Ops that give the elements of a tensor another shape, in the same order.
#include <algorithm>
#include <numeric>

#include "compiler/ir/expr_text.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/index_map.h"
#include "compiler/ops/registry.h"
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

// The dim for -1: all elements divided by the other dims.
absl::StatusOr<Expr> InferredDim(const Tensor& x, const Shape& others, const Bounds& bounds) {
  Expr total = ElementCount(x.shape()), rest = ElementCount(others);
  if (Prove(Eq(rest, 0), bounds) == true) {
    return absl::InvalidArgumentError("a dim of -1 beside a dim of 0 has no value");
  }
  Expr dim = Simplify(FloorDiv(total, rest), bounds);
  if (Prove(Ne(dim * rest, total), bounds) == true) {
    return absl::InvalidArgumentError(
        "the number of elements is no multiple of the dims beside -1");
  }
  return dim;
}

// Element of the shape operand: 0 copies the dim of the input (unless allowzero), -1 takes what is
// left.
absl::StatusOr<Shape> TargetShape(const OpContext& op, const Tensor& x) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> target, op.IntElements(1));
  bool copy_zero = op.attributes().Int("allowzero") == 0;
  Shape shape, others;
  std::optional<size_t> inferred;
  for (size_t d = 0; d < target.size(); ++d) {
    Expr dim = Simplify(target[d], op.bounds());
    if (dim.IsInt(-1)) {
      if (inferred) return absl::InvalidArgumentError("more than one dim is -1");
      inferred = d;
    } else if (dim.IsInt(0) && copy_zero) {
      AOTC_RETURN_IF_ERROR(RequireRank(x, static_cast<int>(d) + 1));
      dim = x.dim(static_cast<int>(d));
    } else if (Prove(Lt(dim, 0), op.bounds()) == true) {
      return absl::InvalidArgumentError("a dim of the shape is negative");
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
  const Expr count = ElementCount(x.shape()), wanted = ElementCount(shape);
  if (Prove(Ne(wanted, count), op.bounds()) == true) {
    return absl::InvalidArgumentError("the shape has another number of elements than the input");
  }
  if (!ProveEqual(wanted, count, op.bounds())) {
    return absl::InvalidArgumentError(
        StrCat("not for all sizes has the shape as many elements as the input: ", PrintExpr(wanted),
               " and ", PrintExpr(count),
               "; bound the dims with --dim in steps (n=4..64:4), or pin them"));
  }
  SetReshaped(op, x, shape);
  return absl::OkStatus();
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
      return absl::InvalidArgumentError(StrCat("axis ", axis, " is named twice"));
    }
    axes.push_back(normalized);
  }
  return axes;
}

absl::Status Squeeze(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  std::vector<int> axes;
  if (op.HasInput(1)) {
    AOTC_ASSIGN_OR_RETURN(axes, NamedAxes(op, x.rank()));
  }
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    bool named = std::find(axes.begin(), axes.end(), d) != axes.end();
    bool is_one = ProveEqual(x.dim(d), 1, op.bounds());
    if (named && Prove(Ne(x.dim(d), 1), op.bounds()) == true) {
      return absl::InvalidArgumentError(StrCat("axis ", d, " cannot be dropped: its dim is not 1"));
    }
    if (!(named || (is_one && !op.HasInput(1)))) shape.push_back(x.dim(d));
  }
  SetReshaped(op, x, shape);
  return absl::OkStatus();
}

absl::Status Unsqueeze(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> given, op.ConstInts(1));
  int rank = x.rank() + static_cast<int>(given.size());
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

// Inference: the input, and a mask that is true everywhere.
absl::Status Dropout(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  const Constant* ratio = op.ConstInput(1);
  const Constant* training = op.ConstInput(2);
  AOTC_RETURN_IF_ERROR(RequireOneElement(ratio));
  AOTC_RETURN_IF_ERROR(RequireOneElement(training));
  bool drops = op.HasInput(2) && (training == nullptr || training->IntAt(0) != 0);
  bool drops_nothing = ratio != nullptr && ratio->FloatAt(0) == 0;
  if (drops && !drops_nothing) {
    return absl::UnimplementedError("training_mode is not supported");
  }
  SetReshaped(op, x, x.shape());
  op.SetOutput(1,
               op.b().Compute(DType::kBool, x.shape(), [](const Indices&) { return Bool(true); }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Dropout", .compute = Dropout, .summary = "the input: inference drops nothing"},
    {.name = "Flatten",
     .compute = Flatten,
     .summary = "a matrix of the same elements",
     .traits = kMovesElements},
    {.name = "Identity", .compute = Identity, .summary = "the input", .traits = kMovesElements},
    {.name = "Reshape",
     .compute = Reshape,
     .summary = "the same elements under another shape",
     .traits = kMovesElements},
    {.name = "Squeeze",
     .compute = Squeeze,
     .summary = "drops axes of dim 1",
     .traits = kMovesElements},
    {.name = "Unsqueeze",
     .compute = Unsqueeze,
     .summary = "adds axes of dim 1",
     .traits = kMovesElements},
};

}  // namespace

std::span<const OpDef> ReshapeOps() { return kOps; }

}  // namespace aotc
