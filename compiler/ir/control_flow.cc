#include "compiler/ir/control_flow.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_split.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kThen = "then_branch";
constexpr const char* kElse = "else_branch";
constexpr const char* kBody = "body";

bool IsScalar(const ValueType& type, DType dtype) {
  return type.kind == ValueKind::kTensor && type.dtype == dtype && type.ranked && type.dims.empty();
}

bool Has(const std::vector<ValueId>& values, size_t index) {
  return index < values.size() && values[index].valid();
}

const Region* FindRegion(const Graph& graph, const Node& node, const char* name) {
  auto found = node.regions.find(name);
  return found == node.regions.end() ? nullptr : &graph.regions[found->second];
}

// The checks of one node; an empty list of problems where it is as it should be.
class Checker {
 public:
  Checker(const Graph& graph, const Node& node, bool typed)
      : graph_(graph), node_(node), typed_(typed) {}

  std::vector<std::string> Run() && {
    if (IsIf(node_)) CheckIf();
    if (IsRepeat(node_)) CheckRepeat();
    return std::move(problems_);
  }

 private:
  const ValueType& TypeOf(ValueId id) const { return graph_.values[id].type; }

  void Fail(std::string problem) { problems_.push_back(std::move(problem)); }

  void NeedScalar(ValueId id, DType dtype, std::string_view what) {
    if (!typed_ || IsScalar(TypeOf(id), dtype)) return;
    Fail(StrCat(what, " is ", PrintType(TypeOf(id)), ", not ", DTypeName(dtype), "[]"));
  }

  // `sizes`: symbols that a dim of `b` may be whatever that of `a` is.
  void NeedSame(ValueId a, ValueType b, std::string_view what,
                const std::vector<std::string>& sizes = {}) {
    const Shape& dims = TypeOf(a).dims;
    for (size_t axis = 0; axis < std::min(dims.size(), b.dims.size()); ++axis) {
      if (IsListed(b.dims[axis], sizes)) b.dims[axis] = dims[axis];
    }
    if (!typed_ || SameType(TypeOf(a), b)) return;
    Fail(StrCat(what, " '", graph_.values[a].name, "' is ", PrintType(TypeOf(a)), ", not ",
                PrintType(b)));
  }

  void CheckIf() {
    if (node_.inputs.size() != 1 || !Has(node_.inputs, 0)) return Fail("takes one condition");
    NeedScalar(node_.inputs[0], DType::kBool, "its condition");
    for (const char* name : {kThen, kElse}) {
      const Region* branch = FindRegion(graph_, node_, name);
      if (branch == nullptr || node_.regions.size() != 2) return Fail("needs two branches");
      if (!branch->inputs.empty() || branch->outputs.size() != node_.outputs.size()) {
        Fail(StrCat("its ", name, " has inputs, or other outputs than the node"));
        continue;
      }
      for (size_t i = 0; i < node_.outputs.size(); ++i) {
        if (!Has(node_.outputs, i)) continue;
        NeedSame(branch->outputs[i], TypeOf(node_.outputs[i]), name, VariablesIn(node_, kSizes));
      }
    }
  }

  void CheckRepeat() {
    const bool has_trip = Has(node_.inputs, RepeatForm::kTrip);
    const bool has_cond = Has(node_.inputs, RepeatForm::kCond);
    if (!has_trip && !has_cond) return Fail("has neither a count nor a condition");
    if (has_trip) NeedScalar(node_.inputs[RepeatForm::kTrip], DType::kI64, "its count");
    if (has_cond) NeedScalar(node_.inputs[RepeatForm::kCond], DType::kBool, "its condition");
    const Region* body = FindRegion(graph_, node_, kBody);
    if (body == nullptr || node_.regions.size() != 1) return Fail("needs one body");
    const RepeatForm form = {.carried = body->inputs.size(), .first_next = has_cond ? 1U : 0U};
    if (node_.inputs.size() != RepeatForm::kFirstCarried + form.carried ||
        body->outputs.size() != form.first_next + node_.outputs.size() ||
        node_.outputs.size() < form.carried) {
      return Fail("its values are not those of its body");
    }
    if (has_cond) NeedScalar(body->outputs[0], DType::kBool, "its next condition");
    if (typed_ && !has_trip && node_.outputs.size() > form.carried) {
      Fail("stacks values without a count");
    }
    CheckCarried(*body, form);
    CheckStacked(*body, form);
  }

