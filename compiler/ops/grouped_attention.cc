// GroupQueryAttention of com.microsoft: attention in which groups of heads share keys and values,
// whose cache holds a number of steps of its own for each sample. In terms of AttentionOfHeads.
#include <algorithm>

#include "compiler/ops/attention_heads.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Operands of the node.
constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kPastKey = 3, kPastValue = 4, kLengths = 5,
                 kTotal = 6, kCosines = 7, kSines = 8, kPositions = 9, kBias = 10, kSink = 11,
                 kKeyScale = 12, kValueScale = 13, kQueryNorm = 14, kKeyNorm = 15;

// Ours: of a tensor [B, S, (heads + 2 * shared) * D], the queries, keys and values.
absl::Status UnpackedHeads(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor packed, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(packed, 3, 3));
  const int64_t heads = op.attributes().Int("num_heads");
  const int64_t shared = op.attributes().Int("kv_num_heads");
  const int64_t last = packed.dim(2).AsInt().value_or(-1);
  if (last < 0 || heads < 1 || shared < 1 || last % (heads + 2 * shared) != 0) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("packed features do not divide into ", heads,
                                                " heads and twice ", shared));
  }
  const int64_t depth = last / (heads + 2 * shared);
  const Shape& shape = packed.shape();
  int64_t first = 0;
  for (size_t part = 0; part < 3; ++part) {
    const int64_t count = (part == 0 ? heads : shared) * depth;
    op.SetOutput(part,
                 op.b().Compute(packed.dtype(), {shape[0], shape[1], count}, [&](const Indices& i) {
                   return packed.Stored({i[0], i[1], i[2] + first});
                 }));
    first += count;
  }
  return absl::OkStatus();
}

// Of lengths [B] or [B, 1] that of a sample.
Expr LengthOf(const Tensor& lengths, const Expr& sample) {
  Indices at = {sample};
  if (lengths.rank() == 2) at.push_back(Expr(0));
  return Cast(DType::kI64, lengths(at));
}

// Ours: how many steps of a cache [B, heads, P, D] a sample has, i64 [B], and how many keys with
// those that are new, i64 [B]. Inputs: the latter, less one; how many there are at most, i32 [];
// the queries [B, S, ..]; the cache, if there is one. An empty cache is that of prompts, which may
// be padded.
absl::Status CachedSteps(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor lengths, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(lengths, 1, 2));
  if (!IsInteger(lengths.dtype())) return AOTC_REFUSAL(InvalidArgument, "needs integer lengths");
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> total, op.IntElements(1));
  if (total.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs one total_sequence_length");
  AOTC_ASSIGN_OR_RETURN(const Tensor queries, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireRank(queries, 3, 3));
  Tensor cache;
  if (op.HasInput(3)) {
    AOTC_ASSIGN_OR_RETURN(cache, op.Input(3));
    AOTC_RETURN_IF_ERROR(RequireRank(cache, 4, 4));
  }
  Expr samples = queries.dim(0), steps = queries.dim(1);
  const Expr cached = cache.valid() ? cache.dim(2) : Expr(0);
  AOTC_RETURN_IF_ERROR(op.RequireEqual(
      total[0], cached + steps,
      "total_sequence_length is not the length of the past and the new keys together"));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(ElementCount(lengths.shape()), samples,
                                       "seqlens_k has not one length for each sample"));
  op.SetOutput(0, op.b().Compute(DType::kI64, {samples}, [&](const Indices& i) {
    return Select(Eq(cached, 0), 0, LengthOf(lengths, i[0]) + 1 - steps);
  }));
  op.SetOutput(1, op.b().Compute(DType::kI64, {samples},
                                 [&](const Indices& i) { return LengthOf(lengths, i[0]) + 1; }));
  return absl::OkStatus();
}

