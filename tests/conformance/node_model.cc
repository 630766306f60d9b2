#include "tests/conformance/node_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "aotc/decode_image.h"
#include "compiler/driver/pipeline.h"
#include "compiler/eval/evaluate.h"
#include "compiler/eval/image_decoder.h"
#include "compiler/import/onnx_import.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

// The positions at which values of the model begin among the inputs, or outputs, of the graph.
std::vector<size_t> FirstParts(const std::vector<Bundle>& bundles, bool outputs, size_t count) {
  std::vector<size_t> firsts;
  for (size_t i = 0; i < count;) {
    firsts.push_back(i);
    const Bundle* bundle = BundleOf(bundles, outputs, i);
    i += bundle == nullptr ? 1 : PartNames(bundle->kind).size();
  }
  return firsts;
}

// The files "input_0.pb" (or "output_0.pb") and so on of the first data set.
absl::StatusOr<std::vector<NodeValue>> ReadData(const fs::path& folder, bool outputs,
                                                const std::vector<Bundle>& bundles, size_t count) {
  std::vector<NodeValue> values;
  for (const size_t first : FirstParts(bundles, outputs, count)) {
    const std::string file = StrCat(outputs ? "output_" : "input_", values.size(), ".pb");
    AOTC_ASSIGN_OR_RETURN(NodeValue value, ReadNodeValue(folder / "test_data_set_0" / file,
                                                         BundleOf(bundles, outputs, first)));
    values.push_back(std::move(value));
  }
  return values;
}

// The least and largest dims of the items; nothing where they have none or different ranks.
std::optional<std::vector<DimBound>> BoundsOf(const std::vector<Constant>& items) {
  if (items.empty()) return std::nullopt;
  std::vector<DimBound> bounds;
  for (const int64_t dim : items[0].dims()) bounds.push_back({.min = dim, .max = dim});
  for (const Constant& item : items) {
    if (item.dims().size() != bounds.size()) return std::nullopt;
    for (size_t axis = 0; axis < bounds.size(); ++axis) {
      bounds[axis].min = std::min(bounds[axis].min, item.dims()[axis]);
      bounds[axis].max = std::max(bounds[axis].max, item.dims()[axis]);
    }
  }
  return bounds;
}

// Pins the shapes of all inputs to those of the data.
ImportOptions OptionsFor(const Graph& graph, const std::vector<Bundle>& bundles,
                         const std::vector<NodeValue>& inputs) {
  ImportOptions options = {.lenient = true};
  const std::vector<ValueId>& ids = graph.main_region().inputs;
  const std::vector<size_t> firsts = FirstParts(bundles, false, ids.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Bundle* bundle = BundleOf(bundles, false, firsts[i]);
    const std::string name = bundle == nullptr ? graph.values[ids[firsts[i]]].name : bundle->name;
    if (bundle != nullptr && bundle->kind != BundleKind::kStrings) {
      options.max_items_of[name] = static_cast<int64_t>(inputs[i].items.size()) + 2;
    }
    if (const auto bounds = BoundsOf(inputs[i].items)) options.shapes.push_back({name, *bounds});
  }
  return options;
}

constexpr double kRelative = 1e-3;  // the tolerance of ONNX's runner; no test of ours has another

// As numpy.testing.assert_allclose has it: NaN agrees with NaN, an infinity with itself.
bool IsClose(double actual, double expected, double absolute) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
  return std::fabs(actual - expected) <= absolute + kRelative * std::fabs(expected);
}

absl::Status CompareFloats(const Constant& actual, const Constant& expected, double absolute) {
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    const double a = actual.FloatAt(i), b = expected.FloatAt(i);
    if (IsClose(a, b, absolute)) continue;
    return absl::InternalError(StrCat("element ", i, " is ", a, " and not ", b));
  }
  return absl::OkStatus();
}

std::string TypeText(const Constant& tensor) {
  return StrCat(DTypeName(tensor.dtype()), "[", StrJoin(tensor.dims(), ", "), "]");
}

absl::Status CompareTensor(const Constant& actual, const Constant& expected, double absolute) {
  if (actual.dtype() != expected.dtype() || actual.dims() != expected.dims()) {
    return absl::InternalError(StrCat("it is ", TypeText(actual), " and not ", TypeText(expected)));
  }
  if (IsFloat(expected.dtype())) return CompareFloats(actual, expected, absolute);
  if (expected.dtype() == DType::kString) {
    if (actual.strings() == expected.strings()) return absl::OkStatus();
    return absl::InternalError(StrCat("it is ", StrJoin(actual.strings(), ","), " and not ",
                                      StrJoin(expected.strings(), ",")));
  }
  return actual.SameValue(expected) ? absl::OkStatus()
                                    : absl::InternalError("it has other integers");
}

absl::Status CompareTensors(const std::vector<Constant>& actual,
                            const std::vector<Constant>& expected, double absolute) {
  if (actual.size() != expected.size()) {
    return absl::InternalError(StrCat(actual.size(), " items, not ", expected.size()));
  }
  absl::Status status;
  for (size_t i = 0; i < expected.size(); ++i) {
    status.Update(CompareTensor(actual[i], expected[i], absolute));
  }
  return status;
}

