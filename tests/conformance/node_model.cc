#include "tests/conformance/node_model.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/driver/pipeline.h"
#include "compiler/eval/evaluate.h"
#include "compiler/import/onnx_import.h"
#include "compiler/import/onnx_tensor.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/strings.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

bool IsTensor(const Graph& graph, ValueId id) {
  return graph.values[id].type.kind == ValueKind::kTensor;
}

absl::Status RequireTensors(const Graph& graph) {
  for (const auto& ids : {graph.main_region().inputs, graph.main_region().outputs}) {
    for (ValueId id : ids) {
      if (!IsTensor(graph, id)) return absl::UnimplementedError("a value that is no tensor");
    }
  }
  return absl::OkStatus();
}

// The files "input_0.pb" (or "output_0.pb") and so on of the first data set, for as many values of
// the graph.
absl::StatusOr<std::vector<Constant>> ReadData(const fs::path& folder, const char* kind,
                                               size_t count) {
  std::vector<Constant> tensors;
  for (size_t i = 0, values = 0; values < count; ++i) {
    fs::path path = folder / "test_data_set_0" / StrCat(kind, "_", i, ".pb");
    std::ifstream stream(path, std::ios::binary);
    pb::TensorProto proto;
    if (!stream || !proto.ParseFromIstream(&stream)) {
      return absl::NotFoundError(StrCat("no tensor in ", path.filename().string()));
    }
    AOTC_ASSIGN_OR_RETURN(Constant tensor, TensorReader(folder.string()).Read(proto));
    values += tensor.dtype() == DType::kString ? kStringParts : 1;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Pins the shapes of all inputs to those of the data.
ImportOptions OptionsFor(const Graph& graph, const ModelInfo& info,
                         const std::vector<Constant>& inputs) {
  ImportOptions options = {.lenient = true};
  size_t next = 0;
  for (const Constant& input : inputs) {
    const Bundle* bundle = BundleOf(info.bundles, /*is_output=*/false, next);
    ShapeOption shape;
    shape.input =
        bundle == nullptr ? graph.values[graph.main_region().inputs[next]].name : bundle->name;
    for (int64_t dim : input.dims()) shape.dims.push_back({.min = dim, .max = dim});
    options.shapes.push_back(std::move(shape));
    next += input.dtype() == DType::kString ? kStringParts : 1;
  }
  return options;
}

// Tensors of strings as the plain tensors that stand for them in a graph.
std::vector<Constant> InParts(const std::vector<Constant>& tensors) {
  std::vector<Constant> parts;
  for (const Constant& tensor : tensors) {
    if (tensor.dtype() != DType::kString) {
      parts.push_back(tensor);
      continue;
    }
    const StringConstants strings = SplitStrings(tensor.strings(), tensor.dims());
    parts.insert(parts.end(), {strings.starts, strings.sizes, strings.pool});
  }
  return parts;
}

// The strings that starts, sizes and a pool say.
absl::StatusOr<Constant> StringsOf(std::span<const Constant> parts) {
  std::vector<std::string> strings;
  const std::span<const uint8_t> pool = parts[2].Expanded().bytes();
  const auto room = static_cast<int64_t>(pool.size());
  for (int64_t i = 0; i < parts[0].element_count(); ++i) {
    const int64_t start = parts[0].IntAt(i), size = parts[1].IntAt(i);
    const bool within = start >= 0 && size >= 0 && start <= room && size <= room - start;
    if (!within) return absl::InternalError("a string is not within its pool");
    const auto* from = reinterpret_cast<const char*>(pool.data()) + start;
    strings.emplace_back(from, static_cast<size_t>(size));
  }
  return Constant::Strings(parts[0].dims(), std::move(strings));
}

// What the graph gives, with strings as such where they are expected.
absl::StatusOr<std::vector<Constant>> FromParts(const std::vector<Constant>& actual,
                                                const std::vector<Constant>& expected) {
  std::vector<Constant> tensors;
  size_t next = 0;
  for (const Constant& tensor : expected) {
    const size_t count = tensor.dtype() == DType::kString ? kStringParts : 1;
    if (next + count > actual.size()) return absl::InternalError("too few outputs");
    if (count == 1) {
      tensors.push_back(actual[next]);
    } else {
      AOTC_ASSIGN_OR_RETURN(Constant strings, StringsOf(std::span(actual).subspan(next, count)));
      tensors.push_back(std::move(strings));
    }
    next += count;
  }
  return tensors;
}

// Above the rounding of the data, below any mistake; some data has four digits only.
double Tolerance(DType dtype) {
  if (dtype == DType::kF16) return 2e-3;
  return dtype == DType::kBF16 ? 1e-2 : 2e-4;
}

std::string TypeText(const Constant& tensor) {
  return StrCat(DTypeName(tensor.dtype()), "[", StrJoin(tensor.dims(), ", "), "]");
}

absl::Status CompareOutputs(const std::vector<Constant>& values,
                            const std::vector<Constant>& expected) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> actual, FromParts(values, expected));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (actual[i].dtype() != expected[i].dtype() || actual[i].dims() != expected[i].dims()) {
      return absl::InternalError(
          StrCat("output ", i, " is ", TypeText(actual[i]), " and not ", TypeText(expected[i])));
    }
    if (expected[i].dtype() == DType::kString) {
      if (actual[i].strings() == expected[i].strings()) continue;
      return absl::InternalError(StrCat("output ", i, " is ", StrJoin(actual[i].strings(), ","),
                                        " and not ", StrJoin(expected[i].strings(), ",")));
    }
    double error = RelativeError(actual[i], expected[i]);
    if (!(error <= Tolerance(expected[i].dtype()))) {
      return absl::InternalError(StrCat("output ", i, " has error ", error));
    }
  }
  return absl::OkStatus();
}

