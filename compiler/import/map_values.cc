#include "compiler/import/map_values.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/string_values.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kZipMap = "ai.onnx.ml.ZipMap";
constexpr const char* kDictVectorizer = "ai.onnx.ml.DictVectorizer";
constexpr const char* kCastMap = "ai.onnx.ml.CastMap";

// One of two attributes: a list of integers, and one of strings.
struct Words {
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
};

absl::StatusOr<Words> WordsOf(const Attributes& attributes, std::string_view ints,
                              std::string_view strings) {
  Words words = {attributes.Ints(ints), attributes.Strings(strings)};
  if (words.ints.empty() != words.strings.empty()) return words;
  return AOTC_REFUSAL(InvalidArgument, StrCat("needs exactly one of ", ints, " and ", strings));
}

absl::Status RequireDistinct(const Words& labels) {
  const std::set<int64_t> ints(labels.ints.begin(), labels.ints.end());
  const std::set<std::string> strings(labels.strings.begin(), labels.strings.end());
  const bool holds = ints.size() == labels.ints.size() && strings.size() == labels.strings.size();
  if (holds) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, "one of its labels is there twice");
}

class MapNodeImporter {
 public:
  MapNodeImporter(Graph& graph, RegionId region, const Node& node, CompositeTable& table)
      : graph_(graph), region_(region), node_(node), table_(table) {}

  absl::Status Run() {
    const bool has_both = node_.inputs.size() == 1 && node_.inputs[0].valid() &&
                          node_.outputs.size() == 1 && node_.outputs[0].valid();
    if (!has_both) return AOTC_REFUSAL(InvalidArgument, "needs one input and one output");
    if (node_.op == kZipMap) return ZipMap();
    return node_.op == kDictVectorizer ? DictVectorizer() : CastMap();
  }

 private:
  ValueId Output() const { return node_.outputs[0]; }
  const std::string& NameOfOutput() const { return graph_.values[Output()].name; }

  // The keys are constants; the node gives the values.
  absl::Status ZipMap() {
    if (table_.Find(node_.inputs[0]) != nullptr) {
      return AOTC_REFUSAL(InvalidArgument, "takes a tensor of numbers");
    }
    AOTC_ASSIGN_OR_RETURN(const Words labels,
                          WordsOf(node_.attributes, "classlabels_int64s", "classlabels_strings"));
    AOTC_RETURN_IF_ERROR(RequireDistinct(labels));
    const std::string keys = NameOfOutput() + ".keys";
    Composite maps;
    if (labels.strings.empty()) {
      maps.kind = BundleKind::kMaps;
      maps.parts = {graph_.AddConstant(keys, Constant::Ints(labels.ints))};
    } else {
      const auto count = static_cast<int64_t>(labels.strings.size());
      maps = AddStringConstant(graph_, keys, Constant::Strings({count}, labels.strings));
      maps.kind = BundleKind::kMapsFromStrings;
    }
    maps.parts.push_back(graph_.AddValue(NameOfOutput() + ".values", UnknownType()));
    Node made = node_;
    made.outputs = {maps.parts.back()};
    graph_.AddNode(region_, std::move(made));
    table_.Define(Output(), std::move(maps));
    return absl::OkStatus();
  }

  absl::StatusOr<Composite> Operand() const {
    const Composite* map = table_.FindMap(node_.inputs[0]);
    if (map != nullptr && !MapFormOf(map->kind)->is_sequence) return *map;
    return AOTC_REFUSAL(InvalidArgument, "takes one map");
  }

  absl::Status DictVectorizer() {
    AOTC_ASSIGN_OR_RETURN(const Composite map, Operand());
    AOTC_ASSIGN_OR_RETURN(const Words words,
                          WordsOf(node_.attributes, "int64_vocabulary", "string_vocabulary"));
    const MapForm form = *MapFormOf(map.kind);
    if (form.has_string_keys != words.ints.empty()) {
      return AOTC_REFUSAL(InvalidArgument,
                          "its vocabulary is not of the type of the keys of the map");
    }
    Append(map, form.has_string_values);
    return absl::OkStatus();
  }

  absl::Status CastMap() {
    AOTC_ASSIGN_OR_RETURN(const Composite map, Operand());
    if (map.kind == BundleKind::kMapFromStrings) {
      return AOTC_REFUSAL(InvalidArgument, "takes a map whose keys are integers");
    }
    Append(map, node_.attributes.String("cast_to") == "TO_STRING");
    return absl::OkStatus();
  }

  // The node over the parts of the map; its result may be a tensor of strings.
  void Append(const Composite& map, bool gives_strings) {
    Node made = node_;
    made.inputs = map.parts;
    if (gives_strings) {
      Composite strings = AddParts(graph_, BundleKind::kStrings, NameOfOutput());
      made.outputs = strings.parts;
      table_.Define(Output(), std::move(strings));
    }
    graph_.AddNode(region_, std::move(made));
  }

  Graph& graph_;
  const RegionId region_;
  const Node& node_;
  CompositeTable& table_;
};

}  // namespace

absl::Status NoMapHere() {
  return AOTC_REFUSAL(
      Unimplemented,
      "takes a map, or a sequence of maps, which is not supported here; hint: what ZipMap gives "
      "can be an output of the model, and the tensor of probabilities that ZipMap reads has the "
      "same numbers");
}

absl::StatusOr<bool> UsesMaps(const Node& node, const CompositeTable& table) {
  const bool is_map_op = node.op == kZipMap || node.op == kDictVectorizer || node.op == kCastMap;
  const bool takes = std::ranges::any_of(
      node.inputs, [&](ValueId input) { return table.FindMap(input) != nullptr; });
  if (takes && !is_map_op) return NoMapHere();
  return is_map_op;
}

absl::Status ImportMapNode(Graph& graph, RegionId region, const Node& node, CompositeTable& table) {
  return MapNodeImporter(graph, region, node, table).Run();
}

}  // namespace aotc
