// Scan of opset 8: states and scanned values have a batch axis in front, sequences of a batch may
// have different lengths.
//
//   %y, %z = Scan-8(%lengths, %state, %x)       [batch, ...], x and z [batch, length, ...]
//
// is a Scan of the newest form over the batch, of everything, whose body is the Scan of one
// sequence. Where lengths are given, the body of that hears whether the sequence still goes on:
// where not, states stay as they are, and outputs are 0 (as onnxruntime has it, ONNX being silent).
#include <algorithm>
#include <utility>

#include "compiler/import/opset_rules.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc::opset {
namespace {

constexpr const char* kBody = "body";

class BatchedScan {
 public:
  explicit BatchedScan(NodeEdit& edit)
      : edit_(edit),
        graph_(edit.graph()),
        scanned_(static_cast<size_t>(edit.node().attributes.Int("num_scan_inputs"))),
        states_(edit.node().inputs.size() - 1 - scanned_) {}

  void Rewrite() {
    Node& node = edit_.node();
    const ValueId lengths = node.inputs.front();
    node.inputs.erase(node.inputs.begin());
    Node inner = {.op = "Scan", .attributes = node.attributes, .locations = node.locations};
    inner.regions = node.regions;
    RenameDirections(inner.attributes);
    const RegionId outer = graph_.regions.Add({});
    const RegionId around = edit_.GoTo(outer);
    for (size_t i = 0; i < node.inputs.size(); ++i) inner.inputs.push_back(AddInput(outer, "item"));
    if (lengths.valid()) {
      inner.inputs.push_back(GoesOn(inner.inputs.back(), AddInput(outer, "length")));
      inner.attributes.Set("num_scan_inputs", static_cast<int64_t>(scanned_ + 1));
      StopAtEnd(inner.regions.at(kBody));
      node.inputs.push_back(lengths);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) inner.outputs.push_back(AddValue("item"));
    graph_.regions[outer].outputs = inner.outputs;
    graph_.AddNode(outer, std::move(inner));
    edit_.GoTo(around);
    node.regions[kBody] = outer;
    node.attributes = {};
    node.attributes.Set("num_scan_inputs", static_cast<int64_t>(node.inputs.size()));
  }

 private:
  static void RenameDirections(Attributes& attributes) {
    if (!attributes.Has("directions")) return;
    attributes.Set("scan_input_directions", attributes.Ints("directions"));
    attributes.Erase("directions");
  }

  ValueId AddValue(std::string_view suffix) {
    return graph_.AddValue(StrCat(edit_.BaseName(), "_", suffix), UnknownType());
  }

  ValueId AddInput(RegionId region, std::string_view suffix) {
    const ValueId input = AddValue(suffix);
    graph_.regions[region].inputs.push_back(input);
    return input;
  }

  ValueId Number(std::string_view suffix, int64_t value) {
    return edit_.AddConstant(suffix, Constant::SplatInt(DType::kI64, {}, value));
  }

  // For each element of a sequence whether it is one of the first `length`.
  ValueId GoesOn(ValueId sequence, ValueId length) {
    Attributes first;
    first.Set("start", int64_t{0});
    first.Set("end", int64_t{1});
    const ValueId dims = edit_.Before("Shape", {sequence}, std::move(first));
    const ValueId most = edit_.Before("Squeeze", {dims});
    const ValueId places = edit_.Before("Range", {Number("first", 0), most, Number("step", 1)});
    return edit_.Before("Less", {places, length});
  }

  // Gives the body of one sequence one more input, whether the sequence still goes on.
  void StopAtEnd(RegionId body) {
    const RegionId around = edit_.GoTo(body);
    const ValueId goes_on = AddInput(body, "goes_on");
    const ValueId zero = edit_.AddConstant("zero", Constant::Splat(DType::kF32, {}, 0));
    for (size_t k = 0; k < graph_.regions[body].outputs.size(); ++k) {
      const ValueId next = graph_.regions[body].outputs[k];
      const ValueId otherwise =
          k < states_ ? graph_.regions[body].inputs[k] : edit_.Before("CastLike", {zero, next});
      const ValueId chosen = edit_.Before("Where", {goes_on, next, otherwise});
      graph_.regions[body].outputs[k] = chosen;
    }
    edit_.GoTo(around);
  }

  NodeEdit& edit_;
  Graph& graph_;
  const size_t scanned_;
  const size_t states_;
};

}  // namespace

absl::Status ScanOfBatch(NodeEdit& edit) {
  const Node& node = edit.node();
  const int64_t scanned = node.attributes.Int("num_scan_inputs");
  if (scanned < 1 || scanned >= static_cast<int64_t>(node.inputs.size())) {
    return AOTC_REFUSAL(InvalidArgument, "attribute 'num_scan_inputs' is out of range");
  }
  const std::vector<int64_t> directions = node.attributes.Ints("directions");
  const bool backwards = std::ranges::any_of(directions, [](int64_t d) { return d != 0; });
  if (edit.HasInput(0) && backwards) {
    return AOTC_REFUSAL(Unimplemented,
                        "sequences of different lengths, scanned backwards, are not supported");
  }
  BatchedScan(edit).Rewrite();
  return absl::OkStatus();
}

}  // namespace aotc::opset