  void CheckCarried(const Region& body, const RepeatForm& form) {
    const std::vector<std::string> inside = VariablesIn(node_, kRoundSizes);
    for (size_t k = 0; k < form.carried; ++k) {
      const ValueId initial = node_.inputs[RepeatForm::kFirstCarried + k];
      if (!initial.valid()) {
        Fail("a carried value has no beginning");
        continue;
      }
      const ValueType& type = TypeOf(body.inputs[k]);
      const ValueId next = body.outputs[form.first_next + k];
      NeedSame(initial, type, "the first", inside);
      NeedSame(next, type, "the next", inside);
      if (!Has(node_.outputs, k)) continue;
      NeedSame(next, TypeOf(node_.outputs[k]), "the last", VariablesIn(node_, kSizes));
    }
  }

  void CheckStacked(const Region& body, const RepeatForm& form) {
    for (size_t k = form.carried; k < node_.outputs.size(); ++k) {
      if (!Has(node_.outputs, k)) continue;
      ValueType item = TypeOf(node_.outputs[k]);
      if (typed_ && item.dims.empty()) Fail("stacks scalars into a scalar");
      if (!item.dims.empty()) item.dims.erase(item.dims.begin());
      NeedSame(body.outputs[form.first_next + k], item, "what it stacks,");
    }
  }

  const Graph& graph_;
  const Node& node_;
  const bool typed_;
  std::vector<std::string> problems_;
};

bool IsNeeded(ValueId id, const IdVector<ValueId, char>& needed) {
  return id.valid() && needed[id] != 0;
}

LivePorts PortsOfRepeat(const Graph& graph, const Node& node,
                        const IdVector<ValueId, char>& needed) {
  const RepeatForm form = FormOf(graph, node);
  const Region& body = graph.regions[node.regions.at(kBody)];
  LivePorts live = {.node_inputs = std::vector<char>(node.inputs.size(), 1),
                    .node_outputs = std::vector<char>(node.outputs.size(), 1),
                    .region_inputs = std::vector<char>(body.inputs.size(), 1),
                    .region_outputs = std::vector<char>(body.outputs.size(), 1)};
  const bool counts = node.attributes.Has("counter");  // inference will ask for it
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const bool read = (counts && k == 0) || IsNeeded(node.outputs[k], needed) ||
                      (k < form.carried && IsNeeded(body.inputs[k], needed));
    if (read) continue;
    live.node_outputs[k] = live.region_outputs[form.first_next + k] = 0;
    if (k >= form.carried) continue;
    live.node_inputs[RepeatForm::kFirstCarried + k] = live.region_inputs[k] = 0;
  }
  return live;
}

}  // namespace

bool IsIf(const Node& node) { return node.op == "If"; }

bool IsRepeat(const Node& node) { return node.op == "Repeat"; }

bool DefinesSizes(const Node& node) { return node.op == kDefineSizes; }

std::vector<std::string> VariablesIn(const Node& node, const char* attribute) {
  if (!node.attributes.Has(attribute)) return {};
  return absl::StrSplit(node.attributes.String(attribute), ' ', absl::SkipEmpty());
}

void AddVariable(Node& node, const char* attribute, std::string_view var) {
  std::vector<std::string> vars = VariablesIn(node, attribute);
  if (std::ranges::count(vars, var) > 0) return;
  vars.emplace_back(var);
  node.attributes.Set(attribute, StrJoin(vars, " "));
}

bool IsListed(const Expr& dim, const std::vector<std::string>& vars) {
  return dim.IsVar() && std::ranges::count(vars, dim->name) > 0;
}

bool GivesSizes(const Node& node) { return DefinesSizes(node) || node.attributes.Has(kSizes); }

