// Normalisations that onnxruntime's optimisers write: SkipLayerNormalization,
// SkipSimplifiedLayerNormalization, EmbedLayerNormalization (com.microsoft) and
// SimplifiedLayerNormalization, which is written in either domain.
#include "compiler/ops/expansion.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Error where the node asks for one of these outputs, which only training reads.
absl::Status RefuseOutputs(const Expansion& e, std::initializer_list<size_t> indices) {
  for (size_t index : indices) {
    if (e.WantsOutput(index)) {
      return AOTC_REFUSAL(Unimplemented,
                          StrCat("output ", index, ", which only training reads, is ",
                                 "not supported; hint: leave it out"));
    }
  }
  return absl::OkStatus();
}

float Epsilon(const Expansion& e) { return e.attributes().Float("epsilon", 1e-12F); }

// The result, the means and the inverses of standard deviations, as many of them as `count`.
std::vector<ValueId> LayerNorm(Expansion& e, ValueId x, ValueId scale, ValueId bias, size_t count) {
  return e.EmitSeveral("LayerNormalization", {x, scale, bias}, count,
                       {{"axis", int64_t{-1}}, {"epsilon", Epsilon(e)}});
}

// Of input + skip + bias, the sum being output 3.
ValueId SkipSum(Expansion& e, size_t bias) {
  ValueId sum = e.Emit("Add", {e.Input(0), e.Input(1)});
  if (e.HasInput(bias)) sum = e.Emit("Add", {sum, e.Input(bias)});
  e.SetOutput(3, sum);
  return sum;
}

absl::Status SkipLayerNormalization(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const ValueId sum = SkipSum(e, 4);
  const size_t count = e.WantsOutput(1) || e.WantsOutput(2) ? 3 : 1;
  const std::vector<ValueId> results = LayerNorm(e, sum, e.Input(2), e.Input(3), count);
  for (size_t i = 0; i < count; ++i) e.SetOutput(i, results[i]);
  return absl::OkStatus();
}

absl::Status SkipSimplifiedLayerNormalization(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  AOTC_RETURN_IF_ERROR(RefuseOutputs(e, {1, 2}));
  const ValueId sum = SkipSum(e, 3);
  e.SetOutput(0, e.Emit("RMSNormalization", {sum, e.Input(2)},
                        {{"axis", int64_t{-1}}, {"epsilon", Epsilon(e)}}));
  return absl::OkStatus();
}

absl::Status SimplifiedLayerNormalization(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  AOTC_RETURN_IF_ERROR(RefuseOutputs(e, {1}));
  e.SetOutput(0, e.Emit("RMSNormalization", {e.Input(0), e.Input(1)},
                        {{"axis", e.attributes().Int("axis", -1)},
                         {"epsilon", e.attributes().Float("epsilon", 1e-5F)}}));
  return absl::OkStatus();
}

// The rows of a table of positions: those of the position ids, or [1, S, H] of the first S ones.
ValueId PositionRows(Expansion& e, ValueId ids, ValueId table, size_t position_ids) {
  if (e.HasInput(position_ids)) return e.Emit("Gather", {table, e.Input(position_ids)});
  const ValueId length = e.Emit("Shape", {ids}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  const ValueId rows = e.Emit("Slice", {table, e.Ints("first", {0}), length, e.Ints("rows", {0})});
  return e.Emit("Unsqueeze", {rows, e.Ints("batch", {0})});
}

// LayerNormalization of the sum of word, position and segment embeddings; output 1, i32 [B], is how
// many elements of the mask are 1 (0 without a mask), output 2 the sum.
absl::Status EmbedLayerNormalization(Rebuilder& rebuilder, const Node& node) {
  constexpr size_t kIds = 0, kSegments = 1, kWords = 2, kPositions = 3, kSegmentTable = 4,
                   kScale = 5, kBias = 6, kMask = 7, kPositionIds = 8;
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({kIds, kWords, kPositions, kScale, kBias}));
  if (e.HasInput(kSegments) != e.HasInput(kSegmentTable)) {
    return AOTC_REFUSAL(InvalidArgument, "needs both segment ids and their embeddings, or none");
  }
  const ValueId ids = e.Input(kIds);
  ValueId sum = e.Emit("Add", {e.Emit("Gather", {e.Input(kWords), ids}),
                               PositionRows(e, ids, e.Input(kPositions), kPositionIds)});
  if (e.HasInput(kSegments)) {
    sum = e.Emit("Add", {sum, e.Emit("Gather", {e.Input(kSegmentTable), e.Input(kSegments)})});
  }
  e.SetOutput(0, LayerNorm(e, sum, e.Input(kScale), e.Input(kBias), 1)[0]);
  e.SetOutput(2, sum);
  if (!e.WantsOutput(1)) return absl::OkStatus();
  const ValueId one = e.Number("one", DType::kI32, 1), none = e.Number("none", DType::kI32, 0);
  const ValueId counts = e.HasInput(kMask)
                             ? e.Emit("Where", {e.Emit("Equal", {e.Input(kMask), one}), one, none})
                             : e.Emit("Where", {e.Emit("Equal", {ids, ids}), none, none});
  e.SetOutput(1, e.Emit("ReduceSum", {counts, e.Ints("steps", {1})}, {{"keepdims", int64_t{0}}}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "SimplifiedLayerNormalization",
     .expand = SimplifiedLayerNormalization,
     .summary = "by the mean of squares; of onnxruntime"},
    {.name = "com.microsoft.EmbedLayerNormalization",
     .expand = EmbedLayerNormalization,
     .summary = "a sum of embeddings, normalised"},
    {.name = "com.microsoft.SimplifiedLayerNormalization",
     .expand = SimplifiedLayerNormalization,
     .summary = "by the mean of squares"},
    {.name = "com.microsoft.SkipLayerNormalization",
     .expand = SkipLayerNormalization,
     .summary = "a sum, normalised by mean and variance"},
    {.name = "com.microsoft.SkipSimplifiedLayerNormalization",
     .expand = SkipSimplifiedLayerNormalization,
     .summary = "a sum, normalised by the mean of squares"},
};

}  // namespace

std::span<const OpDef> FusedNormOps() { return kOps; }

}  // namespace aotc
