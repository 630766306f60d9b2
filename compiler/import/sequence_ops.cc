#include "compiler/import/sequence_ops.h"

#include <algorithm>
#include <utility>

#include "compiler/import/onnx_tensor.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Result = absl::StatusOr<CompositeResult>;

// --- Operands and attributes ------------------------------------------------------------------

bool Has(const CompositeCall& call, size_t index) {
  return index < call.operands.size() && call.operands[index].valid();
}

absl::StatusOr<ValueId> TensorAt(const CompositeCall& call, size_t index) {
  if (!Has(call, index))
    return AOTC_REFUSAL(InvalidArgument, StrCat("input ", index, " is missing"));
  if (call.table.Find(call.operands[index]) == nullptr) return call.operands[index];
  return AOTC_REFUSAL(InvalidArgument, StrCat("input ", index, " is not a tensor"));
}

absl::StatusOr<Composite> SequenceOf(CompositeCall& call, size_t index) {
  if (!Has(call, index))
    return AOTC_REFUSAL(InvalidArgument, StrCat("input ", index, " is missing"));
  const Composite* composite = call.table.Find(call.operands[index]);
  if (composite == nullptr || composite->kind == BundleKind::kOptional) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("input ", index, " is not a sequence"));
  }
  return call.builder.As(BundleKind::kSequence, *composite);
}

// Of items, by ONNX's number.
absl::StatusOr<DType> ItemType(int64_t number) {
  AOTC_ASSIGN_OR_RETURN(const DType dtype, DTypeFromOnnx(static_cast<int>(number)));
  if (dtype == DType::kString) return NoItemsOfStrings();
  return dtype;
}

int64_t IntOf(const CompositeCall& call, std::string_view name, int64_t fallback) {
  for (const pb::AttributeProto& attribute : call.attributes) {
    if (attribute.name() == name) return attribute.i();
  }
  return fallback;
}

Attributes Ints(std::initializer_list<std::pair<const char*, int64_t>> values) {
  Attributes attributes;
  for (const auto& [name, value] : values) attributes.Set(name, value);
  return attributes;
}

// Where among `count` items a position is that is known now; nothing where there is no item, or
// only a run knows. An absent position is `absent`.
std::optional<size_t> KnownPlace(CompositeCall& call, size_t index, size_t count, size_t absent) {
  if (!Has(call, index)) return absent < count ? std::optional(absent) : std::nullopt;
  const std::optional<Constant>& given = call.builder.graph().values[call.operands[index]].constant;
  if (!given || given->element_count() != 1 || !IsInteger(given->dtype())) return std::nullopt;
  const auto size = static_cast<int64_t>(count);
  const int64_t place = given->IntAt(0) < 0 ? given->IntAt(0) + size : given->IntAt(0);
  return place >= 0 && place < size ? std::optional(static_cast<size_t>(place)) : std::nullopt;
}

// --- Sequences --------------------------------------------------------------------------------

Result SequenceConstruct(CompositeCall& call) {
  std::vector<ValueId> tensors;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    AOTC_ASSIGN_OR_RETURN(const ValueId tensor, TensorAt(call, i));
    tensors.push_back(tensor);
  }
  if (tensors.empty()) return AOTC_REFUSAL(InvalidArgument, "needs a tensor");
  return call.builder.OfTensors(tensors);
}

Result SequenceEmpty(CompositeCall& call) {
  AOTC_ASSIGN_OR_RETURN(const DType dtype, ItemType(IntOf(call, "dtype", 1)));
  return call.builder.Empty(BundleKind::kSequence, dtype);
}

Result SequenceAt(CompositeCall& call) {
  AOTC_ASSIGN_OR_RETURN(const Composite sequence, SequenceOf(call, 0));
  AOTC_ASSIGN_OR_RETURN(const ValueId position, TensorAt(call, 1));
  if (sequence.items) {
    const std::optional<size_t> place = KnownPlace(call, 1, sequence.items->size(), 0);
    if (place) return (*sequence.items)[*place];
  }
  return call.builder.ItemAt(sequence, call.builder.Place(sequence, position, false));
}

