// The parts of GraphImporter that know of the model's inputs and outputs; those that are several of
// the graph lie in composite_ports.cc.
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/import/string_values.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"

namespace aotc {

std::vector<const pb::ValueInfoProto*> GraphImporter::MainInputs() {
  std::set<std::string> constants, kept(options_.keep_inputs.begin(), options_.keep_inputs.end());
  for (const pb::TensorProto& tensor : model_.graph().initializer())
    constants.insert(tensor.name());
  for (const pb::SparseTensorProto& tensor : model_.graph().sparse_initializer())
    constants.insert(tensor.values().name());
  for (const auto& [name, value] : bindings_.values()) constants.insert(name);
  std::vector<const pb::ValueInfoProto*> inputs;
  std::vector<std::string> names;
  for (const pb::ValueInfoProto& input : model_.graph().input()) {
    names.push_back(DisplayName(input.name()));
    bool is_kept = kept.erase(input.name()) > 0;
    if (is_kept || !constants.contains(input.name())) inputs.push_back(&input);
  }
  for (const std::string& name : kept) {
    if (options_.partial) break;
    diagnostics_.Error({},
                       AOTC_REFUSAL(InvalidArgument, StrCat("--keep-input ", DisplayName(name),
                                                            ": no such graph input")),
                       MeantOrListed(name, names, "inputs"));
  }
  return inputs;
}

std::vector<BoundInput> GraphImporter::BoundInputs() const {
  std::vector<BoundInput> bound;
  for (const pb::ValueInfoProto& input : model_.graph().input()) {
    const Constant* value = bindings_.Find(input.name());
    if (value != nullptr) bound.push_back({&input, value->dims()});
  }
  return bound;
}

void GraphImporter::ImportMainInputs(Scope& scope) {
  const std::vector<const pb::ValueInfoProto*> inputs = MainInputs();
  std::vector<InputValue> values =
      ImportInputValues({inputs, BoundInputs()}, options_, symbols_, diagnostics_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    ValueId id = graph_.AddValue(DisplayName(inputs[i]->name()), values[i].type);
    if (values[i].composite) {
      ImportCompositeInput(inputs[i]->name(), *values[i].composite, id);
    } else if (IsStringTensor(values[i].type)) {
      ImportStringInput(inputs[i]->name(), values[i].type, id);
    } else {
      graph_.values[id].elements = std::move(values[i].elements);
      graph_.main_region().inputs.push_back(id);
    }
    if (inputs[i]->name().empty() || !scope.Define(inputs[i]->name(), id)) {
      diagnostics_.Error(
          {}, AOTC_REFUSAL(InvalidArgument, StrCat("input '", DisplayName(inputs[i]->name()),
                                                   "' of the graph has no name of its own")));
    }
  }
  for (const auto& [name, value] : bindings_.values()) {
    scope.Define(name, AddConstant(DisplayName(name), value));
  }
  graph_.symbols = symbols_.Symbols();
}

ValueId GraphImporter::AddMainOutput(ValueId id, const std::string& name,
                                     std::set<ValueId>& taken) {
  if (!graph_.values[id].constant && taken.insert(id).second) {
    graph_.ClaimName(id, name);  // the result of a function is called as the function calls it
    graph_.main_region().outputs.push_back(id);
    return id;
  }
  if (graph_.values[id].constant && graph_.values[id].name == name) {
    graph_.Rename(id, name + "_value");
  }
  const ValueId copy = graph_.AddValue(name, graph_.values[id].type);
  if (graph_.values[copy].name != name) graph_.values[copy].output_name = name;
  graph_.AddNode(graph_.main, {.op = "Identity",
                               .inputs = {id},
                               .outputs = {copy},
                               .locations = {{.node = name, .op = "Identity"}}});
  graph_.main_region().outputs.push_back(copy);
  return copy;
}

void GraphImporter::ImportMainOutputs(Scope& scope) {
  if (model_.graph().output_size() == 0) {
    diagnostics_.Error({}, AOTC_REFUSAL(InvalidArgument, "the graph has no outputs"));
  }
  const std::vector<ValueId>& inputs = graph_.main_region().inputs;
  std::set<ValueId> taken(inputs.begin(), inputs.end());
  for (const pb::ValueInfoProto& output : model_.graph().output()) {
    std::string name = DisplayName(output.name());
    ValueId id = scope.Find(output.name());
    if (!id.valid()) {
      diagnostics_.Error(
          {}, AOTC_REFUSAL(InvalidArgument,
                           StrCat("output '", name, "' of the graph is not defined anywhere")));
    } else if (const Composite* composite = composites_.Find(id)) {
      const absl::Status status = ImportCompositeOutput(output, *composite, taken);
      if (!status.ok()) diagnostics_.Error({}, About(StrCat("output '", name, "'"), status));
    } else if (AddMainOutput(id, name, taken) == id) {
      graph_.values[id].type = DeclaredType(output, symbols_);
    }
  }
}

}  // namespace aotc
