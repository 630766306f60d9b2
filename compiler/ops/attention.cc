// Attention: softmax(scale * Q * K^T + mask) * V by heads, with grouped heads, a key and value
// cache, masks, soft capping and all outputs (ONNX Attention-24).
//
// A sink, which GroupQueryAttention of com.microsoft has, is one more key for each head of queries,
// with a score that is given and a value of zeros.

#include <cmath>
#include <limits>
#include <utility>

#include "compiler/ops/contraction.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// An operand by heads, [B, heads, S, D] or [B, S, heads * D], behind what is cached of it.
struct Heads {
  Tensor tensor = {};
  int64_t heads = 1;
  Tensor past = {};   // [B, heads, P, D]
  bool sink = false;  // one step more than these, of zeros

  const Expr& Batch() const { return tensor.dim(0); }
  Expr Length() const {
    const Expr given = past.valid() ? past.dim(2) + tensor.dim(-2) : tensor.dim(-2);
    return sink ? Simplify(given + 1) : Simplify(given);
  }
  Expr Depth() const {
    return tensor.rank() == 4 ? tensor.dim(3) : Expr(*tensor.dim(2).AsInt() / heads);
  }
  Expr At(const Expr& b, const Expr& h, const Expr& s, const Expr& d) const {
    if (sink) {
      const Expr last = tensor.dim(-2) - 1;
      const Expr given = Given(b, h, Min(s, last), d);
      return Select(Le(s, last), given, NumberConst(0, given.dtype()));
    }
    if (!past.valid()) return Given(b, h, s, d);
    const Expr cached = past.dim(2);
    return Select(Lt(s, cached), past({b, h, Min(s, cached - 1), d}),
                  Given(b, h, Max(s - cached, 0), d));
  }

 private:
  Expr Given(const Expr& b, const Expr& h, const Expr& s, const Expr& d) const {
    if (tensor.rank() == 4) return tensor({b, h, s, d});
    return tensor({b, s, h * Depth() + d});
  }
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

class AttentionBuilder {
 public:
  explicit AttentionBuilder(OpContext& op) : op_(op), b_(op.b()) {}