Result SequenceInsert(CompositeCall& call) {
  AOTC_ASSIGN_OR_RETURN(const Composite sequence, SequenceOf(call, 0));
  AOTC_ASSIGN_OR_RETURN(const ValueId tensor, TensorAt(call, 1));
  if (sequence.items) {
    std::vector<ValueId> items = *sequence.items;
    // From the end, -1 is in front of the last item: one fewer places than there are then.
    const bool is_negative =
        Has(call, 2) && call.builder.graph().values[call.operands[2]].constant &&
        call.builder.graph().values[call.operands[2]].constant->element_count() == 1 &&
        call.builder.graph().values[call.operands[2]].constant->IntAt(0) < 0;
    const std::optional<size_t> place =
        KnownPlace(call, 2, items.size() + (is_negative ? 0 : 1), items.size());
    if (place) {
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(*place), tensor);
      return call.builder.OfTensors(items);
    }
  }
  const ValueId place =
      Has(call, 2) ? call.builder.Place(sequence, call.operands[2], true) : sequence.length();
  return call.builder.Insert(sequence, place, tensor);
}

Result SequenceErase(CompositeCall& call) {
  AOTC_ASSIGN_OR_RETURN(const Composite sequence, SequenceOf(call, 0));
  std::optional<std::vector<ValueId>> items;
  if (sequence.items && !sequence.items->empty()) {
    const size_t last = sequence.items->size() - 1;
    if (const std::optional<size_t> place = KnownPlace(call, 1, last + 1, last)) {
      items = *sequence.items;
      items->erase(items->begin() + static_cast<std::ptrdiff_t>(*place));
      if (!items->empty()) return call.builder.OfTensors(*items);
    }
  }
  const ValueId position = Has(call, 1) ? call.operands[1] : call.builder.Number(-1);
  const ValueId place = call.builder.Place(sequence, position, false);
  const ValueId elements = call.builder.Emit("ItemsErase", {sequence.elements(), place});
  const ValueId dims = call.builder.Emit("ItemsErase", {sequence.dims(), place});
  const ValueId length = call.builder.Emit("Add", {sequence.length(), call.builder.Number(-1)});
  return Composite{.parts = {elements, dims, length}, .items = std::move(items)};
}

Result SequenceLength(CompositeCall& call) {
  AOTC_ASSIGN_OR_RETURN(const Composite sequence, SequenceOf(call, 0));
  return sequence.length();
}

// Sizes that are known give tensors that are known.
Result SplitToSequence(CompositeCall& call) {
  AOTC_ASSIGN_OR_RETURN(const ValueId tensor, TensorAt(call, 0));
  const int64_t axis = IntOf(call, "axis", 0);
  if (Has(call, 1)) {
    Graph& graph = call.builder.graph();
    const std::optional<Constant>& sizes = graph.values[call.operands[1]].constant;
    if (sizes && sizes->dims().size() == 1 && sizes->element_count() > 0) {
      return call.builder.OfTensors(
          call.builder.Split(tensor, call.operands[1], sizes->element_count(), axis));
    }
  }
  std::vector<ValueId> inputs = {tensor};
  if (Has(call, 1)) inputs.push_back(call.operands[1]);
  const Attributes how = Ints({{"axis", axis}, {"keepdims", IntOf(call, "keepdims", 1)}});
  return Composite{.parts = {call.builder.Emit("ItemsOfSplit", inputs, how),
                             call.builder.Emit("ItemsOfSplitDims", inputs, how),
                             call.builder.Emit("ItemsOfSplitLength", inputs, how)}};
}

