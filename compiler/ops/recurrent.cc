// LSTM, GRU and RNN (ONNX opset 1 to 22): for each direction the input product of all steps at
// once, and a Repeat (ir/control_flow.h) whose body is one step.
//
//   %w: [S, B, 4H] = MatMul(%X, %W') + bias
//   _, %h, %c, %y: [S, B, H] = Repeat(S, _, 0, %h0, %c0) {      h, c, y[i] =
//     ScanItem(%w, i), MatMul(%h, %R'), gates                     step(w[i], h, c)
//   }
//
// With attribute `layout` 1 the batch comes before the steps, and before the directions.
// DynamicQuantizeLSTM of com.microsoft has weights of bytes, turned as MatMul takes them, with a
// scale and a zero point for each direction, or for each of its columns too; what they are
// multiplied by is quantised over all its elements, X for all steps at once.
#include <limits>

#include "compiler/ir/control_flow.h"
#include "compiler/ops/recurrent_cell.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

enum Operand : size_t {
  kX,
  kW,
  kR,
  kBias,
  kLengths,
  kState,
  kPeepholes = 7,
  kScaleW,
  kScaleR = 10
};

class RecurrentBuilder {
 public:
  RecurrentBuilder(Rebuilder& rebuilder, const Node& node, const CellForm& form,
                   bool quantized = false)
      : ops_(rebuilder, node), node_(node), form_(form), quantized_(quantized) {}

  absl::Status Run();

 private:
  // What all steps of a direction give.
  struct Results {
    ValueId y = {};  // [S, B, H], or [B, S, H]
    std::vector<ValueId> states = {};
  };

  absl::Status ReadAttributes();
  ValueId Given(size_t operand);
  // [dims without the axis] of one direction; invalid where the operand is absent.
  ValueId OfDirection(size_t operand, int64_t axis, size_t direction);
  // That of weights of bytes, or their zero point: [] or [columns].
  ValueId Scale(size_t operand, size_t direction) {
    return quantized_ ? OfDirection(operand, 0, direction) : ValueId();
  }
  ValueId InitialState(size_t state, size_t direction);
  ValueId InputProduct(size_t direction, ValueId bias);
  absl::StatusOr<Results> RunDirection(size_t direction);
  absl::Status FillBody(RegionId region, const Cell& cell, ValueId product, bool reverse);
  ValueId AddInput(RegionId region, const char* name, ValueType type);
  ValueId IsWithinLength(ValueId counter, bool reverse);
  ValueId Backwards(ValueId y);
  // Those of all directions, with an axis for these.
  ValueId Joined(const std::vector<ValueId>& parts, int64_t axis);

  bool WantsOutput(size_t index) const {
    return index < node_.outputs.size() && node_.outputs[index].valid();
  }
  bool IsReverse(size_t direction) const { return starts_backwards_ || direction == 1; }
  ValueId Zero() {
    return ops_.rebuilder().graph().AddConstant("first", Constant::SplatInt(DType::kI64, {}, 0));
  }

  CellOps ops_;
  const Node& node_;
  const CellForm& form_;
  bool quantized_;  // weights are bytes, [directions, rows, columns]
  size_t directions_ = 1;
  bool starts_backwards_ = false;
  int64_t layout_ = 0;  // the axis of the steps in X; that of the directions in states
  std::vector<Activation> activations_;
  ValueId trip_;     // i64 []
  ValueId lengths_;  // i64 [B, 1]; invalid where all rows have all steps
};

absl::Status RecurrentBuilder::ReadAttributes() {
  const std::vector<size_t> needed = quantized_ ? std::vector<size_t>{kX, kW, kR, kScaleW, kScaleR}
                                                : std::vector<size_t>{kX, kW, kR};
  for (size_t operand : needed) {
    if (!HasInput(node_, operand)) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("needs input ", operand));
    }
  }
  const std::string direction = node_.attributes.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown direction '", direction, "'"));
  }
  directions_ = direction == "bidirectional" ? 2 : 1;
  starts_backwards_ = direction == "reverse";
  layout_ = node_.attributes.Int("layout");
  if (layout_ != 0 && layout_ != 1) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown layout ", layout_));
  }
  AOTC_ASSIGN_OR_RETURN(activations_, ActivationsOf(node_, form_, directions_));
  return absl::OkStatus();
}

ValueId RecurrentBuilder::Given(size_t operand) {
  if (!HasInput(node_, operand)) return {};
  const ValueId value = ops_.rebuilder().Mapped(node_.inputs[operand]);
  return operand == kLengths ? value : ops_.Widened(value);
}