// Ours: of each sample the first steps of a cache [B, heads, P, D], so many as `cached` i64 [B]
// says, and behind them what is new, [B, S, heads * D]; zeros at the end of [B, heads, P + S, D].
absl::Status JoinedCache(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor past, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor cached, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Tensor added, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireRank(past, 4, 4));
  AOTC_RETURN_IF_ERROR(RequireRank(cached, 1, 1));
  AOTC_RETURN_IF_ERROR(RequireRank(added, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireSameType({past, added}));
  constexpr const char* kText = "a cache does not have the dims of what is appended";
  AOTC_RETURN_IF_ERROR(op.RequireEqual(past.dim(0), added.dim(0), kText));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(past.dim(1) * past.dim(3), added.dim(2), kText));
  Expr room = past.dim(2), steps = added.dim(1), depth = past.dim(3);
  const Shape shape = {past.dim(0), past.dim(1), Simplify(room + steps), depth};
  const Expr nothing = NumberConst(0, ComputeType(past.dtype()));
  op.SetOutput(0, op.b().Compute(past.dtype(), shape, [&](const Indices& i) {
    const Expr first = cached({i[0]});
    const Expr step = Clamp(i[2] - first, 0, steps - 1);
    const Expr is_new = And(Le(first, i[2]), Lt(i[2], first + steps));
    const Expr own = Select(is_new, added({i[0], step, i[1] * depth + i[3]}), nothing);
    const Expr is_old = And(Lt(i[2], first), Lt(i[2], room));
    return Select(is_old, past({i[0], i[1], Min(i[2], room - 1), i[3]}), own);
  }));
  return absl::OkStatus();
}

// Ours: the keys that a query sees, bool [B, 1, S, T]: those up to itself if it is `causal`, of the
// last `window` only where that is positive, and none that a padded prompt does not have. Inputs:
// cached steps i64 [B]; the lengths of CachedSteps; queries [B, S, ..]; keys [B, .., T, D].
absl::Status SeenKeys(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor cached, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor lengths, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Tensor queries, op.Input(2));
  AOTC_ASSIGN_OR_RETURN(const Tensor keys, op.Input(3));
  AOTC_RETURN_IF_ERROR(RequireRank(cached, 1, 1));
  AOTC_RETURN_IF_ERROR(RequireRank(lengths, 1, 2));
  AOTC_RETURN_IF_ERROR(RequireRank(queries, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(keys, 4, 4));
  const int64_t window = op.attributes().Int("local_window_size", -1);
  const bool causal = op.attributes().Int("causal", 1) != 0;
  const Shape shape = {queries.dim(0), 1, queries.dim(1), keys.dim(2)};
  op.SetOutput(0, op.b().Compute(DType::kBool, shape, [&](const Indices& i) {
    const Expr all = LengthOf(lengths, i[0]);
    const Expr last = causal ? Min(cached({i[0]}) + i[2], all) : all;
    const Expr seen = Le(i[3], last);
    return window > 0 ? And(seen, Lt(last - window, i[3])) : seen;
  }));
  return absl::OkStatus();
}

// Ours: where the new steps of each sample are, i64 [B, S]. Inputs: cached steps i64 [B]; queries.
absl::Status StepPositions(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor cached, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor queries, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(cached, 1, 1));
  AOTC_RETURN_IF_ERROR(RequireRank(queries, 3, 3));
  const Shape shape = {queries.dim(0), queries.dim(1)};
  op.SetOutput(0, op.b().Compute(DType::kI64, shape,
                                 [&](const Indices& i) { return cached({i[0]}) + i[1]; }));
  return absl::OkStatus();
}

class GroupedAttention {
 public:
  GroupedAttention(Rebuilder& rebuilder, const Node& node) : e_(rebuilder, node) {}

  absl::Status Run() {
    AOTC_RETURN_IF_ERROR(RequireSupported());
    AOTC_RETURN_IF_ERROR(ReadProjections());
    const std::vector<ValueId> steps = e_.EmitSeveral(
        "CachedSteps", {e_.Input(kLengths), e_.Input(kTotal), query_, e_.Input(kPastKey)}, 2);
    cached_ = steps[0];
    lengths_ = steps[1];
    if (e_.attributes().Int("do_rotary") != 0) AOTC_RETURN_IF_ERROR(Rotate());
    const bool has_past = e_.HasInput(kPastKey);
    if (has_past) {
      key_ = e_.Emit("JoinedCache", {e_.Input(kPastKey), cached_, key_});
      value_ = e_.Emit("JoinedCache", {e_.Input(kPastValue), cached_, value_});
    } else {
      key_ = HeadsSideBySide(e_, key_, shared_);
      value_ = HeadsSideBySide(e_, value_, shared_);
    }
    SetAttention();
    e_.SetOutput(1, key_);
    e_.SetOutput(2, value_);
    return absl::OkStatus();
  }

