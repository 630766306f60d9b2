#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, bool need_types)
      : graph_(graph), need_types_(need_types), visible_(graph.values.size(), 0) {}

  absl::Status Run() {
    CheckSymbols();
    unknown_ = LateSymbols(graph_.symbols);
    CheckNames();
    for (ValueId id : graph_.values.ids()) {
      if (graph_.values[id].constant) CheckConstant(id);
    }
    if (graph_.regions.Contains(graph_.main)) {
      CheckRegion(graph_.main);
    } else {
      Fail("the main region does not exist");
    }
    need_types_ = false;  // a function is generic until its calls are inlined
    for (const Function& function : graph_.functions) CheckFunction(function);
    if (problems_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(StrJoin(problems_, "\n"));
  }

 private:
  void Fail(std::string problem) { problems_.push_back(std::move(problem)); }

  std::string Name(ValueId id) const { return StrCat("value '", graph_.values[id].name, "'"); }

  void CheckSymbols() {
    for (const Symbol& symbol : graph_.symbols) {
      if (!vars_.insert(symbol.var).second) Fail(StrCat("symbol '", symbol.var, "' exists twice"));
      if (symbol.min > symbol.max || symbol.step < 1) {
        Fail(StrCat("symbol '", symbol.var, "' has no values"));
      }
      if (symbol.value.valid()) CheckOver(symbol.value, "value", symbol);
      for (const SizeCheck& check : symbol.checks) CheckOver(check.holds, "check", symbol);
    }
  }

  // What a symbol comes from is known when it is worked out.
  void CheckOver(const Expr& e, std::string_view what, const Symbol& symbol) {
    for (const std::string& var : FreeVars(e)) {
      const bool is_own = var == symbol.var && what == "value";
      if (vars_.contains(var) && !is_own) continue;
      Fail(StrCat("the ", what, " of symbol '", symbol.var, "' names '", var, "'"));
    }
  }

  void CheckNames() {
    std::set<std::string_view> names;
    for (const Value& value : graph_.values) {
      if (value.name.empty()) Fail("a value has no name");
      if (!names.insert(value.name).second) {
        Fail(StrCat("two values are called '", value.name, "'"));
      }
    }
  }

  void CheckConstant(ValueId id) {
    const Value& value = graph_.values[id];
    visible_[id] = 1;
    bool matches = value.type.kind == ValueKind::kTensor &&
                   value.type.dtype == value.constant->dtype() && value.type.ranked &&
                   StaticDims(value.type.dims) == value.constant->dims();
    if (!matches) Fail(StrCat(Name(id), ": its type is not that of its constant"));
  }

  void CheckFunction(const Function& function) {
    if (!graph_.regions.Contains(function.region)) {
      return Fail(StrCat("function '", function.name, "' has no region"));
    }
    CheckRegion(function.region);
  }

  // Values that become visible in a region are hidden again at its end: `visible_` is a stack of
  // scopes.
  // `known`: symbols that its inputs name.
  void CheckRegion(RegionId id, const std::vector<std::string>& known = {}) {
    if (!entered_.insert(id).second) return Fail("a region is used twice");
    const Region& region = graph_.regions[id];
    std::vector<ValueId> scope;
    const std::set<std::string> unknown_outside = unknown_;
    for (const std::string& var : known) unknown_.erase(var);
    if (!known.empty()) LearnWhatFollows();
    for (ValueId input : region.inputs) Define(input, "an input", scope);
    for (NodeId node : region.nodes) {
      if (!graph_.nodes.Contains(node)) {
        Fail("a region lists a node that does not exist");
      } else if (!listed_.insert(node).second) {
        Fail(StrCat(NodeName(graph_.nodes[node]), ": is listed twice"));
      } else {
        CheckNode(graph_.nodes[node], scope);
      }
    }
    for (ValueId output : region.outputs) Use(output, "a region's output");
    if (need_types_ && id != graph_.main) CheckOwnOutputs(region);
    for (ValueId value : scope) visible_[value] = 0;
    unknown_ = unknown_outside;
  }

  // Outputs of branches and bodies (control_flow.h).
  void CheckOwnOutputs(const Region& region) {
    std::set<ValueId> own;
    for (NodeId node : region.nodes) {
      if (!graph_.nodes.Contains(node)) continue;
      own.insert(graph_.nodes[node].outputs.begin(), graph_.nodes[node].outputs.end());
    }
    for (ValueId output : region.outputs) {
      if (own.erase(output) > 0 || !graph_.values.Contains(output)) continue;
      Fail(StrCat("a region's output: ", Name(output), " is that of no node in it, or another's"));
    }
  }

  static std::string NodeName(const Node& node) {
    return node.locations.empty() ? StrCat("a ", node.op, " node") : Describe(node.locations[0]);
  }

  void CheckNode(const Node& node, std::vector<ValueId>& scope) {
    std::string place = NodeName(node);
    for (ValueId input : node.inputs) {
      if (input.valid()) Use(input, place);
    }
    for (const auto& [name, region] : node.regions) {
      if (graph_.regions.Contains(region)) {
        CheckRegion(region, VariablesIn(node, kRoundSizes));
      } else {
        Fail(StrCat(place, ": region '", name, "' does not exist"));
      }
    }
    if (DefinesSizes(node)) LearnSizes(node, place);
    for (const std::string& var : VariablesIn(node, kSizes)) unknown_.erase(var);
    if (GivesSizes(node)) LearnWhatFollows();
    for (ValueId output : node.outputs) {
      if (output.valid()) Define(output, place, scope);
    }
    if (!problems_.empty()) return;
    for (const std::string& problem : ControlFlowProblems(graph_, node, need_types_)) {
      Fail(StrCat(place, ": ", problem));
    }
  }

  // The symbols that the run knows behind the node.
  void LearnSizes(const Node& node, const std::string& place) {
    const bool has_result = node.outputs.size() == 1 && graph_.values.Contains(node.outputs[0]) &&
                            graph_.values[node.outputs[0]].elements;
    if (!has_result || node.inputs.size() > 1) return Fail(StrCat(place, ": names no elements"));
    for (const Expr& element : *graph_.values[node.outputs[0]].elements) {
      for (const std::string& var : FreeVars(element)) unknown_.erase(var);
      const Symbol* symbol = element.IsVar() ? FindSymbol(graph_.symbols, element->name) : nullptr;
      const bool has_value = symbol != nullptr && symbol->value.valid();
      if (node.inputs.empty() && !has_value) Fail(StrCat(place, ": its sizes have no value"));
    }
  }

  void LearnWhatFollows() {
    for (const Symbol& symbol : graph_.symbols) {
      const bool follows = symbol.value.valid() && !symbol.computed;
      if (follows && !NamesAny(symbol.value, unknown_)) unknown_.erase(symbol.var);
    }
  }

  void Use(ValueId id, const std::string& place) {
    if (!graph_.values.Contains(id)) return Fail(StrCat(place, ": reads a value without id"));
    if (visible_[id] == 0) Fail(StrCat(place, ": reads ", Name(id), " before its definition"));
  }

  void Define(ValueId id, const std::string& place, std::vector<ValueId>& scope) {
    if (!graph_.values.Contains(id)) return Fail(StrCat(place, ": defines a value without id"));
    if (!defined_.insert(id).second || graph_.values[id].constant) {
      return Fail(StrCat(place, ": defines ", Name(id), " a second time"));
    }
    visible_[id] = 1;
    scope.push_back(id);
    CheckType(id, graph_.values[id].type);
    if (!graph_.values[id].elements) return;
    for (const Expr& element : *graph_.values[id].elements) {
      if (NamesAny(element, unknown_)) Fail(StrCat(Name(id), ": an element is not known yet"));
    }
  }

  void CheckType(ValueId id, const ValueType& type) {
    if (need_types_ && !IsKnownType(type)) {
      Fail(StrCat(Name(id), ": its type is not known: ", PrintType(type)));
    }
    for (const Expr& dim : type.dims) {
      if (!dim.valid() || dim.dtype() != DType::kI64) {
        Fail(StrCat(Name(id), ": a dim is no integer expression"));
        continue;
      }
      for (const std::string& var : FreeVars(dim)) {
        if (!vars_.contains(var)) Fail(StrCat(Name(id), ": unknown symbol '", var, "'"));
      }
      if (NamesAny(dim, unknown_)) Fail(StrCat(Name(id), ": a dim is not known yet"));
    }
    for (const ValueType& child : type.children) CheckType(id, child);
  }

  const Graph& graph_;
  bool need_types_;
  IdVector<ValueId, char> visible_;
  std::set<ValueId> defined_;
  std::set<RegionId> entered_;
  std::set<NodeId> listed_;
  std::set<std::string> vars_;
  std::set<std::string> unknown_;  // symbols that no node so far defines
  std::vector<std::string> problems_;
};

}  // namespace

absl::Status VerifyStructure(const Graph& graph) { return Verifier(graph, false).Run(); }

absl::Status VerifyGraph(const Graph& graph) { return Verifier(graph, true).Run(); }

}  // namespace aotc
