#include "compiler/ops/recurrent_cell.h"

#include <span>

#include "absl/strings/match.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool IsHalf(DType type) { return type == DType::kF16 || type == DType::kBF16; }

// A function by its name in the attribute `activations`, and whether it takes a number of
// `activation_alpha` and of `activation_beta`. Defaults are those of the op of that name, as ONNX
// has it; Affine and ScaledTanh, which are no ops, then scale by 1 and add 0. (onnxruntime takes 0
// for the numbers of those two, and of ThresholdedRelu.)
struct ActivationForm {
  const char* name;
  bool alpha = false;
  bool beta = false;
};

constexpr ActivationForm kActivations[] = {
    {"Relu"},
    {"Tanh"},
    {"Sigmoid"},
    {"Affine", true, true},
    {"LeakyRelu", true},
    {"ThresholdedRelu", true},
    {"ScaledTanh", true, true},
    {"HardSigmoid", true, true},
    {"Elu", true},
    {"Softsign"},
    {"Softplus"},
};

// onnxruntime takes names in any case, and old models have them.
const ActivationForm* FindActivation(std::string_view name) {
  for (const ActivationForm& form : kActivations) {
    if (absl::EqualsIgnoreCase(View(form.name), View(name))) return &form;
  }
  return nullptr;
}

// [-clip, clip] where the attribute is given.
ValueId Clipped(CellOps& ops, ValueId x) {
  const Attributes& attributes = ops.node().attributes;
  if (!attributes.Has("clip")) return x;
  const double clip = attributes.Float("clip");
  return ops.Op("Clip", {x, ops.Number(-clip), ops.Number(clip)});
}

ValueId Apply(CellOps& ops, const Activation& activation, ValueId x) {
  auto scaled = [&](ValueId value, std::optional<float> scale) {
    return scale ? ops.Op("Mul", {value, ops.Number(*scale)}) : value;
  };
  if (activation.op == "Affine") {
    const ValueId line = scaled(x, activation.alpha);
    return activation.beta ? ops.Op("Add", {line, ops.Number(*activation.beta)}) : line;
  }
  if (activation.op == "ScaledTanh") {
    return scaled(ops.Op("Tanh", {scaled(x, activation.beta)}), activation.alpha);
  }
  Attributes attributes;
  if (activation.alpha) attributes.Set("alpha", *activation.alpha);
  if (activation.beta) attributes.Set("beta", *activation.beta);
  return ops.Op(activation.op, {x}, std::move(attributes));
}

// The activation of a gate, whose sum is clipped.
ValueId Gate(CellOps& ops, const Activation& activation, ValueId sum) {
  return Apply(ops, activation, Clipped(ops, sum));
}

ValueId Transposed(CellOps& ops, ValueId matrix) { return ops.Op("Transpose", {matrix}); }

// The bias of the input product and that of the recurrent product as one.
Cell PreparePlain(CellOps& ops, Cell given) {
  if (!given.scale.valid()) given.recurrence = Transposed(ops, given.recurrence);
  if (given.bias.valid()) {
    const std::vector<ValueId> halves = ops.Split(given.bias, 0, 2);
    given.bias = ops.Op("Add", {halves[0], halves[1]});
  }
  return given;
}

// h' = f(x + h R)
std::vector<ValueId> RnnStep(CellOps& ops, const Cell& cell, ValueId x,
                             const std::vector<ValueId>& states) {
  return {Gate(ops, cell.activations[0],
               ops.Op("Add", {x, ops.Op("MatMul", {states[0], cell.recurrence})}))};
}

