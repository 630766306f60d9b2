// RotaryEmbedding: pairs of features turned by an angle that depends on the position.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Rotary {
  Tensor x;        // [B, heads, S, D] or [B, S, heads * D]
  Tensor cosines;  // [positions, R / 2], or [B, S, R / 2] without positions
  Tensor sines;
  Tensor positions;      // [B, S], or [1] or less: that of the first step
  int64_t features = 0;  // D
  int64_t rotated = 0;   // R: the first features of a head
  bool interleaved = false;

  bool Split() const { return x.rank() == 4; }
  Expr Feature(const Indices& i) const { return Split() ? i[3] : Mod(i[2], features); }
  Expr AtFeature(const Indices& i, const Expr& feature) const {
    if (Split()) return x({i[0], i[1], i[2], feature});
    return x({i[0], i[1], FloorDiv(i[2], features) * features + feature});
  }
  Expr Position(const Indices& i, const Expr& step) const {
    if (positions.rank() == 2) return Cast(DType::kI64, positions({i[0], step}));
    const Expr first = positions.rank() == 0 ? positions({}) : positions({Expr(0)});
    return Cast(DType::kI64, first) + step;
  }
  // The angle's cosine (or sine) for pair k at the position of element i.
  Expr Angle(const Tensor& cache, const Indices& i, const Expr& k) const {
    const Expr& step = Split() ? i[2] : i[1];
    if (!positions.valid()) return cache({i[0], step, k});
    const Expr position = Position(i, step);
    return cache({Clamp(position, 0, cache.dim(0) - 1), k});
  }
};

absl::Status ReadElements(OpContext& op, Rotary& rotary) {
  AOTC_ASSIGN_OR_RETURN(rotary.x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(rotary.x));
  AOTC_RETURN_IF_ERROR(RequireRank(rotary.x, 3, 4));
  rotary.interleaved = op.attributes().Int("interleaved") != 0;
  return absl::OkStatus();
}

// `rotated` is how many are where no attribute says it; 0 for all.
absl::Status ReadFeatures(const Attributes& attributes, int64_t heads, int64_t rotated,
                          Rotary& rotary) {
  const std::optional<int64_t> last = rotary.x.dim(-1).AsInt();
  if (!last) return AOTC_REFUSAL(Unimplemented, "needs a known number of features");
  if (heads < 1 || *last % heads != 0) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat(*last, " features do not divide into num_heads = ", heads));
  }
  rotary.features = *last / heads;
  rotary.rotated = attributes.Int("rotary_embedding_dim");
  if (rotary.rotated == 0) rotary.rotated = rotated;
  if (rotary.rotated == 0) rotary.rotated = rotary.features;
  if (rotary.rotated < 2 || rotary.rotated > rotary.features || rotary.rotated % 2 != 0) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("cannot rotate ", rotary.rotated, " of ",
                                                rotary.features, " features in pairs"));
  }
  return absl::OkStatus();
}

// [B, S, ...] for the batch and the steps of x.
absl::Status RequireSteps(OpContext& op, const Rotary& rotary, const Tensor& tensor) {
  constexpr const char* kText =
      "positions or caches have another batch or other steps than the input";
  const Expr steps = rotary.x.dim(rotary.Split() ? 2 : 1);
  AOTC_RETURN_IF_ERROR(op.RequireEqual(tensor.dim(0), rotary.x.dim(0), kText));
  return op.RequireEqual(tensor.dim(1), steps, kText);
}

// Cosines at input `first`, sines behind them.
absl::Status ReadCaches(OpContext& op, size_t first, Rotary& rotary) {
  AOTC_ASSIGN_OR_RETURN(rotary.cosines, op.Input(first));
  AOTC_ASSIGN_OR_RETURN(rotary.sines, op.Input(first + 1));
  if (rotary.positions.valid()) {
    if (!IsInteger(rotary.positions.dtype())) {
      return AOTC_REFUSAL(InvalidArgument, "needs integer positions");
    }
  }
  const int rank = rotary.positions.valid() ? 2 : 3;
  for (const Tensor& cache : {rotary.cosines, rotary.sines}) {
    AOTC_RETURN_IF_ERROR(RequireSameType({rotary.x, cache}));
    AOTC_RETURN_IF_ERROR(RequireRank(cache, rank, rank));
    if (!cache.dim(-1).IsInt(rotary.rotated / 2)) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("the caches need ", rotary.rotated / 2, " angles per position"));
    }
    if (!rotary.positions.valid()) AOTC_RETURN_IF_ERROR(RequireSteps(op, rotary, cache));
  }
  const bool each = rotary.positions.valid() && rotary.positions.rank() == 2;
  return each ? RequireSteps(op, rotary, rotary.positions) : absl::OkStatus();
}

