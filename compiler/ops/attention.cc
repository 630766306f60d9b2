// Attention: softmax(scale * Q * K^T + mask) * V by heads, with grouped heads, a key and value
// cache, masks, soft capping and all outputs (ONNX Attention-24).
//
// The computation is that of heads side by side, [B, heads, S, D]. Heads in rows,
// [B, S, heads * D], are turned to that form and back by other ops, and what is cached is put in
// front by Concat: keys and values are then plain matrices, which schedules need, and a cache is a
// place.
//
// A sink, which GroupQueryAttention of com.microsoft has, is one more key for each head of queries,
// with a score that is given and a value of zeros.

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/ops/attention_heads.h"
#include "compiler/ops/contraction.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// An operand by heads, [B, heads, S, D] or [B, S, heads * D].
struct Heads {
  Tensor tensor = {};
  int64_t heads = 1;

  bool InRows() const { return tensor.rank() == 3; }
  const Expr& Batch() const { return tensor.dim(0); }
  const Expr& Length() const { return tensor.dim(-2); }
  Expr Depth() const { return InRows() ? Expr(*tensor.dim(2).AsInt() / heads) : tensor.dim(3); }
};

absl::StatusOr<Heads> HeadsOf(OpContext& op, size_t index, std::string_view attribute) {
  Heads heads;
  AOTC_ASSIGN_OR_RETURN(heads.tensor, op.Input(index));
  AOTC_RETURN_IF_ERROR(RequireFloat(heads.tensor));
  AOTC_RETURN_IF_ERROR(RequireRank(heads.tensor, 3, 4));
  const std::optional<int64_t> last = heads.tensor.dim(-1).AsInt();
  const std::optional<int64_t> axis = heads.tensor.dim(1).AsInt();
  const bool by_axis = heads.tensor.rank() == 4;
  if (!last || (by_axis && !axis)) {
    return AOTC_REFUSAL(Unimplemented, StrCat("needs known heads and features of input ", index));
  }
  heads.heads = by_axis ? *axis : op.attributes().Int(attribute);
  if (heads.heads >= 1 && (by_axis || *last % heads.heads == 0)) return heads;
  return AOTC_REFUSAL(InvalidArgument, StrCat(*last, " features do not divide into ", attribute,
                                              " = ", heads.heads));
}

// Operands and results of AttentionOfHeads, which has no cache, where they are not those of ONNX's.
constexpr size_t kMask = 3, kPastKey = 4, kPastValue = 5, kLengths = 6, kFirst = 7, kCached = 8,
                 kSink = 9;
constexpr size_t kScoresOfOnnx = 3, kScoresOfHeads = 1;

class AttentionBuilder {
 public:
  AttentionBuilder(OpContext& op, size_t scores_output)
      : op_(op), b_(op.b()), scores_output_(scores_output) {}

  absl::Status Check() {
    AOTC_RETURN_IF_ERROR(ReadOperands());
    AOTC_RETURN_IF_ERROR(CheckCaches());
    AOTC_RETURN_IF_ERROR(ReadSink());
    AOTC_RETURN_IF_ERROR(ReadMasks());
    const int64_t mode = op_.attributes().Int("qk_matmul_output_mode");
    if (mode >= 0 && mode <= 3) return absl::OkStatus();
    return AOTC_REFUSAL(InvalidArgument, "unknown qk_matmul_output_mode");
  }

  bool IsPlain() const {
    const bool in_rows = query_.InRows() || key_.InRows() || value_.InRows();
    return !in_rows && !op_.HasInput(kPastKey);
  }

  void Build() {
    compute_ = ComputeType(query_.tensor.dtype());
    const Tensor products = Scores();
    const Tensor capped = Capped(products);
    const Tensor masked = Masked(capped);
    const Tensor weights = Softmax(masked);
    op_.SetOutput(0, Weighted(weights));
    const Tensor stages[] = {products, capped, masked, weights};
    if (!op_.WantsOutput(scores_output_)) return;
    const Tensor& wanted = stages[op_.attributes().Int("qk_matmul_output_mode")];
    op_.SetOutput(scores_output_, b_.Convert(wanted, query_.tensor.dtype()));
  }

  void SetPresent() {
    if (op_.WantsOutput(1)) op_.SetOutput(1, key_.tensor);
    if (op_.WantsOutput(2)) op_.SetOutput(2, value_.tensor);
  }

