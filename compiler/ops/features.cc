// Preparation of features, of ai.onnx.ml (opset 1): Scaler, Normalizer, Imputer, Binarizer,
// ArrayFeatureExtractor, FeatureVectorizer.
#include <cmath>

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Element of a list of one number, or of one for each feature of the last axis.
Expr OfFeature(const Tensor& list, const Indices& i) {
  return list({list.dim(0).IsInt(1) ? Expr(0) : i.back()});
}

absl::Status RequireFeatures(OpContext& op, const Tensor& x, const Tensor& list) {
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  AOTC_RETURN_IF_ERROR(RequireRank(list, 1, 1));
  if (list.dim(0).IsInt(1)) return absl::OkStatus();
  return op.RequireEqual(list.dim(0), x.dim(-1),
                         "a list has neither one element nor one for each feature");
}

// Ours: f32 of (x - offset) * scale, inputs 1 and 2.
absl::Status ScaledFeatures(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor offset, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Tensor scale, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireFeatures(op, x, offset));
  AOTC_RETURN_IF_ERROR(RequireFeatures(op, x, scale));
  op.SetOutput(0, op.b().Compute(DType::kF32, x.shape(), [&](const Indices& i) {
    return (Cast(DType::kF32, x(i)) - OfFeature(offset, i)) * OfFeature(scale, i);
  }));
  return absl::OkStatus();
}

ValueId FloatList(Expansion& e, std::string_view name, double fallback) {
  const std::vector<float> given = e.attributes().Floats(name);
  std::vector<double> values(given.begin(), given.end());
  if (values.empty()) values.push_back(fallback);
  return e.Numbers(name, DType::kF32, {static_cast<int64_t>(values.size())}, values);
}

absl::Status Scaler(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  e.SetOutput(0, e.Emit("ScaledFeatures",
                        {e.Input(0), FloatList(e, "offset", 0), FloatList(e, "scale", 1)}));
  return absl::OkStatus();
}

// f32 of x / max(x), x / sum(|x|) or x / sqrt(sum(x^2)), along axis 1, or the only one; x where
// the divisor is 0. MAX takes the elements with their signs, as the standard and onnxruntime do.
absl::Status Normalizer(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor given, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(given));
  AOTC_RETURN_IF_ERROR(RequireRank(given, 1));
  const Tensor x = op.b().Convert(given, DType::kF32);
  const std::string norm = op.attributes().String("norm", "MAX");
  const std::vector<int> axes = {x.rank() == 1 ? 0 : 1};
  Tensor divisor;
  if (norm == "MAX") {
    divisor = op.b().ReduceAxes("max", x, axes, /*keep_dims=*/true);
  } else if (norm == "L1") {
    divisor = op.b().ReduceAxes("sum", x, axes, /*keep_dims=*/true,
                                [](const Expr& e) { return Unary(ExprOp::kAbs, e); });
  } else if (norm == "L2") {
    const Tensor squares =
        op.b().ReduceAxes("sum", x, axes, /*keep_dims=*/true, [](const Expr& e) { return e * e; });
    divisor = op.b().Map({squares}, [](const auto& v) { return Sqrt(v[0]); });
  } else {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown norm '", norm, "'"));
  }
  op.SetOutput(0, op.b().Map({x, divisor}, [](const auto& v) {
    return Select(Eq(v[1], Number(0, v[1])), v[0], Div(v[0], v[1]));
  }));
  return absl::OkStatus();
}

// Ours: elements equal to attribute replaced_value_float (NaN too) or replaced_value_int64 become
// those of input 1, which holds floats or integers as x does.
absl::Status ImputedFeatures(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor values, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireFeatures(op, x, values));
  const bool floats = IsFloat(x.dtype());
  if (floats != IsFloat(values.dtype())) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("needs values of the kind of its input in ",
                               floats ? "imputed_value_floats" : "imputed_value_int64s"));
  }
  const DType compute = floats ? ComputeType(x.dtype()) : x.dtype();
  const double replaced = op.attributes().Float("replaced_value_float");
  const int64_t integer = op.attributes().Int("replaced_value_int64");
  op.SetOutput(0, op.b().Compute(x.dtype(), x.shape(), [&](const Indices& i) {
    const Expr value = x(i);
    const bool nan = floats && std::isnan(replaced);
    const Expr number =
        floats ? FloatConst(nan ? 0 : replaced, compute) : IntConst(integer, compute);
    const Expr is_missing = nan ? Unary(ExprOp::kIsNan, value) : Eq(value, number);
    return Select(is_missing, Cast(compute, OfFeature(values, i)), value);
  }));
  return absl::OkStatus();
}