ValueId RecurrentBuilder::OfDirection(size_t operand, int64_t axis, size_t direction) {
  ValueId value = Given(operand);
  if (!value.valid()) return value;
  if (directions_ > 1) value = ops_.Split(value, axis, directions_)[direction];
  return ops_.Op("Squeeze", {value, ops_.Ints("axes", {axis})});
}

// [B, H]: as given, or zeros; zeros too in rows of no length, whose states are 0 in onnxruntime
// (the standard does not say).
ValueId RecurrentBuilder::InitialState(size_t state, size_t direction) {
  const ValueId given = OfDirection(kState + state, layout_, direction);
  if (given.valid()) {
    if (!lengths_.valid()) return given;
    return ops_.Op("Where", {ops_.Op("Less", {Zero(), lengths_}), given, ops_.Number(0)});
  }
  const int64_t batch_axis = 1 - layout_, hidden_axis = quantized_ ? 1 : 2;
  auto dim = [&](size_t operand, int64_t axis) {
    return ops_.Op("Shape", {Given(operand)}, IntAttributes({{"start", axis}, {"end", axis + 1}}));
  };
  const ValueId shape = ops_.Concat({dim(kX, batch_axis), dim(kR, hidden_axis)}, 0);
  return ops_.Op("Expand", {ops_.Number(0), shape});
}

// [S, B, gates * H], or [B, S, gates * H]
ValueId RecurrentBuilder::InputProduct(size_t direction, ValueId bias) {
  ValueId weights = OfDirection(kW, 0, direction);
  if (!quantized_) weights = ops_.Op("Transpose", {weights});
  const ValueId product =
      Product(ops_, Given(kX), weights, Scale(kScaleW, direction), Scale(kScaleW + 1, direction));
  return bias.valid() ? ops_.Op("Add", {product, bias}) : product;
}

ValueId RecurrentBuilder::AddInput(RegionId region, const char* name, ValueType type) {
  Graph& graph = ops_.rebuilder().graph();
  const ValueId input = graph.AddValue(name, std::move(type));
  graph.regions[region].inputs.push_back(input);
  return input;
}

// bool [B, 1]: whether rows have the step of an iteration.
ValueId RecurrentBuilder::IsWithinLength(ValueId counter, bool reverse) {
  ValueId step = counter;
  if (reverse) {
    const ValueId one = ops_.Ints("one", {1});
    step = ops_.Op("Sub", {ops_.Op("Sub", {trip_, counter}), one});
  }
  return ops_.Op("Less", {step, lengths_});
}

// counter, states -> next counter, next states, and what is stacked. Backwards, a row waits with
// its first states until the steps are within its length.
absl::Status RecurrentBuilder::FillBody(RegionId region, const Cell& cell, ValueId product,
                                        bool reverse) {
  const ValueId counter = AddInput(region, "iteration", TensorType(DType::kI64, {}));
  std::vector<ValueId> states;
  for (size_t k = 0; k < form_.states; ++k) {
    states.push_back(AddInput(region, k == 0 ? "hidden" : "cell", UnknownType()));
  }
  const ValueId x = ops_.Op("ScanItem", {product, counter},
                            IntAttributes({{"axis", layout_}, {"reverse", reverse ? 1 : 0}}));
  std::vector<ValueId> next = form_.step(ops_, cell, x, states);
  ValueId y = next[0];
  if (lengths_.valid()) {
    const ValueId within = IsWithinLength(counter, reverse);
    y = ops_.Op("Where", {within, y, ops_.Number(0)});
    for (size_t k = 0; k < form_.states; ++k) {
      next[k] = ops_.Op("Where", {within, next[k], states[k]});
    }
  }
  const ValueId one =
      ops_.rebuilder().graph().AddConstant("step", Constant::SplatInt(DType::kI64, {}, 1));
  next.insert(next.begin(), ops_.Op("Add", {counter, one}));
  if (WantsOutput(0)) next.push_back(ops_.Narrowed(y));
  ops_.rebuilder().graph().regions[region].outputs = std::move(next);
  return absl::OkStatus();
}

ValueId RecurrentBuilder::Backwards(ValueId y) {
  return ops_.Op("Slice", {y, ops_.Ints("start", {-1}),
                           ops_.Ints("end", {std::numeric_limits<int64_t>::min()}),
                           ops_.Ints("axis", {layout_}), ops_.Ints("step", {-1})});
}

