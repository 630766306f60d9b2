#include "compiler/ops/registry.h"

#include <algorithm>
#include <map>

#include "compiler/support/status.h"

namespace aotc {
namespace {

constexpr OpFamily kFamilies[] = {
    ActivationOps,
    ArgOps,
    ArithmeticOps,
    AttentionOps,
    BitCastOps,
    CastOps,
    CausalConvOps,
    CompactOps,
    ConcatOps,
    ControlFlowOps,
    ConvOps,
    ConvTransposeOps,
    CumulativeOps,
    DeformConvOps,
    DeterminantOps,
    EinsumOps,
    ExpandOps,
    FeatureOps,
    FlexAttentionOps,
    FourierOps,
    FusedAttentionOps,
    FusedNormOps,
    FusedOps,
    GatherOps,
    GradientConvOps,
    GradientOps,
    GradientProductOps,
    GridSampleOps,
    GroupedAttentionOps,
    ImageDecoderOps,
    IndexCheckOps,
    IntegerContractionOps,
    ItemOps,
    ItemsOfSplitOps,
    JoinedItemOps,
    LabelOps,
    LinearAttentionOps,
    LinearModelOps,
    LogicOps,
    LossOps,
    MapOps,
    MatMulOps,
    MelWeightMatrixOps,
    NonMaxSuppressionOps,
    NormalizationOps,
    NumbersOfStringsOps,
    OptimizerOps,
    PadOps,
    PlaceChangeOps,
    PoolOps,
    QuantizeOps,
    QuantizedOps,
    RandomOps,
    RecurrentOps,
    ReduceOps,
    RelayoutOps,
    ReshapeOps,
    ResizeOps,
    RoiAlignOps,
    RoiPoolOps,
    RotaryEmbeddingOps,
    ScatterOps,
    ScoreOps,
    SelectOps,
    ShapeOps,
    SignalWindowOps,
    SliceOps,
    SoftmaxOps,
    StatisticsNormOps,
    StringNormalizerOps,
    StringOps,
    StringSplitOps,
    StringTextOps,
    StringsOfNumbersOps,
    SupportVectorOps,
    TensorScatterOps,
    TfIdfOps,
    TopKOps,
    TransposeOps,
    TreeEnsembleOps,
    TreeWalkOps,
    UnaryMathOps,
    UniqueOps,
    WinogradConvOps,
};

using OpTable = std::map<std::string_view, const OpDef*>;

OpTable MakeTable() {
  OpTable table;
  for (OpFamily family : kFamilies) {
    for (const OpDef& op : family()) {
      AOTC_CHECK(table.emplace(op.name, &op).second) << op.name << " is defined twice";
    }
  }
  return table;
}

const OpTable& Table() {
  static const OpTable kTable = MakeTable();
  return kTable;
}

}  // namespace

const OpDef* FindOp(std::string_view name) {
  auto found = Table().find(name);
  return found == Table().end() ? nullptr : found->second;
}

bool HasTrait(std::string_view op, OpTrait trait) {
  const OpDef* def = FindOp(op);
  return def != nullptr && (def->traits & trait) != 0;
}

bool IsSupportedOp(std::string_view name) {
  return FindOp(name) != nullptr || name == "If" || name == "Repeat";
}

std::vector<const OpDef*> AllOps() {
  std::vector<const OpDef*> ops;
  for (const auto& [name, op] : Table()) ops.push_back(op);
  return ops;
}

}  // namespace aotc
