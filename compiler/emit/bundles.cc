#include "compiler/emit/bundles.h"

#include <algorithm>
#include <vector>

#include "compiler/emit/host_parts.h"
#include "compiler/support/literals.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kAlign = 64;

// A value of the table: a tensor of the program, or several that are its parts.
struct TableValue {
  const Bundle* bundle = nullptr;  // null: a tensor
  size_t first = 0;                // of the ports
};

const std::vector<TensorPort>& PortsOf(const EmitContext& context, bool outputs) {
  return outputs ? context.interface.outputs : context.interface.inputs;
}

std::vector<TableValue> TableValuesOf(const EmitContext& context, bool outputs) {
  std::vector<TableValue> values;
  for (size_t i = 0; i < PortsOf(context, outputs).size();) {
    const Bundle* bundle = BundleOf(context.bundles, outputs, i);
    values.push_back({bundle, i});
    i += bundle == nullptr ? 1 : PartNames(bundle->kind).size();
  }
  return values;
}

int64_t RoundedUp(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

struct KindText {
  const char* kind;      // of the table
  const char* function;  // behind aotc_pack_ and aotc_unpack_
  const char* header = "aotc/items.h";
};

KindText TextOf(BundleKind kind) {
  switch (kind) {
    case BundleKind::kSequence: return {"AOTC_SEQUENCE", "sequence"};
    case BundleKind::kOptional: return {"AOTC_OPTIONAL", "optional"};
    case BundleKind::kOptionalSequence: return {"AOTC_OPTIONAL", "optional_sequence"};
    case BundleKind::kStrings: return {"AOTC_TENSOR", "strings", "aotc/strings.h"};
    case BundleKind::kMap:
    case BundleKind::kMapFromStrings:
    case BundleKind::kMapToStrings: return {"AOTC_MAP", "map", "aotc/maps.h"};
    case BundleKind::kMaps:
    case BundleKind::kMapsFromStrings: return {"AOTC_SEQUENCE", "maps", "aotc/maps.h"};
  }
  return {};
}

class BundleWriter {
 public:
  BundleWriter(const EmitContext& context, CodeWriter& w) : context_(context), w_(w) {}

  absl::Status Run() {
    for (const bool outputs : {false, true}) {
      for (const TableValue& value : TableValuesOf(context_, outputs)) {
        AOTC_RETURN_IF_ERROR(Children(value, outputs));
      }
      Infos(outputs);
    }
    Take();
    Give();
    return absl::OkStatus();
  }

 private:
  static bool HasChildren(const TableValue& value) {
    return value.bundle != nullptr && value.bundle->kind != BundleKind::kStrings;
  }

  static bool IsMap(const TableValue& value) {
    return value.bundle != nullptr && MapFormOf(value.bundle->kind).has_value();
  }

  static std::string ChildName(const TableValue& value, bool outputs) {
    return StrCat(outputs ? "output" : "input", value.first, "_");
  }

  absl::Status Children(const TableValue& value, bool outputs) {
    if (!HasChildren(value)) return absl::OkStatus();
    if (!IsMap(value)) return ItemChildren(value, outputs);
    MapChildren(value, outputs);
    return absl::OkStatus();
  }

  // The info of an item; where an optional has a sequence, also of that.
  absl::Status ItemChildren(const TableValue& value, bool outputs) {
    const std::vector<TensorPort>& ports = PortsOf(context_, outputs);
    const TensorPort &elements = ports[value.first + kElementsPart],
                     &dims = ports[value.first + kDimsPart];
    const DType dtype = context_.program.buffers[elements.id].dtype;
    if (IsSubByte(dtype)) {
      return AOTC_REFUSAL(
          Unimplemented,
          StrCat("'", value.bundle->name, "' has items with elements of type ", DTypeName(dtype),
                 ", which is not supported; hint: cast them to a type of 8 bits or more"));
    }
    const int64_t room = elements.ranges[0].max, columns = dims.ranges[1].max;
    const bool is_flat = columns > kRankColumn;
    const auto ends = [&](bool upper) {
      std::vector<int64_t> dims_of_item;
      for (size_t axis = 1; axis < elements.ranges.size() && !is_flat; ++axis) {
        const Interval& range = elements.ranges[axis];
        dims_of_item.push_back(upper ? range.max : columns > 0 ? 0 : range.min);
      }
      return StrJoin(dims_of_item, ", ");
    };
    const std::string rank = is_flat ? "-1" : StrCat(elements.ranges.size() - 1);
    const std::string name = ChildName(value, outputs);
    w_.Line(StrCat("const aotc_value_info ", name, "item = {\"\", AOTC_TENSOR, 0, nullptr, 0, ",
                   static_cast<int>(dtype), ", ", rank, ", {", ends(false), "}, {", ends(true),
                   "}, {}, ", room == 0 ? 0 : elements.bytes / room, "u};"));
    if (value.bundle->kind == BundleKind::kOptionalSequence) {
      w_.Line(StrCat("const aotc_value_info ", name, "sequence = {\"\", AOTC_SEQUENCE, 1, &", name,
                     "item, ", room, ", 0, 0, {}, {}, {}, 0};"));
    }
    return absl::OkStatus();
  }

  // The info of the keys or of the values of a map, whose first part has the entries as last axis.
  static std::string ColumnInfo(const TensorPort& part, bool is_strings) {
    const Interval& entries = part.ranges.back();
    const DType dtype = is_strings ? DType::kString : part.dtype;
    const std::string bytes = is_strings ? StrCat(entries.max, "u * sizeof(aotc_string)")
                                         : StrCat(entries.max * ByteWidth(dtype), "u");
    return StrCat("{\"\", AOTC_TENSOR, 0, nullptr, 0, ", static_cast<int>(dtype), ", 1, {",
                  entries.min, "}, {", entries.max, "}, {}, ", bytes, "},");
  }

  // The infos of keys and values, in a sequence also that of a map; of an input, its checks.
  void MapChildren(const TableValue& value, bool outputs) {
    const std::vector<TensorPort>& ports = PortsOf(context_, outputs);
    const MapForm form = *MapFormOf(value.bundle->kind);
    const std::string name = ChildName(value, outputs);
    {
      const auto block = w_.Block(StrCat("const aotc_value_info ", name, "entries[] = {"), "};");
      w_.Line(ColumnInfo(ports[value.first], form.has_string_keys));
      w_.Line(ColumnInfo(ports[value.first + form.first_value()], form.has_string_values));
    }
    if (form.is_sequence) {
      w_.Line(StrCat("const aotc_value_info ", name, "item = {\"\", AOTC_MAP, 2, ", name,
                     "entries, 0, 0, 0, {}, {}, {}, 0};"));
    }
    if (outputs) return;
    const MapChecks& checks = context_.interface.map_checks.at(value.bundle->name);
    const int room = PoolPartOf(value.bundle->kind) ? RoomCheck(value) : -1;
    w_.Line(StrCat("const aotc_map_checks ", name, "checks = {", checks.entries, ", ", checks.keys,
                   ", ", room, "};"));
  }

  // What the info of a value says of its children: how many, where they are, and of a sequence how
  // many items there may be.
  std::string ChildrenText(const TableValue& value, bool outputs) const {
    const std::vector<TensorPort>& ports = PortsOf(context_, outputs);
    const std::string name = ChildName(value, outputs);
    const BundleKind kind = value.bundle->kind;
    const std::optional<MapForm> map = MapFormOf(kind);
    if (map && !map->is_sequence) return StrCat("2, ", name, "entries, 0");
    if (kind == BundleKind::kOptionalSequence) return StrCat("1, &", name, "sequence, 0");
    if (kind == BundleKind::kOptional) return StrCat("1, &", name, "item, 0");
    const size_t of_room = value.first + (map ? map->first_value() : kElementsPart);
    return StrCat("1, &", name, "item, ", ports[of_room].ranges[0].max);
  }

  // A tensor of strings as a port of its own.
  static TensorPort StringsPort(const Bundle& bundle, const std::vector<TensorPort>& ports) {
    TensorPort strings = ports[bundle.first + kStartsPart];
    strings.name = bundle.name;
    strings.dtype = DType::kString;
    strings.macro = StrCat(strings.bytes / ByteWidth(DType::kI64), "u * sizeof(aotc_string)");
    return strings;
  }

  void Infos(bool outputs) {
    const std::vector<TableValue> values = TableValuesOf(context_, outputs);
    if (values.empty()) return;
    const std::vector<TensorPort>& ports = PortsOf(context_, outputs);
    w_.Line("// The values of the table, of which those that are no tensors have children.");
    const auto block = w_.Block(
        StrCat("const aotc_value_info ", ValuesOf(context_, outputs).infos, "[] = {"), "};\n");
    for (const TableValue& value : values) {
      if (!HasChildren(value)) {
        const TensorPort port =
            value.bundle == nullptr ? ports[value.first] : StringsPort(*value.bundle, ports);
        w_.Line(StrCat(TensorInfo(context_, port), ","));
        continue;
      }
      w_.Line(StrCat("{", StringLiteral(value.bundle->name), ", ", TextOf(value.bundle->kind).kind,
                     ", ", ChildrenText(value, outputs), ", 0, 0, {}, {}, {}, 0},"));
    }
  }

  // The lines that lend memory to the parts of all bundles.
  void LendParts(bool outputs, int64_t& offset) {
    const std::vector<TensorPort>& ports = PortsOf(context_, outputs);
    const std::string side = outputs ? "output" : "input";
    for (size_t i = 0; i < ports.size(); ++i) {
      if (BundleOf(context_.bundles, outputs, i) == nullptr) continue;
      w_.Line(StrCat("aotc_lend_part(&", side, "s[", i, "], &", side, "_infos[", i, "], parts + ",
                     offset, ");"));
      offset += RoundedUp(ports[i].bytes);
    }
  }

  void Take() {
    w_.Line("// From the table's values to one for each tensor; parts of others lie in `parts`.");
    const auto block = w_.Block(
        "aotc_status take_values(const aotc_value *given, const aotc_value *lent, uint8_t *parts, "
        "aotc_value *inputs, aotc_value *outputs) {",
        "}\n");
    if (context_.interface.inputs.empty()) w_.Line("(void)given;\n(void)inputs;");
    if (context_.interface.outputs.empty()) w_.Line("(void)outputs;");
    const std::vector<TableValue> results = TableValuesOf(context_, true);
    const bool lends = std::ranges::any_of(
        results, [](const TableValue& value) { return value.bundle == nullptr; });
    if (!lends) w_.Line("(void)lent;");
    w_.Line("aotc_status status = AOTC_OK;");
    int64_t offset = 0;
    for (const bool outputs : {false, true}) {
      LendParts(outputs, offset);
      const std::vector<TableValue> values = TableValuesOf(context_, outputs);
      for (size_t v = 0; v < values.size(); ++v) {
        const TableValue& value = values[v];
        if (value.bundle == nullptr) {
          w_.Line(StrCat(outputs ? "outputs[" : "inputs[", value.first,
                         "] = ", outputs ? "lent[" : "given[", v, "];"));
        } else if (!outputs) {
          w_.Line(StrCat("if (status == AOTC_OK) status = aotc_pack_",
                         TextOf(value.bundle->kind).function, "(&given[", v, "], ",
                         PackingArguments(value, v), "&inputs[", value.first, "]);"));
        }
      }
    }
    w_.Line("return status;");
  }

  void Give() {
    w_.Line("// The other way, of outputs.");
    const auto block =
        w_.Block("aotc_status give_values(const aotc_value *outputs, aotc_value *lent) {", "}\n");
    w_.Line("aotc_status status = AOTC_OK;");
    const std::vector<TableValue> values = TableValuesOf(context_, true);
    for (size_t v = 0; v < values.size(); ++v) {
      const TableValue& value = values[v];
      if (value.bundle == nullptr) {
        w_.Line(StrCat("lent[", v, "] = outputs[", value.first, "];"));
      } else {
        w_.Line(StrCat("if (status == AOTC_OK) status = aotc_unpack_",
                       TextOf(value.bundle->kind).function, "(&outputs[", value.first, "], ",
                       HasChildren(value) && !IsMap(value) ? "" : InfoAt(v, true), "&lent[", v,
                       "]);"));
      }
    }
    w_.Line("return status;");
  }

  // Those of aotc_pack_... between the caller's value `index` and the parts.
  std::string PackingArguments(const TableValue& value, size_t index) const {
    if (IsMap(value)) return StrCat(InfoAt(index, false), "&", ChildName(value, false), "checks, ");
    return HasChildren(value) ? "" : StrCat(InfoAt(index, false), RoomCheck(value), ", ");
  }

  std::string InfoAt(size_t value, bool outputs) const {
    return StrCat("&", ValuesOf(context_, outputs).infos, "[", value, "], ");
  }

  // The number of the check that the bytes of strings have room.
  int RoomCheck(const TableValue& value) const {
    return context_.interface.room_checks.at(value.bundle->name);
  }

  const EmitContext& context_;
  CodeWriter& w_;
};

}  // namespace

