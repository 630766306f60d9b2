// Attention of com.microsoft, in terms of that of ONNX: Attention and QAttention (projections of
// one input, then heads) and MultiHeadAttention.
#include "compiler/ir/expr_text.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Of a mask of rank 1, how it says which keys a sample has: by their number, [B]; by their end and
// then their start, [2 * B]; or by their number, behind which stand places in packed tensors,
// [3 * B + 2]. The ends or numbers are first; true where starts follow.
absl::StatusOr<bool> HasStarts(OpContext& op, const Expr& count, const Expr& batch) {
  const Bounds bounds = op.bounds();
  if (ProveEqual(count, batch * 2, bounds)) return true;
  if (ProveEqual(count, batch, bounds) || ProveEqual(count, batch * 3 + 2, bounds)) return false;
  return AOTC_REFUSAL(Unimplemented,
                      StrCat("a mask of ", PrintExpr(count), " elements for ", PrintExpr(batch),
                             " samples, of which one, two or three each and two more are known to "
                             "be supported; hint: --dim pins a dim"));
}

// Ours: what is added to the scores, f32 [B, 1, 1 or S, T], where a mask of integers is 0, and 0
// elsewhere. Inputs: the mask, of rank 1 (above), [B, T] or [B, S, T]; the keys, whose axis
// `keys` is T, with what is cached of them at input 2, if anything is: [.., heads, P, D].
absl::Status AttentionMask(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor mask, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(mask, 1, 3));
  if (!IsInteger(mask.dtype())) return AOTC_REFUSAL(InvalidArgument, "needs a mask of integers");
  const Shape keys = op.InputType(1).dims, past = op.InputType(2).dims;
  if (keys.size() < 3) return AOTC_REFUSAL(InvalidArgument, "needs keys of rank 3 or 4");
  Expr steps = keys[keys.size() - 2];
  if (past.size() >= 2) steps = Simplify(steps + past[past.size() - 2]);
  const bool lengths = mask.rank() == 1;
  const Expr& batch = lengths ? keys[0] : mask.dim(0);
  bool has_starts = false;
  if (lengths) {
    AOTC_ASSIGN_OR_RETURN(has_starts, HasStarts(op, mask.dim(0), batch));
  }
  if (!lengths) {
    AOTC_RETURN_IF_ERROR(
        op.RequireEqual(mask.dim(-1), steps, "the mask has not one element for each key"));
  }
  const double hidden = op.attributes().Float("mask_filter_value", -10000.0F);
  const Expr rows = mask.rank() == 3 ? mask.dim(1) : Expr(1);
  op.SetOutput(0, op.b().Compute(DType::kF32, {batch, 1, rows, steps}, [&](const Indices& i) {
    Expr seen;
    if (lengths) seen = Lt(i[3], Cast(DType::kI64, mask({i[0]})));
    if (has_starts) seen = And(seen, Le(Cast(DType::kI64, mask({i[0] + batch})), i[3]));
    if (mask.rank() == 2) seen = Lt(0, Cast(DType::kI64, mask({i[0], i[3]})));
    if (mask.rank() == 3) seen = Lt(0, Cast(DType::kI64, mask({i[0], i[2], i[3]})));
    return Select(seen, FloatConst(0), FloatConst(hidden));
  }));
  return absl::OkStatus();
}

// Where the parts of an attention are among the inputs of a node.
struct AttentionParts {
  ValueId query = {}, key = {}, value = {};
  ValueId mask = {};  // of integers
  ValueId bias = {};  // added to the scores
  ValueId past_key = {}, past_value = {};
};

// The scores' bias and mask as one tensor; invalid where there is neither. In f32 where there are
// both: beside -10000 nothing is left of a bias in 16 bits.
ValueId JoinedMask(Expansion& e, const AttentionParts& parts) {
  if (!parts.mask.valid()) return parts.bias;
  const float hidden = e.attributes().Float("mask_filter_value", -10000.0F);
  const ValueId mask = e.Emit("AttentionMask", {parts.mask, parts.key, parts.past_key},
                              {{"mask_filter_value", hidden}});
  if (!parts.bias.valid()) return e.Emit("CastLike", {mask, parts.query});
  return e.Emit("Add", {e.Emit("CastLike", {parts.bias, mask}), mask});
}

