#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "compiler/ir/constant_text.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Deeper nesting of types or regions than any model has: an error, not a stack overflow.
constexpr int kMaxDepth = 64;

absl::StatusOr<ValueType> ParseTypeAt(Scanner& scanner, int depth);

// "conv1 (Conv, opset 13)" as PrintLocation writes it.
Location ParseLocation(const std::string& text) {
  Location location;
  size_t open = text.rfind(" (");
  if (open == std::string::npos || text.back() != ')') return {.node = text};
  location.node = text.substr(0, open);
  std::string inside = text.substr(open + 2, text.size() - open - 3);
  size_t opset = inside.rfind(", opset ");
  if (opset != std::string::npos && absl::SimpleAtoi(inside.substr(opset + 8), &location.opset)) {
    inside.resize(opset);
  }
  location.op = inside;
  return location;
}

absl::StatusOr<ValueType> ParseTensorType(Scanner& scanner) {
  ValueType type;
  if (!scanner.TryConsume("?")) {
    std::optional<DType> dtype = ParseDType(scanner.Peek().text);
    if (!dtype) return scanner.Error("expected a type");
    type.dtype = *dtype;
    scanner.Take();
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("["));
  if (scanner.TryConsume("*")) {
    type.ranked = false;
    AOTC_RETURN_IF_ERROR(scanner.Expect("]"));
    return type;
  }
  AOTC_ASSIGN_OR_RETURN(type.dims, ExpectDims(scanner, "]"));
  return type;
}