SizeEdge EdgeTo(const Graph& graph, const std::vector<std::string>& vars,
                const std::vector<ValueId>& to, const std::vector<ValueId>& from) {
  SizeEdge edge;
  std::set<std::string> done;
  for (size_t i = 0; i < to.size(); ++i) {
    if (!to[i].valid()) continue;
    const Shape &dims = graph.values[to[i]].type.dims, &given = graph.values[from[i]].type.dims;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (!IsListed(dims[axis], vars) || !done.insert(dims[axis]->name).second) continue;
      edge.elements.push_back(dims[axis]);
      edge.values.push_back(given[axis]);
    }
  }
  return edge;
}

SizeEdge EdgeToRound(const Graph& graph, const Node& repeat, const std::vector<ValueId>& from) {
  const std::vector<ValueId>& inside = graph.regions[repeat.regions.at(kBody)].inputs;
  const auto behind = repeat.outputs.begin() + static_cast<std::ptrdiff_t>(inside.size());
  SizeEdge edge = EdgeTo(graph, VariablesIn(repeat, kRoundSizes), inside, from);
  const SizeEdge last =
      EdgeTo(graph, VariablesIn(repeat, kSizes), {repeat.outputs.begin(), behind}, from);
  edge.elements.insert(edge.elements.end(), last.elements.begin(), last.elements.end());
  edge.values.insert(edge.values.end(), last.values.begin(), last.values.end());
  return edge;
}

bool AddCheckOver(std::vector<Symbol>& symbols, const SizeCheck& check) {
  const std::set<std::string> vars = FreeVars(check.holds);
  for (size_t i = symbols.size(); i-- > 0;) {
    if (!vars.contains(symbols[i].var)) continue;
    symbols[i].checks.push_back(check);
    return true;
  }
  return false;
}

std::vector<Symbol> SymbolsAt(const Graph& graph, const Node& node) {
  std::vector<Symbol> symbols = graph.symbols;
  const std::vector<std::string> given = VariablesIn(node, kGiven);
  std::vector<SizeCheck> checked;
  for (Symbol& symbol : symbols) {
    if (!symbol.computed || !symbol.value.valid()) continue;
    const bool is_given = std::ranges::count(given, symbol.var) > 0;
    if (is_given) {
      checked.insert(checked.end(), symbol.checks.begin(), symbol.checks.end());
      checked.push_back({.holds = Le(Var(symbol.var), symbol.value)});
    }
    if (!is_given) symbol.value = {};
    symbol.checks.clear();
  }
  for (const SizeCheck& check : checked) AddCheckOver(symbols, check);
  return symbols;
}

RepeatForm FormOf(const Graph& graph, const Node& repeat) {
  const Region& body = graph.regions[repeat.regions.at(kBody)];
  RepeatForm form;
  form.carried = body.inputs.size();
  form.stacked = repeat.outputs.size() - form.carried;
  form.first_next = body.outputs.size() - repeat.outputs.size();
  return form;
}

Expr TripOf(const Graph& graph, const Node& repeat) {
  const ValueId trip = repeat.inputs[RepeatForm::kTrip];
  if (!trip.valid()) return {};
  const Value& value = graph.values[trip];
  if (value.constant) return Expr(value.constant->IntAt(0));
  // What is stacked has as many elements as the symbol says that stands for them.
  const Expr trip_count = value.elements->front();
  const std::vector<Symbol> symbols = SymbolsAt(graph, repeat);
  const Expr rounds = NamedSize(Simplify(Max(trip_count, 0), BoundsOf(symbols)), symbols);
  return rounds.IsVar() ? rounds : trip_count;
}

LivePorts LivePortsOf(const Graph& graph, const Node& node, const IdVector<ValueId, char>& needed) {
  if (IsRepeat(node)) return PortsOfRepeat(graph, node, needed);
  LivePorts live = {.node_inputs = std::vector<char>(node.inputs.size(), 1)};
  for (ValueId output : node.outputs) live.node_outputs.push_back(IsNeeded(output, needed) ? 1 : 0);
  live.region_outputs = live.node_outputs;
  return live;
}

std::vector<std::string> ControlFlowProblems(const Graph& graph, const Node& node, bool typed) {
  return Checker(graph, node, typed).Run();
}

}  // namespace aotc