 private:
  absl::Status RequireSupported() {
    AOTC_RETURN_IF_ERROR(e_.RequireInputs({kQuery, kLengths, kTotal}));
    heads_ = e_.attributes().Int("num_heads");
    shared_ = e_.attributes().Int("kv_num_heads");
    if (heads_ < 1 || shared_ < 1 || heads_ % shared_ != 0) {
      return AOTC_REFUSAL(InvalidArgument, StrCat(heads_, " heads of queries do not share ",
                                                  shared_, " of keys and values"));
    }
    if (e_.HasInput(kKey) != e_.HasInput(kValue) ||
        e_.HasInput(kPastKey) != e_.HasInput(kPastValue)) {
      return AOTC_REFUSAL(InvalidArgument, "needs keys and values both, new and past ones");
    }
    for (size_t index : {kKeyScale, kValueScale}) {
      if (!e_.HasInput(index)) continue;
      return AOTC_REFUSAL(Unimplemented,
                          StrCat("input ", index, ", a scale of cached numbers, is ",
                                 "not supported; hint: export it with a cache of ", "floats"));
    }
    if (e_.attributes().Int("sliding_window_cache") != 0) {
      return AOTC_REFUSAL(Unimplemented,
                          "attribute 'sliding_window_cache' is not supported; hint: without it the "
                          "cache holds all steps, of which local_window_size takes the last");
    }
    return absl::OkStatus();
  }

  absl::Status ReadProjections() {
    query_ = e_.Input(kQuery);
    key_ = e_.Input(kKey);
    value_ = e_.Input(kValue);
    if (!key_.valid()) {
      const std::vector<ValueId> parts = e_.EmitSeveral(
          "UnpackedHeads", {query_}, 3, {{"num_heads", heads_}, {"kv_num_heads", shared_}});
      query_ = parts[0];
      key_ = parts[1];
      value_ = parts[2];
    }
    if (!e_.HasInput(kQueryNorm) && !e_.HasInput(kKeyNorm)) return absl::OkStatus();
    AOTC_RETURN_IF_ERROR(e_.RequireInputs({kQueryNorm, kKeyNorm}));
    query_ = Normalized(query_, heads_, kQueryNorm);
    key_ = Normalized(key_, shared_, kKeyNorm);
    return absl::OkStatus();
  }

  // Each head of [B, S, heads * D] by the mean of its squares.
  ValueId Normalized(ValueId x, int64_t heads, size_t weight) {
    const ValueId split = e_.Emit("Reshape", {x, e_.Ints("by_heads", {0, 0, heads, -1})});
    const ValueId normal = e_.Emit(
        "RMSNormalization", {split, e_.Input(weight)},
        {{"axis", int64_t{-1}}, {"epsilon", e_.attributes().Float("qk_norm_epsilon", 1e-6F)}});
    return e_.Emit("Reshape", {normal, e_.Ints("joined", {0, 0, -1})});
  }

  absl::Status Rotate() {
    AOTC_RETURN_IF_ERROR(e_.RequireInputs({kCosines, kSines}));
    ValueId positions = e_.Input(kPositions);
    if (!positions.valid()) positions = e_.Emit("StepPositions", {cached_, query_});
    const auto rotated = [&](ValueId x, int64_t heads) {
      return e_.Emit(
          "com.microsoft.RotaryEmbedding", {x, positions, e_.Input(kCosines), e_.Input(kSines)},
          {{"num_heads", heads}, {"interleaved", e_.attributes().Int("rotary_interleaved")}});
    };
    query_ = rotated(query_, heads_);
    key_ = rotated(key_, shared_);
    return absl::OkStatus();
  }

