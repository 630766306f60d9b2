#include "compiler/import/string_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/import/opset.h"
#include "compiler/ops/class_labels.h"
#include "compiler/ops/op.h"
#include "compiler/ops/strings.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool HasStrings(const Attributes& attributes, std::string_view name) {
  const AttributeValue* value = attributes.Find(name);
  if (value == nullptr) return false;
  const Constant* tensor = std::get_if<Constant>(value);
  return tensor == nullptr ? std::holds_alternative<std::vector<std::string>>(*value)
                           : tensor->dtype() == DType::kString;
}

bool Always(const Attributes&, bool) { return true; }
bool Never(const Attributes&, bool) { return false; }
bool WhereTaken(const Attributes&, bool takes_strings) { return takes_strings; }

// Opset 1 of LabelEncoder has one list, and goes from or to it.
bool LabelsAreStrings(const Attributes& attributes, bool takes_strings) {
  if (HasStrings(attributes, "classes_strings")) return !takes_strings;
  return HasStrings(attributes, "values_strings") || HasStrings(attributes, "values_tensor");
}

bool ClassesAreStrings(const Attributes& attributes, bool) {
  return !attributes.Strings(kStringLabels).empty();
}

bool CategoriesAreStrings(const Attributes&, bool takes_strings) { return !takes_strings; }

// An op that looks at the bytes of strings, or makes some.
struct TextOp {
  std::string_view name;  // in models
  std::string_view op;    // in graphs
  // Whether its first result is strings, where `takes_strings` says whether the first operand is.
  bool (*makes_strings)(const Attributes& attributes, bool takes_strings);
  bool makes_bytes = false;
};

constexpr TextOp kTextOps[] = {
    {"Equal", "StringEqual", Never},
    {"RegexFullMatch", "RegexFullMatch", Never},
    {"StringConcat", "StringConcat", Always, true},
    {"StringNormalizer", "StringNormalizer", Always, true},
    {"StringSplit", "StringSplit", Always},
    {"TfIdfVectorizer", "TfIdfVectorizer", Never},
    {"Unique", "StringUnique", WhereTaken},
    {"ai.onnx.ml.CategoryMapper", "ai.onnx.ml.CategoryMapper", CategoriesAreStrings},
    {"ai.onnx.ml.LabelEncoder", "ai.onnx.ml.LabelEncoder", LabelsAreStrings},
    {"ai.onnx.ml.LinearClassifier", "ai.onnx.ml.LinearClassifier", ClassesAreStrings},
    {"ai.onnx.ml.OneHotEncoder", "ai.onnx.ml.OneHotEncoder", Never},
    {"ai.onnx.ml.SVMClassifier", "ai.onnx.ml.SVMClassifier", ClassesAreStrings},
    {"ai.onnx.ml.TreeEnsembleClassifier", "ai.onnx.ml.TreeEnsembleClassifier", ClassesAreStrings},
};

// Cast, from and to strings.
constexpr TextOp kFromStrings = {"NumbersOfStrings", "NumbersOfStrings", Never};
constexpr TextOp kToStrings = {"StringsOfNumbers", "StringsOfNumbers", Always, true};

// Ops of which the sizes of strings are all that matters: NonZero of strings that have bytes.
bool ReadsSizesOnly(const Node& node) {
  return node.op == "NonZero" || HasTrait(node.op, kReadsShapeOnly);
}

bool Samples(const Node& node) { return node.op == "Resize" || node.op == "Upsample"; }

bool MovesElements(const Node& node) { return Samples(node) || HasTrait(node.op, kMovesOperands); }

// Whether results of an op that moves elements are more than that.
bool Mixes(const Node& node) {
  if (!Samples(node)) return node.attributes.String("reduction", "none") != "none";
  return node.attributes.String("mode", "nearest") != "nearest" ||
         node.attributes.Float("extrapolation_value", 0) != 0;
}

bool CastsToStrings(const Node& node) {
  return node.op == "Cast" && node.attributes.Int("to") == static_cast<int64_t>(DType::kString);
}