absl::StatusOr<ValueType> ParseCompoundType(Scanner& scanner, ValueKind kind, int depth) {
  scanner.Take();
  ValueType type{.kind = kind};
  AOTC_RETURN_IF_ERROR(scanner.Expect("("));
  for (int i = 0; i < (kind == ValueKind::kMap ? 2 : 1); ++i) {
    if (i > 0) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_ASSIGN_OR_RETURN(ValueType child, ParseTypeAt(scanner, depth + 1));
    type.children.push_back(std::move(child));
  }
  if (kind == ValueKind::kSequence && scanner.TryConsume(",")) {
    AOTC_ASSIGN_OR_RETURN(type.max_items, scanner.ExpectInteger());
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
  return type;
}

absl::StatusOr<ValueType> ParseTypeAt(Scanner& scanner, int depth) {
  if (depth > kMaxDepth) return scanner.Error("type nested too deeply");
  if (scanner.At("sequence")) return ParseCompoundType(scanner, ValueKind::kSequence, depth);
  if (scanner.At("optional")) return ParseCompoundType(scanner, ValueKind::kOptional, depth);
  if (scanner.At("map")) return ParseCompoundType(scanner, ValueKind::kMap, depth);
  return ParseTensorType(scanner);
}

class Parser {
 public:
  explicit Parser(Scanner& scanner) : scanner_(scanner) {}

  absl::StatusOr<Graph> Run() {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("graph"));
    AOTC_ASSIGN_OR_RETURN(graph_.name, scanner_.ExpectName('@'));
    AOTC_ASSIGN_OR_RETURN(std::vector<std::string> outputs, ParseSignature(graph_.main));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("{"));
    AOTC_RETURN_IF_ERROR(ParseHead());
    AOTC_RETURN_IF_ERROR(ParseNodes(graph_.main, outputs));
    return std::move(graph_);
  }

 private:
  absl::Status ParseHead() {
    while (true) {
      if (scanner_.At("symbol")) {
        AOTC_ASSIGN_OR_RETURN(Symbol symbol, ParseSymbol(scanner_));
        graph_.symbols.push_back(std::move(symbol));
      } else if (scanner_.TryConsume("const")) {
        AOTC_RETURN_IF_ERROR(ParseConstant());
      } else if (scanner_.TryConsume("function")) {
        AOTC_RETURN_IF_ERROR(ParseFunction());
      } else {
        return absl::OkStatus();
      }
    }
  }

  // The name, and the type and further properties that may follow; a new value.
  absl::StatusOr<ValueId> ParseDeclaration() {
    AOTC_ASSIGN_OR_RETURN(std::string name, scanner_.ExpectName('%'));
    if (by_name_.contains(name)) {
      return scanner_.Error(StrCat("'%", name, "' is defined twice"));
    }
    ValueType type = UnknownType();
    if (scanner_.TryConsume(":")) {
      AOTC_ASSIGN_OR_RETURN(type, ParseType(scanner_));
    }
    ValueId id = graph_.AddValue(name, std::move(type));
    by_name_[name] = id;
    AOTC_RETURN_IF_ERROR(ParseDetails(graph_.values[id]));
    return id;
  }

  absl::Status ParseDetails(Value& value) {
    if (scanner_.TryConsume("layout")) {
      AOTC_ASSIGN_OR_RETURN(value.layout, ParseLayout(scanner_));
    }
    if (scanner_.TryConsume("as")) {
      AOTC_ASSIGN_OR_RETURN(value.output_name, scanner_.ExpectName('%'));
    }
    if (scanner_.TryConsume("elements")) {
      AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
      AOTC_ASSIGN_OR_RETURN(value.elements, ExpectDims(scanner_, ")"));
    }
    return scanner_.TryConsume("limits") ? ParseLimits(value) : absl::OkStatus();
  }

  // "(0: 8, 1: 6 declared)"
  absl::Status ParseLimits(Value& value) {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    do {
      AOTC_ASSIGN_OR_RETURN(const int64_t axis, scanner_.ExpectInteger());
      AOTC_RETURN_IF_ERROR(scanner_.Expect(":"));
      DimLimit limit;
      AOTC_ASSIGN_OR_RETURN(limit.most, scanner_.ExpectInteger());
      limit.declared = scanner_.TryConsume("declared");
      value.limits[static_cast<int>(axis)] = limit;
    } while (scanner_.TryConsume(","));
    return scanner_.Expect(")");
  }

  absl::StatusOr<ValueId> Find(const std::string& name) const {
    auto found = by_name_.find(name);
    if (found == by_name_.end()) return scanner_.Error(StrCat("'%", name, "' is not defined"));
    return found->second;
  }

  absl::Status ParseConstant() {
    AOTC_ASSIGN_OR_RETURN(ValueId id, ParseDeclaration());
    const ValueType& type = graph_.values[id].type;
    std::optional<std::vector<int64_t>> dims = StaticDims(type.dims);
    if (!IsKnownType(type) || type.kind != ValueKind::kTensor || !dims) {
      return scanner_.Error("a constant is a tensor of known type");
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect("="));
    AOTC_ASSIGN_OR_RETURN(graph_.values[id].constant,
                          ParseConstantValue(scanner_, type.dtype, *dims));
    return absl::OkStatus();
  }

  absl::Status ParseFunction() {
    Function function;
    AOTC_ASSIGN_OR_RETURN(function.name, scanner_.ExpectName('@'));
    function.region = graph_.regions.Add({});
    AOTC_ASSIGN_OR_RETURN(std::vector<std::string> outputs, ParseSignature(function.region));
    graph_.functions.push_back(function);
    AOTC_RETURN_IF_ERROR(scanner_.Expect("{"));
    return ParseNodes(function.region, outputs);
  }

  // "(%x: f32[2]) -> (%y)"; the names of the outputs, which are defined later.
  absl::StatusOr<std::vector<std::string>> ParseSignature(RegionId region) {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    while (!scanner_.At(")")) {
      if (!graph_.regions[region].inputs.empty()) AOTC_RETURN_IF_ERROR(scanner_.Expect(","));
      AOTC_ASSIGN_OR_RETURN(ValueId input, ParseDeclaration());
      graph_.regions[region].inputs.push_back(input);
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect(")"));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("->"));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    std::vector<std::string> outputs;
    while (!scanner_.At(")")) {
      if (!outputs.empty()) AOTC_RETURN_IF_ERROR(scanner_.Expect(","));
      AOTC_ASSIGN_OR_RETURN(std::string name, scanner_.ExpectName('%'));
      outputs.push_back(std::move(name));
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect(")"));
    return outputs;
  }

  // Nodes up to and with the closing brace of their region.
  absl::Status ParseNodes(RegionId region, const std::vector<std::string>& outputs) {
    if (++depth_ > kMaxDepth) return scanner_.Error("regions nested too deeply");
    while (!scanner_.TryConsume("}")) AOTC_RETURN_IF_ERROR(ParseNode(region));
    for (const std::string& name : outputs) {
      AOTC_ASSIGN_OR_RETURN(ValueId id, Find(name));
      graph_.regions[region].outputs.push_back(id);
    }
    --depth_;
    return absl::OkStatus();
  }

  absl::Status ParseNode(RegionId region) {
    Node node;
    AOTC_RETURN_IF_ERROR(ParseOutputs(node));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("="));
    AOTC_ASSIGN_OR_RETURN(node.op, scanner_.ExpectIdentifier());
    AOTC_RETURN_IF_ERROR(ParseInputs(node));
    if (scanner_.At("{")) {
      AOTC_ASSIGN_OR_RETURN(node.attributes, ParseAttributes(scanner_));
    }
    if (scanner_.TryConsume("contract")) {
      AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
      AOTC_ASSIGN_OR_RETURN(node.contract, ParseContract(scanner_));
      AOTC_RETURN_IF_ERROR(scanner_.Expect(")"));
    }
    AOTC_RETURN_IF_ERROR(ParseLocations(node));
    while (scanner_.TryConsume("region")) AOTC_RETURN_IF_ERROR(ParseNested(node));
    graph_.AddNode(region, std::move(node));
    return absl::OkStatus();
  }

  absl::Status ParseOutputs(Node& node) {
    do {
      ValueId id;
      if (!scanner_.TryConsume("_")) {
        AOTC_ASSIGN_OR_RETURN(id, ParseDeclaration());
      }
      node.outputs.push_back(id);
    } while (scanner_.TryConsume(","));
    return absl::OkStatus();
  }

  absl::Status ParseInputs(Node& node) {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    while (!scanner_.At(")")) {
      if (!node.inputs.empty()) AOTC_RETURN_IF_ERROR(scanner_.Expect(","));
      ValueId id;
      if (!scanner_.TryConsume("_")) {
        AOTC_ASSIGN_OR_RETURN(std::string name, scanner_.ExpectName('%'));
        AOTC_ASSIGN_OR_RETURN(id, Find(name));
      }
      node.inputs.push_back(id);
    }
    return scanner_.Expect(")");
  }

  absl::Status ParseLocations(Node& node) {
    if (!scanner_.TryConsume("loc")) return absl::OkStatus();
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    do {
      AOTC_ASSIGN_OR_RETURN(std::string text, scanner_.ExpectString());
      node.locations.push_back(ParseLocation(text));
    } while (scanner_.TryConsume(","));
    return scanner_.Expect(")");
  }

  absl::Status ParseNested(Node& node) {
    AOTC_ASSIGN_OR_RETURN(std::string name, scanner_.ExpectIdentifier());
    RegionId region = graph_.regions.Add({});
    if (!node.regions.emplace(name, region).second) {
      return scanner_.Error(StrCat("region '", name, "' is given twice"));
    }
    AOTC_ASSIGN_OR_RETURN(std::vector<std::string> outputs, ParseSignature(region));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("{"));
    return ParseNodes(region, outputs);
  }

  Scanner& scanner_;
  Graph graph_;
  absl::flat_hash_map<std::string, ValueId> by_name_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<ValueType> ParseType(Scanner& scanner) { return ParseTypeAt(scanner, 0); }

absl::StatusOr<Graph> ParseGraph(Scanner& scanner) { return Parser(scanner).Run(); }

absl::StatusOr<Graph> ParseGraph(std::string_view text) {
  Scanner scanner(text);
  AOTC_ASSIGN_OR_RETURN(Graph graph, ParseGraph(scanner));
  AOTC_RETURN_IF_ERROR(scanner.ExpectEnd());
  return graph;
}

}  // namespace aotc
