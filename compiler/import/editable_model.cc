#include "compiler/import/editable_model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/import/model_parts.h"
#include "compiler/import/onnx_import.h"
#include "compiler/import/onnx_model.h"
#include "compiler/import/onnx_tensor.h"
#include "compiler/import/schema_check.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// A part of a model that may be missing.
using Part = std::function<void(pb::ModelProto& model)>;

std::vector<Part> PartsOf(const pb::ModelProto& model) {
  std::vector<Part> parts;
  parts.push_back([](pb::ModelProto& m) {
    m.clear_doc_string();
    m.clear_metadata_props();
    m.clear_producer_name();
    m.clear_producer_version();
    for (pb::NodeProto& node : *m.mutable_graph()->mutable_node()) node.clear_doc_string();
  });
  const pb::GraphProto& graph = model.graph();
  for (int i = 0; graph.output_size() > 1 && i < graph.output_size(); ++i) {
    parts.push_back(
        [i](pb::ModelProto& m) { m.mutable_graph()->mutable_output()->DeleteSubrange(i, 1); });
  }
  for (int n = 0; n < graph.node_size(); ++n) {
    for (int i = 0; i < graph.node(n).attribute_size(); ++i) {
      if (NeedsAttribute(graph.node(n), graph.node(n).attribute(i))) continue;
      parts.push_back([n, i](pb::ModelProto& m) {
        m.mutable_graph()->mutable_node(n)->mutable_attribute()->DeleteSubrange(i, 1);
      });
    }
  }
  return parts;
}

bool IsStub(const pb::GraphProto& graph) {
  return std::ranges::all_of(graph.node(), [](const pb::NodeProto& node) {  //
    return node.op_type() == "Constant";
  });
}

void AddSubgraphEdits(const pb::NodeProto& node, int n, std::vector<Part>& edits) {
  for (int i = 0; i < node.attribute_size(); ++i) {
    if (!node.attribute(i).has_g()) continue;
    if (node.op_type() == "If") {
      edits.push_back([n, branch = node.attribute(i).g()](pb::ModelProto& m) {
        InlineBranch(*m.mutable_graph(), n, branch);
      });
    }
    if (IsStub(node.attribute(i).g())) continue;
    edits.push_back([n, i](pb::ModelProto& m) {
      StubGraph(*m.mutable_graph()->mutable_node(n)->mutable_attribute(i)->mutable_g());
    });
  }
}

std::vector<Part> SubgraphEditsOf(const pb::ModelProto& model) {
  std::vector<Part> edits;
  for (int n = 0; n < model.graph().node_size(); ++n) {
    AddSubgraphEdits(model.graph().node(n), n, edits);
  }
  return edits;
}

void ReplaceDims(pb::ValueInfoProto& info, int64_t from, int64_t to) {
  if (!info.type().tensor_type().has_shape()) return;
  for (auto& dim : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (dim.has_dim_value() && dim.dim_value() == from) dim.set_dim_value(to);
  }
}

// Elements of `constant` whose indices are within `dims`, none of which is larger than before.
Constant LeadingPart(const Constant& constant, const std::vector<int64_t>& dims) {
  const int width = ByteWidth(constant.dtype());
  const Constant dense = constant.Expanded();
  std::vector<uint8_t> bytes;
  std::vector<int64_t> index(dims.size(), 0);
  int64_t left = 1;
  for (int64_t dim : dims) left *= dim;
  bytes.reserve(static_cast<size_t>(left * width));
  for (; left > 0; --left) {
    int64_t at = 0;
    for (size_t i = 0; i < dims.size(); ++i) at = at * constant.dims()[i] + index[i];
    const uint8_t* element = dense.bytes().data() + at * width;
    bytes.insert(bytes.end(), element, element + width);
    for (size_t axis = dims.size(); axis > 0; --axis) {
      if (++index[axis - 1] < dims[axis - 1]) break;
      index[axis - 1] = 0;
    }
  }
  return Constant::Dense(constant.dtype(), dims, std::move(bytes));
}

// Tensors of sizes: the small integer ones of rank 0 or 1.
bool HoldsSizes(const Constant& constant) {
  constexpr int64_t kMost = 16;
  return constant.dtype() == DType::kI64 && constant.dims().size() <= 1 &&
         constant.element_count() <= kMost;
}

void ResizeTensor(pb::TensorProto& tensor, int64_t from, int64_t to) {
  absl::StatusOr<Constant> read = TensorReader("").Read(tensor);
  if (!read.ok() || ByteWidth(read->dtype()) == 0 || read->dtype() == DType::kString) return;
  Constant constant = *std::move(read);
  if (HoldsSizes(constant)) {
    std::vector<uint8_t> bytes;
    bytes.assign(constant.Expanded().bytes().begin(), constant.Expanded().bytes().end());
    for (int64_t i = 0; i < constant.element_count(); ++i) {
      if (constant.IntAt(i) == from) StoreIntElement(DType::kI64, bytes.data(), i, to);
    }
    constant = Constant::Dense(DType::kI64, constant.dims(), std::move(bytes));
  } else {
    std::vector<int64_t> dims = constant.dims();
    std::ranges::replace(dims, from, to);
    if (dims == constant.dims()) return;
    constant = LeadingPart(constant, dims);
  }
  tensor = ProtoOf(tensor.name(), constant);
}

