#include "compiler/import/opset_rules.h"

#include <bit>
#include <limits>
#include <utility>

#include "compiler/ops/random_bits.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc::opset {
namespace {

Attributes IntAttribute(std::string_view name, int64_t value) {
  Attributes attributes;
  attributes.Set(name, value);
  return attributes;
}

// The shape of `value` as a tensor.
ValueId ShapeOf(NodeEdit& edit, ValueId value) { return edit.Before("Shape", {value}); }

// Input 1, whose axes are those of input 0 from `axis` on, with axes of dim 1 appended until the
// ranks agree from the end. Neither rank is known here, so the new shape is computed by shape
// operators.
void AlignAtAxis(NodeEdit& edit, int64_t axis) {
  ValueId shape = ShapeOf(edit, edit.node().inputs[1]);
  ValueId rank = edit.Before("Size", {shape});
  ValueId first = edit.Before("Add", {edit.Before("Unsqueeze", {rank, edit.AddInts("axes", {0})}),
                                      edit.AddInts("axis", {axis})});
  ValueId last = edit.AddInts("end", {std::numeric_limits<int64_t>::max()});
  ValueId rest = edit.Before("Slice", {ShapeOf(edit, edit.node().inputs[0]), first, last});
  ValueId ones = edit.Before("Cast", {edit.Before("Equal", {rest, rest})},
                             IntAttribute("to", static_cast<int64_t>(DType::kI64)));
  ValueId target = edit.Before("Concat", {shape, ones}, IntAttribute("axis", 0));
  edit.SetInput(1, edit.Before("Reshape", {edit.node().inputs[1], target}));
}

// A float attribute as a scalar of the element type of input 0.
ValueId ScalarLikeInput(NodeEdit& edit, std::string_view name, float value) {
  Constant scalar = Constant::Splat(DType::kF32, {}, static_cast<double>(value));
  ValueId constant = edit.AddConstant(name, std::move(scalar));
  return edit.Before("CastLike", {constant, edit.node().inputs[0]});
}

absl::Status NeedInput(const NodeEdit& edit) {
  return edit.HasInput(0) ? absl::OkStatus() : AOTC_REFUSAL(InvalidArgument, "input 0 is missing");
}

}  // namespace

absl::Status LegacyBroadcast(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  if (!edit.HasInput(0) || !edit.HasInput(1)) {
    return AOTC_REFUSAL(InvalidArgument, "needs two inputs");
  }
  if (attributes.Int("broadcast") != 0 && attributes.Has("axis")) {
    AlignAtAxis(edit, attributes.Int("axis"));
  }
  attributes.Erase("broadcast");
  attributes.Erase("axis");
  return absl::OkStatus();
}

absl::Status LegacySlope(NodeEdit& edit) {
  const Constant* slope = edit.ConstInput(1);
  bool one = slope != nullptr && slope->element_count() == 1;
  if (!one && edit.HasInput(0) && edit.HasInput(1)) AlignAtAxis(edit, 1);
  return absl::OkStatus();
}

absl::Status DropBroadcast(NodeEdit& edit) {
  edit.node().attributes.Erase("broadcast");
  return absl::OkStatus();
}

namespace {

// (x - mean) / sqrt(variance + epsilon) * scale + bias, each of which has an element for each of a
// sample.
absl::Status NormalizeByElement(NodeEdit& edit) {
  constexpr size_t kScale = 1, kBias = 2, kMean = 3, kVariance = 4;
  Node& node = edit.node();
  for (size_t index = 1; index < node.outputs.size(); ++index) {
    if (!edit.HasOutput(index)) continue;
    return AOTC_REFUSAL(Unimplemented,
                        StrCat("with spatial=0 output ", index,
                               ", of training, is not supported; hint: leave it out"));
  }
  const ValueId epsilon = ScalarLikeInput(edit, "epsilon", node.attributes.Float("epsilon", 1e-5F));
  const ValueId variance = edit.Before("Add", {node.inputs[kVariance], epsilon});
  const ValueId centered = edit.Before("Sub", {node.inputs[0], node.inputs[kMean]});
  const ValueId normal = edit.Before("Div", {centered, edit.Before("Sqrt", {variance})});
  const ValueId scaled = edit.Before("Mul", {normal, node.inputs[kScale]});
  node = {.op = "Add",
          .inputs = {scaled, node.inputs[kBias]},
          .outputs = {node.outputs[0]},
          .locations = node.locations};
  return absl::OkStatus();
}

}  // namespace

absl::Status InferenceBatchNormalization(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  if (attributes.Int("spatial", 1) == 0) return NormalizeByElement(edit);
  for (std::string_view name : {"spatial", "is_test", "consumed_inputs", "momentum"}) {
    attributes.Erase(name);
  }
  return absl::OkStatus();
}

absl::Status OldDropout(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  AOTC_RETURN_IF_ERROR(NeedInput(edit));
  for (std::string_view name : {"ratio", "is_test", "consumed_inputs"}) attributes.Erase(name);
  if (edit.opset() < 10 && edit.HasOutput(1)) edit.After(1, "CastLike", {edit.node().inputs[0]});
  return absl::OkStatus();
}

