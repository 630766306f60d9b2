#include "tests/conformance/node_model.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/conformance/tensor_file.h"

namespace aotc {
namespace {

absl::StatusOr<onnx::ModelProto> ReadModel(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  onnx::ModelProto model;
  if (!stream || !model.ParseFromIstream(&stream)) return absl::NotFoundError("no model");
  return model;
}

absl::StatusOr<AttributeValue> ReadAttribute(const onnx::AttributeProto& proto) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT: return AttributeValue(proto.i());
    case onnx::AttributeProto::FLOAT: return AttributeValue(proto.f());
    case onnx::AttributeProto::STRING: return AttributeValue(proto.s());
    case onnx::AttributeProto::INTS:
      return AttributeValue(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case onnx::AttributeProto::FLOATS:
      return AttributeValue(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case onnx::AttributeProto::TENSOR: {
      AOTC_ASSIGN_OR_RETURN(Constant constant, ToConstant(proto.t()));
      return AttributeValue(std::move(constant));
    }
    default: return absl::UnimplementedError(StrCat("attribute ", proto.name()));
  }
}

absl::Status CheckSupported(const onnx::GraphProto& graph) {
  if (graph.node_size() != 1) return absl::UnimplementedError("several nodes");
  const onnx::NodeProto& node = graph.node(0);
  const OpDef* op = node.domain().empty() ? FindOp(node.op_type()) : nullptr;
  if (op == nullptr || op->compute == nullptr) return absl::UnimplementedError("op");
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!input.type().has_tensor_type()) return absl::UnimplementedError("kind of input");
  }
  return absl::OkStatus();
}

std::filesystem::path DataFile(const std::filesystem::path& folder, const char* kind, int index) {
  return folder / "test_data_set_0" / StrCat(kind, "_", index, ".pb");
}

absl::Status ReadInputs(const std::filesystem::path& folder, const onnx::GraphProto& graph,
                        std::map<std::string, ValueId>& values, NodeModel& model) {
  for (int i = 0; i < graph.input_size(); ++i) {
    AOTC_ASSIGN_OR_RETURN(Constant data, ReadTensorFile(DataFile(folder, "input", i)));
    ValueType type = TensorType(data.dtype(), MakeShape(data.dims()));
    ValueId value = model.graph.AddValue(graph.input(i).name(), std::move(type));
    values[graph.input(i).name()] = value;
    model.graph.main_region().inputs.push_back(value);
    model.inputs.push_back(std::move(data));
  }
  return absl::OkStatus();
}

absl::Status ReadNode(const std::filesystem::path& folder, const onnx::NodeProto& proto,
                      const std::map<std::string, ValueId>& values, NodeModel& model) {
  model.node.op = proto.op_type();
  for (const std::string& name : proto.input()) {
    model.node.inputs.push_back(name.empty() ? ValueId() : values.at(name));
  }
  for (const std::string& name : proto.output()) {
    model.node.outputs.emplace_back();
    if (name.empty()) continue;
    auto index = static_cast<int>(model.outputs.size());
    AOTC_ASSIGN_OR_RETURN(Constant data, ReadTensorFile(DataFile(folder, "output", index)));
    ValueType type = TensorType(data.dtype(), MakeShape(data.dims()));
    model.node.outputs.back() = model.graph.AddValue(name, std::move(type));
    model.outputs.push_back(std::move(data));
  }
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    AOTC_ASSIGN_OR_RETURN(AttributeValue value, ReadAttribute(attribute));
    model.node.attributes.Set(attribute.name(), std::move(value));
  }
  return absl::OkStatus();
}

const Constant& DataOf(const NodeModel& model, ValueId value) {
  const std::vector<ValueId>& inputs = model.graph.main_region().inputs;
  return model
      .inputs[static_cast<size_t>(std::find(inputs.begin(), inputs.end(), value) - inputs.begin())];
}

// The kernel with every input known that is not in `dynamic`.
absl::StatusOr<NodeKernel> BuildKnowing(const NodeModel& model,
                                        const std::vector<ValueId>& dynamic) {
  Graph graph = model.graph;
  for (ValueId input : graph.main_region().inputs) {
    bool known = std::find(dynamic.begin(), dynamic.end(), input) == dynamic.end();
    if (known) graph.values[input].constant = DataOf(model, input);
  }
  return BuildNodeKernel(graph, model.node);
}

// Above the rounding of the data, below any mistake; some data has four digits only.
double Tolerance(DType dtype) {
  if (dtype == DType::kF16) return 2e-3;
  return dtype == DType::kBF16 ? 1e-2 : 2e-4;
}

}  // namespace

absl::StatusOr<NodeModel> ReadNodeModel(const std::filesystem::path& folder) {
  AOTC_ASSIGN_OR_RETURN(onnx::ModelProto proto, ReadModel(folder / "model.onnx"));
  AOTC_RETURN_IF_ERROR(CheckSupported(proto.graph()));
  NodeModel model;
  std::map<std::string, ValueId> values;
  AOTC_RETURN_IF_ERROR(ReadInputs(folder, proto.graph(), values, model));
  AOTC_RETURN_IF_ERROR(ReadNode(folder, proto.graph().node(0), values, model));
  return model;
}

absl::Status RunNodeModel(const NodeModel& model, Operands operands) {
  AOTC_ASSIGN_OR_RETURN(NodeKernel built, BuildKnowing(model, {}));
  // What the kernel does not read as a tensor when all is known, the op has to know.
  if (operands == Operands::kDynamic) {
    AOTC_ASSIGN_OR_RETURN(built, BuildKnowing(model, built.inputs));
  }
  AOTC_RETURN_IF_ERROR(VerifyKernel(built.kernel));
  std::vector<Constant> inputs;
  for (ValueId input : built.inputs) inputs.push_back(DataOf(model, input));
  AOTC_ASSIGN_OR_RETURN(std::vector<Constant> actual, EvaluateKernel(built.kernel, inputs));
  if (actual.size() != model.outputs.size()) return absl::InternalError("number of outputs");
  for (size_t i = 0; i < actual.size(); ++i) {
    const Constant& expected = model.outputs[i];
    if (actual[i].dtype() != expected.dtype() || actual[i].dims() != expected.dims()) {
      return absl::InternalError(StrCat("output ", i,
                                        " has another type: ", DTypeName(actual[i].dtype()), "[",
                                        StrJoin(actual[i].dims(), ", "), "]"));
    }
    double error = RelativeError(actual[i], expected);
    if (!(error <= Tolerance(expected.dtype()))) {
      return absl::InternalError(StrCat("output ", i, " has error ", error));
    }
  }
  return absl::OkStatus();
}

}  // namespace aotc
