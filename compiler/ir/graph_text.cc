#include "compiler/ir/graph_text.h"

#include "compiler/ir/constant_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string PrintTensorType(const ValueType& type) {
  bool typed = type.dtype != DType::kUndefined;
  return StrCat(typed ? DTypeName(type.dtype) : "?", "[",
                type.ranked ? PrintExprList(type.dims) : "*", "]");
}

std::string PrintLocation(const Location& location) {
  std::string opset = location.opset > 0 ? StrCat(", opset ", location.opset) : "";
  return QuotedText(StrCat(location.node, " (", location.op, opset, ")"));
}

class Printer {
 public:
  Printer(const Graph& graph, int constant_limit) : graph_(graph), limit_(constant_limit) {}

  std::string Run() {
    const Region& main = graph_.main_region();
    text_ = StrCat("graph ", SigilName('@', graph_.name), Signature(main), " {\n");
    for (const Symbol& symbol : graph_.symbols) StrAppend(&text_, "  ", PrintSymbol(symbol), "\n");
    for (const Value& value : graph_.values) PrintConstant(value);
    for (const Function& function : graph_.functions) PrintFunction(function);
    PrintNodes(main, "  ");
    return text_ + "}\n";
  }

 private:
  std::string Name(ValueId id) const {
    return id.valid() ? SigilName('%', graph_.values[id].name) : "_";
  }

  std::string Names(const std::vector<ValueId>& ids) const {
    return StrJoin(ids, ", ", [this](ValueId id) { return Name(id); });
  }

  // The name with all that is known of the value.
  std::string Declaration(ValueId id) const {
    if (!id.valid()) return "_";
    const Value& value = graph_.values[id];
    std::string text = Name(id);
    const ValueType& type = value.type;
    if (type.kind != ValueKind::kTensor || type.dtype != DType::kUndefined || type.ranked) {
      StrAppend(&text, ": ", PrintType(type));
    }
    return text + Details(value);
  }

  static std::string Details(const Value& value) {
    std::string text;
    if (std::string layout = PrintLayout(value.layout); !layout.empty()) {
      StrAppend(&text, " layout", layout);
    }
    if (!value.output_name.empty()) StrAppend(&text, " as ", SigilName('%', value.output_name));
    if (value.elements) StrAppend(&text, " elements(", PrintExprList(*value.elements), ")");
    if (!value.limits.empty()) {
      StrAppend(&text, " limits(",
                StrJoin(value.limits, ", ",
                        [](const auto& limit) {
                          const auto& [axis, dim] = limit;
                          return StrCat(axis, ": ", dim.most, dim.declared ? " declared" : "");
                        }),
                ")");
    }
    return text;
  }

  std::string Declarations(const std::vector<ValueId>& ids) const {
    return StrJoin(ids, ", ", [this](ValueId id) { return Declaration(id); });
  }

  std::string Signature(const Region& region) const {
    return StrCat("(", Declarations(region.inputs), ") -> (", Names(region.outputs), ")");
  }

  void PrintConstant(const Value& value) {
    if (!value.constant) return;
    StrAppend(
        &text_, "  const ", SigilName('%', value.name), ": ",
        PrintTensorType(TensorType(value.constant->dtype(), MakeShape(value.constant->dims()))),
        Details(value), " = ", PrintConstantValue(*value.constant, limit_), "\n");
  }

  void PrintFunction(const Function& function) {
    const Region& region = graph_.regions[function.region];
    StrAppend(&text_, "  function ", SigilName('@', function.name), Signature(region), " {\n");
    PrintNodes(region, "    ");
    text_ += "  }\n";
  }

  void PrintNodes(const Region& region, const std::string& indent) {
    for (NodeId id : region.nodes) PrintNode(graph_.nodes[id], indent);
  }

  void PrintNode(const Node& node, const std::string& indent) {
    StrAppend(&text_, indent, Declarations(node.outputs), " = ", node.op, "(", Names(node.inputs),
              ")");
    if (!node.attributes.empty()) StrAppend(&text_, " ", PrintAttributes(node.attributes, limit_));
    if (node.contract) StrAppend(&text_, " contract(", PrintContract(*node.contract), ")");
    if (!node.locations.empty()) {
      StrAppend(&text_, " loc(", StrJoin(node.locations, ", ", PrintLocation), ")");
    }
    text_ += "\n";
    for (const auto& [name, id] : node.regions) {
      const Region& region = graph_.regions[id];
      StrAppend(&text_, indent, "  region ", name, Signature(region), " {\n");
      PrintNodes(region, indent + "    ");
      StrAppend(&text_, indent, "  }\n");
    }
  }

  const Graph& graph_;
  int limit_;
  std::string text_;
};

}  // namespace

std::string PrintType(const ValueType& type) {
  auto children = [&] { return StrJoin(type.children, ", ", PrintType); };
  switch (type.kind) {
    case ValueKind::kTensor: return PrintTensorType(type);
    case ValueKind::kSequence:
      if (type.max_items == 0) return StrCat("sequence(", children(), ")");
      return StrCat("sequence(", children(), ", ", type.max_items, ")");
    case ValueKind::kOptional: return StrCat("optional(", children(), ")");
    case ValueKind::kMap: return StrCat("map(", children(), ")");
  }
  return "";
}

std::string PrintGraph(const Graph& graph, int constant_limit) {
  return Printer(graph, constant_limit).Run();
}

}  // namespace aotc