// Gates i, o, f, c; peepholes i, o, f:
//   c' = f(f) c + f(i) g(c),  h' = f(o) h(c')
// The standard clips "the input of activations"; as in onnxruntime, c' is not clipped for h.
std::vector<ValueId> LstmStep(CellOps& ops, const Cell& cell, ValueId x,
                              const std::vector<ValueId>& states) {
  const ValueId h = states[0], c = states[1];
  const std::vector<ValueId> gates = ops.Split(
      ops.Op("Add", {x, Product(ops, h, cell.recurrence, cell.scale, cell.zero_point)}), -1, 4);
  const std::vector<ValueId> peepholes =
      cell.peepholes.valid() ? ops.Split(cell.peepholes, 0, 3) : std::vector<ValueId>(3);
  auto gate = [&](size_t k, ValueId seen) {
    const ValueId weights = peepholes[k];
    const ValueId sum =
        weights.valid() ? ops.Op("Add", {gates[k], ops.Op("Mul", {weights, seen})}) : gates[k];
    return Gate(ops, cell.activations[0], sum);
  };
  const ValueId input = gate(0, c);
  const bool coupled = ops.node().attributes.Int("input_forget") != 0;
  const ValueId forget = coupled ? ops.Op("Sub", {ops.Number(1), input}) : gate(2, c);
  const ValueId added = ops.Op("Mul", {input, Gate(ops, cell.activations[1], gates[3])});
  const ValueId next_c = ops.Op("Add", {ops.Op("Mul", {forget, c}), added});
  const ValueId output = gate(1, next_c);
  return {ops.Op("Mul", {output, Apply(ops, cell.activations[2], next_c)}), next_c};
}

bool ResetsProduct(const CellOps& ops) {
  return ops.node().attributes.Int("linear_before_reset") != 0;
}

// Gates z, r, h. Where the reset gate acts on the state, the product of the hidden gate comes
// behind it; where it acts on the product, it does so on its bias too.
Cell PrepareGru(CellOps& ops, Cell given) {
  if (!ResetsProduct(ops)) {
    const std::vector<ValueId> rows = ops.Split(given.recurrence, 0, 3);
    given.recurrence = ops.Concat({rows[0], rows[1]}, 0);
    given.hidden_recurrence = Transposed(ops, rows[2]);
    return PreparePlain(ops, std::move(given));
  }
  given.recurrence = Transposed(ops, given.recurrence);
  if (given.bias.valid()) {
    const std::vector<ValueId> parts = ops.Split(given.bias, 0, 6);
    given.bias = ops.Concat(
        {ops.Op("Add", {parts[0], parts[3]}), ops.Op("Add", {parts[1], parts[4]}), parts[2]}, 0);
    given.hidden_bias = parts[5];
  }
  return given;
}

// h' = (1 - f(z)) g(h) + f(z) h
std::vector<ValueId> GruStep(CellOps& ops, const Cell& cell, ValueId x,
                             const std::vector<ValueId>& states) {
  const ValueId h = states[0];
  const bool resets_product = ResetsProduct(ops);
  const std::vector<ValueId> inputs = ops.Split(x, -1, 3);
  const std::vector<ValueId> products =
      ops.Split(ops.Op("MatMul", {h, cell.recurrence}), -1, resets_product ? 3 : 2);
  auto gate = [&](size_t k) {
    return Gate(ops, cell.activations[0], ops.Op("Add", {inputs[k], products[k]}));
  };
  const ValueId update = gate(0), reset = gate(1);
  ValueId seen;
  if (resets_product) {
    const bool biased = cell.hidden_bias.valid();
    seen = ops.Op("Mul",
                  {reset, biased ? ops.Op("Add", {products[2], cell.hidden_bias}) : products[2]});
  } else {
    seen = ops.Op("MatMul", {ops.Op("Mul", {reset, h}), cell.hidden_recurrence});
  }
  const ValueId hidden = Gate(ops, cell.activations[1], ops.Op("Add", {inputs[2], seen}));
  const ValueId rest = ops.Op("Sub", {ops.Number(1), update});
  return {ops.Op("Add", {ops.Op("Mul", {rest, hidden}), ops.Op("Mul", {update, h})})};
}

// The next number of a list, for a function that has such a parameter.
std::optional<float> Take(bool has, std::span<const float>& numbers) {
  if (!has || numbers.empty()) return std::nullopt;
  const float first = numbers.front();
  numbers = numbers.subspan(1);
  return first;
}

}  // namespace

Attributes IntAttributes(std::initializer_list<std::pair<std::string_view, int64_t>> values) {
  Attributes attributes;
  for (const auto& [name, value] : values) attributes.Set(name, value);
  return attributes;
}

