// Ops that move elements along axes one to one: Transpose, DepthToSpace, SpaceToDepth.
#include <algorithm>
#include <utility>

#include "compiler/ops/emit.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

absl::StatusOr<std::vector<int>> Permutation(const OpContext& op, int rank) {
  std::vector<int> order;
  for (int d = rank - 1; d >= 0; --d) order.push_back(d);
  if (!op.attributes().Has("perm")) return order;
  std::vector<int64_t> perm = op.attributes().Ints("perm");
  if (perm.size() != order.size()) {
    return AOTC_REFUSAL(InvalidArgument, "attribute perm does not have one element per axis");
  }
  for (size_t d = 0; d < perm.size(); ++d) {
    AOTC_ASSIGN_OR_RETURN(order[d], op.NormalizeAxis(perm[d], rank));
    if (std::find(order.begin(), order.begin() + static_cast<int64_t>(d), order[d]) !=
        order.begin() + static_cast<int64_t>(d)) {
      return AOTC_REFUSAL(InvalidArgument, "attribute perm names an axis twice");
    }
  }
  return order;
}

absl::Status Transpose(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<int> order, Permutation(op, x.rank()));
  Shape shape;
  for (int axis : order) shape.push_back(x.dim(axis));
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Indices indices(i.size());
    for (size_t d = 0; d < order.size(); ++d) indices[static_cast<size_t>(order[d])] = i[d];
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> BlockSize(const OpContext& op) {
  int64_t block = op.attributes().Int("blocksize");
  if (block >= 1 && block <= INT16_MAX) return block;
  return AOTC_REFUSAL(InvalidArgument, "attribute blocksize must be positive");
}

// [N, C * b * b, H, W] -> [N, C, H * b, W * b]. In mode DCR the channel is (row, column, c), in CRD
// (c, row, column).
absl::Status DepthToSpace(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 4, 4));
  AOTC_ASSIGN_OR_RETURN(int64_t b, BlockSize(op));
  std::string mode = op.attributes().String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return AOTC_REFUSAL(InvalidArgument, "attribute mode must be DCR or CRD");
  if (!ProveDivisible(x.dim(1), b * b, op.bounds())) {
    return AOTC_REFUSAL(InvalidArgument, "the channels do not divide into blocks");
  }
  Expr channels = Simplify(FloorDiv(x.dim(1), b * b), op.bounds());
  Shape shape = {x.dim(0), channels, x.dim(2) * b, x.dim(3) * b};
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Expr place = Mod(i[2], b) * b + Mod(i[3], b);
    Expr channel = mode == "DCR" ? place * channels + i[1] : i[1] * (b * b) + place;
    return x.Stored({i[0], channel, FloorDiv(i[2], b), FloorDiv(i[3], b)});
  }));
  return absl::OkStatus();
}

// [N, C, H * b, W * b] -> [N, b * b * C, H, W], the channel being (row, column, c).
absl::Status SpaceToDepth(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 4, 4));
  AOTC_ASSIGN_OR_RETURN(int64_t b, BlockSize(op));
  if (!ProveDivisible(x.dim(2), b, op.bounds()) || !ProveDivisible(x.dim(3), b, op.bounds())) {
    return AOTC_REFUSAL(InvalidArgument, "the spatial dims do not divide into blocks");
  }
  Shape shape = {x.dim(0), x.dim(1) * (b * b), Simplify(FloorDiv(x.dim(2), b), op.bounds()),
                 Simplify(FloorDiv(x.dim(3), b), op.bounds())};
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Expr place = FloorDiv(i[1], x.dim(1));
    return x.Stored(
        {i[0], Mod(i[1], x.dim(1)), i[2] * b + FloorDiv(place, b), i[3] * b + Mod(place, b)});
  }));
  return absl::OkStatus();
}

constexpr std::string_view kTranspose = "Transpose";

constexpr OpDef kOps[] = {
    {.name = "DepthToSpace",
     .compute = DepthToSpace,
     .summary = "channels become blocks of pixels",
     .traits = kMovesElements | kMovesOperands},
    {.name = "SpaceToDepth",
     .compute = SpaceToDepth,
     .summary = "blocks of pixels become channels",
     .traits = kMovesElements | kMovesOperands},
    {.name = kTranspose,
     .compute = Transpose,
     .summary = "permutes the axes",
     .traits = kMovesElements | kMovesOperands | kReorders,
     .gradient = GradientOfTranspose},
};

}  // namespace

Node TransposeNode(ValueId x, ValueId result, std::vector<int64_t> perm) {
  Node node{.op = std::string(kTranspose), .inputs = {x}, .outputs = {result}};
  node.attributes.Set("perm", std::move(perm));
  return node;
}

ValueId EmitTransposed(Rebuilder& rebuilder, ValueId x, std::vector<int64_t> perm,
                       const ValueType& type, const Node& origin) {
  return rebuilder.Emit(kTranspose, {x}, TransposeNode(x, {}, std::move(perm)).attributes, type,
                        origin);
}

std::span<const OpDef> TransposeOps() { return kOps; }

}  // namespace aotc
