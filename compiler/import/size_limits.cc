#include "compiler/import/size_limits.h"

#include <algorithm>
#include <vector>

#include "compiler/import/onnx_types.h"
#include "compiler/ir/expr_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"

namespace aotc {
namespace {

void AddDeclared(const pb::ValueInfoProto& info, Value& value) {
  int axis = 0;
  for (const auto& dim : info.type().tensor_type().shape().dim()) {
    const DimLimit declared = {.most = NumberOf(dim).value_or(-1), .declared = true};
    if (declared.most >= 0) value.limits.try_emplace(axis, declared);
    ++axis;
  }
}

// Of the main graph, else of any subgraph.
ValueId FindValue(const std::string& name, const Scope& scope, const Graph& graph) {
  const ValueId id = scope.Find(name);
  if (id.valid()) return id;
  for (ValueId other : graph.values.ids()) {
    if (graph.values[other].name == name) return other;
  }
  return {};
}

std::vector<std::string> NamesIn(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId id : graph.values.ids()) names.push_back(DisplayName(graph.values[id].name));
  return names;
}

bool HasValue(const pb::GraphProto& model, const std::string& name) {
  const auto is_named = [&](const auto& value) { return value.name() == name; };
  if (std::ranges::any_of(model.input(), is_named)) return true;
  return std::ranges::any_of(model.node(), [&](const pb::NodeProto& node) {
    return std::ranges::count(node.output(), name) > 0 ||
           std::ranges::any_of(node.attribute(), [&](const pb::AttributeProto& attribute) {
             return attribute.has_g() && HasValue(attribute.g(), name);
           });
  });
}

}  // namespace

void CheckDims(const std::string& place, const ValueType& type, const SymbolTable& symbols,
               Diagnostics& diagnostics) {
  constexpr int64_t kMaxElements = int64_t{1} << 46;
  const Bounds bounds = BoundsOf(symbols.Symbols());
  if (type.dims.size() > kMaxRank) {
    diagnostics.Error({},
                      AOTC_REFUSAL(Unimplemented, StrCat(place, ": its rank is above ", kMaxRank)),
                      "reshape inside the model");
  }
  const std::optional<int64_t> most = MaxElements(type.dims, bounds);
  if (type.ranked && symbols.Unbound().empty() && (!most || *most > kMaxElements)) {
    diagnostics.Error({}, AOTC_REFUSAL(InvalidArgument, StrCat(place, ": its dims overflow")),
                      "pin or bound them with --shape or --dim");
  }
  for (const Expr& dim : type.dims) {
    if (RangeOf(dim, bounds).max >= 0) continue;
    diagnostics.Error(
        {},
        AOTC_REFUSAL(InvalidArgument, StrCat(place, ": its dim ", PrintExpr(dim), " is negative")),
        "give its symbols another range with --dim");
  }
}

void ReadLimits(const pb::GraphProto& model, const ImportOptions& options, const Scope& scope,
                Graph& graph, Diagnostics& diagnostics) {
  for (const BoundOption& option : options.bounds) {
    const ValueId id = FindValue(option.tensor, scope, graph);
    if (id.valid()) {
      graph.values[id].limits[option.axis] = {.most = option.most};
    } else if (!options.partial) {
      diagnostics.Error(
          {},
          AOTC_REFUSAL(InvalidArgument, StrCat("--bound ", DisplayName(option.tensor), ":",
                                               option.axis, ": the model has no such tensor")),
          MeantOr(option.tensor, NamesIn(graph),
                  "give the name of a node's output, as the model has it"));
    }
  }
  for (const auto& [name, most] : options.max_items_of) {
    if (options.partial || HasValue(model, name)) continue;
    diagnostics.Error(
        {},
        AOTC_REFUSAL(InvalidArgument,
                     StrCat("--max-items ", DisplayName(name), ": the model has no such value")),
        MeantOr(name, NamesIn(graph), "give the name of a sequence, as the model has it"));
  }
  for (const auto* infos : {&model.value_info(), &model.output()}) {
    for (const pb::ValueInfoProto& info : *infos) {
      const ValueId id = scope.Find(info.name());
      if (id.valid()) AddDeclared(info, graph.values[id]);
    }
  }
}

}  // namespace aotc
