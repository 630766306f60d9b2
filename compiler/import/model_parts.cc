#include "compiler/import/model_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "compiler/import/node_order.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using TensorVisit = std::function<void(pb::TensorProto&)>;

void VisitGraph(pb::GraphProto& graph, const TensorVisit& visit);

void VisitNode(pb::NodeProto& node, const TensorVisit& visit) {
  for (pb::AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_t()) visit(*attribute.mutable_t());
    for (pb::TensorProto& tensor : *attribute.mutable_tensors()) visit(tensor);
    if (attribute.has_g()) VisitGraph(*attribute.mutable_g(), visit);
    for (pb::GraphProto& graph : *attribute.mutable_graphs()) VisitGraph(graph, visit);
  }
}

void VisitGraph(pb::GraphProto& graph, const TensorVisit& visit) {
  for (pb::TensorProto& tensor : *graph.mutable_initializer()) visit(tensor);
  for (pb::NodeProto& node : *graph.mutable_node()) VisitNode(node, visit);
}

pb::ValueInfoProto InfoOf(const std::string& name, const ValueFact& fact) {
  pb::ValueInfoProto info;
  info.set_name(name);
  pb::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int>(fact.dtype));
  if (!fact.dims) {
    type.mutable_shape()->add_dim();  // a valid model states a rank
    return info;
  }
  type.mutable_shape();
  for (const std::string& dim : *fact.dims) {
    int64_t number = 0;
    pb::TensorShapeProto::Dimension& added = *type.mutable_shape()->add_dim();
    if (absl::SimpleAtoi(dim, &number)) {
      added.set_dim_value(number);
    } else {
      added.set_dim_param(dim);
    }
  }
  return info;
}

// Builds the graph around the nodes that stay.
class Cutter {
 public:
  Cutter(const pb::GraphProto& graph, const ValueFacts& facts) : old_(graph), facts_(facts) {
    for (const auto& info : graph.value_info()) infos_.emplace(info.name(), &info);
    for (const auto& info : graph.output()) infos_.emplace(info.name(), &info);
    for (const auto& tensor : graph.initializer()) tensors_.emplace(tensor.name(), &tensor);
    for (const auto& info : graph.input()) inputs_.emplace(info.name(), &info);
  }

  pb::GraphProto Run(const std::vector<int>& nodes) {
    result_.set_name(old_.name());
    for (int index : nodes) *result_.add_node() = old_.node(index);
    for (const pb::NodeProto& node : result_.node()) {
      made_.insert(node.output().begin(), node.output().end());
      read_.merge(ReadsOf(node));
    }
    AddSources();
    AddOutputs();
    return std::move(result_);
  }

 private:
  // In the order of the old graph, then what was between nodes.
  void AddSources() {
    std::set<std::string> needed;
    for (const std::string& name : read_) {
      if (!made_.contains(name)) needed.insert(name);
    }
    for (const auto& output : old_.output()) {
      const bool passed_on = tensors_.contains(output.name()) || inputs_.contains(output.name());
      if (passed_on) needed.insert(output.name());
    }
    for (const auto& info : old_.input()) {
      if (needed.contains(info.name())) *result_.add_input() = info;
    }
    for (const auto& tensor : old_.initializer()) {
      if (needed.contains(tensor.name())) *result_.add_initializer() = tensor;
    }
    for (const std::string& name : needed) {
      if (!inputs_.contains(name) && !tensors_.contains(name)) AddCut(name);
    }
  }

  void AddCut(const std::string& name) {
    constexpr int64_t kMostElements = 1024;
    const auto fact = facts_.find(name);
    const bool known = fact != facts_.end() && fact->second.constant;
    if (known && fact->second.constant->element_count() <= kMostElements) {
      *result_.add_initializer() = ProtoOf(name, *fact->second.constant);
    } else {
      *result_.add_input() = Info(name);
    }
  }

  // Some float tensor where nothing is known.
  pb::ValueInfoProto Info(const std::string& name) const {
    const auto fact = facts_.find(name);
    if (fact != facts_.end()) return InfoOf(name, fact->second);
    const auto info = infos_.find(name);
    return info != infos_.end() && info->second->has_type() ? *info->second : InfoOf(name, {});
  }