absl::Status CompareOutputs(const NodeModel& model, const std::vector<Constant>& actual) {
  const std::vector<size_t> firsts = FirstParts(model.bundles, true, actual.size());
  for (size_t i = 0; i < firsts.size(); ++i) {
    const NodeValue& expected = model.outputs[i];
    const Bundle* bundle = BundleOf(model.bundles, true, firsts[i]);
    NodeValue value = {.items = {actual[firsts[i]]}};
    if (bundle != nullptr) {
      const auto begin = actual.begin() + static_cast<std::ptrdiff_t>(firsts[i]);
      const auto count = static_cast<std::ptrdiff_t>(PartNames(bundle->kind).size());
      AOTC_ASSIGN_OR_RETURN(value, ValueOfParts(bundle->kind, {begin, begin + count}));
    }
    if (value.present != expected.present) return absl::InternalError("an optional without value");
    if (!value.present) continue;
    const absl::Status same = CompareTensors(value.items, expected.items, model.absolute);
    if (!same.ok()) return absl::InternalError(StrCat("output ", i, ": ", same.message()));
  }
  return absl::OkStatus();
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
  const std::vector<ValueId>& ids = graph.main_region().outputs;
  const std::vector<size_t> firsts = FirstParts(model.bundles, true, ids.size());
  for (size_t i = 0; i < firsts.size(); ++i) {
    const Bundle* bundle = BundleOf(model.bundles, true, firsts[i]);
    if (bundle != nullptr && bundle->kind != BundleKind::kStrings) continue;
    const size_t with_dims = bundle == nullptr ? 1 : kPoolPart;  // starts and sizes
    for (size_t part = 0; part < with_dims; ++part) {
      int axis = 0;
      for (int64_t dim : model.outputs[i].items[0].dims()) {
        graph.values[ids[firsts[i] + part]].limits[axis++] = {.most = 2 * dim};
      }
    }
  }
  return graph;
}

// One constant per input of the graph.
absl::Status SetInputs(const std::vector<NodeValue>& values, NodeModel& model) {
  const std::vector<ValueId>& ids = model.graph.main_region().inputs;
  const std::vector<size_t> firsts = FirstParts(model.bundles, false, ids.size());
  for (size_t i = 0; i < firsts.size(); ++i) {
    const Bundle* bundle = BundleOf(model.bundles, false, firsts[i]);
    if (bundle == nullptr) {
      model.inputs.push_back(values[i].items[0]);
      continue;
    }
    std::vector<ValueType> types;
    for (size_t p = 0; p < PartNames(bundle->kind).size(); ++p) {
      types.push_back(model.graph.values[ids[firsts[i] + p]].type);
    }
    AOTC_ASSIGN_OR_RETURN(std::vector<Constant> parts, PartsOf(values[i], bundle->kind, types));
    for (Constant& part : parts) model.inputs.push_back(std::move(part));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NodeModel> ReadNodeModel(const fs::path& folder) {
  RegisterImageDecoder(aotc_decode_image);
  NodeModel model;
  std::string path = (folder / "model.onnx").string();
  Diagnostics ignored;
  ModelInfo info;
  AOTC_ASSIGN_OR_RETURN(model.graph, ImportOnnx(path, {.lenient = true}, ignored, &info));
  if (!UnsupportedOps(model.graph).empty()) return absl::UnimplementedError("an op");
  const Region& region = model.graph.main_region();
  AOTC_ASSIGN_OR_RETURN(const std::vector<NodeValue> inputs,
                        ReadData(folder, false, info.bundles, region.inputs.size()));
  AOTC_ASSIGN_OR_RETURN(model.outputs, ReadData(folder, true, info.bundles, region.outputs.size()));
  Diagnostics diagnostics;
  AOTC_ASSIGN_OR_RETURN(model.graph, ImportOnnx(path, OptionsFor(model.graph, info.bundles, inputs),
                                                diagnostics, &info));
  AOTC_RETURN_IF_ERROR(diagnostics.ToStatus());
  model.bundles = info.bundles;
  AOTC_RETURN_IF_ERROR(SetInputs(inputs, model));
  return model;
}

absl::Status CheckValues(const NodeModel& model) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Constant> actual, EvaluateGraph(model.graph, model.inputs));
  return CompareOutputs(model, actual);
}

absl::Status CheckCompiled(const NodeModel& model) {
  Diagnostics diagnostics;
  PassContext context({}, diagnostics);
  AOTC_ASSIGN_OR_RETURN(const std::vector<Pass> passes, PassesByName("expand-ops,infer-and-fold"));
  AOTC_ASSIGN_OR_RETURN(const Graph inferred, RunPasses(WithBounds(model), passes, context, 0));
  AOTC_RETURN_IF_ERROR(VerifyGraph(inferred));
  AOTC_RETURN_IF_ERROR(VerifyKernels(inferred));
  AOTC_ASSIGN_OR_RETURN(std::vector<Constant> actual, EvaluateGraph(inferred, model.inputs));
  return CompareOutputs(model, actual);
}

}  // namespace aotc