// All operands but sequence_lens (input 4) have one type.
CellOps::CellOps(Rebuilder& rebuilder, const Node& node) : rebuilder_(rebuilder), node_(node) {
  constexpr size_t kLengths = 4;
  for (size_t i = 0; i < node.inputs.size() && type_ == DType::kUndefined; ++i) {
    if (i == kLengths || !node.inputs[i].valid()) continue;
    type_ = rebuilder.graph().values[rebuilder.Mapped(node.inputs[i])].type.dtype;
  }
}

ValueId CellOps::Op(std::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
  return rebuilder_.Emit(op, std::move(inputs), std::move(attributes), UnknownType(), node_);
}

std::vector<ValueId> CellOps::Split(ValueId x, int64_t axis, size_t parts) {
  Graph& graph = rebuilder_.graph();
  Node split = {
      .op = "Split",
      .inputs = {x},
      .attributes = IntAttributes({{"axis", axis}, {"num_outputs", static_cast<int64_t>(parts)}}),
      .locations = node_.locations};
  for (size_t k = 0; k < parts; ++k) {
    split.outputs.push_back(graph.AddValue(StrCat(graph.values[x].name, "_part"), UnknownType()));
  }
  graph.AddNode(rebuilder_.region(), split);
  return split.outputs;
}

ValueId CellOps::Concat(std::vector<ValueId> parts, int64_t axis) {
  return Op("Concat", std::move(parts), IntAttributes({{"axis", axis}}));
}

ValueId CellOps::Ints(const char* suffix, const std::vector<int64_t>& values) {
  return rebuilder_.graph().AddConstant(suffix, Constant::Ints(values));
}

ValueId CellOps::Number(double value) {
  const DType type = IsFloat(type_) && !IsHalf(type_) ? type_ : DType::kF32;
  const ValueId number = rebuilder_.graph().AddConstant("number", Constant::Splat(type, {}, value));
  if (type_ != DType::kUndefined) return number;
  return Op("CastLike", {number, rebuilder_.Mapped(node_.inputs[0])});
}

ValueId CellOps::CastTo(ValueId x, DType type) {
  return Op("Cast", {x}, IntAttributes({{"to", static_cast<int64_t>(type)}}));
}

ValueId CellOps::Widened(ValueId x) { return IsHalf(type_) ? CastTo(x, DType::kF32) : x; }

ValueId CellOps::Narrowed(ValueId x) { return IsHalf(type_) ? CastTo(x, type_) : x; }

ValueId Product(CellOps& ops, ValueId x, ValueId weights, ValueId scale, ValueId zero_point) {
  if (!scale.valid()) return ops.Op("MatMul", {x, weights});
  return ops.Op("com.microsoft.DynamicQuantizeMatMul", {x, weights, scale, zero_point});
}

const CellForm& LstmForm() {
  static const CellForm kForm = {"LSTM", 2, {"Sigmoid", "Tanh", "Tanh"}, PreparePlain, LstmStep};
  return kForm;
}

const CellForm& GruForm() {
  static const CellForm kForm = {"GRU", 1, {"Sigmoid", "Tanh"}, PrepareGru, GruStep};
  return kForm;
}

const CellForm& RnnForm() {
  static const CellForm kForm = {"RNN", 1, {"Tanh"}, PreparePlain, RnnStep};
  return kForm;
}

absl::StatusOr<std::vector<Activation>> ActivationsOf(const Node& node, const CellForm& form,
                                                      size_t directions) {
  std::vector<std::string> names = node.attributes.Strings("activations");
  if (names.empty()) {
    for (size_t d = 0; d < directions; ++d) {
      names.insert(names.end(), form.activations.begin(), form.activations.end());
    }
  }
  if (names.size() != form.activations.size() * directions) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("attribute 'activations' has ", names.size(), " elements, not ",
                               form.activations.size() * directions));
  }
  const std::vector<float> alphas = node.attributes.Floats("activation_alpha");
  const std::vector<float> betas = node.attributes.Floats("activation_beta");
  std::span<const float> alpha = alphas, beta = betas;
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    const ActivationForm* found = FindActivation(name);
    if (found == nullptr) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("unknown activation '", name, "'"));
    }
    activations.push_back({found->name, Take(found->alpha, alpha), Take(found->beta, beta)});
  }
  return activations;
}

}  // namespace aotc