  // The score of a key more for each head; invalid where there is none.
  ValueId Sink() {
    if (e_.HasInput(kSink)) return e_.Input(kSink);
    if (e_.attributes().Int("smooth_softmax") <= 0) return {};
    return e_.Numbers("sink", DType::kF32, {heads_},
                      std::vector<double>(static_cast<size_t>(heads_), 0));
  }

  // A query sees the keys up to itself if it is `causal`, of the last `local_window_size` only
  // where that is positive, and none that a padded prompt does not have.
  void SetAttention() {
    const int64_t causal = e_.attributes().Int("causal", 1);
    const int64_t window = e_.attributes().Int("local_window_size", -1);
    const bool normalized = e_.attributes().Int("qk_output") == kAfterSoftmax;
    Expansion::NamedValues attributes = {{"is_causal", causal},
                                         {"window", std::max<int64_t>(window, 0)},
                                         {"softcap", e_.attributes().Float("softcap")},
                                         {"qk_matmul_output_mode", int64_t{normalized ? 3 : 2}}};
    const float scale = e_.attributes().Float("scale");
    if (scale != 0) attributes.emplace_back("scale", scale);
    const ValueId sink = Sink(), query = HeadsSideBySide(e_, query_, heads_);
    const std::vector<ValueId> results =
        e_.EmitSeveral("AttentionOfHeads",
                       {query, key_, value_, e_.Input(kBias), {}, {}, lengths_, cached_, {}, sink},
                       e_.WantsOutput(3) ? 2 : 1, attributes);
    e_.SetOutput(0, HeadsInRows(e_, results[0]));
    if (!e_.WantsOutput(3)) return;
    ValueId scores = results[1];
    if (sink.valid()) {
      scores = e_.Emit("Slice", {scores, e_.Ints("first", {0}), e_.Ints("sink_place", {-1}),
                                 e_.Ints("key_axis", {3})});
    }
    if (!normalized) {
      const ValueId seen = e_.Emit("SeenKeys", {cached_, e_.Input(kLengths), query_, key_},
                                   {{"local_window_size", window}, {"causal", causal}});
      const ValueId zero = e_.Emit("CastLike", {e_.Number("unseen", DType::kF32, 0), scores});
      scores = e_.Emit("Where", {seen, scores, zero});
    }
    e_.SetOutput(3, scores);
  }

  static constexpr int64_t kAfterSoftmax = 2;  // a value of qk_output; 1 is in front of it

  Expansion e_;
  int64_t heads_ = 1, shared_ = 1;  // of queries; of keys and values
  ValueId query_, key_, value_;
  ValueId cached_, lengths_;  // steps of the cache; keys with the new ones
};

absl::Status GroupQueryAttention(Rebuilder& rebuilder, const Node& node) {
  return GroupedAttention(rebuilder, node).Run();
}

constexpr OpDef kOps[] = {
    {.name = "CachedSteps",
     .compute = CachedSteps,
     .summary = "how many steps of a cache, and how many keys, each sample has",
     .traits = kOwn},
    {.name = "JoinedCache",
     .compute = JoinedCache,
     .summary = "what is cached of each sample, and what is new behind it",
     .traits = kOwn,
     .indices = IndexOperand{.fixed_axis = 2, .from_end = false, .inclusive = true}},
    {.name = "SeenKeys",
     .compute = SeenKeys,
     .summary = "which keys each query sees",
     .traits = kOwn},
    {.name = "StepPositions",
     .compute = StepPositions,
     .summary = "positions of the steps behind a cache",
     .traits = kOwn},
    {.name = "UnpackedHeads",
     .compute = UnpackedHeads,
     .summary = "queries, keys and values of one tensor",
     .traits = kOwn},
    {.name = "com.microsoft.GroupQueryAttention",
     .expand = GroupQueryAttention,
     .summary = "attention by groups of heads, with a cache"},
};

}  // namespace

std::span<const OpDef> GroupedAttentionOps() { return kOps; }

}  // namespace aotc
