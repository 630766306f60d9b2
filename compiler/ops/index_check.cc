// IndexCheck: whether all indices of a gather lie in their axes. It is no op of ONNX: what lowers
// the graph to kernels adds it (fuse/index_checks.h).
#include "compiler/ops/emit.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The dim that an index is for: that of `axis`, or with `positions` the one of the axis to which
// the last axis of the indices counts from there.
Expr DimOf(const Shape& data, size_t axis, bool positions, int64_t depth, const Indices& place) {
  Expr dim = data[axis];
  for (int64_t k = 1; positions && k < depth; ++k) {
    dim = Select(Eq(place.back(), k), data[axis + static_cast<size_t>(k)], dim);
  }
  return dim;
}

// Inputs: the indices and the data, of which only the dims are read. Attributes: `axis`, and
// `positions` where the last axis of the indices holds one index per axis from there on. The result
// is one bool. An index of [-dim, dim) is valid, of [0, dim) with from_end=0; so are the dim itself
// with `inclusive`, and `ignore_index`. With `flat` all elements of the data are one axis.
absl::Status IndexCheck(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(0));
  Shape data = op.InputType(1).dims;
  if (op.attributes().Int("flat") != 0) data = {ElementCount(data)};
  const bool positions = op.attributes().Int("positions") != 0;
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", 0, static_cast<int>(data.size())));
  const int64_t depth = positions ? places.dim(-1).AsInt().value_or(0) : 1;
  if (axis + depth > static_cast<int64_t>(data.size())) {
    return absl::InternalError("the indices do not fit the rank of the data");
  }
  const bool from_end = op.attributes().Int("from_end", 1) != 0;
  const int64_t inclusive = op.attributes().Int("inclusive");
  const auto valid = [&](const Indices& place) {
    const Expr index = Cast(DType::kI64, places(place));
    const Expr dim = DimOf(data, static_cast<size_t>(axis), positions, depth, place);
    Expr inside = And(Le(from_end ? Expr(0) - dim : Expr(0), index), Lt(index, dim + inclusive));
    if (!op.attributes().Has(kIgnored)) return inside;
    return Or(inside, Eq(index, op.attributes().Int(kIgnored)));
  };
  if (places.rank() == 0) {
    op.SetOutput(0, op.b().Compute(DType::kBool, {}, valid));
    return absl::OkStatus();
  }
  op.SetOutput(0, op.b().Reduce("and", DType::kBool, {}, places.shape(),
                                [&](const Indices&, const Indices& r) { return valid(r); }));
  return absl::OkStatus();
}

constexpr std::string_view kIndexCheck = "IndexCheck";

constexpr OpDef kOps[] = {
    {.name = kIndexCheck,
     .compute = IndexCheck,
     .summary = "whether indices lie in their axes",
     .traits = kOwn | kMustHold},
};

}  // namespace

Node IndexCheckNode(const Node& node, const IndexOperand& operand) {
  Node check{.op = std::string(kIndexCheck),
             .inputs = {node.inputs[operand.input], operand.DataOf(node)},
             .locations = node.locations};
  check.attributes.Set("axis", operand.AxisOf(node));
  check.attributes.Set("positions", int64_t{operand.positions});
  if (!operand.from_end) check.attributes.Set("from_end", int64_t{0});
  if (operand.flat) check.attributes.Set("flat", int64_t{1});
  if (operand.inclusive) check.attributes.Set("inclusive", int64_t{1});
  if (node.attributes.Has(kIgnored)) check.attributes.Set(kIgnored, node.attributes.Int(kIgnored));
  return check;
}

std::span<const OpDef> IndexCheckOps() { return kOps; }

}  // namespace aotc