// Whether the node can be built when input `index` is known only by its type, and all others are
// known.
bool BuildsWithout(const Graph& known, const Node& node, size_t index) {
  Graph graph = known;
  graph.values[node.inputs[index]].constant.reset();
  return BuildNodeKernel(graph, node).ok();
}

// The inputs whose elements a node's outputs depend on: of Shape none.
std::vector<ValueId> InputsRead(const Graph& known, const Node& node) {
  absl::StatusOr<NodeKernel> built = BuildNodeKernel(known, node);
  return built.ok() ? built->inputs : node.inputs;
}

// The values that the nodes have to know (a Loop how often it runs, for what it stacks), and what
// these are computed from.
std::map<ValueId, bool> ValuesToKnow(const Graph& known) {
  std::map<ValueId, bool> needed;
  const std::vector<NodeId>& nodes = known.main_region().nodes;
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
    const Node& node = known.nodes[*id];
    bool all = false;
    for (ValueId output : node.outputs) all |= output.valid() && needed[output];
    if (IsIf(node)) continue;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid()) continue;
      if (!BuildsWithout(known, node, i)) needed[node.inputs[i]] = true;
    }
    if (!all) continue;
    for (ValueId input : InputsRead(known, node)) needed[input] = true;
  }
  return needed;
}

// The graph with every value as a constant.
absl::StatusOr<Graph> WithAllValues(const NodeModel& model) {
  AOTC_ASSIGN_OR_RETURN(auto values, EvaluateAllValues(model.graph, model.inputs));
  Graph known = model.graph;
  for (Value& value : known.values) {
    auto found = values.find(value.name);
    if (found == values.end()) continue;
    value.constant = found->second;
    value.type = TensorType(found->second.dtype(), MakeShape(found->second.dims()));
  }
  return known;
}

// Makes constants of the inputs in `needed`; returns the values of those that stay inputs.
std::vector<Constant> BindInputs(Graph& graph, const std::vector<Constant>& inputs,
                                 std::map<ValueId, bool>& needed) {
  std::vector<Constant> free;
  std::vector<ValueId> free_ids;
  const std::vector<ValueId> ids = graph.main_region().inputs;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (needed[ids[i]]) {
      graph.values[ids[i]].constant = inputs[i];
    } else {
      free_ids.push_back(ids[i]);
      free.push_back(inputs[i]);
    }
  }
  graph.main_region().inputs = free_ids;
  return free;
}