// Constant nodes of the main graph as initializers, which can be cut, shrunk and left out.
void HoistConstants(pb::GraphProto& graph, TensorReader& reader) {
  google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
  for (const pb::NodeProto& node : graph.node()) {
    const bool constant = node.op_type() == "Constant" && CanonicalDomain(node.domain()).empty() &&
                          node.output_size() == 1;
    absl::StatusOr<Constant> value;
    if (constant) {
      value = ConstantOf({node.attribute().begin(), node.attribute().end()}, reader);
    }
    if (value.ok()) {
      *graph.add_initializer() = ProtoOf(node.output(0), *value);
    } else {
      *nodes.Add() = node;
    }
  }
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace

struct EditableModel::Proto {
  pb::ModelProto model;
};

absl::StatusOr<EditableModel> EditableModel::Read(const std::string& path) {
  auto proto = std::make_shared<Proto>();
  AOTC_RETURN_IF_ERROR(ReadModelFile(path, proto->model));
  TensorReader reader(std::filesystem::path(path).parent_path().string());
  absl::Status status;
  ForEachTensor(proto->model, [&](pb::TensorProto& tensor) {
    if (tensor.data_location() != pb::TensorProto::EXTERNAL) return;
    const absl::StatusOr<Constant> constant = reader.Read(tensor);
    if (constant.ok()) {
      tensor = ProtoOf(tensor.name(), *constant);
    } else {
      status = AOTC_REFUSAL(InvalidArgument, StrCat("initializer '", DisplayName(tensor.name()),
                                                    "': ", constant.status().message()));
    }
  });
  AOTC_RETURN_IF_ERROR(status);
  HoistConstants(*proto->model.mutable_graph(), reader);
  return EditableModel(std::move(proto));
}

std::string EditableModel::Bytes() const { return proto_->model.SerializeAsString(); }

int EditableModel::NodeCount() const { return proto_->model.graph().node_size(); }

EditableModel EditableModel::KeepNodes(const std::vector<int>& nodes,
                                       const ValueFacts& facts) const {
  auto proto = std::make_shared<Proto>();
  pb::GraphProto graph = CutGraph(proto_->model.graph(), nodes, facts);
  proto->model = proto_->model;
  proto->model.mutable_graph()->Swap(&graph);
  DropUnusedFunctions(proto->model);
  return EditableModel(std::move(proto));
}

int EditableModel::PartCount() const { return static_cast<int>(PartsOf(proto_->model).size()); }

EditableModel EditableModel::WithoutPart(int part) const {
  auto proto = std::make_shared<Proto>(*proto_);
  PartsOf(proto_->model)[static_cast<size_t>(part)](proto->model);
  return EditableModel(std::move(proto));
}

int EditableModel::SubgraphEditCount() const {
  return static_cast<int>(SubgraphEditsOf(proto_->model).size());
}

EditableModel EditableModel::WithSubgraphEdit(int edit) const {
  auto proto = std::make_shared<Proto>(*proto_);
  SubgraphEditsOf(proto_->model)[static_cast<size_t>(edit)](proto->model);
  return EditableModel(std::move(proto));
}

std::set<int64_t> EditableModel::Sizes() const {
  std::set<int64_t> sizes;
  const pb::GraphProto& graph = proto_->model.graph();
  for (const pb::TensorProto& tensor : graph.initializer()) {
    sizes.insert(tensor.dims().begin(), tensor.dims().end());
  }
  for (const pb::ValueInfoProto& input : graph.input()) {
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (dim.has_dim_value()) sizes.insert(dim.dim_value());
    }
  }
  std::erase_if(sizes, [](int64_t size) { return size <= 1; });
  return sizes;
}

EditableModel EditableModel::WithSize(int64_t from, int64_t to) const {
  auto proto = std::make_shared<Proto>(*proto_);
  pb::GraphProto& graph = *proto->model.mutable_graph();
  for (pb::ValueInfoProto& info : *graph.mutable_input()) ReplaceDims(info, from, to);
  for (pb::ValueInfoProto& info : *graph.mutable_output()) ReplaceDims(info, from, to);
  for (pb::NodeProto& node : *graph.mutable_node()) {
    for (pb::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.i() == from) attribute.set_i(to);
      for (int64_t& item : *attribute.mutable_ints()) item = item == from ? to : item;
    }
  }
  ForEachTensor(proto->model, [&](pb::TensorProto& tensor) { ResizeTensor(tensor, from, to); });
  return EditableModel(std::move(proto));
}

int EditableModel::InitializerCount() const { return proto_->model.graph().initializer_size(); }

std::optional<EditableModel> EditableModel::WithSplat(int initializer) const {
  const pb::TensorProto& tensor = proto_->model.graph().initializer(initializer);
  const absl::StatusOr<Constant> constant = TensorReader("").Read(tensor);
  const bool plain = constant.ok() && constant->dtype() != DType::kString &&
                     ByteWidth(constant->dtype()) > 0 && constant->element_count() > 1;
  if (!plain || constant->UniformElement()) return std::nullopt;
  const auto width = static_cast<ptrdiff_t>(ByteWidth(constant->dtype()));
  const std::vector<uint8_t> first(constant->bytes().begin(), constant->bytes().begin() + width);
  auto proto = std::make_shared<Proto>(*proto_);
  *proto->model.mutable_graph()->mutable_initializer(initializer) =
      ProtoOf(tensor.name(), Constant::SplatBytes(constant->dtype(), constant->dims(), first));
  return EditableModel(std::move(proto));
}

}  // namespace aotc
