#include "compiler/import/opset.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "compiler/import/opset_rules.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Rules of one op in the order in which they are applied: the oldest form first.
constexpr OpsetRule kRules[] = {
    {"Add", 7, opset::LegacyBroadcast},
    {"And", 7, opset::LegacyBroadcast},
    {"BatchNormalization", 14, opset::InferenceBatchNormalization},
    {"Bernoulli", kNewestOpset + 1, opset::RandomStreamOfNode},
    {"Cast", 6, opset::CastToName},
    {"Clip", 11, opset::ClipAttributes},
    {"Concat", 4, opset::ConcatAxis},
    {"DFT", 20, opset::DftAxis},
    {"Div", 7, opset::LegacyBroadcast},
    {"Dropout", 12, opset::OldDropout},
    {"Dropout", kNewestOpset + 1, opset::RandomStreamOfNode},
    {"Equal", 7, opset::LegacyBroadcast},
    {"GRU", 3, opset::Refuse},
    {"Gemm", 7, opset::DropBroadcast},
    {"GlobalLpPool", 2, opset::WholeNorm},
    {"Greater", 7, opset::LegacyBroadcast},
    {"GridSample", 20, opset::GridSampleModes},
    {"GroupNormalization", 21, opset::GroupNormalizationOfGroups},
    {"Hardmax", 13, opset::FlattenedSoftmax},
    {"Less", 7, opset::LegacyBroadcast},
    {"LogSoftmax", 13, opset::FlattenedSoftmax},
    {"LpPool", 2, opset::WholeNorm},
    {"Mul", 7, opset::LegacyBroadcast},
    {"Multinomial", kNewestOpset + 1, opset::RandomStreamOfNode},
    {"Or", 7, opset::LegacyBroadcast},
    {"PRelu", 7, opset::LegacySlope},
    {"Pad", 2, opset::RenamedPads},
    {"Pad", 11, opset::PadAttributes},
    {"Pow", 7, opset::LegacyBroadcast},
    {"RandomNormal", kNewestOpset + 1, opset::RandomStreamOfNode},
    {"RandomNormalLike", kNewestOpset + 1, opset::RandomStreamOfNode},
    {"RandomUniform", kNewestOpset + 1, opset::RandomStreamOfNode},
    {"RandomUniformLike", kNewestOpset + 1, opset::RandomStreamOfNode},
    {"ReduceL1", 18, opset::AxesAttribute},
    {"ReduceL2", 18, opset::AxesAttribute},
    {"ReduceLogSum", 18, opset::AxesAttribute},
    {"ReduceLogSumExp", 18, opset::AxesAttribute},
    {"ReduceMax", 18, opset::AxesAttribute},
    {"ReduceMean", 18, opset::AxesAttribute},
    {"ReduceMin", 18, opset::AxesAttribute},
    {"ReduceProd", 18, opset::AxesAttribute},
    {"ReduceSum", 13, opset::AxesAttribute},
    {"ReduceSumSquare", 18, opset::AxesAttribute},
    {"Reshape", 5, opset::ReshapeAttribute},
    {"Resize", 11, opset::OldResize},
    {"Resize", kNewestOpset + 1, opset::EmptyResizeInputs},
    {"Scan", 9, opset::ScanOfBatch},
    {"RoiAlign", 16, opset::RoiAlignPlaces},
    {"Scatter", 11, opset::ScatterToScatterElements},
    {"Selu", 6, opset::ShortSelu},
    {"Slice", 10, opset::SliceAttributes},
    {"Softmax", 13, opset::FlattenedSoftmax},
    {"Split", 13, opset::SplitAttribute},
    {"Split", 18, opset::SplitCount},
    {"Squeeze", 13, opset::AxesAttribute},
    {"Sub", 7, opset::LegacyBroadcast},
    {"Tile", 6, opset::Refuse},
    {"TopK", 10, opset::TopKAttribute},
    {"Unsqueeze", 13, opset::AxesAttribute},
    {"Upsample", 10, opset::UpsampleToResize},
    {"Xor", 7, opset::LegacyBroadcast},
};

}  // namespace

NodeEdit::NodeEdit(Graph& graph, RegionId region, Node node, int opset)
    : graph_(graph), region_(region), node_(std::move(node)), opset_(opset) {}

bool NodeEdit::HasInput(size_t index) const {
  return index < node_.inputs.size() && node_.inputs[index].valid();
}

bool NodeEdit::HasOutput(size_t index) const {
  return index < node_.outputs.size() && node_.outputs[index].valid();
}

const Constant* NodeEdit::ConstInput(size_t index) const {
  if (!HasInput(index)) return nullptr;
  const Value& value = graph_.values[node_.inputs[index]];
  return value.constant ? &*value.constant : nullptr;
}

void NodeEdit::SetInput(size_t index, ValueId value) {
  if (index >= node_.inputs.size()) node_.inputs.resize(index + 1);
  node_.inputs[index] = value;
}

std::string NodeEdit::BaseName() const {
  for (ValueId output : node_.outputs) {
    if (output.valid()) return graph_.values[output].name;
  }
  return absl::AsciiStrToLower(node_.op);
}

ValueId NodeEdit::AddConstant(std::string_view suffix, Constant constant) {
  return graph_.AddConstant(StrCat(BaseName(), "_", suffix), std::move(constant));
}

ValueId NodeEdit::AddInts(std::string_view suffix, const std::vector<int64_t>& values) {
  return AddConstant(suffix, Constant::Ints(values));
}

ValueId NodeEdit::Before(std::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
  std::string name = StrCat(BaseName(), "_", absl::AsciiStrToLower(std::string(op)));
  ValueId output = graph_.AddValue(name, UnknownType());
  graph_.AddNode(region_, {.op = std::string(op),
                           .inputs = std::move(inputs),
                           .outputs = {output},
                           .attributes = std::move(attributes),
                           .locations = node_.locations});
  return output;
}

ValueId NodeEdit::After(size_t index, std::string_view op, std::vector<ValueId> inputs,
                        Attributes attributes) {
  ValueId result = node_.outputs[index];
  std::string name = StrCat(BaseName(), "_", absl::AsciiStrToLower(node_.op));
  ValueId inner = graph_.AddValue(name, UnknownType());
  node_.outputs[index] = inner;
  inputs.insert(inputs.begin(), inner);
  after_.push_back({.op = std::string(op),
                    .inputs = std::move(inputs),
                    .outputs = {result},
                    .attributes = std::move(attributes),
                    .locations = node_.locations});
  return inner;
}

void NodeEdit::IntsAttributeToInput(std::string_view name, size_t index) {
  if (!node_.attributes.Has(name)) return;
  SetInput(index, AddInts(name, node_.attributes.Ints(name)));
  node_.attributes.Erase(name);
}

void NodeEdit::Finish() {
  graph_.AddNode(region_, std::move(node_));
  for (auto it = after_.rbegin(); it != after_.rend(); ++it) {
    graph_.AddNode(region_, std::move(*it));
  }
  after_.clear();
}

absl::Status NormalizeNode(Graph& graph, RegionId region, Node node, int opset) {
  std::string op = node.op;  // rules of the op that the model states, even where one renames it
  node.attributes.Erase("consumed_inputs");  // of opsets before 6, about memory
  NodeEdit edit(graph, region, std::move(node), opset);
  for (const OpsetRule& rule : kRules) {
    if (rule.op == op && opset < rule.until) AOTC_RETURN_IF_ERROR(rule.apply(edit));
  }
  edit.Finish();
  return absl::OkStatus();
}

}  // namespace aotc