// Output, keys, values and weights, as many of them as `count`: those of ONNX's Attention.
absl::StatusOr<std::vector<ValueId>> EmitAttention(Expansion& e, const AttentionParts& parts,
                                                   size_t count) {
  const int64_t heads = e.attributes().Int("num_heads");
  if (heads < 1) return AOTC_REFUSAL(InvalidArgument, "attribute 'num_heads' is not positive");
  Expansion::NamedValues attributes = {{"q_num_heads", heads},
                                       {"kv_num_heads", heads},
                                       {"is_causal", e.attributes().Int("unidirectional")},
                                       {"qk_matmul_output_mode", int64_t{3}}};
  const float scale = e.attributes().Float("scale");
  if (scale != 0) attributes.emplace_back("scale", scale);
  return e.EmitSeveral(
      "Attention",
      {parts.query, parts.key, parts.value, JoinedMask(e, parts), parts.past_key, parts.past_value},
      count, attributes);
}

// Ours: x and one of the three parts of a bias for queries, keys and values, which are as long as
// these are wide. Inputs: x [B, S, C], the bias, the queries [B, S, C], as wide as which the keys
// are. Keys and values by heads, [B, heads, T, D], have theirs already.
absl::Status BiasedProjection(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3, 4));
  if (x.rank() == 4) {
    op.SetOutput(0, x);
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(const Tensor bias, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(bias, 1, 1));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, bias}));
  const Shape queries = op.InputType(2).dims;
  const int64_t part = op.attributes().Int("part");
  const Expr first = Simplify(queries.back() * part);
  AOTC_RETURN_IF_ERROR(
      op.Require(part == 2 ? Eq(first + x.dim(2), bias.dim(0)) : Le(first + x.dim(2), bias.dim(0)),
                 "the bias has not one element for each column of queries, keys and values"));
  op.SetOutput(0, op.b().Compute(x.dtype(), x.shape(),
                                 [&](const Indices& i) { return x(i) + bias({first + i[2]}); }));
  return absl::OkStatus();
}

// Part `index` of x [B, S, heads, 2 or 3, D], [B, S, heads * D].
ValueId UnpackedPart(Expansion& e, ValueId x, int64_t index) {
  const ValueId part =
      e.Emit("Gather", {x, e.Add("part", Constant::SplatInt(DType::kI64, {}, index))},
             {{"axis", int64_t{3}}});
  return e.Emit("Reshape", {part, e.Ints("joined", {0, 0, -1})});
}

// Queries, keys and values may be packed in the first operand, keys and values in the second.
void ReadPackedParts(Expansion& e, AttentionParts& parts) {
  parts.query = e.Input(0);
  parts.key = e.Input(1);
  parts.value = e.Input(2);
  if (parts.value.valid()) return;
  const ValueId packed = parts.key.valid() ? parts.key : parts.query;
  const int64_t first = parts.key.valid() ? 0 : 1;
  if (!parts.key.valid()) parts.query = UnpackedPart(e, packed, 0);
  parts.key = UnpackedPart(e, packed, first);
  parts.value = UnpackedPart(e, packed, first + 1);
}

absl::Status MultiHeadAttention(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  if (e.HasInput(2) && !e.HasInput(1)) {
    return AOTC_REFUSAL(InvalidArgument, "has values and no keys");
  }
  for (size_t index = 8; index < node.inputs.size(); ++index) {
    if (e.HasInput(index)) {
      return AOTC_REFUSAL(Unimplemented, StrCat("input ", index, " is not supported"));
    }
  }
  AttentionParts parts = {
      .mask = e.Input(4), .bias = e.Input(5), .past_key = e.Input(6), .past_value = e.Input(7)};
  ReadPackedParts(e, parts);
  if (e.HasInput(3)) {
    const ValueId queries = parts.query;
    int64_t part = 0;
    for (ValueId* x : {&parts.query, &parts.key, &parts.value}) {
      *x = e.Emit("BiasedProjection", {*x, e.Input(3), queries}, {{"part", part++}});
    }
  }
  const size_t results_wanted = e.WantsOutput(3) ? 4 : e.WantsOutput(1) || e.WantsOutput(2) ? 3 : 1;
  AOTC_ASSIGN_OR_RETURN(const auto results, EmitAttention(e, parts, results_wanted));
  for (size_t i = 0; i < results.size(); ++i) e.SetOutput(i, results[i]);
  return absl::OkStatus();
}