// (x1, x2) becomes (cos * x1 - sin * x2, sin * x1 + cos * x2). A pair is two neighbours where
// interleaved, else two features half of the rotated ones apart.
void SetRotated(OpContext& op, const Rotary& rotary) {
  const int64_t half = rotary.rotated / 2;
  op.SetOutput(0, op.b().Compute(rotary.x.dtype(), rotary.x.shape(), [&](const Indices& i) {
    const Expr feature = rotary.Feature(i);
    const int64_t apart = rotary.interleaved ? 1 : half;
    const Expr first = rotary.interleaved ? Eq(Mod(feature, 2), 0) : Lt(feature, half);
    const Expr pair = rotary.interleaved ? Min(FloorDiv(feature, 2), half - 1) : Mod(feature, half);
    const Expr other =
        Clamp(Select(first, feature + apart, feature - apart), 0, rotary.features - 1);
    const Expr own = rotary.AtFeature(i, feature), partner = rotary.AtFeature(i, other);
    const Expr turned = rotary.Angle(rotary.cosines, i, pair) * own;
    const Expr mixed = rotary.Angle(rotary.sines, i, pair) * partner;
    const Expr result = Select(first, turned - mixed, turned + mixed);
    return rotary.rotated == rotary.features ? result
                                             : Select(Lt(feature, rotary.rotated), result, own);
  }));
}

absl::Status RotaryEmbedding(OpContext& op) {
  Rotary rotary;
  AOTC_RETURN_IF_ERROR(ReadElements(op, rotary));
  const int64_t heads = rotary.Split() ? 1 : op.attributes().Int("num_heads");
  AOTC_RETURN_IF_ERROR(ReadFeatures(op.attributes(), heads, 0, rotary));
  if (op.HasInput(3)) {
    AOTC_ASSIGN_OR_RETURN(rotary.positions, op.Input(3));
    AOTC_RETURN_IF_ERROR(RequireRank(rotary.positions, 2, 2));
  }
  AOTC_RETURN_IF_ERROR(ReadCaches(op, 1, rotary));
  SetRotated(op, rotary);
  return absl::OkStatus();
}

// That of com.microsoft has the positions at input 1, one for the first step or one a step. Where
// it does not say how many features are turned, those are that the caches are for, and a head is as
// wide where it does not say the number of heads. `is_packed_batching` lets positions of several
// sequences stand in one row, which may be longer than the caches.
absl::Status MicrosoftRotaryEmbedding(OpContext& op) {
  Rotary rotary;
  AOTC_RETURN_IF_ERROR(ReadElements(op, rotary));
  if (op.attributes().Float("scale", 1) != 1) {
    return AOTC_REFUSAL(
        Unimplemented,
        "attribute 'scale' is not 1, which onnxruntime makes nothing of; hint: leave "
        "it out, or scale the caches");
  }
  AOTC_ASSIGN_OR_RETURN(rotary.positions, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(rotary.positions, 0, 2));
  AOTC_ASSIGN_OR_RETURN(const Tensor cosines, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireRank(cosines, 1));
  int64_t heads = op.attributes().Int("num_heads");
  const int64_t turned = 2 * cosines.dim(-1).AsInt().value_or(0);
  const int64_t last = rotary.x.dim(-1).AsInt().value_or(0);
  if (heads == 0 && turned > 0) heads = last / turned;
  AOTC_RETURN_IF_ERROR(ReadFeatures(op.attributes(), rotary.Split() ? 1 : heads, turned, rotary));
  AOTC_RETURN_IF_ERROR(ReadCaches(op, 2, rotary));
  SetRotated(op, rotary);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "RotaryEmbedding",
     .compute = RotaryEmbedding,
     .summary = "pairs of features turned by their position"},
    {.name = "com.microsoft.RotaryEmbedding",
     .compute = MicrosoftRotaryEmbedding,
     .summary = "pairs of features turned by their position"},
};

}  // namespace

std::span<const OpDef> RotaryEmbeddingOps() { return kOps; }

}  // namespace aotc
