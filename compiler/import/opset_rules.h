// The rules that opset.cc's table names. Each says what its op was like before, with the ONNX opset
// that changed it.
#ifndef AOTC_COMPILER_IMPORT_OPSET_RULES_H_
#define AOTC_COMPILER_IMPORT_OPSET_RULES_H_

#include "compiler/import/opset.h"

namespace aotc::opset {

// Broadcasting by the attributes `broadcast` and `axis` became numpy's in opset 7.
absl::Status LegacyBroadcast(NodeEdit& edit);
// PRelu: a slope of one dim ran along axis 1 before opset 7.
absl::Status LegacySlope(NodeEdit& edit);
// Gemm: C broadcast only where the attribute said so before opset 7.
absl::Status DropBroadcast(NodeEdit& edit);
// Attributes of training and memory planning: is_test, consumed_inputs, momentum, spatial.
absl::Status InferenceBatchNormalization(NodeEdit& edit);
// Dropout: `ratio` became an input in 12, the mask bool in 10, is_test left in 7.
absl::Status OldDropout(NodeEdit& edit);
// Softmax, LogSoftmax, Hardmax: before 13 over the trailing axes of a matrix cut at `axis` (1).
absl::Status FlattenedSoftmax(NodeEdit& edit);
// Clip: min and max became inputs in 11.
absl::Status ClipAttributes(NodeEdit& edit);
// Pad: pads and value became inputs in 11.
absl::Status PadAttributes(NodeEdit& edit);
// Slice: starts, ends and axes became inputs in 10.
absl::Status SliceAttributes(NodeEdit& edit);
// Squeeze, Unsqueeze, ReduceSum: axes became an input in 13, for other reductions in 18.
absl::Status AxesAttribute(NodeEdit& edit);
// Split: the sizes became an input in 13; num_outputs is needed without them since 18.
absl::Status SplitAttribute(NodeEdit& edit);
absl::Status SplitCount(NodeEdit& edit);
// TopK: k became an input in 10.
absl::Status TopKAttribute(NodeEdit& edit);
// Upsample became Resize in 10; Resize changed its coordinates and inputs in 11. ONNX did not say
// how places were rounded: onnxruntime takes the element before along an axis that grows, and the
// element after along one that shrinks, which is our own nearest_mode "floor_or_ceil".
absl::Status UpsampleToResize(NodeEdit& edit);
absl::Status OldResize(NodeEdit& edit);
absl::Status EmptyResizeInputs(NodeEdit& edit);
// Reshape: the shape became an input in 5.
absl::Status ReshapeAttribute(NodeEdit& edit);
// Scatter became ScatterElements in 11.
absl::Status ScatterToScatterElements(NodeEdit& edit);
// GridSample: linear and cubic were called bilinear and bicubic before 20.
absl::Status GridSampleModes(NodeEdit& edit);
// DFT: the axis became an input in 20.
absl::Status DftAxis(NodeEdit& edit);
// RoiAlign: regions were not moved by half an element before 16.
absl::Status RoiAlignPlaces(NodeEdit& edit);
// GroupNormalization: scale and bias had one element per group before 21.
absl::Status GroupNormalizationOfGroups(NodeEdit& edit);
// Random ops: the attribute `seed`, or the name of the node's output where there is none, becomes
// the number of a stream (ops/random_bits.h).
absl::Status RandomStreamOfNode(NodeEdit& edit);
// Cast: the type became a number in 6, from a name.
absl::Status CastToName(NodeEdit& edit);
// Concat: the axis has to be given since 4.
absl::Status ConcatAxis(NodeEdit& edit);
// LpPool, GlobalLpPool: the order of the norm became an integer in 2. Error: one that is none.
absl::Status WholeNorm(NodeEdit& edit);
// Pad: what was called paddings is called pads since 2.
absl::Status RenamedPads(NodeEdit& edit);
// Selu: its constants have more digits since 6.
absl::Status ShortSelu(NodeEdit& edit);
// Scan: inputs and outputs had a batch axis before 9, and each sequence its length (opset_scan.cc).
absl::Status ScanOfBatch(NodeEdit& edit);
// Forms of which no equivalent exists.
absl::Status Refuse(NodeEdit& edit);

}  // namespace aotc::opset

#endif  // AOTC_COMPILER_IMPORT_OPSET_RULES_H_
