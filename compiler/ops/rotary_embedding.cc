// RotaryEmbedding: pairs of features turned by an angle that depends on the position.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Rotary {
  Tensor x;        // [B, heads, S, D] or [B, S, heads * D]
  Tensor cosines;  // [positions, R / 2], or [B, S, R / 2] without positions
  Tensor sines;
  Tensor positions;      // [B, S]
  int64_t features = 0;  // D
  int64_t rotated = 0;   // R: the first features of a head
  bool interleaved = false;

  bool Split() const { return x.rank() == 4; }
  Expr Feature(const Indices& i) const { return Split() ? i[3] : Mod(i[2], features); }
  Expr AtFeature(const Indices& i, const Expr& feature) const {
    if (Split()) return x({i[0], i[1], i[2], feature});
    return x({i[0], i[1], FloorDiv(i[2], features) * features + feature});
  }
  // The angle's cosine (or sine) for pair k at the position of element i.
  Expr Angle(const Tensor& cache, const Indices& i, const Expr& k) const {
    const Expr& step = Split() ? i[2] : i[1];
    if (!positions.valid()) return cache({i[0], step, k});
    const Expr position = Cast(DType::kI64, positions({i[0], step}));
    return cache({Clamp(position, 0, cache.dim(0) - 1), k});
  }
};

absl::Status ReadFeatures(const OpContext& op, Rotary& rotary) {
  const std::optional<int64_t> last = rotary.x.dim(-1).AsInt();
  const int64_t heads = rotary.Split() ? 1 : op.attributes().Int("num_heads");
  if (!last) return absl::UnimplementedError("needs a known number of features");
  if (heads < 1 || *last % heads != 0) {
    return absl::InvalidArgumentError(
        StrCat(*last, " features do not divide into num_heads = ", heads));
  }
  rotary.features = *last / heads;
  rotary.rotated = op.attributes().Int("rotary_embedding_dim");
  if (rotary.rotated == 0) rotary.rotated = rotary.features;
  if (rotary.rotated < 2 || rotary.rotated > rotary.features || rotary.rotated % 2 != 0) {
    return absl::InvalidArgumentError(
        StrCat("cannot rotate ", rotary.rotated, " of ", rotary.features, " features in pairs"));
  }
  return absl::OkStatus();
}

absl::Status ReadCaches(OpContext& op, Rotary& rotary) {
  AOTC_ASSIGN_OR_RETURN(rotary.cosines, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(rotary.sines, op.Input(2));
  if (op.HasInput(3)) {
    AOTC_ASSIGN_OR_RETURN(rotary.positions, op.Input(3));
    AOTC_RETURN_IF_ERROR(RequireRank(rotary.positions, 2, 2));
    if (!IsInteger(rotary.positions.dtype())) {
      return absl::InvalidArgumentError("needs integer positions");
    }
  }
  const int rank = rotary.positions.valid() ? 2 : 3;
  for (const Tensor& cache : {rotary.cosines, rotary.sines}) {
    AOTC_RETURN_IF_ERROR(RequireSameType({rotary.x, cache}));
    AOTC_RETURN_IF_ERROR(RequireRank(cache, rank, rank));
    if (!cache.dim(-1).IsInt(rotary.rotated / 2)) {
      return absl::InvalidArgumentError(
          StrCat("the caches need ", rotary.rotated / 2, " angles per position"));
    }
  }
  return absl::OkStatus();
}

// (x1, x2) becomes (cos * x1 - sin * x2, sin * x1 + cos * x2). A pair is two neighbours where
// interleaved, else two features half of the rotated ones apart.
absl::Status RotaryEmbedding(OpContext& op) {
  Rotary rotary;
  AOTC_ASSIGN_OR_RETURN(rotary.x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(rotary.x));
  AOTC_RETURN_IF_ERROR(RequireRank(rotary.x, 3, 4));
  AOTC_RETURN_IF_ERROR(ReadFeatures(op, rotary));
  AOTC_RETURN_IF_ERROR(ReadCaches(op, rotary));
  rotary.interleaved = op.attributes().Int("interleaved") != 0;
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
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "RotaryEmbedding",
     .compute = RotaryEmbedding,
     .summary = "pairs of features turned by their position"},
};

}  // namespace

std::span<const OpDef> RotaryEmbeddingOps() { return kOps; }

}  // namespace aotc