  void AddOutputs() {
    std::set<std::string> listed;
    for (const auto& info : old_.output()) {
      const bool here = made_.contains(info.name()) || tensors_.contains(info.name()) ||
                        inputs_.contains(info.name());
      if (here && listed.insert(info.name()).second) *result_.add_output() = info;
    }
    std::set<std::string> read_before;
    for (const pb::NodeProto& node : old_.node()) read_before.merge(ReadsOf(node));
    for (const pb::NodeProto& node : result_.node()) {
      for (const std::string& name : node.output()) {
        const bool cut = read_before.contains(name) && !read_.contains(name);
        if (cut && listed.insert(name).second) *result_.add_output() = Info(name);
      }
    }
  }

  const pb::GraphProto& old_;
  const ValueFacts& facts_;
  std::map<std::string, const pb::ValueInfoProto*> infos_, inputs_;
  std::map<std::string, const pb::TensorProto*> tensors_;
  pb::GraphProto result_;
  std::set<std::string> made_, read_;
};

DType DTypeOf(const pb::TypeProto::Tensor& type) { return static_cast<DType>(type.elem_type()); }

using Callees = std::set<std::pair<std::string, std::string>>;  // domain and name

void CollectCalls(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, Callees& calls) {
  for (const pb::NodeProto& node : nodes) {
    calls.emplace(CanonicalDomain(node.domain()), node.op_type());
    for (const pb::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectCalls(attribute.g().node(), calls);
    }
  }
}

}  // namespace

pb::TensorProto ProtoOf(const std::string& name, const Constant& constant) {
  pb::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int>(constant.dtype()));
  for (int64_t dim : constant.dims()) tensor.add_dims(dim);
  if (constant.dtype() == DType::kString) {
    for (const std::string& text : constant.strings()) tensor.add_string_data(text);
    return tensor;
  }
  const Constant dense = constant.Expanded();
  tensor.set_raw_data(dense.bytes().data(), dense.bytes().size());
  return tensor;
}

void ForEachTensor(pb::ModelProto& model, const TensorVisit& visit) {
  VisitGraph(*model.mutable_graph(), visit);
  for (pb::FunctionProto& function : *model.mutable_functions()) {
    for (pb::NodeProto& node : *function.mutable_node()) VisitNode(node, visit);
  }
}

pb::GraphProto CutGraph(const pb::GraphProto& graph, const std::vector<int>& nodes,
                        const ValueFacts& facts) {
  return Cutter(graph, facts).Run(nodes);
}

void InlineBranch(pb::GraphProto& graph, int node, const pb::GraphProto& branch) {
  google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (i != node) {
      *nodes.Add() = graph.node(i);
      continue;
    }
    for (const pb::NodeProto& inner : branch.node()) *nodes.Add() = inner;
    for (int k = 0; k < std::min(branch.output_size(), graph.node(i).output_size()); ++k) {
      pb::NodeProto& copy = *nodes.Add();
      copy.set_op_type("Identity");
      copy.add_input(branch.output(k).name());
      copy.add_output(graph.node(i).output(k));
    }
  }
  for (const pb::TensorProto& tensor : branch.initializer()) *graph.add_initializer() = tensor;
  graph.mutable_node()->Swap(&nodes);
}

void StubGraph(pb::GraphProto& graph) {
  graph.clear_node();
  graph.clear_initializer();
  graph.clear_value_info();
  for (const pb::ValueInfoProto& output : graph.output()) {
    const pb::TypeProto::Tensor& type = output.type().tensor_type();
    const bool known = IsKnownDType(type.elem_type()) && ByteWidth(DTypeOf(type)) > 0 &&
                       DTypeOf(type) != DType::kString;
    const std::vector<int64_t> dims(static_cast<size_t>(type.shape().dim_size()), 1);
    pb::NodeProto& node = *graph.add_node();
    node.set_op_type("Constant");
    node.add_output(output.name());
    pb::AttributeProto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(pb::AttributeProto::TENSOR);
    *value.mutable_t() = ProtoOf("", Constant::Splat(known ? DTypeOf(type) : DType::kF32, dims, 0));
  }
}

void DropUnusedFunctions(pb::ModelProto& model) {
  Callees calls;
  CollectCalls(model.graph().node(), calls);
  for (size_t before = 0; before != calls.size();) {
    before = calls.size();
    for (const pb::FunctionProto& function : model.functions()) {
      const bool called = calls.contains({CanonicalDomain(function.domain()), function.name()});
      if (called) CollectCalls(function.node(), calls);
    }
  }
  google::protobuf::RepeatedPtrField<pb::FunctionProto> used;
  for (const pb::FunctionProto& function : model.functions()) {
    const bool called = calls.contains({CanonicalDomain(function.domain()), function.name()});
    if (called) *used.Add() = function;
  }
  model.mutable_functions()->Swap(&used);
}

}  // namespace aotc
