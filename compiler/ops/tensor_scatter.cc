// TensorScatter: new steps written into a cache of keys or values (ONNX TensorScatter-24).
//
// Each element of the cache looks for the step that goes there. Steps that mode "linear" would
// write outside of the cache, which ONNX does not allow, go nowhere.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct CacheUpdate {
  Tensor cache;   // [B, ..., longest, ...]
  Tensor update;  // [B, ..., steps, ...], at most the longest
  Tensor first;   // [B]: where the steps of a sample begin; 0 where absent
  size_t axis = 0;
  bool circular = false;

  const Expr& Steps() const { return update.shape()[axis]; }
  // The step that goes to element i, of [0, Steps()) where there is one.
  Expr StepAt(const Indices& i) const {
    if (!first.valid()) return i[axis];
    const Expr step = i[axis] - Cast(DType::kI64, first({i[0]}));
    return circular ? Mod(step, cache.shape()[axis]) : step;
  }
};

absl::Status CheckDims(OpContext& op, const CacheUpdate& write) {
  const Shape cache = write.cache.shape(), update = write.update.shape();
  for (size_t d = 0; d < cache.size(); ++d) {
    if (d == write.axis) {
      AOTC_RETURN_IF_ERROR(
          op.Require(Le(update[d], cache[d]), "the update is longer than the cache"));
    } else {
      AOTC_RETURN_IF_ERROR(op.RequireEqual(
          cache[d], update[d], StrCat("the cache and the update differ along axis ", d)));
    }
  }
  if (!write.first.valid()) return absl::OkStatus();
  AOTC_RETURN_IF_ERROR(RequireRank(write.first, 1, 1));
  if (!IsInteger(write.first.dtype()))
    return AOTC_REFUSAL(InvalidArgument, "needs integer indices");
  return op.RequireEqual(write.first.dim(0), cache[0], "needs one write index per sample");
}

absl::StatusOr<CacheUpdate> ReadUpdate(OpContext& op) {
  CacheUpdate write;
  AOTC_ASSIGN_OR_RETURN(write.cache, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(write.update, op.Input(1));
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(write.first, op.Input(2));
  }
  AOTC_RETURN_IF_ERROR(RequireSameType({write.cache, write.update}));
  AOTC_RETURN_IF_ERROR(RequireRank(write.cache, 2));
  AOTC_RETURN_IF_ERROR(RequireRank(write.update, write.cache.rank(), write.cache.rank()));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", -2, write.cache.rank()));
  if (axis == 0) return AOTC_REFUSAL(InvalidArgument, "attribute axis names the batch");
  write.axis = static_cast<size_t>(axis);
  const std::string mode = op.attributes().String("mode", "linear");
  write.circular = mode == "circular";
  if (!write.circular && mode != "linear") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode '", mode, "'"));
  }
  AOTC_RETURN_IF_ERROR(CheckDims(op, write));
  return write;
}

absl::Status TensorScatter(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const CacheUpdate write, ReadUpdate(op));
  op.SetOutput(0, op.b().Compute(write.cache.dtype(), write.cache.shape(), [&](const Indices& i) {
    const Expr step = write.StepAt(i);
    Indices at = i;
    at[write.axis] = Clamp(step, 0, write.Steps() - 1);
    return Select(InBounds(step, write.Steps()), write.update.Stored(at), write.cache.Stored(i));
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "TensorScatter",
     .compute = TensorScatter,
     .summary = "a cache of keys or values with new steps in it",
     .traits = kMovesOperands},
};

}  // namespace

std::span<const OpDef> TensorScatterOps() { return kOps; }

}  // namespace aotc
