// FlexAttention: attention with graphs that change the scores before the softmax and the
// probabilities behind it (ai.onnx.preview FlexAttention-1).
//
// It becomes two ops of ours, around the softmax and what the graphs hold. Queries and keys are
// each scaled by the root of the scale and rounded to their type, as are their products: so has the
// function that defines the op.
#include <cmath>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/contraction.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char kPrecision[] = "softmax_precision";

// Heads of queries per head of keys or values: [B, heads, ...] each.
absl::StatusOr<int64_t> SharedHeads(OpContext& op, const Tensor& queries, const Tensor& keys) {
  AOTC_RETURN_IF_ERROR(RequireFloat(keys));
  AOTC_RETURN_IF_ERROR(RequireRank(queries, 4, 4));
  AOTC_RETURN_IF_ERROR(RequireRank(keys, 4, 4));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(queries.dim(0), keys.dim(0),
                                       "queries, keys and values have different batches"));
  const std::optional<int64_t> all = queries.dim(1).AsInt(), heads = keys.dim(1).AsInt();
  if (!all || !heads) return AOTC_REFUSAL(Unimplemented, "needs known numbers of heads");
  if (*heads >= 1 && *all % *heads == 0) return *all / *heads;
  return AOTC_REFUSAL(InvalidArgument, StrCat(*all, " heads of queries do not share ", *heads,
                                              " of keys or values"));
}

absl::StatusOr<DType> PrecisionOf(const OpContext& op, DType operand) {
  const DType usual = operand == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto stated = static_cast<DType>(op.attributes().Int(kPrecision, static_cast<int>(usual)));
  if (IsKnownDType(static_cast<int>(stated)) && IsFloat(stated) && BitWidth(stated) >= 16) {
    return stated;
  }
  return AOTC_REFUSAL(InvalidArgument, "softmax_precision names no float type of 16 bits or more");
}

// Ours: products of queries and keys, [B, heads of queries, L, S], in the type of the softmax.
absl::Status Scores(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor queries, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor keys, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireSameType({queries, keys}));
  AOTC_ASSIGN_OR_RETURN(const int64_t shared, SharedHeads(op, queries, keys));
  AOTC_ASSIGN_OR_RETURN(const DType precision, PrecisionOf(op, queries.dtype()));
  const std::optional<int64_t> depth = queries.dim(3).AsInt();
  if (!depth || *depth < 1) return AOTC_REFUSAL(Unimplemented, "needs a known head size");
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(keys.dim(3), *depth, "queries and keys have different head sizes"));
  const auto usual = static_cast<float>(1 / std::sqrt(static_cast<double>(*depth)));
  const double root = std::sqrt(op.attributes().Float("scale", usual));
  TensorBuilder& b = op.b();
  const DType type = queries.dtype(), compute = ComputeType(type);
  const Expr factor = Cast(compute, Cast(type, FloatConst(root, compute)));
  const auto scaled = [&](const auto& v) { return v[0] * factor; };
  const Tensor left = b.Map({queries}, scaled, type), right = b.Map({keys}, scaled, type);
  const Tensor sums = SumOfProducts(
      b,
      {.accumulator = compute,
       .shape = {queries.dim(0), queries.dim(1), queries.dim(2), keys.dim(2)},
       .reduce_shape = {Expr(*depth)},
       .left = [&](const Indices& i, const Indices& r) { return left({i[0], i[1], i[2], r[0]}); },
       .right =
           [&](const Indices& i, const Indices& r) {
             return right({i[0], FloorDiv(i[1], shared), i[3], r[0]});
           }});
  op.SetOutput(0, b.Convert(b.Convert(sums, type), precision));
  return absl::OkStatus();
}

// Ours: probabilities times values, [B, heads of queries, L, head size], in the type of the values.
absl::Status Values(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor probabilities, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor values, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const int64_t shared, SharedHeads(op, probabilities, values));
  AOTC_ASSIGN_OR_RETURN(const DType precision, PrecisionOf(op, values.dtype()));
  if (probabilities.dtype() != precision) {
    return AOTC_REFUSAL(InvalidArgument, "a modifier changes the element type");
  }
  AOTC_RETURN_IF_ERROR(op.RequireEqual(probabilities.dim(3), values.dim(2),
                                       "keys and values have different lengths"));
  TensorBuilder& b = op.b();
  const Tensor right = b.Convert(values, precision);
  const Tensor sums = SumOfProducts(
      b, {.accumulator = ComputeType(precision),
          .shape = {values.dim(0), probabilities.dim(1), probabilities.dim(2), values.dim(3)},
          .reduce_shape = {values.dim(2)},
          .left = [&](const Indices& i,
                      const Indices& r) { return probabilities({i[0], i[1], i[2], r[0]}); },
          .right =
              [&](const Indices& i, const Indices& r) {
                return right({i[0], FloorDiv(i[1], shared), r[0], i[3]});
              }});
  op.SetOutput(0, b.Convert(b.Convert(sums, precision), values.dtype()));
  return absl::OkStatus();
}

// What the graph of that name makes of a value, which is the value where there is none.
absl::StatusOr<ValueId> Modified(Rebuilder& rebuilder, const Node& node, const char* name,
                                 ValueId value) {
  const auto found = node.regions.find(name);
  if (found == node.regions.end()) return value;
  const Region& region = rebuilder.old_graph().regions[found->second];
  if (region.inputs.size() != 1 || region.outputs.size() != 1) {
    return AOTC_REFUSAL(InvalidArgument, StrCat(name, " needs one input and one output"));
  }
  rebuilder.Replace(region.inputs[0], value);
  AOTC_RETURN_IF_ERROR(rebuilder.Splice(found->second));
  return rebuilder.Mapped(region.outputs[0]);
}

absl::Status FlexAttention(Rebuilder& rebuilder, const Node& node) {
  for (size_t i = 0; i < 3; ++i) {
    if (!HasInput(node, i))
      return AOTC_REFUSAL(InvalidArgument, StrCat("input ", i, " is missing"));
  }
  const auto input = [&](size_t i) { return rebuilder.Mapped(node.inputs[i]); };
  const auto emit = [&](std::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
    return rebuilder.Emit(op, std::move(inputs), std::move(attributes), UnknownType(), node);
  };
  ValueId scores = emit("FlexAttentionScores", {input(0), input(1)}, node.attributes);
  AOTC_ASSIGN_OR_RETURN(scores, Modified(rebuilder, node, "score_mod", scores));
  Attributes last;
  last.Set("axis", int64_t{-1});
  ValueId shares = emit("Softmax", {scores}, last);
  AOTC_ASSIGN_OR_RETURN(shares, Modified(rebuilder, node, "prob_mod", shares));
  rebuilder.Replace(node.outputs[0],
                    emit("FlexAttentionValues", {shares, input(2)}, node.attributes));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "FlexAttentionScores",
     .compute = Scores,
     .summary = "products of queries and keys of a FlexAttention",
     .traits = kOwn},
    {.name = "FlexAttentionValues",
     .compute = Values,
     .summary = "probabilities times values of a FlexAttention",
     .traits = kOwn},
    {.name = "ai.onnx.preview.FlexAttention",
     .expand = FlexAttention,
     .summary = "attention whose scores and probabilities graphs change"},
};

}  // namespace

std::span<const OpDef> FlexAttentionOps() { return kOps; }

}  // namespace aotc
