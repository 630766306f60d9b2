// Builds a Graph out of a ModelProto. The parts that ImportOnnx puts together.
#ifndef AOTC_COMPILER_IMPORT_GRAPH_IMPORTER_H_
#define AOTC_COMPILER_IMPORT_GRAPH_IMPORTER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/import/bindings.h"
#include "compiler/import/composite.h"
#include "compiler/import/node_order.h"
#include "compiler/import/onnx_functions.h"
#include "compiler/import/onnx_import.h"
#include "compiler/import/onnx_tensor.h"
#include "compiler/import/onnx_types.h"
#include "compiler/import/string_values.h"
#include "compiler/import/symbol_table.h"

namespace aotc {

// The values that names of a graph mean; a nested graph sees those of the enclosing ones, the body
// of a function does not.
class Scope {
 public:
  explicit Scope(const Scope* parent = nullptr) : parent_(parent) {}

  // False where the name is taken in this scope.
  bool Define(const std::string& name, ValueId value) {
    return values_.emplace(name, value).second;
  }
  // Invalid where nothing has that name.
  ValueId Find(const std::string& name) const {
    auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    return parent_ == nullptr ? ValueId() : parent_->Find(name);
  }
  bool Contains(const std::string& name) const { return values_.contains(name); }
  // Here or outside, whether or not there is a value.
  bool Knows(const std::string& name) const {
    return Contains(name) || (parent_ != nullptr && parent_->Knows(name));
  }

 private:
  const Scope* parent_;
  absl::flat_hash_map<std::string, ValueId> values_;
};

using Opsets = std::map<std::string, int>;  // by canonical domain

// A limit that no model meets and that keeps a hostile one from exhausting us.
inline constexpr int kMaxDepth = 64;
absl::Status NestedTooDeeply();

class GraphImporter {
 public:
  GraphImporter(const pb::ModelProto& model, const ImportOptions& options, std::string folder,
                Diagnostics& diagnostics);

  // The graph; meaningless where the diagnostics have got errors other than what `lenient`
  // forgives.
  absl::StatusOr<Graph> Run();
  const SymbolTable& symbols() const { return symbols_; }
  const std::vector<Bundle>& bundles() const { return bundles_; }
  const std::set<std::string>& data_files() const { return tensors_.files(); }

 private:
  // What holds for the nodes of one graph or function body.
  struct Body {
    Scope* scope = nullptr;
    RegionId region = {};
    const Opsets* opsets = nullptr;
    const AttributeScope* attributes = nullptr;
    std::string prefix = {};  // of names, with its slash: where the body is that of a function
    int depth = 0;
    std::vector<const pb::FunctionProto*> calls = {};  // functions being inlined
  };

  Opsets ReadOpsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& imports);
  void ImportMainInputs(Scope& scope);
  // The graph inputs that are no constants.
  std::vector<const pb::ValueInfoProto*> MainInputs();
  std::vector<BoundInput> BoundInputs() const;
  void ImportInitializers(const pb::GraphProto& graph, Scope& scope, const std::string& prefix);
  absl::Status ImportNodes(const NodeList& nodes, const Body& body);
  absl::Status ImportNode(const pb::NodeProto& node, const Body& body);
  absl::Status ImportOp(const pb::NodeProto& node, const Body& body);
  absl::Status ImportConstantNode(const std::vector<pb::AttributeProto>& attributes,
                                  const pb::NodeProto& node, const Body& body);
  absl::Status InlineCall(const pb::FunctionProto& function, const pb::NodeProto& node,
                          const Body& body);
  absl::Status ImportAttribute(const pb::AttributeProto& attribute, const Body& body, Node& node);
  // `node` is the one that has the region, with its inputs.
  absl::StatusOr<RegionId> ImportRegion(const pb::GraphProto& graph, const Body& body,
                                        const Node& node);
  absl::StatusOr<std::vector<ValueId>> ImportOperands(const pb::NodeProto& node, const Body& body);
  // Makes operands of the tensors between which a node differentiates.
  absl::Status AddNamedTensors(const NamedTensors& named, const Body& body, Node& node);
  absl::Status DefineOutputs(const pb::NodeProto& node, const Body& body, Node& result);
  void ImportMainOutputs(Scope& scope);
  // A constant under a name; of strings a handle.
  ValueId AddConstant(std::string_view name, Constant constant);
  // Makes a value an output of the main region that is called so: itself, or a copy where it is
  // `taken`, or no result of a node.
  ValueId AddMainOutput(ValueId value, const std::string& name, std::set<ValueId>& taken);