// CastLike from or to strings, as Cast.
absl::StatusOr<Node> CastOfLike(const Graph& graph, const Node& node, const CompositeTable& table) {
  const ValueId like = node.inputs[1];
  const bool to_strings = table.FindStrings(like) != nullptr;
  const DType to = to_strings ? DType::kString : graph.values[like].type.dtype;
  if (to == DType::kUndefined) {
    return AOTC_REFUSAL(Unimplemented,
                        "CastLike of strings to a type that the model does not declare is not "
                        "supported; hint: Cast says it");
  }
  Node cast = node;
  cast.op = "Cast";
  cast.inputs.resize(1);
  cast.attributes.Set("to", static_cast<int64_t>(to));
  return cast;
}

const TextOp* FindTextOp(std::string_view name) {
  const auto* found = std::ranges::find(kTextOps, name, &TextOp::name);
  return found == std::end(kTextOps) ? nullptr : found;
}

class NodeImporter {
 public:
  NodeImporter(Graph& graph, RegionId region, const Node& node, const StringNodeOptions& options,
               CompositeTable& table)
      : graph_(graph), region_(region), node_(node), options_(options), table_(table) {}

  absl::Status Run() {
    if (!node_.regions.empty()) return Refused("in its subgraphs");
    if (const TextOp* text_op = FindTextOp(node_.op)) return ImportText(*text_op);
    if (CastsToStrings(node_) && Operand(0) == nullptr) return ImportText(kToStrings);
    if (node_.op == "Cast" && !CastsToStrings(node_)) return ImportText(kFromStrings);
    if (ReadsSizesOnly(node_)) return ImportSizesOnly();
    if (MovesElements(node_) || CastsToStrings(node_)) return ImportMover();
    return Refused("for strings");
  }

 private:
  absl::Status Refused(std::string_view what) const {
    return AOTC_REFUSAL(
        Unimplemented,
        StrCat(node_.op, " is not supported ", what,
               "; hint: numbers can stand for strings, which ai.onnx.ml.LabelEncoder gives"));
  }

  const Composite* Operand(size_t index) const { return table_.FindStrings(node_.inputs[index]); }
  const std::string& NameOf(ValueId value) const { return graph_.values[value].name; }

  absl::Status Append(Node node) {
    if (options_.is_standard) {
      return NormalizeNode(graph_, region_, std::move(node), options_.opset);
    }
    graph_.AddNode(region_, std::move(node));
    return absl::OkStatus();
  }

  ValueId FirstOutput() const {
    return *std::ranges::find_if(node_.outputs, [](ValueId id) { return id.valid(); });
  }

  // An output as strings from here on; its parts are absent where it is left out.
  Composite DefineOutput(ValueId handle) {
    if (!handle.valid()) return {.kind = BundleKind::kStrings, .parts = {{}, {}, {}}};
    Composite strings = AddParts(graph_, BundleKind::kStrings, NameOf(handle));
    table_.Define(handle, strings);
    return strings;
  }

