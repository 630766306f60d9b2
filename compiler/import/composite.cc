#include "compiler/import/composite.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "compiler/import/string_values.h"
#include "compiler/ops/items.h"
#include "compiler/ops/strings.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Attributes IntAttribute(std::string_view name, int64_t value) {
  Attributes attributes;
  attributes.Set(name, value);
  return attributes;
}

}  // namespace

Composite AddParts(Graph& graph, BundleKind kind, std::string_view name) {
  const std::string own(name);  // that of a value moves as values are added
  Composite composite = {.kind = kind};
  for (const std::string_view part : PartNames(kind)) {
    composite.parts.push_back(graph.AddValue(StrCat(own, ".", part), UnknownType()));
  }
  return composite;
}

void CompositeTable::ShareLimits(Graph& graph) const {
  for (const auto& [handle, composite] : known_) {
    if (composite.kind != BundleKind::kStrings) continue;
    const auto limits = graph.values[handle].limits;
    if (limits.empty()) continue;
    for (const ValueId part : {composite.starts(), composite.sizes()}) {
      graph.values[part].limits = limits;
    }
  }
}

absl::Status NoItemsOfStrings() {
  return AOTC_REFUSAL(
      Unimplemented,
      "sequences and optionals of strings are not supported; hint: a tensor of strings is, and so "
      "is a sequence of numbers that stand for strings, which ai.onnx.ml.LabelEncoder gives");
}

ValueId CompositeBuilder::Emit(std::string_view op, std::vector<ValueId> inputs,
                               Attributes attributes) {
  const std::string name = StrCat(name_, "_", absl::AsciiStrToLower(std::string(op)));
  const ValueId output = graph_.AddValue(name, UnknownType());
  graph_.AddNode(region_, {.op = std::string(op),
                           .inputs = std::move(inputs),
                           .outputs = {output},
                           .attributes = std::move(attributes),
                           .locations = {location_}});
  return output;
}

ValueId CompositeBuilder::Number(int64_t value) {
  return graph_.AddConstant(StrCat(name_, "_number"), Constant::SplatInt(DType::kI64, {}, value));
}

ValueId CompositeBuilder::Flag(bool value) {
  return graph_.AddConstant(StrCat(name_, "_flag"), Constant::SplatInt(DType::kBool, {}, value));
}

ValueId CompositeBuilder::List(const std::vector<int64_t>& values) {
  return graph_.AddConstant(StrCat(name_, "_list"), Constant::Ints(values));
}

std::vector<ValueId> CompositeBuilder::Split(ValueId tensor, ValueId sizes, int64_t count,
                                             int64_t axis) {
  std::vector<ValueId> parts;
  for (int64_t k = 0; k < count; ++k) {
    parts.push_back(graph_.AddValue(StrCat(name_, "_part"), UnknownType()));
  }
  graph_.AddNode(region_, {.op = "Split",
                           .inputs = {tensor, sizes},
                           .outputs = parts,
                           .attributes = IntAttribute("axis", axis),
                           .locations = {location_}});
  return parts;
}

Composite CompositeBuilder::OfTensors(const std::vector<ValueId>& tensors) {
  return {.parts = {Emit("ItemsPack", tensors), Emit("ItemsPackDims", tensors),
                    Number(static_cast<int64_t>(tensors.size()))},
          .items = tensors};
}

Composite CompositeBuilder::Empty(BundleKind kind, DType dtype) {
  Composite empty = {.kind = kind};
  empty.parts = {
      graph_.AddConstant(StrCat(name_, "_elements"), Constant::Splat(dtype, {0}, 0)),
      graph_.AddConstant(StrCat(name_, "_dims"), Constant::Splat(DType::kI64, {0, 0}, 0)),
      Number(0)};
  if (kind != BundleKind::kOptionalSequence) empty.items.emplace();
  if (kind != BundleKind::kSequence) empty.present = false;
  if (kind == BundleKind::kOptionalSequence) empty.parts.push_back(Flag(false));
  return empty;
}

absl::StatusOr<Composite> CompositeBuilder::As(BundleKind kind, const Composite& from) {
  if (kind == from.kind) return from;
  if (from.kind == BundleKind::kStrings) return NoItemsOfStrings();
  if (MapFormOf(from.kind) || MapFormOf(kind)) {
    return AOTC_REFUSAL(InvalidArgument, "is a map, or a sequence of maps, of another type");
  }
  Composite result = from;
  result.kind = kind;
  if (kind == BundleKind::kOptionalSequence && from.kind == BundleKind::kSequence) {
    result.parts.push_back(Flag(true));
    result.present = true;
    return result;
  }
  if (kind == BundleKind::kSequence && from.kind == BundleKind::kOptionalSequence) {
    result.parts.pop_back();
    if (from.present != true) {
      const ValueId length = Emit("ItemsPresent", {from.length(), from.parts[kHasPart]});
      result.parts[kLengthPart] = Emit("ItemsWithin", {from.elements(), length});
    }
    result.present.reset();
    return result;
  }
  return AOTC_REFUSAL(InvalidArgument, "takes a sequence and an optional tensor for one another");
}

Composite CompositeBuilder::WithRoom(const Composite& from, std::optional<int64_t> items,
                                     int64_t least) {
  Attributes room = IntAttribute(kRoomLeast, least);
  if (items) room.Set(kRoomMost, *items);
  Composite result = {.kind = from.kind, .parts = from.parts};
  result.parts[kElementsPart] = Emit(kItemsRoom, {from.elements(), from.dims()}, room);
  result.parts[kDimsPart] = Emit(kItemsRoomDims, {from.elements(), from.dims()}, room);
  result.parts[kLengthPart] = Emit("ItemsWithin", {result.elements(), from.length()});
  return result;
}

Composite CompositeBuilder::Packed(const Composite& strings, int64_t max_bytes) {
  const Composite nothing =
      AddStringConstant(graph_, StrCat(name_, "_nothing"), Constant::Strings({}, {""}));
  const Composite packed = AddParts(graph_, BundleKind::kStrings, StrCat(name_, "_packed"));
  Node node{.op = "StringConcat",
            .inputs = strings.parts,
            .outputs = packed.parts,
            .attributes = IntAttribute(kMaxStringBytes, max_bytes),
            .locations = {location_}};
  node.inputs.insert(node.inputs.end(), nothing.parts.begin(), nothing.parts.end());
  graph_.AddNode(region_, std::move(node));
  return packed;
}

ValueId CompositeBuilder::Place(const Composite& sequence, ValueId position, bool inclusive) {
  return Emit("ItemPlace", {position, sequence.length()},
              IntAttribute("inclusive", int64_t{inclusive}));
}

ValueId CompositeBuilder::ItemAt(const Composite& sequence, ValueId place) {
  const std::vector<ValueId> at = {sequence.elements(), sequence.dims(), place};
  const ValueId dims = Emit("ItemDims", at);
  return Emit("ItemAt", {at[0], at[1], place, dims});
}

Composite CompositeBuilder::Insert(const Composite& sequence, ValueId place, ValueId tensor) {
  const std::vector<ValueId> inputs = {sequence.elements(), sequence.dims(), place, tensor};
  return {.parts = {Emit("ItemsInsert", inputs), Emit("ItemsInsertDims", inputs),
                    Emit("Add", {sequence.length(), Number(1)})}};
}

ValueId CompositeBuilder::Has(const Composite& optional) {
  if (optional.kind == BundleKind::kOptionalSequence) return optional.parts[kHasPart];
  return Emit("Less", {Number(0), optional.length()});
}

}  // namespace aotc