absl::Status FlattenedSoftmax(NodeEdit& edit) {
  AOTC_RETURN_IF_ERROR(NeedInput(edit));
  if (!edit.HasOutput(0)) return absl::OkStatus();
  int64_t axis = edit.node().attributes.Int("axis", 1);
  edit.node().attributes.Set("axis", int64_t{-1});
  if (axis == -1) return absl::OkStatus();
  ValueId x = edit.node().inputs[0];
  ValueId shape = ShapeOf(edit, x);
  edit.SetInput(0, edit.Before("Flatten", {x}, IntAttribute("axis", axis)));
  edit.After(0, "Reshape", {shape}, IntAttribute("allowzero", 1));
  return absl::OkStatus();
}

absl::Status ClipAttributes(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  AOTC_RETURN_IF_ERROR(NeedInput(edit));
  // From opset 6 on a bound that is not given is the last finite number of f32.
  constexpr float kMost = std::numeric_limits<float>::max();
  const bool has_default = edit.opset() >= 6;
  if (has_default || attributes.Has("min"))
    edit.SetInput(1, ScalarLikeInput(edit, "min", attributes.Float("min", -kMost)));
  if (has_default || attributes.Has("max"))
    edit.SetInput(2, ScalarLikeInput(edit, "max", attributes.Float("max", kMost)));
  for (std::string_view name : {"min", "max", "consumed_inputs"}) attributes.Erase(name);
  return absl::OkStatus();
}

absl::Status PadAttributes(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  AOTC_RETURN_IF_ERROR(NeedInput(edit));
  edit.IntsAttributeToInput("pads", 1);
  float value = attributes.Float("value");
  if (value != 0) edit.SetInput(2, ScalarLikeInput(edit, "value", value));
  attributes.Erase("value");
  return absl::OkStatus();
}

absl::Status SliceAttributes(NodeEdit& edit) {
  edit.IntsAttributeToInput("starts", 1);
  edit.IntsAttributeToInput("ends", 2);
  edit.IntsAttributeToInput("axes", 3);
  return absl::OkStatus();
}

absl::Status AxesAttribute(NodeEdit& edit) {
  edit.IntsAttributeToInput("axes", 1);
  return absl::OkStatus();
}

absl::Status SplitAttribute(NodeEdit& edit) {
  edit.IntsAttributeToInput("split", 1);
  return absl::OkStatus();
}

absl::Status SplitCount(NodeEdit& edit) {
  if (edit.HasInput(1)) return absl::OkStatus();
  edit.node().attributes.Set("num_outputs", static_cast<int64_t>(edit.node().outputs.size()));
  return absl::OkStatus();
}

// The schema demands the attribute.
absl::Status TopKAttribute(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  edit.SetInput(1, edit.AddInts("k", {attributes.Int("k")}));
  attributes.Erase("k");
  return absl::OkStatus();
}

absl::Status UpsampleToResize(NodeEdit& edit) {
  Node& node = edit.node();
  node.op = "Resize";
  if (node.attributes.Has("scales")) {
    std::vector<float> scales = node.attributes.Floats("scales");
    auto* bytes = reinterpret_cast<const uint8_t*>(scales.data());
    Constant constant = Constant::Dense(DType::kF32, {static_cast<int64_t>(scales.size())},
                                        {bytes, bytes + scales.size() * sizeof(float)});
    edit.SetInput(1, edit.AddConstant("scales", std::move(constant)));
    node.attributes.Erase("scales");
  }
  if (node.attributes.String("mode") == "bilinear") {
    node.attributes.Set("mode", std::string("linear"));
  }
  return OldResize(edit);
}

absl::Status OldResize(NodeEdit& edit) {
  if (!edit.HasInput(1)) return AOTC_REFUSAL(InvalidArgument, "needs scales");
  Node& node = edit.node();
  ValueId scales = node.inputs[1];
  edit.SetInput(1, {});
  edit.SetInput(2, scales);
  node.attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.Set("nearest_mode", std::string("floor_or_ceil"));
  return absl::OkStatus();
}

// roi, scales and sizes may be empty tensors where they are not meant.
absl::Status EmptyResizeInputs(NodeEdit& edit) {
  for (size_t i = 1; i < edit.node().inputs.size(); ++i) {
    const Constant* constant = edit.ConstInput(i);
    if (constant != nullptr && constant->element_count() == 0) edit.SetInput(i, {});
  }
  return absl::OkStatus();
}

absl::Status ReshapeAttribute(NodeEdit& edit) {
  edit.IntsAttributeToInput("shape", 1);
  edit.node().attributes.Erase("consumed_inputs");
  return absl::OkStatus();
}

absl::Status ScatterToScatterElements(NodeEdit& edit) {
  edit.node().op = "ScatterElements";
  return absl::OkStatus();
}