absl::Status Imputer(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const std::vector<int64_t> integers = e.attributes().Ints("imputed_value_int64s");
  const bool has_floats = !e.attributes().Floats("imputed_value_floats").empty();
  if (has_floats != integers.empty()) {
    return AOTC_REFUSAL(InvalidArgument,
                        "needs either imputed_value_floats or imputed_value_int64s");
  }
  const ValueId values = has_floats ? FloatList(e, "imputed_value_floats", 0)
                                    : e.Ints("imputed_value_int64s", integers);
  e.SetOutput(0, e.Emit("ImputedFeatures", {e.Input(0), values},
                        {{"replaced_value_float", e.attributes().Float("replaced_value_float")},
                         {"replaced_value_int64", e.attributes().Int("replaced_value_int64")}}));
  return absl::OkStatus();
}

// 1 above the threshold, else 0.
absl::Status Binarizer(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  const double threshold = op.attributes().Float("threshold");
  const DType compute = IsFloat(x.dtype()) ? ComputeType(x.dtype()) : DType::kF32;
  op.SetOutput(0, op.b().Map(
                      {x},
                      [&](const auto& v) {
                        const Expr above = Lt(NumberConst(threshold, compute), Cast(compute, v[0]));
                        return Select(above, Number(1, v[0]), Number(0, v[0]));
                      },
                      x.dtype()));
  return absl::OkStatus();
}

// Elements of the last axis by their places, which are all of input 1; a vector is one row.
absl::Status ArrayFeatureExtractor(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  if (shape.empty()) shape = {1};
  shape.push_back(ElementCount(places.shape()));
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    const Expr place = Cast(DType::kI64, places(Unraveled(i.back(), places.shape())));
    Indices indices = i;
    if (x.rank() == 1) indices = {i.back()};
    indices.back() = Clamp(place, 0, x.dim(-1) - 1);
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// f32 [N, sum of inputdimensions]: the inputs side by side, each cut or filled with 0 to its
// number of columns; a vector is one row.
absl::Status FeatureVectorizer(OpContext& op) {
  const std::vector<int64_t> columns = op.attributes().Ints("inputdimensions");
  if (columns.size() != op.InputCount() || columns.empty()) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("attribute 'inputdimensions' has ", columns.size(),
                                                " elements for ", op.InputCount(), " inputs"));
  }
  std::vector<Tensor> inputs;
  int64_t total = 0;
  for (size_t k = 0; k < columns.size(); ++k) {
    AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(k));
    AOTC_RETURN_IF_ERROR(RequireNumber(x));
    AOTC_RETURN_IF_ERROR(RequireRank(x, 1, 2));
    if (columns[k] < 1) return AOTC_REFUSAL(InvalidArgument, "an input has no columns");
    inputs.push_back(x);
    total += columns[k];
  }
  auto rows = [](const Tensor& x) { return x.rank() == 1 ? Expr(1) : x.dim(0); };
  for (const Tensor& x : inputs) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(rows(inputs[0]), rows(x), "the inputs differ in rows"));
  }
  op.SetOutput(0, op.b().Compute(DType::kF32, {rows(inputs[0]), total}, [&](const Indices& i) {
    Expr result;
    int64_t first = total;
    for (size_t k = columns.size(); k-- > 0;) {
      first -= columns[k];
      const Expr width = inputs[k].dim(-1), place = i[1] - first;
      const Expr column = Clamp(place, 0, width - 1);
      const Expr read = inputs[k].rank() == 1 ? inputs[k]({column}) : inputs[k]({i[0], column});
      const Expr own = Select(Lt(place, width), Cast(DType::kF32, read), FloatConst(0));
      result = result.valid() ? Select(Lt(i[1], first + columns[k]), own, result) : own;
    }
    return result;
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ImputedFeatures",
     .compute = ImputedFeatures,
     .summary = "another value for missing ones, of a list",
     .traits = kOwn},
    {.name = "ScaledFeatures",
     .compute = ScaledFeatures,
     .summary = "(x - offset) * scale with lists",
     .traits = kOwn},
    {.name = "ai.onnx.ml.ArrayFeatureExtractor",
     .compute = ArrayFeatureExtractor,
     .summary = "elements of the last axis by their places",
     .indices = IndexOperand{.fixed_axis = -1, .from_end = false}},
    {.name = "ai.onnx.ml.Binarizer",
     .compute = Binarizer,
     .summary = "1 above a threshold, else 0",
     .traits = kElementwise},
    {.name = "ai.onnx.ml.FeatureVectorizer",
     .compute = FeatureVectorizer,
     .summary = "tensors side by side, as f32"},
    {.name = "ai.onnx.ml.Imputer", .expand = Imputer, .summary = "another value for missing ones"},
    {.name = "ai.onnx.ml.Normalizer",
     .compute = Normalizer,
     .summary = "rows divided by their maximum or norm"},
    {.name = "ai.onnx.ml.Scaler", .expand = Scaler, .summary = "(x - offset) * scale"},
};

}  // namespace

std::span<const OpDef> FeatureOps() { return kOps; }

}  // namespace aotc
