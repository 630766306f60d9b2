// Ops that the compiler makes itself. They trust what they are given, so no model may name them.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "compiler/import/schema_check.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Sorted. tests/import/check_own_ops.py wants all of docs/operators.md that ONNX does not know.
constexpr std::string_view kOwnOps[] = {
    "AttentionMask",
    "BinaryScores",
    "CachedSteps",
    "CaseCodes",
    "ChosenBoxes",
    "ClassLossGradient",
    "ConvGradient",
    "CountTerms",
    "CountTrue",
    "DefineSizes",
    "Elements",
    "EncodedBytes",
    "EntryValues",
    "EqualBytes",
    "FlexAttentionScores",
    "FlexAttentionValues",
    "GatherGradient",
    "ImagePixels",
    "ImageSize",
    "ImputedFeatures",
    "IndexCheck",
    "Interleave",
    "ItemAt",
    "ItemDims",
    "ItemPlace",
    "ItemsAgree",
    "ItemsErase",
    "ItemsInsert",
    "ItemsInsertDims",
    "ItemsJoined",
    "ItemsOfSplit",
    "ItemsOfSplitDims",
    "ItemsOfSplitLength",
    "ItemsPack",
    "ItemsPackDims",
    "ItemsPresent",
    "ItemsRoom",
    "ItemsRoomDims",
    "ItemsTotal",
    "ItemsWithin",
    "JoinedBytes",
    "JoinedCache",
    "KeyRanks",
    "LargestCount",
    "LinearAttentionState",
    "LinearAttentionStep",
    "MatMulGradient",
    "MovedStrings",
    "OneHotDepth",
    "PairCoupling",
    "PairProbabilities",
    "PairStart",
    "PairVotes",
    "Picked",
    "PlaceIndices",
    "RangeLength",
    "RbfKernel",
    "Relayout",
    "RemoveOverlaps",
    "Repeat",
    "ResizeRegions",
    "ResizeScales",
    "ResizeSizes",
    "ResizeTo",
    "RoiMaximum",
    "ScaledFeatures",
    "ScanItem",
    "ScanLength",
    "ScoreLabels",
    "ScoreTransform",
    "SeenKeys",
    "SliceGradient",
    "SortedPlaces",
    "SparseEntries",
    "SplitCounts",
    "SplitMarks",
    "SplitPieces",
    "StepPositions",
    "StringBytes",
    "StringEqual",
    "StringRounds",
    "SumTo",
    "TreeLeaves",
    "TreeSums",
    "TruePlaces",
    "UniqueCounts",
    "UniqueIndices",
    "UniqueOrder",
    "UniquePlaces",
    "UniqueRanks",
    "UniqueStarts",
    "UnpackedHeads",
    "UnpackedWeights",
    "WalkStrings",
    "WinogradConv",
};

}  // namespace

absl::Status CheckName(const pb::NodeProto& node) {
  if (node.op_type().empty()) return AOTC_REFUSAL(InvalidArgument, "has no op type");
  if (!CanonicalDomain(node.domain()).empty()) return absl::OkStatus();
  if (!std::binary_search(std::begin(kOwnOps), std::end(kOwnOps), node.op_type())) {
    return absl::OkStatus();
  }
  return AOTC_REFUSAL(Unimplemented,
                      StrCat("ONNX has no operator ", node.op_type(),
                             ", which is the compiler's own; hint: give an operator of yours a "
                             "domain, and a function that defines it"));
}

}  // namespace aotc