absl::Status GridSampleModes(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  std::string mode = attributes.String("mode", "bilinear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  attributes.Set("mode", mode);
  return absl::OkStatus();
}

absl::Status DftAxis(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  Constant axis = Constant::SplatInt(DType::kI64, {}, attributes.Int("axis", 1));
  edit.SetInput(2, edit.AddConstant("axis", std::move(axis)));
  attributes.Erase("axis");
  return absl::OkStatus();
}

absl::Status RoiAlignPlaces(NodeEdit& edit) {
  edit.node().attributes.Set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return absl::OkStatus();
}

absl::Status GroupNormalizationOfGroups(NodeEdit& edit) {
  const int64_t groups = edit.node().attributes.Int("num_groups");
  if (groups < 1) return AOTC_REFUSAL(InvalidArgument, "num_groups must be positive");
  for (size_t i = 0; i < 3; ++i) {
    if (!edit.HasInput(i)) return AOTC_REFUSAL(InvalidArgument, StrCat("input ", i, " is missing"));
  }
  Attributes second = IntAttribute("start", 1);
  second.Set("end", int64_t{2});
  const ValueId channels = edit.Before("Shape", {edit.node().inputs[0]}, std::move(second));
  const ValueId count = edit.AddInts("groups", {groups});
  const ValueId repeats = edit.Before("Div", {channels, count});
  const ValueId shape = edit.Before("Concat", {count, repeats}, IntAttribute("axis", 0));
  const ValueId last = edit.AddInts("last", {1}), all = edit.AddInts("all", {-1});
  for (size_t i = 1; i < 3; ++i) {
    const ValueId column = edit.Before("Unsqueeze", {edit.node().inputs[i], last});
    edit.SetInput(i, edit.Before("Reshape", {edit.Before("Expand", {column, shape}), all}));
  }
  return absl::OkStatus();
}

absl::Status RandomStreamOfNode(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  const bool dropout = edit.node().op == "Dropout";
  std::string text = StrCat("node ", edit.BaseName());
  if (attributes.Has("seed")) {
    text = dropout ? StrCat("seed ", attributes.Int("seed"))
                   : StrCat("seed ", std::bit_cast<uint32_t>(attributes.Float("seed")));
  }
  attributes.Erase("seed");
  attributes.Erase(kKeyedAttribute);
  if (dropout && !edit.HasInput(2)) return absl::OkStatus();  // no training
  uint64_t hash = 0xcbf29ce484222325;                         // FNV-1a
  for (const char letter : text) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  attributes.Set(kStreamAttribute, static_cast<int64_t>(hash));
  return absl::OkStatus();
}

absl::Status CastToName(NodeEdit& edit) {
  // Names of onnx.TensorProto.DataType, whose numbers are those of DType.
  constexpr std::pair<std::string_view, DType> kNames[] = {
      {"BOOL", DType::kBool},   {"DOUBLE", DType::kF64}, {"FLOAT", DType::kF32},
      {"FLOAT16", DType::kF16}, {"INT16", DType::kI16},  {"INT32", DType::kI32},
      {"INT64", DType::kI64},   {"INT8", DType::kI8},    {"STRING", DType::kString},
      {"UINT16", DType::kU16},  {"UINT32", DType::kU32}, {"UINT64", DType::kU64},
      {"UINT8", DType::kU8},
  };
  const std::string to = edit.node().attributes.String("to");
  for (const auto& [name, type] : kNames) {
    if (name != to) continue;
    edit.node().attributes.Set("to", static_cast<int64_t>(type));
    return absl::OkStatus();
  }
  return AOTC_REFUSAL(InvalidArgument, StrCat("'", to, "' is the name of no element type"));
}

absl::Status ConcatAxis(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  if (!attributes.Has("axis")) attributes.Set("axis", int64_t{1});
  return absl::OkStatus();
}

absl::Status WholeNorm(NodeEdit& edit) {
  const float p = edit.node().attributes.Float("p", 2);
  if (!(p >= 1 && p <= 64) || p != static_cast<float>(static_cast<int64_t>(p))) {
    return AOTC_REFUSAL(Unimplemented, "the order of its norm is no whole number from 1 to 64");
  }
  edit.node().attributes.Set("p", static_cast<int64_t>(p));
  return absl::OkStatus();
}

absl::Status RenamedPads(NodeEdit& edit) {
  edit.node().attributes.Set("pads", edit.node().attributes.Ints("paddings"));
  edit.node().attributes.Erase("paddings");
  return absl::OkStatus();
}

absl::Status ShortSelu(NodeEdit& edit) {
  Attributes& attributes = edit.node().attributes;
  if (!attributes.Has("alpha")) attributes.Set("alpha", 1.6732F);
  if (!attributes.Has("gamma")) attributes.Set("gamma", 1.0507F);
  return absl::OkStatus();
}

absl::Status Refuse(NodeEdit& edit) {
  return AOTC_REFUSAL(Unimplemented, StrCat("the form of opset ", edit.opset(),
                                            " has no equivalent in the newest opset"));
}

}  // namespace aotc::opset