  absl::Status Run() {
    AOTC_RETURN_IF_ERROR(ReadOperands());
    AOTC_RETURN_IF_ERROR(ReadCaches());
    AOTC_RETURN_IF_ERROR(ReadSink());
    AOTC_RETURN_IF_ERROR(ReadMasks());
    compute_ = ComputeType(query_.tensor.dtype());
    const Tensor products = Scores();
    const Tensor capped = Capped(products);
    const Tensor masked = Masked(capped);
    const Tensor weights = Softmax(masked);
    SetResult(weights);
    const int64_t mode = op_.attributes().Int("qk_matmul_output_mode");
    if (mode < 0 || mode > 3) return AOTC_REFUSAL(InvalidArgument, "unknown qk_matmul_output_mode");
    const Tensor stages[] = {products, capped, masked, weights};
    if (op_.WantsOutput(3)) op_.SetOutput(3, HeadsFirst(stages[mode]));
    return absl::OkStatus();
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

  absl::Status ReadCaches() {
    past_ = 0;
    if (op_.HasInput(4) != op_.HasInput(5)) {
      return AOTC_REFUSAL(InvalidArgument, "needs both past_key and past_value, or none");
    }
    if (op_.HasInput(4)) {
      AOTC_ASSIGN_OR_RETURN(const Tensor keys, op_.Input(4));
      AOTC_ASSIGN_OR_RETURN(const Tensor values, op_.Input(5));
      AOTC_RETURN_IF_ERROR(CheckCache(keys, key_));
      AOTC_RETURN_IF_ERROR(CheckCache(values, value_));
      past_ = keys.dim(2);
      AOTC_RETURN_IF_ERROR(
          op_.RequireEqual(past_, values.dim(2), "past_key and past_value have different lengths"));
      key_.past = keys;
      value_.past = values;
    }
    if (op_.WantsOutput(1)) op_.SetOutput(1, ByHeads(key_));
    if (op_.WantsOutput(2)) op_.SetOutput(2, ByHeads(value_));
    return absl::OkStatus();
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

  // [B, heads, P + S, D]
  Tensor ByHeads(const Heads& x) {
    if (x.tensor.rank() == 4 && !x.past.valid()) return x.tensor;
    const Shape shape = {x.Batch(), Expr(x.heads), x.Length(), x.Depth()};
    return b_.Compute(x.tensor.dtype(), shape,
                      [&](const Indices& i) { return x.At(i[0], i[1], i[2], i[3]); });
  }

  // Of SinkAttention, whose keys and values have no cache: the score of each head.
  absl::Status ReadSink() {
    if (!op_.HasInput(7)) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(sink_, op_.Input(7));
    AOTC_RETURN_IF_ERROR(RequireFloat(sink_));
    AOTC_RETURN_IF_ERROR(RequireRank(sink_, 1, 1));
    AOTC_RETURN_IF_ERROR(op_.RequireEqual(sink_.dim(0), query_.heads,
                                          "head_sink has not one element for each head"));
    key_.sink = value_.sink = true;
    return absl::OkStatus();
  }

  absl::Status ReadMasks() {
    causal_ = op_.attributes().Int("is_causal") != 0;
    if (op_.HasInput(6)) {
      AOTC_ASSIGN_OR_RETURN(lengths_, TypedInput(op_, 6, DType::kI64, 1));
      AOTC_RETURN_IF_ERROR(op_.RequireEqual(lengths_.dim(0), query_.Batch(),
                                            "nonpad_kv_seqlen needs one integer per sample"));
    }
    if (!op_.HasInput(3)) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(mask_, op_.Input(3));
    AOTC_RETURN_IF_ERROR(RequireRank(mask_, 2, 4));
    if (mask_.dtype() != DType::kBool) AOTC_RETURN_IF_ERROR(RequireNumber(mask_));
    const Shape rows = {query_.Batch(), Expr(query_.heads), query_.Length()};
    const Shape given(mask_.shape().begin(), mask_.shape().end() - 1);
    AOTC_ASSIGN_OR_RETURN(const Shape common, op_.b().Broadcast({rows, given}));
    const bool short_enough = Prove(Le(mask_.dim(-1), key_.Length()), op_.bounds()) == true;
    if (SameShape(common, rows) && short_enough) return absl::OkStatus();
    return AOTC_REFUSAL(InvalidArgument, "the mask does not broadcast to the scores");
  }

  // Scores have the axes [B, heads, S, T], or [B, S, heads, T] where the operands have their heads
  // last, so that the rows of scores and result belong together.
  bool HeadsLast() const { return query_.tensor.rank() == 3; }
  const Expr& Head(const Indices& i) const { return i[HeadsLast() ? 2 : 1]; }
  const Expr& Step(const Indices& i) const { return i[HeadsLast() ? 1 : 2]; }

  Tensor HeadsFirst(const Tensor& scores) {
    const DType type = query_.tensor.dtype();
    if (!HeadsLast()) return b_.Convert(scores, type);
    const Shape shape = {scores.dim(0), scores.dim(2), scores.dim(1), scores.dim(3)};
    return b_.Compute(type, shape,
                      [&](const Indices& i) { return scores({i[0], i[2], i[1], i[3]}); });
  }

  // scale * Q * K^T
  Tensor Scores() {
    const auto depth = static_cast<double>(query_.Depth().AsInt().value_or(1));
    const double scale = op_.attributes().Float("scale", static_cast<float>(1 / std::sqrt(depth)));
    const int64_t shared = query_.heads / key_.heads;
    Shape shape = {query_.Batch(), Expr(query_.heads), query_.Length(), key_.Length()};
    if (HeadsLast()) std::swap(shape[1], shape[2]);
    Tensor sums = SumOfProducts(
        b_, {.accumulator = compute_,
             .shape = shape,
             .reduce_shape = {query_.Depth()},
             .left = [&](const Indices& i,
                         const Indices& r) { return query_.At(i[0], Head(i), Step(i), r[0]); },
             .right =
                 [&](const Indices& i, const Indices& r) {
                   return key_.At(i[0], FloorDiv(Head(i), shared), i[3], r[0]);
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

  Tensor Masked(const Tensor& scores) {
    if (!causal_ && !mask_.valid() && !lengths_.valid() && !sink_.valid()) return scores;
    const Expr never = NumberConst(-std::numeric_limits<double>::infinity(), compute_);
    return b_.Compute(compute_, scores.shape(), [&](const Indices& i) {
      Expr score = scores(i);
      Expr seen = Bool(true);
      if (causal_) seen = And(seen, Le(i[3], Step(i) + past_));
      if (lengths_.valid()) seen = And(seen, Lt(i[3], Cast(DType::kI64, lengths_({i[0]}))));
      if (mask_.valid()) {
        Indices at = BroadcastIndices(Shape(mask_.shape().begin(), mask_.shape().end() - 1),
                                      {i[0], Head(i), Step(i)});
        // Beyond its last element a mask hides.
        const bool whole = ProveEqual(mask_.dim(-1), key_.Length(), op_.bounds());
        if (!whole) seen = And(seen, Lt(i[3], mask_.dim(-1)));
        at.push_back(whole ? i[3] : Min(i[3], mask_.dim(-1) - 1));
        if (mask_.dtype() == DType::kBool) seen = And(seen, mask_(at));
        if (mask_.dtype() != DType::kBool) score = score + Cast(compute_, mask_(at));
      }
      if (!seen.IsConst()) score = Select(seen, score, never);
      if (!sink_.valid()) return score;
      const Expr of_sink = Cast(compute_, sink_({Head(i)}));
      return Select(Eq(i[3], scores.dim(3) - 1), of_sink, score);
    });
  }

  Tensor Softmax(const Tensor& scores) {
    Tensor top = b_.ReduceAxes("max", scores, {3}, /*keep_dims=*/true);
    Tensor power = b_.Map({scores, top}, [](const auto& v) { return Exp(v[0] - v[1]); });
    Tensor total = b_.ReduceAxes("sum", power, {3}, /*keep_dims=*/true);
    return b_.Map({power, total}, [](const auto& v) { return Div(v[0], v[1]); });
  }

  // [B, heads, S, D] or [B, S, heads * D]: weights * V
  void SetResult(const Tensor& weights) {
    const int64_t shared = query_.heads / value_.heads;
    const Expr depth = value_.Depth();
    Shape shape = {query_.Batch(), Expr(query_.heads), query_.Length(), depth};
    if (HeadsLast()) shape = {query_.Batch(), query_.Length(), Simplify(depth * query_.heads)};
    auto head = [&](const Indices& i) { return HeadsLast() ? FloorDiv(i[2], depth) : i[1]; };
    auto feature = [&](const Indices& i) { return HeadsLast() ? Mod(i[2], depth) : i[3]; };
    Tensor sums = SumOfProducts(b_, {.accumulator = compute_,
                                     .shape = shape,
                                     .reduce_shape = {value_.Length()},
                                     .left =
                                         [&](const Indices& i, const Indices& r) {
                                           return HeadsLast() ? weights({i[0], i[1], head(i), r[0]})
                                                              : weights({i[0], i[1], i[2], r[0]});
                                         },
                                     .right =
                                         [&](const Indices& i, const Indices& r) {
                                           return value_.At(i[0], FloorDiv(head(i), shared), r[0],
                                                            feature(i));
                                         }});
    op_.SetOutput(0, b_.Convert(sums, query_.tensor.dtype()));
  }

  OpContext& op_;
  TensorBuilder& b_;
  Heads query_, key_, value_;  // keys and values with what is cached
  Expr past_;                  // cached length
  Tensor mask_, lengths_, sink_;
  bool causal_ = false;
  DType compute_ = DType::kF32;
};

absl::Status Attention(OpContext& op) { return AttentionBuilder(op).Run(); }

constexpr OpDef kOps[] = {
    {.name = "Attention",
     .compute = Attention,
     .summary = "softmax of products of queries and keys, times values"},
    {.name = "SinkAttention",
     .compute = Attention,
     .summary = "Attention with one more key for each head, of a score that is given",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> AttentionOps() { return kOps; }

}  // namespace aotc