bool HasBundles(const EmitContext& context) { return !context.bundles.empty(); }

std::string_view PartsHeader(BundleKind kind) { return TextOf(kind).header; }

int64_t BytesOfParts(const EmitContext& context) {
  int64_t bytes = 0;
  for (const bool outputs : {false, true}) {
    const std::vector<TensorPort>& ports = PortsOf(context, outputs);
    for (size_t i = 0; i < ports.size(); ++i) {
      if (BundleOf(context.bundles, outputs, i) == nullptr) continue;
      bytes += RoundedUp(ports[i].bytes);
    }
  }
  return bytes;
}

TableValues ValuesOf(const EmitContext& context, bool outputs) {
  const size_t count = TableValuesOf(context, outputs).size();
  const std::string side = outputs ? "output" : "input";
  if (count == 0) return {0, "nullptr"};
  return {count, side + (HasBundles(context) ? "_values" : "_infos")};
}

absl::Status EmitBundles(const EmitContext& context, CodeWriter& w) {
  return HasBundles(context) ? BundleWriter(context, w).Run() : absl::OkStatus();
}

void EmitTakeValues(const EmitContext& context, std::string_view parts, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  w.Emit(R"(
    aotc_value inputs[$inputs$] = {};
    aotc_value outputs[$outputs$] = {};
    const aotc_status taken = take_values(given, lent, $parts$, inputs, outputs);
    if (taken != AOTC_OK) return taken;)",
         {{"inputs", StrCat(m.inputs.size() + 1)},
          {"outputs", StrCat(m.outputs.size() + 1)},
          {"parts", std::string(parts)}});
}

}  // namespace aotc