// The parts of projections: queries, keys and values.
absl::StatusOr<std::vector<ValueId>> PartsOfProjections(Expansion& e, ValueId all) {
  const std::vector<int64_t> sizes = e.attributes().Ints("qkv_hidden_sizes");
  if (sizes.empty()) {
    return e.EmitSeveral("Split", {all}, 3, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{3}}});
  }
  if (sizes.size() != 3 || sizes[0] != sizes[1]) {
    return AOTC_REFUSAL(InvalidArgument,
                        "attribute 'qkv_hidden_sizes' is not of three parts that fit");
  }
  return e.EmitSeveral("Split", {all, e.Ints("sizes", sizes)}, 3, {{"axis", int64_t{-1}}});
}

// Attention of `projected`, with a past [2, B, heads, P, D]: output and present, which is like it.
absl::Status SetAttention(Expansion& e, const std::vector<ValueId>& projected, ValueId mask,
                          ValueId past, ValueId bias) {
  AttentionParts parts = {.query = projected[0],
                          .key = projected[1],
                          .value = projected[2],
                          .mask = mask,
                          .bias = bias};
  if (past.valid()) {
    auto part = [&](const char* name, int64_t index) {
      return e.Emit("Gather", {past, e.Add(name, Constant::SplatInt(DType::kI64, {}, index))},
                    {{"axis", int64_t{0}}});
    };
    parts.past_key = part("past_key", 0);
    parts.past_value = part("past_value", 1);
  }
  AOTC_ASSIGN_OR_RETURN(const auto results, EmitAttention(e, parts, e.WantsOutput(1) ? 3 : 1));
  e.SetOutput(0, results[0]);
  if (!e.WantsOutput(1)) return absl::OkStatus();
  const ValueId axis = e.Ints("present_axis", {0});
  e.SetOutput(
      1, e.Emit("Concat",
                {e.Emit("Unsqueeze", {results[1], axis}), e.Emit("Unsqueeze", {results[2], axis})},
                {{"axis", int64_t{0}}}));
  return absl::OkStatus();
}

// `has_length`: of the past, which then lies in a larger buffer.
absl::Status RequirePlain(const Expansion& e, bool has_length) {
  if (has_length || e.attributes().Int("past_present_share_buffer") != 0) {
    return AOTC_REFUSAL(Unimplemented, "a buffer that past and present share is not supported");
  }
  if (e.attributes().Int("do_rotary") == 0) return absl::OkStatus();
  return AOTC_REFUSAL(Unimplemented, "do_rotary is not supported");
}

// Inputs: X [B, S, C], weights, bias, mask, past, attention bias, length of the past.
absl::Status Attention(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  AOTC_RETURN_IF_ERROR(RequirePlain(e, e.HasInput(6)));
  ValueId all = e.Emit("MatMul", {e.Input(0), e.Input(1)});
  if (e.HasInput(2)) all = e.Emit("Add", {all, e.Input(2)});
  AOTC_ASSIGN_OR_RETURN(const std::vector<ValueId> projected, PartsOfProjections(e, all));
  return SetAttention(e, projected, e.Input(3), e.Input(4), e.Input(5));
}

// Inputs: X [B, S, C] and weights of integers, bias, their scales, mask, their zero points, past.
absl::Status QAttention(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2, 3, 4}));
  AOTC_RETURN_IF_ERROR(RequirePlain(e, false));
  const ValueId all =
      e.Emit("com.microsoft.MatMulIntegerToFloat",
             {e.Input(0), e.Input(1), e.Input(3), e.Input(4), e.Input(6), e.Input(7), e.Input(2)});
  AOTC_ASSIGN_OR_RETURN(const std::vector<ValueId> projected, PartsOfProjections(e, all));
  return SetAttention(e, projected, e.Input(5), e.Input(8), {});
}

constexpr OpDef kOps[] = {
    {.name = "AttentionMask",
     .compute = AttentionMask,
     .summary = "what a mask of integers adds to scores",
     .traits = kOwn},
    {.name = "BiasedProjection",
     .compute = BiasedProjection,
     .summary = "queries, keys or values and their part of a bias",
     .traits = kOwn},
    {.name = "com.microsoft.Attention",
     .expand = Attention,
     .summary = "projections of one input, then attention by heads"},
    {.name = "com.microsoft.QAttention",
     .expand = QAttention,
     .summary = "projections of quantised inputs, then attention by heads"},
    {.name = "com.microsoft.MultiHeadAttention",
     .expand = MultiHeadAttention,
     .summary = "attention by heads"},
};

}  // namespace

std::span<const OpDef> FusedAttentionOps() { return kOps; }

}  // namespace aotc
