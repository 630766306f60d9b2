// Positions of extremes: ArgMax and ArgMin.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

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
    {.name = "ArgMax",
     .compute = ArgExtreme<true>,
     .summary = "position of the maximum",
     .traits = kNoDerivative,
     .places = PlacesResult{}},
    {.name = "ArgMin",
     .compute = ArgExtreme<false>,
     .summary = "position of the minimum",
     .traits = kNoDerivative,
     .places = PlacesResult{}},
};

}  // namespace

std::span<const OpDef> ArgOps() { return kOps; }

}  // namespace aotc
