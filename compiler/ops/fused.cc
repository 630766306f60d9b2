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
  for (const char* plain : {"Relu", "Tanh", "Sigmoid", "Softplus", "Softsign"}) {
    if (name == plain) return e.Emit(name, {x});
  }
  if (name == "LeakyRelu") return e.Emit(name, {x}, {{"alpha", parameter(0, 0.01F)}});
  if (name == "Elu" || name == "ThresholdedRelu") {
    return e.Emit(name, {x}, {{"alpha", parameter(0, 1.0F)}});
  }
  if (name == "Selu") {
    return e.Emit(name, {x}, {{"alpha", parameter(0, 1.67326F)}, {"gamma", parameter(1, 1.0507F)}});
  }
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

// An operand of FusedMatMul, as rows and columns of a batch.
struct Factor {
  Tensor x = {};
  bool turned = false;         // it has columns as rows
  bool rows_in_front = false;  // its first axis is the last but one

  // The number of axis `axis` of the batch, or behind them of the rows and columns, as x has them.
  int AxisOf(int axis) const {
    const int last = x.rank() - 1;
    if (axis >= last - 1 && turned) axis = axis == last ? last - 1 : last;
    if (!rows_in_front || axis == last) return axis;
    return axis == last - 1 ? 0 : axis + 1;
  }
  const Expr& Dim(int axis) const { return x.dim(AxisOf(axis)); }
  const Expr& Rows() const { return Dim(x.rank() - 2); }
  const Expr& Columns() const { return Dim(x.rank() - 1); }
  Shape Batch() const {
    Shape batch;
    for (int axis = 0; axis + 2 < x.rank(); ++axis) batch.push_back(Dim(axis));
    return batch;
  }
  // Of an element of a batch that this one broadcasts to.
  Expr At(const Indices& batch, const Expr& row, const Expr& column) const {
    Indices logical = BroadcastIndices(Batch(), batch), indices(logical.size() + 2);
    logical.push_back(row);
    logical.push_back(column);
    for (int axis = 0; axis < x.rank(); ++axis) {
      indices[static_cast<size_t>(AxisOf(axis))] = logical[static_cast<size_t>(axis)];
    }
    return x(indices);
  }
};

// Operand 0, "A", or 1, "B".
absl::StatusOr<Factor> ReadFactor(OpContext& op, size_t index, const std::string& name) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(index));
  if (x.rank() < 2) return AOTC_REFUSAL(Unimplemented, "operands of rank 1 are not supported");
  return Factor{.x = x,
                .turned = op.attributes().Int(StrCat("trans", name)) != 0,
                .rows_in_front = op.attributes().Int(StrCat("transBatch", name)) != 0};
}

// alpha * A * B over the last two axes, where each of A and B may be given transposed, its rows
// even in front of its batch.
absl::Status FusedMatMul(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Factor a, ReadFactor(op, 0, "A"));
  AOTC_ASSIGN_OR_RETURN(const Factor b, ReadFactor(op, 1, "B"));
  AOTC_RETURN_IF_ERROR(RequireSameType({a.x, b.x}));
  AOTC_RETURN_IF_ERROR(RequireFloat(a.x));
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(a.Columns(), b.Rows(), "the inner dims of the operands differ"));
  AOTC_ASSIGN_OR_RETURN(Shape shape, op.b().Broadcast({a.Batch(), b.Batch()}));
  const auto batch_rank = static_cast<std::ptrdiff_t>(shape.size());
  shape.push_back(a.Rows());
  shape.push_back(b.Columns());
  const auto batch = [&](const Indices& i) { return Indices(i.begin(), i.begin() + batch_rank); };
  const Tensor sums = SumOfProducts(
      op.b(), {.accumulator = AccumulatorOf(a.x.dtype()),
               .shape = shape,
               .reduce_shape = {a.Columns()},
               .left = [&](const Indices& i,
                           const Indices& r) { return a.At(batch(i), i[i.size() - 2], r[0]); },
               .right = [&](const Indices& i,
                            const Indices& r) { return b.At(batch(i), r[0], i.back()); }});
  const double alpha = op.attributes().Float("alpha", 1);
  const Tensor scaled =
      alpha == 1 ? sums
                 : op.b().Map({sums}, [&](const auto& v) { return v[0] * Number(alpha, v[0]); });
  op.SetOutput(0, op.b().Convert(scaled, a.x.dtype()));
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