absl::Status VerifyKernels(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!node.regions.empty()) continue;
    AOTC_ASSIGN_OR_RETURN(NodeKernel built, BuildNodeKernel(graph, node));
    AOTC_RETURN_IF_ERROR(VerifyKernel(built.kernel));
  }
  return absl::OkStatus();
}

// The graph whose outputs have twice the dims of the data at most, where no bound is derived.
Graph WithBounds(const NodeModel& model) {
  Graph graph = model.graph;
  size_t next = 0;
  for (const Constant& output : model.outputs) {
    const bool strings = output.dtype() == DType::kString;
    for (size_t part = 0; part < (strings ? kStringParts - 1 : 1); ++part) {
      int axis = 0;
      for (int64_t dim : output.dims()) {
        const ValueId value = graph.main_region().outputs[next + part];
        graph.values[value].limits[axis++] = {.most = 2 * dim};
      }
    }
    next += strings ? kStringParts : 1;
  }
  return graph;
}

// What inference makes of the graph computes the outputs.
absl::Status CheckGraph(const Graph& graph, const std::vector<Constant>& inputs,
                        const std::vector<Constant>& outputs) {
  Diagnostics diagnostics;
  PassContext context({}, diagnostics);
  AOTC_ASSIGN_OR_RETURN(const std::vector<Pass> passes, PassesByName("expand-ops,infer-and-fold"));
  AOTC_ASSIGN_OR_RETURN(const Graph inferred, RunPasses(graph, passes, context, 0));
  AOTC_RETURN_IF_ERROR(VerifyGraph(inferred));
  AOTC_RETURN_IF_ERROR(VerifyKernels(inferred));
  AOTC_ASSIGN_OR_RETURN(std::vector<Constant> actual, EvaluateGraph(inferred, inputs));
  return CompareOutputs(actual, outputs);
}

}  // namespace

absl::StatusOr<NodeModel> ReadNodeModel(const fs::path& folder) {
  NodeModel model;
  std::string path = (folder / "model.onnx").string();
  Diagnostics ignored;
  ModelInfo info;
  AOTC_ASSIGN_OR_RETURN(model.graph, ImportOnnx(path, {.lenient = true}, ignored, &info));
  if (!UnsupportedOps(model.graph).empty()) return absl::UnimplementedError("an op");
  AOTC_RETURN_IF_ERROR(RequireTensors(model.graph));
  const Region& region = model.graph.main_region();
  AOTC_ASSIGN_OR_RETURN(model.inputs, ReadData(folder, "input", region.inputs.size()));
  AOTC_ASSIGN_OR_RETURN(model.outputs, ReadData(folder, "output", region.outputs.size()));
  Diagnostics diagnostics;
  AOTC_ASSIGN_OR_RETURN(model.graph,
                        ImportOnnx(path, OptionsFor(model.graph, info, model.inputs), diagnostics));
  AOTC_RETURN_IF_ERROR(diagnostics.ToStatus());
  model.inputs = InParts(model.inputs);
  return model;
}

absl::Status CheckValues(const NodeModel& model) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Constant> actual, EvaluateGraph(model.graph, model.inputs));
  return CompareOutputs(actual, model.outputs);
}

absl::StatusOr<std::vector<size_t>> InputsToKnow(const NodeModel& model) {
  std::vector<size_t> numbers;
  if (CheckGraph(WithBounds(model), model.inputs, model.outputs).ok()) return numbers;
  AOTC_ASSIGN_OR_RETURN(Graph known, WithAllValues(model));
  std::map<ValueId, bool> needed = ValuesToKnow(known);
  const std::vector<ValueId>& inputs = model.graph.main_region().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (needed[inputs[i]]) numbers.push_back(i);
  }
  return numbers;
}

absl::Status CheckCompiled(const NodeModel& model, const std::vector<size_t>& known) {
  Graph graph = WithBounds(model);
  std::map<ValueId, bool> needed;
  for (size_t number : known) needed[graph.main_region().inputs[number]] = true;
  const std::vector<Constant> inputs = BindInputs(graph, model.inputs, needed);
  return CheckGraph(graph, inputs, model.outputs);
}

}  // namespace aotc