  // Strings among the operands become three operands each, and so do the results.
  absl::Status ImportText(const TextOp& text_op) {
    const bool takes_strings = !node_.inputs.empty() && Operand(0) != nullptr;
    Node made = node_;
    made.op = text_op.op;
    made.inputs.clear();
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      const Composite* strings = Operand(i);
      if (strings == nullptr && text_op.op != text_op.name) return Refused("for two types");
      const std::vector<ValueId> parts =
          strings == nullptr ? std::vector{node_.inputs[i]} : strings->parts;
      made.inputs.insert(made.inputs.end(), parts.begin(), parts.end());
    }
    if (text_op.makes_strings(node_.attributes, takes_strings) && !node_.outputs.empty()) {
      const std::vector<ValueId> parts = DefineOutput(node_.outputs[0]).parts;
      made.outputs.erase(made.outputs.begin());
      made.outputs.insert(made.outputs.begin(), parts.begin(), parts.end());
    }
    if (text_op.makes_bytes) made.attributes.Set(kMaxStringBytes, options_.max_string_bytes);
    graph_.AddNode(region_, std::move(made));
    return absl::OkStatus();
  }

  absl::Status ImportSizesOnly() {
    Node made = node_;
    for (size_t i = 0; i < made.inputs.size(); ++i) {
      if (const Composite* strings = Operand(i)) made.inputs[i] = strings->sizes();
    }
    return Append(std::move(made));
  }

  // Starts and sizes move alike, by one node each; pools of several operands become one.
  absl::Status ImportMover() {
    if (Mixes(node_)) return Refused("for strings where results are more than elements");
    Node moved = node_;
    if (CastsToStrings(node_)) {
      moved.op = "Identity";
      moved.attributes = {};
    }
    Node starts = moved, sizes = moved;
    const ValueId pool = JoinPools(starts.inputs);
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      if (const Composite* strings = Operand(i)) sizes.inputs[i] = strings->sizes();
    }
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      Composite strings = DefineOutput(node_.outputs[i]);
      starts.outputs[i] = strings.starts();
      sizes.outputs[i] = strings.sizes();
      if (!node_.outputs[i].valid()) continue;
      strings.parts[kPoolPart] = pool;
      table_.Define(node_.outputs[i], std::move(strings));
    }
    AOTC_RETURN_IF_ERROR(Append(std::move(starts)));
    return Append(std::move(sizes));
  }

  // The one pool of all operands that are strings; where they lie in it becomes their starts in
  // `inputs`.
  ValueId JoinPools(std::vector<ValueId>& inputs) {
    CompositeBuilder builder(graph_, region_, NameOf(FirstOutput()), node_.locations.front());
    std::vector<ValueId> pools;
    std::map<ValueId, ValueId> begins;  // of each pool; invalid: at 0
    ValueId end;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      const Composite* strings = Operand(i);
      if (strings == nullptr) continue;
      const auto [begin, is_new] = begins.try_emplace(strings->pool(), end);
      if (is_new) {
        const ValueId size = builder.Emit("Size", {strings->pool()});
        end = end.valid() ? builder.Emit("Add", {end, size}) : size;
        pools.push_back(strings->pool());
      }
      const ValueId from = begin->second;
      inputs[i] = from.valid() ? builder.Emit("Add", {strings->starts(), from}) : strings->starts();
    }
    if (pools.size() == 1) return pools[0];
    Attributes axis;
    axis.Set("axis", int64_t{0});
    return builder.Emit("Concat", pools, axis);
  }

  Graph& graph_;
  const RegionId region_;
  const Node& node_;
  const StringNodeOptions& options_;
  CompositeTable& table_;
};

}  // namespace

Composite AddStringConstant(Graph& graph, std::string_view name, const Constant& constant) {
  StringConstants strings = SplitStrings(constant.strings(), constant.dims());
  const std::string own(name);  // that of a value moves as values are added
  Composite composite = {.kind = BundleKind::kStrings};
  for (Constant* part : {&strings.starts, &strings.sizes, &strings.pool}) {
    const std::string_view part_name = PartNames(composite.kind)[composite.parts.size()];
    composite.parts.push_back(graph.AddConstant(StrCat(own, ".", part_name), std::move(*part)));
  }
  return composite;
}

bool UsesStrings(const Node& node, const CompositeTable& table) {
  const bool takes = std::ranges::any_of(
      node.inputs, [&](ValueId input) { return table.FindStrings(input) != nullptr; });
  const TextOp* text_op = FindTextOp(node.op);
  return takes || CastsToStrings(node) ||
         (text_op != nullptr && text_op->makes_strings(node.attributes, false));
}

absl::Status ImportStringNode(Graph& graph, RegionId region, const Node& node,
                              const StringNodeOptions& options, CompositeTable& table) {
  if (node.op == "CastLike") {
    AOTC_ASSIGN_OR_RETURN(const Node cast, CastOfLike(graph, node, table));
    return NodeImporter(graph, region, cast, options, table).Run();
  }
  return NodeImporter(graph, region, node, options, table).Run();
}

}  // namespace aotc