  // Inputs and outputs of the model that are several of the graph (composite_ports.cc).
  void ImportCompositeInput(const std::string& name, const CompositeInput& input, ValueId handle);
  void TypeMapParts(const std::string& name, const CompositeInput& input,
                    const Composite& composite);
  void ImportStringInput(const std::string& name, const ValueType& type, ValueId handle);
  // An input of the graph in 0 .. most that a run states.
  Expr PartSymbol(const std::string& name, int64_t least, int64_t most);
  absl::Status ImportCompositeOutput(const pb::ValueInfoProto& output, const Composite& composite,
                                     std::set<ValueId>& taken);

  // Of sequences and optionals (composite_import.cc).
  CompositeBuilder BuilderFor(const Node& node, RegionId region);
  // False where the node is one of tensors.
  absl::StatusOr<bool> ImportComposite(const pb::NodeProto& node,
                                       const std::vector<pb::AttributeProto>& attributes,
                                       const Node& result, const Body& body);
  absl::StatusOr<ValueId> AddRegionInput(const pb::ValueInfoProto& input, const std::string& name,
                                         const Node& node, RegionId region);
  // Makes new values the parts of `handle`, and appends them.
  void AddParts(ValueId handle, BundleKind kind, std::vector<ValueId>& into);
  // Replaces handles among what the node and its regions take and give by their parts.
  absl::Status FlattenControl(Node& node, const Body& body);
  absl::Status FlattenIf(Node& node);
  absl::Status FlattenLoop(Node& node, const Body& body);
  std::optional<int64_t> MaxItemsOf(const std::vector<ValueId>& names) const;
  // What a loop carries under one name: its kind, and the most items that the flags give it.
  struct LoopRoom {
    BundleKind kind;
    std::optional<int64_t> most;
  };
  // `value` of a region as the loop carries it.
  absl::StatusOr<Composite> WithLoopRoom(const Node& loop, ValueId value, RegionId region,
                                         const LoopRoom& room);
  absl::Status ImportSequenceMap(const pb::NodeProto& node,
                                 const std::vector<pb::AttributeProto>& attributes, const Node& map,
                                 const Body& body);
  absl::StatusOr<std::vector<ValueId>> ImportMapBody(const pb::GraphProto& graph,
                                                     const std::vector<ValueId>& arguments,
                                                     Body body);
  std::optional<size_t> KnownItems(const std::vector<ValueId>& operands) const;
  absl::Status UnrollMap(const pb::NodeProto& node, const pb::GraphProto& graph, const Node& map,
                         size_t count, const Body& body);
  absl::Status LoopOverItems(const pb::NodeProto& node, const pb::GraphProto& graph,
                             const Node& map, const Body& body);

  Location LocationOf(const pb::NodeProto& node, const Body& body) const;
  absl::StatusOr<int> OpsetOf(const pb::NodeProto& node, const Body& body) const;

  const pb::ModelProto& model_;
  const ImportOptions& options_;
  Diagnostics& diagnostics_;
  Bindings bindings_;
  TensorReader tensors_;
  FunctionTable functions_;
  SymbolTable symbols_;
  Graph graph_;
  std::vector<Bundle> bundles_;
  CompositeTable composites_;
  std::map<RegionId, std::vector<ValueId>> region_inputs_;  // as the model has them
  int64_t node_count_ = 0;
};

// The value of a Constant node. Error: no value, or more than one.
absl::StatusOr<Constant> ConstantOf(const std::vector<pb::AttributeProto>& attributes,
                                    TensorReader& tensors);
// One attribute that is no graph. Error: a kind that nothing supports.
absl::StatusOr<AttributeValue> AttributeOf(const pb::AttributeProto& attribute,
                                           TensorReader& tensors);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_GRAPH_IMPORTER_H_