 private:
  absl::Status ReadOperands() {
    AOTC_ASSIGN_OR_RETURN(query_, HeadsOf(op_, 0, "q_num_heads"));
    AOTC_ASSIGN_OR_RETURN(key_, HeadsOf(op_, 1, "kv_num_heads"));
    AOTC_ASSIGN_OR_RETURN(value_, HeadsOf(op_, 2, "kv_num_heads"));
    if (query_.heads % key_.heads != 0 || key_.heads != value_.heads) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat(query_.heads, " heads of queries do not share ", key_.heads,
                                 " of keys and ", value_.heads, " of values"));
    }
    for (const auto& [one, other] :
         {std::pair(query_.Depth(), key_.Depth()), std::pair(key_.Length(), value_.Length()),
          std::pair(query_.Batch(), key_.Batch()), std::pair(query_.Batch(), value_.Batch())}) {
      AOTC_RETURN_IF_ERROR(
          op_.RequireEqual(one, other, "queries, keys and values have different dims"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckCaches() {
    keys_ = key_.Length();
    if (op_.HasInput(kPastKey) != op_.HasInput(kPastValue)) {
      return AOTC_REFUSAL(InvalidArgument, "needs both past_key and past_value, or none");
    }
    if (!op_.HasInput(kPastKey)) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(const Tensor keys, op_.Input(kPastKey));
    AOTC_ASSIGN_OR_RETURN(const Tensor values, op_.Input(kPastValue));
    AOTC_RETURN_IF_ERROR(CheckCache(keys, key_));
    AOTC_RETURN_IF_ERROR(CheckCache(values, value_));
    keys_ = Simplify(keys.dim(2) + keys_);
    return op_.RequireEqual(keys.dim(2), values.dim(2),
                            "past_key and past_value have different lengths");
  }

  absl::Status CheckCache(const Tensor& past, const Heads& now) {
    AOTC_RETURN_IF_ERROR(RequireSameType({past, now.tensor}));
    AOTC_RETURN_IF_ERROR(RequireRank(past, 4, 4));
    for (const auto& [of_past, appended] :
         {std::pair(past.dim(0), now.Batch()), std::pair(past.dim(1), Expr(now.heads)),
          std::pair(past.dim(3), now.Depth())}) {
      AOTC_RETURN_IF_ERROR(op_.RequireEqual(of_past, appended,
                                            "a cache does not have the dims of what is appended"));
    }
    return absl::OkStatus();
  }

  // The score of each head for one more key.
  absl::Status ReadSink() {
    if (!op_.HasInput(kSink)) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(sink_, op_.Input(kSink));
    AOTC_RETURN_IF_ERROR(RequireFloat(sink_));
    AOTC_RETURN_IF_ERROR(RequireRank(sink_, 1, 1));
    AOTC_RETURN_IF_ERROR(op_.RequireEqual(sink_.dim(0), query_.heads,
                                          "head_sink has not one element for each head"));
    keys_ = Simplify(keys_ + 1);
    return absl::OkStatus();
  }

  // Of keys or values, which the sink has none of.
  Expr StepOf(const Heads& x, const Expr& b, const Expr& head, const Expr& step,
              const Expr& d) const {
    if (!sink_.valid()) return x.tensor({b, head, step, d});
    const Expr last = x.Length() - 1;
    const Expr given = x.tensor({b, head, Min(step, last), d});
    return Select(Le(step, last), given, NumberConst(0, given.dtype()));
  }

  absl::Status ReadMasks() {
    if (op_.HasInput(kLengths)) {
      AOTC_ASSIGN_OR_RETURN(lengths_, TypedInput(op_, kLengths, DType::kI64, 1));
      AOTC_RETURN_IF_ERROR(op_.RequireEqual(lengths_.dim(0), query_.Batch(),
                                            "nonpad_kv_seqlen needs one integer per sample"));
    }
    if (op_.HasInput(kFirst)) {
      AOTC_ASSIGN_OR_RETURN(first_, op_.Input(kFirst));
    }
    if (op_.HasInput(kCached)) {
      AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> cached, op_.IntElements(kCached));
      cached_ = cached[0];
    }
    if (!op_.HasInput(kMask)) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(mask_, op_.Input(kMask));
    AOTC_RETURN_IF_ERROR(RequireRank(mask_, 2, 4));
    if (mask_.dtype() != DType::kBool) AOTC_RETURN_IF_ERROR(RequireNumber(mask_));
    const Shape rows = {query_.Batch(), Expr(query_.heads), query_.Length()};
    const Shape given(mask_.shape().begin(), mask_.shape().end() - 1);
    AOTC_ASSIGN_OR_RETURN(const Shape common, op_.b().Broadcast({rows, given}));
    const bool short_enough = Prove(Le(mask_.dim(-1), keys_), op_.bounds()) == true;
    if (SameShape(common, rows) && short_enough) return absl::OkStatus();
    return AOTC_REFUSAL(InvalidArgument, "the mask does not broadcast to the scores");
  }

  // scale * Q * K^T, [B, heads, S, T]
  Tensor Scores() {
    const auto depth = static_cast<double>(query_.Depth().AsInt().value_or(1));
    const double scale = op_.attributes().Float("scale", static_cast<float>(1 / std::sqrt(depth)));
    const int64_t shared = query_.heads / key_.heads;
    const Tensor& query = query_.tensor;
    Tensor sums = SumOfProducts(
        b_, {.accumulator = compute_,
             .shape = {query_.Batch(), Expr(query_.heads), query_.Length(), keys_},
             .reduce_shape = {query_.Depth()},
             .left = [&](const Indices& i,
                         const Indices& r) { return query({i[0], i[1], i[2], r[0]}); },
             .right =
                 [&](const Indices& i, const Indices& r) {
                   return StepOf(key_, i[0], FloorDiv(i[1], shared), i[3], r[0]);
                 }});
    return b_.Map({sums}, [&](const auto& v) { return v[0] * Number(scale, v[0]); });
  }

  Tensor Capped(const Tensor& scores) {
    const double cap = op_.attributes().Float("softcap");
    if (cap <= 0) return scores;
    return b_.Map({scores}, [&](const auto& v) {
      return Unary(ExprOp::kTanh, Div(v[0], Number(cap, v[0]))) * Number(cap, v[0]);
    });
  }

  // Whether a query sees a key by their positions alone.
  Expr SeenByPosition(const Indices& i) const {
    const bool is_causal = op_.attributes().Int("is_causal") != 0;
    const Expr last = PositionOf(i);
    Expr seen = is_causal ? Le(i[3], last) : Bool(true);
    if (!lengths_.valid()) return seen;
    const Expr length = lengths_({i[0]});
    seen = And(seen, Lt(i[3], length));
    const int64_t window = op_.attributes().Int("window");
    if (window <= 0) return seen;
    // Behind the last key that a sample has, the window is the last one's.
    const Expr of_last = Lt(length - 1 - window, i[3]);
    return And(seen, is_causal ? Or(Lt(last - window, i[3]), of_last) : of_last);
  }

  // Of a query among the keys.
  Expr PositionOf(const Indices& i) const {
    if (first_.valid()) return i[2] + first_({i[0]});
    return i[2] + cached_;
  }

  Tensor Masked(const Tensor& scores) {
    const Expr never = NumberConst(-std::numeric_limits<double>::infinity(), compute_);
    const auto masked = [&](const Indices& i) {
      Expr score = scores(i), seen = SeenByPosition(i);
      if (mask_.valid()) {
        Indices at = BroadcastIndices(Shape(mask_.shape().begin(), mask_.shape().end() - 1),
                                      {i[0], i[1], i[2]});
        // Beyond its last element a mask hides.
        const bool whole = ProveEqual(mask_.dim(-1), keys_, op_.bounds());
        if (!whole) seen = And(seen, Lt(i[3], mask_.dim(-1)));
        at.push_back(whole ? i[3] : Min(i[3], mask_.dim(-1) - 1));
        if (mask_.dtype() == DType::kBool) seen = And(seen, mask_(at));
        if (mask_.dtype() != DType::kBool) score = score + Cast(compute_, mask_(at));
      }
      if (!seen.IsConst()) score = Select(seen, score, never);
      if (!sink_.valid()) return score;
      return Select(Eq(i[3], keys_ - 1), Cast(compute_, sink_({i[1]})), score);
    };
    const bool is_causal = op_.attributes().Int("is_causal") != 0;
    if (!is_causal && !mask_.valid() && !lengths_.valid() && !sink_.valid()) return scores;
    return b_.Compute(compute_, scores.shape(), masked);
  }

  Tensor Softmax(const Tensor& scores) {
    Tensor top = b_.ReduceAxes("max", scores, {3}, /*keep_dims=*/true);
    Tensor power = b_.Map({scores, top}, [](const auto& v) { return Exp(v[0] - v[1]); });
    Tensor total = b_.ReduceAxes("sum", power, {3}, /*keep_dims=*/true);
    return b_.Map({power, total}, [](const auto& v) { return Div(v[0], v[1]); });
  }

  // weights * V, [B, heads, S, D]
  Tensor Weighted(const Tensor& weights) {
    const int64_t shared = query_.heads / value_.heads;
    const Tensor sums = SumOfProducts(
        b_, {.accumulator = compute_,
             .shape = {query_.Batch(), Expr(query_.heads), query_.Length(), value_.Depth()},
             .reduce_shape = {keys_},
             .left = [&](const Indices& i,
                         const Indices& r) { return weights({i[0], i[1], i[2], r[0]}); },
             .right =
                 [&](const Indices& i, const Indices& r) {
                   return StepOf(value_, i[0], FloorDiv(i[1], shared), r[0], i[3]);
                 }});
    return b_.Convert(sums, query_.tensor.dtype());
  }

  OpContext& op_;
  TensorBuilder& b_;
  const size_t scores_output_;
  Heads query_, key_, value_;
  Expr keys_;        // how many, with those that are cached
  Expr cached_ = 0;  // how many of the keys that are given are so
  Tensor mask_, lengths_, first_, sink_;
  DType compute_ = DType::kF32;
};

absl::Status Attention(OpContext& op) {
  AttentionBuilder builder(op, kScoresOfOnnx);
  AOTC_RETURN_IF_ERROR(builder.Check());
  if (!builder.IsPlain()) {
    return absl::FailedPreconditionError("heads lie in rows, or behind what is cached");
  }
  builder.Build();
  builder.SetPresent();
  return absl::OkStatus();
}

// Ours: Attention of heads side by side, [B, heads, S, D], whose keys and values are in one tensor
// with what is cached of them: `kCached` of them, i64 [1], a shape operand. Results: that of
// Attention, and its fourth. Input `kFirst`, i64 [B], where each sample has a number of cached keys
// of its own: to which key the first query belongs. `window`: of the keys up to its own a query
// sees so many; where positive, there are lengths. Input `kSink`, [heads]: see above.
absl::Status AttentionOfHeads(OpContext& op) {
  AttentionBuilder builder(op, kScoresOfHeads);
  AOTC_RETURN_IF_ERROR(builder.Check());
  builder.Build();
  return absl::OkStatus();
}

// The operand's heads side by side.
ValueId SideBySide(Expansion& e, size_t index, const char* heads) {
  return e.Rank(index) == 3 ? HeadsSideBySide(e, e.Input(index), e.attributes().Int(heads))
                            : e.Input(index);
}

ValueId BehindCache(Expansion& e, size_t past, ValueId now) {
  return e.HasInput(past) ? e.Emit("Concat", {e.Input(past), now}, {{"axis", int64_t{2}}}) : now;
}

absl::Status ExpandAttention(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  const ValueId query = SideBySide(e, 0, "q_num_heads");
  const ValueId key = BehindCache(e, kPastKey, SideBySide(e, 1, "kv_num_heads"));
  const ValueId value = BehindCache(e, kPastValue, SideBySide(e, 2, "kv_num_heads"));
  e.SetOutput(1, key);
  e.SetOutput(2, value);
  ValueId cached;
  if (e.HasInput(kPastKey)) {
    cached = e.Emit("Shape", {e.Input(kPastKey)}, {{"start", int64_t{2}}, {"end", int64_t{3}}});
  }
  Expansion::NamedValues attributes;
  for (const char* name : {"is_causal", "qk_matmul_output_mode", "scale", "softcap"}) {
    const AttributeValue* value = e.attributes().Find(name);
    if (value != nullptr) attributes.emplace_back(name, *value);
  }
  const std::vector<ValueId> results =
      e.EmitSeveral("AttentionOfHeads",
                    {query, key, value, e.Input(kMask), {}, {}, e.Input(kLengths), {}, cached},
                    e.WantsOutput(kScoresOfOnnx) ? 2 : 1, attributes);
  if (results.size() > 1) e.SetOutput(kScoresOfOnnx, results[1]);
  e.SetOutput(0, e.Rank(0) == 3 ? HeadsInRows(e, results[0]) : results[0]);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Attention",
     .compute = Attention,
     .expand = ExpandAttention,
     .summary = "softmax of products of queries and keys, times values"},
    {.name = "AttentionOfHeads",
     .compute = AttentionOfHeads,
     .summary = "an Attention whose heads lie side by side, behind what is cached of them",
     .traits = kOwn},
};

}  // namespace

ValueId HeadsSideBySide(Expansion& e, ValueId x, int64_t heads) {
  const ValueId split = e.Emit("Reshape", {x, e.Ints("heads_shape", {0, 0, heads, -1})});
  return e.Emit("Transpose", {split}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

ValueId HeadsInRows(Expansion& e, ValueId x) {
  const ValueId rows = e.Emit("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return e.Emit("Reshape", {rows, e.Ints("rows_shape", {0, 0, -1})});
}

std::span<const OpDef> AttentionOps() { return kOps; }

}  // namespace aotc
