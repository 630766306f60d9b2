// The families of op definitions. A new family is one file and one line here and in registry.cc.
#ifndef AOTC_COMPILER_OPS_REGISTRY_H_
#define AOTC_COMPILER_OPS_REGISTRY_H_

#include <span>

#include "compiler/ops/op.h"

namespace aotc {

using OpFamily = std::span<const OpDef> (*)();

std::span<const OpDef> ActivationOps();
std::span<const OpDef> ArgOps();
std::span<const OpDef> ArithmeticOps();
std::span<const OpDef> AttentionOps();
std::span<const OpDef> BitCastOps();
std::span<const OpDef> CastOps();
std::span<const OpDef> CausalConvOps();
std::span<const OpDef> CompactOps();
std::span<const OpDef> ConcatOps();
std::span<const OpDef> ControlFlowOps();
std::span<const OpDef> ConvOps();
std::span<const OpDef> ConvTransposeOps();
std::span<const OpDef> CumulativeOps();
std::span<const OpDef> DeformConvOps();
std::span<const OpDef> DeterminantOps();
std::span<const OpDef> EinsumOps();
std::span<const OpDef> ExpandOps();
std::span<const OpDef> FeatureOps();
std::span<const OpDef> FlexAttentionOps();
std::span<const OpDef> FourierOps();
std::span<const OpDef> FusedAttentionOps();
std::span<const OpDef> FusedNormOps();
std::span<const OpDef> FusedOps();
std::span<const OpDef> GatherOps();
std::span<const OpDef> GradientConvOps();
std::span<const OpDef> GradientOps();
std::span<const OpDef> GradientProductOps();
std::span<const OpDef> GridSampleOps();
std::span<const OpDef> GroupedAttentionOps();
std::span<const OpDef> ImageDecoderOps();
std::span<const OpDef> IndexCheckOps();
std::span<const OpDef> IntegerContractionOps();
std::span<const OpDef> ItemOps();
std::span<const OpDef> ItemsOfSplitOps();
std::span<const OpDef> JoinedItemOps();
std::span<const OpDef> LabelOps();
std::span<const OpDef> LinearAttentionOps();
std::span<const OpDef> LinearModelOps();
std::span<const OpDef> LogicOps();
std::span<const OpDef> LossOps();
std::span<const OpDef> MapOps();
std::span<const OpDef> MatMulOps();
std::span<const OpDef> MelWeightMatrixOps();
std::span<const OpDef> NonMaxSuppressionOps();
std::span<const OpDef> NormalizationOps();
std::span<const OpDef> NumbersOfStringsOps();
std::span<const OpDef> OptimizerOps();
std::span<const OpDef> PadOps();
std::span<const OpDef> PlaceChangeOps();
std::span<const OpDef> PoolOps();
std::span<const OpDef> QuantizeOps();
std::span<const OpDef> QuantizedOps();
std::span<const OpDef> RandomOps();
std::span<const OpDef> RecurrentOps();
std::span<const OpDef> ReduceOps();
std::span<const OpDef> RelayoutOps();
std::span<const OpDef> ReshapeOps();
std::span<const OpDef> ResizeOps();
std::span<const OpDef> RoiAlignOps();
std::span<const OpDef> RoiPoolOps();
std::span<const OpDef> RotaryEmbeddingOps();
std::span<const OpDef> ScatterOps();
std::span<const OpDef> ScoreOps();
std::span<const OpDef> SelectOps();
std::span<const OpDef> ShapeOps();
std::span<const OpDef> SignalWindowOps();
std::span<const OpDef> SliceOps();
std::span<const OpDef> SoftmaxOps();
std::span<const OpDef> StatisticsNormOps();
std::span<const OpDef> StringNormalizerOps();
std::span<const OpDef> StringOps();
std::span<const OpDef> StringSplitOps();
std::span<const OpDef> StringTextOps();
std::span<const OpDef> StringsOfNumbersOps();
std::span<const OpDef> SupportVectorOps();
std::span<const OpDef> TensorScatterOps();
std::span<const OpDef> TfIdfOps();
std::span<const OpDef> TopKOps();
std::span<const OpDef> TransposeOps();
std::span<const OpDef> TreeEnsembleOps();
std::span<const OpDef> TreeWalkOps();
std::span<const OpDef> UnaryMathOps();
std::span<const OpDef> UniqueOps();
std::span<const OpDef> WinogradConvOps();

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_REGISTRY_H_