absl::StatusOr<RecurrentBuilder::Results> RecurrentBuilder::RunDirection(size_t direction) {
  const auto first =
      activations_.begin() + static_cast<std::ptrdiff_t>(direction * form_.activations.size());
  const Cell cell = form_.prepare(
      ops_,
      {.recurrence = OfDirection(kR, 0, direction),
       .scale = Scale(kScaleR, direction),
       .zero_point = Scale(kScaleR + 1, direction),
       .bias = OfDirection(kBias, 0, direction),
       .peepholes = OfDirection(kPeepholes, 0, direction),
       .activations = {first, first + static_cast<std::ptrdiff_t>(form_.activations.size())}});
  const ValueId product = InputProduct(direction, cell.bias);
  const bool reverse = IsReverse(direction);
  Node repeat = {.op = "Repeat", .locations = node_.locations};
  repeat.inputs = {trip_, {}, Zero()};
  for (size_t k = 0; k < form_.states; ++k) repeat.inputs.push_back(InitialState(k, direction));
  Rebuilder& rebuilder = ops_.rebuilder();
  AOTC_ASSIGN_OR_RETURN(repeat.regions["body"], rebuilder.BuildRegion([&](RegionId region) {
    return FillBody(region, cell, product, reverse);
  }));
  Graph& graph = rebuilder.graph();
  auto add_output = [&](const char* name) {
    repeat.outputs.push_back(graph.AddValue(name, UnknownType()));
    return repeat.outputs.back();
  };
  Results results;
  add_output("iterations");
  for (size_t k = 0; k < form_.states; ++k) {
    results.states.push_back(add_output(k == 0 ? "last_hidden" : "last_cell"));
  }
  if (WantsOutput(0)) results.y = add_output("steps");
  repeat.attributes.Set("counter", int64_t{1});
  if (WantsOutput(0)) repeat.attributes.Set(kStackAxes, std::vector<int64_t>{layout_});
  graph.AddNode(rebuilder.region(), std::move(repeat));
  if (WantsOutput(0) && reverse) results.y = Backwards(results.y);
  return results;
}

ValueId RecurrentBuilder::Joined(const std::vector<ValueId>& parts, int64_t axis) {
  std::vector<ValueId> joined;
  for (ValueId part : parts) {
    joined.push_back(ops_.Op("Unsqueeze", {part, ops_.Ints("axes", {axis})}));
  }
  return joined.size() == 1 ? joined[0] : ops_.Concat(std::move(joined), axis);
}

absl::Status RecurrentBuilder::Run() {
  AOTC_RETURN_IF_ERROR(ReadAttributes());
  Attributes axes;
  axes.Set("axes", std::vector<int64_t>{layout_});
  trip_ = ops_.Op("ScanLength", {Given(kX)}, std::move(axes));
  if (HasInput(node_, kLengths)) {
    const ValueId column = ops_.Op("Unsqueeze", {Given(kLengths), ops_.Ints("axes", {1})});
    lengths_ =
        ops_.Op("Cast", {column}, IntAttributes({{"to", static_cast<int64_t>(DType::kI64)}}));
  }
  std::vector<ValueId> steps;
  std::vector<std::vector<ValueId>> states(form_.states);
  for (size_t d = 0; d < directions_; ++d) {
    AOTC_ASSIGN_OR_RETURN(const Results results, RunDirection(d));
    steps.push_back(results.y);
    for (size_t k = 0; k < form_.states; ++k) states[k].push_back(results.states[k]);
  }
  if (WantsOutput(0)) ops_.rebuilder().Replace(node_.outputs[0], Joined(steps, 1 + layout_));
  for (size_t k = 0; k < form_.states; ++k) {
    if (!WantsOutput(1 + k)) continue;
    const ValueId joined = ops_.Narrowed(Joined(states[k], layout_));
    ops_.rebuilder().Replace(node_.outputs[1 + k], joined);
  }
  return absl::OkStatus();
}

absl::Status Lstm(Rebuilder& rebuilder, const Node& node) {
  return RecurrentBuilder(rebuilder, node, LstmForm()).Run();
}

absl::Status DynamicQuantizeLstm(Rebuilder& rebuilder, const Node& node) {
  return RecurrentBuilder(rebuilder, node, LstmForm(), /*quantized=*/true).Run();
}

absl::Status Gru(Rebuilder& rebuilder, const Node& node) {
  return RecurrentBuilder(rebuilder, node, GruForm()).Run();
}

absl::Status Rnn(Rebuilder& rebuilder, const Node& node) {
  return RecurrentBuilder(rebuilder, node, RnnForm()).Run();
}

constexpr OpDef kOps[] = {
    {.name = "com.microsoft.DynamicQuantizeLSTM",
     .expand = DynamicQuantizeLstm,
     .summary = "long short-term memory with weights of bytes"},
    {.name = "GRU", .expand = Gru, .summary = "gated recurrent units along a sequence"},
    {.name = "LSTM", .expand = Lstm, .summary = "long short-term memory along a sequence"},
    {.name = "RNN", .expand = Rnn, .summary = "a layer with its last results, along a sequence"},
};

}  // namespace

std::span<const OpDef> RecurrentOps() { return kOps; }

}  // namespace aotc