Result ConcatFromSequence(CompositeCall& call) {
  AOTC_ASSIGN_OR_RETURN(const Composite sequence, SequenceOf(call, 0));
  const int64_t axis = IntOf(call, "axis", 0), new_axis = IntOf(call, "new_axis", 0);
  CompositeBuilder& builder = call.builder;
  if (sequence.items && !sequence.items->empty()) {
    std::vector<ValueId> items = *sequence.items;
    for (ValueId& item : items) {
      if (new_axis != 0) item = builder.Emit("Unsqueeze", {item, builder.List({axis})});
    }
    return builder.Emit("Concat", items, Ints({{"axis", axis}}));
  }
  const Attributes how = Ints({{"axis", axis}, {"new_axis", new_axis}});
  const ValueId elements = sequence.elements(), dims = sequence.dims();
  const ValueId row = builder.Emit("ItemDims", {elements, dims, builder.Number(0)});
  const ValueId total = builder.Emit("ItemsTotal", {elements, dims, sequence.length()}, how);
  const ValueId agree = builder.Emit("ItemsAgree", {elements, dims, sequence.length()}, how);
  return builder.Emit("ItemsJoined", {elements, dims, agree, row, total}, how);
}

Result Identity(CompositeCall& call) {
  const Composite* composite = Has(call, 0) ? call.table.Find(call.operands[0]) : nullptr;
  if (composite == nullptr) return absl::InternalError("a tensor has no parts");
  return *composite;
}

// --- Optionals --------------------------------------------------------------------------------

// Of no value: the type is an attribute.
Result AbsentOptional(CompositeCall& call) {
  for (const pb::AttributeProto& attribute : call.attributes) {
    if (attribute.name() != "type" || !attribute.has_tp()) continue;
    AOTC_ASSIGN_OR_RETURN(const std::optional<CompositeType> type, CompositeTypeOf(attribute.tp()));
    const bool is_tensor = !type && attribute.tp().has_tensor_type();
    if (!is_tensor && (!type || type->kind != BundleKind::kSequence)) break;
    const int number =
        is_tensor ? attribute.tp().tensor_type().elem_type() : type->item->elem_type();
    AOTC_ASSIGN_OR_RETURN(const DType dtype, ItemType(number));
    return call.builder.Empty(is_tensor ? BundleKind::kOptional : BundleKind::kOptionalSequence,
                              dtype);
  }
  return AOTC_REFUSAL(InvalidArgument, "needs a value, or the type of a tensor or sequence");
}

Result Optional(CompositeCall& call) {
  if (!Has(call, 0)) return AbsentOptional(call);
  const Composite* composite = call.table.Find(call.operands[0]);
  if (composite != nullptr) {
    if (composite->kind != BundleKind::kSequence) {
      return AOTC_REFUSAL(InvalidArgument, "makes an optional of an optional");
    }
    return call.builder.As(BundleKind::kOptionalSequence, *composite);
  }
  Composite optional = call.builder.OfTensors({call.operands[0]});
  optional.kind = BundleKind::kOptional;
  optional.present = true;
  return optional;
}

// From opset 18 on the operand may be absent, or no optional at all.
Result OptionalHasElement(CompositeCall& call) {
  if (!Has(call, 0)) return call.builder.Flag(false);
  const Composite* composite = call.table.Find(call.operands[0]);
  if (composite == nullptr || composite->kind == BundleKind::kSequence) {
    return call.builder.Flag(true);
  }
  return composite->present ? call.builder.Flag(*composite->present) : call.builder.Has(*composite);
}

Result OptionalGetElement(CompositeCall& call) {
  if (!Has(call, 0)) return AOTC_REFUSAL(InvalidArgument, "input 0 is missing");
  const Composite* composite = call.table.Find(call.operands[0]);
  if (composite == nullptr) return call.operands[0];
  if (composite->kind != BundleKind::kOptional) {
    return call.builder.As(BundleKind::kSequence, *composite);
  }
  if (composite->items && !composite->items->empty()) return composite->items->front();
  const ValueId first = call.builder.Place(*composite, call.builder.Number(0), false);
  return call.builder.ItemAt(*composite, first);
}

