// Fused operators of com.microsoft, as onnxruntime's optimisers write them, in terms of those of
// ONNX: convolutions and products with an activation behind them, forms of Gelu, Trilu.
#include <string>

#include "compiler/ops/contraction.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using NamedValues = Expansion::NamedValues;

// The attributes of the node that `names` lists, where present.
NamedValues Kept(const Expansion& e, std::initializer_list<const char*> names) {
  NamedValues kept;
  for (const char* name : names) {
    const AttributeValue* value = e.attributes().Find(name);
    if (value != nullptr) kept.emplace_back(name, *value);
  }
  return kept;
}

// An activation by its name, with its parameters in the order of its definition.
absl::StatusOr<ValueId> Activated(Expansion& e, ValueId x, const std::string& name,
                                  const std::vector<float>& parameters) {
  auto parameter = [&](size_t index, float fallback) {
    return index < parameters.size() ? parameters[index] : fallback;
  };
  if (name.empty()) return x;
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid") return e.Emit(name, {x});
  if (name == "LeakyRelu") return e.Emit(name, {x}, {{"alpha", parameter(0, 0.01F)}});
  if (name == "HardSigmoid") {
    return e.Emit(name, {x}, {{"alpha", parameter(0, 0.2F)}, {"beta", parameter(1, 0.5F)}});
  }
  if (name == "Clip" && parameters.size() == 2) {
    auto limit = [&](const char* what, size_t index) {
      return e.Emit("CastLike", {e.Number(what, DType::kF32, parameters[index]), x});
    };
    return e.Emit("Clip", {x, limit("min", 0), limit("max", 1)});
  }
  return AOTC_REFUSAL(Unimplemented, StrCat("the activation '", name, "' is not supported"));
}

// activation(Conv(X, W, B) + Z)
absl::Status FusedConv(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  ValueId result =
      e.Emit("Conv", {e.Input(0), e.Input(1), e.Input(2)},
             Kept(e, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  if (e.HasInput(3)) result = e.Emit("Add", {result, e.Input(3)});
  AOTC_ASSIGN_OR_RETURN(result, Activated(e, result, e.attributes().String("activation"),
                                          e.attributes().Floats("activation_params")));
  e.SetOutput(0, result);
  return absl::OkStatus();
}

// activation(Gemm(A, B, C))
absl::Status FusedGemm(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  const ValueId product = e.Emit("Gemm", {e.Input(0), e.Input(1), e.Input(2)},
                                 Kept(e, {"alpha", "beta", "transA", "transB"}));
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (e.attributes().Has(name)) parameters.push_back(e.attributes().Float(name));
  }
  AOTC_ASSIGN_OR_RETURN(const ValueId result,
                        Activated(e, product, e.attributes().String("activation"), parameters));
  e.SetOutput(0, result);
  return absl::OkStatus();
}

// alpha * A * B over the last two axes, where each of A and B may be given transposed.
absl::Status FusedMatMul(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor a, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor b, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireSameType({a, b}));
  AOTC_RETURN_IF_ERROR(RequireFloat(a));
  for (const Tensor& operand : {a, b}) {
    if (operand.rank() < 2)
      return AOTC_REFUSAL(Unimplemented, "operands of rank 1 are not supported");
  }
  for (const char* name : {"transBatchA", "transBatchB"}) {
    if (op.attributes().Int(name) != 0) {
      return AOTC_REFUSAL(Unimplemented, StrCat("attribute '", name, "' is not supported"));
    }
  }
  const bool turn_a = op.attributes().Int("transA") != 0;
  const bool turn_b = op.attributes().Int("transB") != 0;
  const Expr& inner = a.dim(turn_a ? -2 : -1);
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(inner, b.dim(turn_b ? -1 : -2), "the inner dims of the operands differ"));
  auto batch = [](const Tensor& x) { return Shape(x.shape().begin(), x.shape().end() - 2); };
  AOTC_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes({batch(a), batch(b)}));
  const auto batch_rank = static_cast<int64_t>(shape.size());
  shape.push_back(a.dim(turn_a ? -1 : -2));
  shape.push_back(b.dim(turn_b ? -2 : -1));
  auto at = [&](const Tensor& x, const Indices& i, const Expr& row, const Expr& column, bool turn) {
    Indices indices = BroadcastIndices(batch(x), Indices(i.begin(), i.begin() + batch_rank));
    indices.push_back(turn ? column : row);
    indices.push_back(turn ? row : column);
    return x(indices);
  };
  const Tensor sums = SumOfProducts(
      op.b(), {.accumulator = AccumulatorOf(a.dtype()),
               .shape = shape,
               .reduce_shape = {inner},
               .left = [&](const Indices& i,
                           const Indices& r) { return at(a, i, i[i.size() - 2], r[0], turn_a); },
               .right = [&](const Indices& i,
                            const Indices& r) { return at(b, i, r[0], i.back(), turn_b); }});
  const double alpha = op.attributes().Float("alpha", 1);
  const Tensor scaled =
      alpha == 1 ? sums
                 : op.b().Map({sums}, [&](const auto& v) { return v[0] * Number(alpha, v[0]); });
  op.SetOutput(0, op.b().Convert(scaled, a.dtype()));
  return absl::OkStatus();
}

// Gelu of x, or of x and a bias: by erf, or by tanh.
template <bool kByTanh>
absl::Status BiasGelu(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const ValueId x = e.HasInput(1) ? e.Emit("Add", {e.Input(0), e.Input(1)}) : e.Input(0);
  e.SetOutput(0, e.Emit("Gelu", {x}, {{"approximate", std::string(kByTanh ? "tanh" : "none")}}));
  return absl::OkStatus();
}

// x * sigmoid(alpha * x)
absl::Status QuickGelu(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const float alpha = e.attributes().Float("alpha", 1.702F);
  e.SetOutput(0, e.Emit("Swish", {e.Input(0)}, {{"alpha", alpha}}));
  return absl::OkStatus();
}

absl::Status Trilu(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  e.SetOutput(0, e.Emit("Trilu", {e.Input(0), e.Input(1)}, Kept(e, {"upper"})));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "com.microsoft.BiasGelu", .expand = BiasGelu<false>, .summary = "Gelu of x + bias"},
    {.name = "com.microsoft.FastGelu",
     .expand = BiasGelu<true>,
     .summary = "Gelu by tanh, of x or x + bias"},
    {.name = "com.microsoft.FusedConv",
     .expand = FusedConv,
     .summary = "convolution, a sum and an activation"},
    {.name = "com.microsoft.FusedGemm",
     .expand = FusedGemm,
     .summary = "alpha * A * B + beta * C and an activation"},
    {.name = "com.microsoft.FusedMatMul",
     .compute = FusedMatMul,
     .summary = "alpha * A * B, either one transposed",
     .traits = kContraction,
     .first_weight = 0},
    {.name = "com.microsoft.Gelu", .expand = BiasGelu<false>, .summary = "Gaussian error unit"},
    {.name = "com.microsoft.QuickGelu", .expand = QuickGelu, .summary = "x * sigmoid(alpha * x)"},
    {.name = "com.microsoft.Trilu", .expand = Trilu, .summary = "a triangle of a matrix"},
};

}  // namespace

std::span<const OpDef> FusedOps() { return kOps; }

}  // namespace aotc