constexpr CompositeOpDef kOps[] = {
    {"ConcatFromSequence", "the items of a sequence as one tensor", ConcatFromSequence},
    {"Identity", "the input", Identity},
    {"Optional", "an optional of a value, or of none", Optional},
    {"OptionalGetElement", "the value of an optional", OptionalGetElement},
    {"OptionalHasElement", "whether an optional has a value", OptionalHasElement},
    {"SequenceAt", "an item of a sequence", SequenceAt},
    {"SequenceConstruct", "a sequence of tensors", SequenceConstruct},
    {"SequenceEmpty", "a sequence without items", SequenceEmpty},
    {"SequenceErase", "a sequence without one of its items", SequenceErase},
    {"SequenceInsert", "a sequence with another item", SequenceInsert},
    {"SequenceLength", "how many items a sequence has", SequenceLength},
    {"SequenceMap", "what a body makes of each item of sequences"},
    {"SplitToSequence", "parts of a tensor along an axis as a sequence", SplitToSequence},
};

}  // namespace

std::span<const CompositeOpDef> CompositeOps() { return kOps; }

CompositeOp FindCompositeOp(std::string_view op) {
  const auto* found = std::ranges::find(kOps, op, &CompositeOpDef::name);
  return found == std::end(kOps) ? nullptr : found->run;
}

namespace {

// Keys and values that operators of ai.onnx.ml have.
absl::StatusOr<CompositeType> MapTypeOf(const pb::TypeProto::Map& map, bool is_sequence) {
  using Tensor = pb::TensorProto;
  const int value = map.value_type().tensor_type().elem_type();
  const bool is_number =
      value == Tensor::FLOAT || value == Tensor::DOUBLE || value == Tensor::INT64;
  std::optional<BundleKind> kind;
  if (map.key_type() == Tensor::STRING && is_number) {
    kind = is_sequence ? BundleKind::kMapsFromStrings : BundleKind::kMapFromStrings;
  } else if (map.key_type() == Tensor::INT64 && is_number) {
    kind = is_sequence ? BundleKind::kMaps : BundleKind::kMap;
  } else if (map.key_type() == Tensor::INT64 && value == Tensor::STRING && !is_sequence) {
    kind = BundleKind::kMapToStrings;
  }
  if (kind) return CompositeType{.kind = *kind, .item = &map.value_type().tensor_type()};
  return AOTC_REFUSAL(
      Unimplemented,
      "maps of that kind are not supported; hint: those from int64 or string to float, double or "
      "int64 are, and from int64 to string");
}

}  // namespace

absl::StatusOr<std::optional<CompositeType>> CompositeTypeOf(const pb::TypeProto& type) {
  const auto is_strings = [](const pb::TypeProto& item) {
    return item.tensor_type().elem_type() == pb::TensorProto::STRING;
  };
  const pb::TypeProto* inner = &type;
  const bool optional = type.has_optional_type();
  if (optional) inner = &type.optional_type().elem_type();
  if (type.has_map_type()) return MapTypeOf(type.map_type(), /*is_sequence=*/false);
  if (inner->has_sequence_type()) {
    const pb::TypeProto& item = inner->sequence_type().elem_type();
    if (is_strings(item)) return NoItemsOfStrings();
    if (item.has_tensor_type()) {
      return CompositeType{.kind = optional ? BundleKind::kOptionalSequence : BundleKind::kSequence,
                           .item = &item.tensor_type()};
    }
    if (item.has_map_type() && !optional) return MapTypeOf(item.map_type(), /*is_sequence=*/true);
    return AOTC_REFUSAL(
        Unimplemented,
        "sequences of anything but tensors are not supported; hint: use one sequence of tensors "
        "for each");
  }
  if (optional && is_strings(*inner)) return NoItemsOfStrings();
  if (optional && inner->has_tensor_type()) {
    return CompositeType{.kind = BundleKind::kOptional, .item = &inner->tensor_type()};
  }
  if (optional) return AOTC_REFUSAL(Unimplemented, "optionals of that kind are not supported");
  return std::nullopt;
}

}  // namespace aotc
