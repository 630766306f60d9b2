#include "compiler/targets/cpu/contraction.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "compiler/ir/access.h"
#include "compiler/lower/block_constants.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/schedule/statistics.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contraction_packing.h"
#include "compiler/targets/cpu/contraction_scales.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// A tile's product: zero points are those of scaled weights, integers have none.
bool IsTiled(const Stage& stage) {
  const std::optional<ContractionAnchor> read = ReadContraction(stage);
  if (!read || (read->a.scale.valid() && read->b.scale.valid())) return false;
  return std::ranges::all_of(std::array{&read->a, &read->b}, [](const AnchorOperand* operand) {
    return operand->scale.valid() || !operand->zero_point.valid();
  });
}

Expr Coefficient(const Affine& affine, const std::string& name) {
  auto found = affine.coefficients.find(name);
  return found == affine.coefficients.end() ? Expr(0) : found->second;
}

std::vector<std::string> NamesOf(const Nest& nest) {
  std::vector<std::string> names;
  for (const NestAxis& axis : nest.outer) names.push_back(axis.name);
  for (const Axis& axis : nest.stages[0].reduce) names.push_back(axis.name);
  return names;
}

// The index but for where a step of the only reduction lies, which becomes `c.gathered`. Nothing
// where it does not come apart like that.
std::optional<Affine> WithoutSteps(TiledContraction& c, const Expr& index, const Bounds& bounds) {
  std::vector<std::string> outer, steps;
  for (const NestAxis& axis : c.nest.outer) outer.push_back(axis.name);
  for (const Axis& axis : c.nest.stages[0].reduce) {
    if (!axis.extent.IsInt(1)) steps.push_back(axis.name);
  }
  if (steps.size() != 1) return std::nullopt;
  std::optional<Affine> affine = AsAffine(index, outer, bounds);
  if (!affine) return std::nullopt;
  for (const auto& [name, coefficient] : affine->coefficients) {
    if (UsesVar(coefficient, steps[0])) return std::nullopt;
  }
  c.gathered = Substitute(affine->rest, {{steps[0], Var("step")}});
  affine->rest = 0;
  return affine;
}

// Joins the nest's axes. One column of bytes has an axis all the same, of one element, of which a
// tile's vector stores that: products of floats with a vector are better rows.
void MergeButColumn(Nest& nest, bool keeps_column) {
  const NestAxis last = nest.outer.empty() ? NestAxis() : nest.outer.back();
  MergeAxes(nest);
  if (!keeps_column || !last.extent.IsInt(1) || last.halo != Halo{}) return;
  if (nest.outer.back().name != last.name) nest.outer.push_back(last);
  for (FlatStage& stage : nest.stages) {
    for (FlatResult& result : stage.results) {
      if (result.index.valid()) result.index = result.index + Var(last.name);
    }
  }
}

// Sorts the nest's axes into columns, rows and the rest. The innermost axis is a column unless it
// moves the input: lanes beyond a single column move neither operand.
absl::Status ClassifyAxes(TiledContraction& c, const Expr& flat_weights, const Expr& flat_input) {
  if (c.nest.outer.empty()) return Refuse("the output has no axes");
  for (const NestAxis& axis : c.nest.outer) {
    const bool is_last = axis.name == c.nest.outer.back().name;
    if (UsesVar(flat_weights, axis.name) || (is_last && !UsesVar(flat_input, axis.name))) {
      c.column_axes.push_back(axis.name);
    } else {
      c.outer.push_back(axis);
    }
  }
  if (c.column_axes.empty() || c.column_axes.back() != c.nest.outer.back().name)
    return Refuse("the only column has no axis of its own");
  if (c.column_axes.size() > 2) return Refuse("the columns span more than two axes");
  if (c.nest.outer.back().halo != Halo{}) return Refuse("the columns have a halo");
  if (c.column_axes.size() == 2) c.column_block = c.nest.outer.back().extent.AsInt().value_or(0);
  if (c.outer.empty()) return absl::OkStatus();
  c.row_halo = c.outer.back().halo;
  c.row_axis = c.outer.back().name;
  c.row_extent = c.outer.back().extent;
  c.row_walks = c.outer.back().walks;
  c.outer.pop_back();
  return absl::OkStatus();
}

// The axis lies innermost in the main output; axes of one element behind it do not count.
bool IsInnermost(const Kernel& kernel, size_t axis) {
  const KernelTensor& main = kernel.tensors[MainOutput(kernel)];
  const std::vector<StorageAxis>& axes = main.layout.axes;
  if (!axes.empty()) return axes.back().axis == static_cast<int>(axis);
  return std::all_of(main.shape.begin() + static_cast<ptrdiff_t>(axis) + 1, main.shape.end(),
                     [](const Expr& dim) { return dim.IsInt(1); });
}

// Distances of the packed weights, or of their scales, per panel and per step of each reduce axis.
absl::StatusOr<Affine> WeightSteps(const Kernel& kernel, const TiledContraction& c,
                                   const Expr& load, const std::string& column) {
  Bounds bounds = StageBounds(c.nest, c.nest.stages[0]);
  bounds.Add("panel", 0, CeilDiv(c.columns, c.panel) - 1);
  bounds.Add("lane", 0, c.panel - 1);
  std::vector<std::string> names = {"panel", "lane"};
  for (const Axis& axis : c.nest.stages[0].reduce) names.push_back(axis.name);
  std::vector<Expr> indices;
  for (const Expr& index : load.args()) {
    indices.push_back(Substitute(index, {{column, Var("panel") * c.panel + Var("lane")}}));
  }
  const Expr offset = Access(kernel).Offset(load->tensor, indices, bounds);
  std::optional<Affine> affine = AsAffine(offset, names, bounds);
  if (!affine) return Refuse("the packed weights are not affine in the reduce axes");
  return *std::move(affine);
}

// The same of the scales, which zero points lie like; all of them 0 where there are none.
absl::StatusOr<Affine> ScaleSteps(const Kernel& kernel, TiledContraction& c,
                                  const std::string& column) {
  AOTC_ASSIGN_OR_RETURN(const WeightScales scales, ReadScales(kernel, c.weights));
  if (!scales.scale.valid()) return Affine{};
  c.scales = scales.scale->tensor;
  if (scales.zero.valid()) c.zeros = scales.zero->tensor;
  AOTC_ASSIGN_OR_RETURN(Affine steps, WeightSteps(kernel, c, scales.scale, column));
  if (!Coefficient(steps, "lane").IsInt(1)) return Refuse("scales of a panel are apart");
  c.scale_panel_stride = Coefficient(steps, "panel");
  c.scale_offset = steps.rest;
  return steps;
}

absl::Status ReadInput(TiledContraction& c, const Expr& flat_input, const Affine& weights,
                       const Affine& scales) {
  Expr load = flat_input;
  while (load.op() == ExprOp::kCast) load = load.arg(0);
  if (load.op() != ExprOp::kLoad) return Refuse("padding is not in the input's halo");
  const Bounds bounds = StageBounds(c.nest, c.nest.stages[0]);
  std::optional<Affine> input = AsAffine(load.arg(0), NamesOf(c.nest), bounds);
  const bool may_gather = !c.is_integer && !c.scales.valid();
  if (!input && may_gather) input = WithoutSteps(c, load.arg(0), bounds);
  if (!input) return Refuse("the input is not read at affine indices");
  c.input_offset = input->rest;
  for (const NestAxis& axis : c.outer) {
    c.input_offset = c.input_offset + Coefficient(*input, axis.name) * Var(axis.name);
  }
  c.row_stride = c.row_axis.empty() ? Expr(0) : Coefficient(*input, c.row_axis);
  for (const Axis& axis : c.nest.stages[0].reduce) {
    if (axis.extent.IsInt(1)) continue;
    c.levels.push_back({axis.extent, Coefficient(*input, axis.name),
                        Coefficient(weights, axis.name), Coefficient(scales, axis.name)});
  }
  // The innermost level has one scale.
  if (!c.levels.empty() && !c.levels.back().scale_stride.IsInt(0)) c.levels.push_back({1, 0, 0});
  if (c.is_integer) {  // the step within a group is the tile's
    if (load->guarded) return Refuse("the last group of four would leave the input");
    if (!c.levels.back().input_stride.IsInt(1) || !c.levels.back().weight_stride.IsInt(1))
      return Refuse("groups of the reduction do not lie together");
    c.levels.pop_back();
  }
  constexpr size_t kMostLevels = 4;
  if (c.levels.size() > kMostLevels) return Refuse("the reduction has more than four levels");
  return absl::OkStatus();
}

// Weights of which four neighbouring taps lie together are walked by groups: at the first of them.
Expr AtFirstTaps(const TiledContraction& c, const Expr& weights, const Bounds& bounds) {
  if (!c.is_integer) return weights.arg(0);
  const Axis& taps = c.nest.stages[0].reduce.back();
  return Simplify(Substitute(weights.arg(0), {{taps.name, Expr(0)}}), bounds);
}

// Both operands as affine walks whose lanes lie together.
absl::Status ReadDepthwiseOperands(TiledContraction& c) {
  const FlatStage& stage = c.nest.stages[0];
  const Bounds bounds = StageBounds(c.nest, stage);
  const bool weights_first = OperandLoad(stage.bodies[0].arg(0))->tensor == c.weights;
  Expr input = stage.bodies[0].arg(weights_first ? 1 : 0),
       weights = stage.bodies[0].arg(weights_first ? 0 : 1);
  while (input.op() == ExprOp::kCast) input = input.arg(0);
  while (weights.op() == ExprOp::kCast) weights = weights.arg(0);
  if (input.op() != ExprOp::kLoad) return Refuse("padding is not in the input's halo");
  if (weights.op() != ExprOp::kLoad) return Refuse("the weights are not read plainly");
  const auto from = AsAffine(input.arg(0), NamesOf(c.nest), bounds);
  const auto taps = AsAffine(AtFirstTaps(c, weights, bounds), NamesOf(c.nest), bounds);
  if (!from || !taps) return Refuse("operands are not read at affine indices");
  const std::string& lane = c.column_axes[0];
  if (!Coefficient(*from, lane).IsInt(1) || !Coefficient(*taps, lane).IsInt(c.column_stride))
    return Refuse("lanes are apart");
  c.row_stride = Coefficient(*from, c.row_axis);
  if (!c.row_stride.IsConst() || !Coefficient(*taps, c.row_axis).IsInt(0))
    return Refuse("rows are uneven");
  c.input_offset = from->rest;
  c.weight_offset = taps->rest;
  for (const NestAxis& axis : c.outer) {
    c.input_offset = c.input_offset + Coefficient(*from, axis.name) * Var(axis.name);
    c.weight_offset = c.weight_offset + Coefficient(*taps, axis.name) * Var(axis.name);
  }
  for (const Axis& axis : stage.reduce) {
    if (axis.extent.IsInt(1)) continue;
    c.levels.push_back({axis.extent, Coefficient(*from, axis.name), Coefficient(*taps, axis.name)});
  }
  if (c.is_integer) c.levels.back().weight_stride = c.panel * c.column_stride;  // per four taps
  if (c.levels.size() > 2) return Refuse("the window has more than two axes");
  while (c.levels.size() < 2) c.levels.insert(c.levels.begin(), {Expr(1), Expr(0), Expr(0)});
  return absl::OkStatus();
}

// The contraction first, then pointwise stages over the same axes.
absl::Status CheckForm(const Kernel& kernel) {
  if (kernel.stages.empty() || !IsTiled(kernel.stages[0])) return Refuse("no contraction");
  const size_t rank = kernel.stages[0].axes.size();
  const size_t points = kernel.stages.size() - FindStatistics(kernel, MainOutput(kernel)).size();
  for (size_t s = 1; s < points; ++s) {
    const Stage& stage = kernel.stages[s];
    if (stage.IsReduction() || stage.axes.size() != rank)
      return Refuse("the epilogue is not pointwise");
  }
  return absl::OkStatus();
}

// Statistics are combined over lanes of columns, in f32.
absl::Status CheckStatistics(const TiledContraction& c) {
  for (const FlatStage& stage : c.nest.stages) {
    if (stage.over.empty()) continue;
    if (!CombinesLanes(stage) || stage.combiner.identity[0].dtype() != DType::kF32)
      return Refuse("a statistic is not a sum, maximum or minimum in f32");
    for (const std::string& name : stage.over) {
      if (std::count(c.column_axes.begin(), c.column_axes.end(), name) == 0)
        return Refuse("a statistic is not of rows");
    }
    if (stage.over.size() != c.column_axes.size()) return Refuse("a statistic is not of rows");
  }
  return absl::OkStatus();
}

// Channels are in whole vectors of all instruction sets, or some may be computed twice: the results
// must then not lie where an operand of theirs did.
bool HasVectorsOfChannels(const Kernel& kernel, int64_t channels) {
  constexpr int64_t kMostLanes = 16;
  if (channels % kMostLanes == 0) return true;
  const auto inputs = std::ranges::count_if(
      kernel.params, [&](TensorId id) { return kernel.tensors[id].role == TensorRole::kInput; });
  return channels > kMostLanes && inputs == 1 && kernel.stages[0].body[0].dtype() == DType::kF32;
}

}  // namespace

int64_t SplitOfTile(int64_t rows, int64_t rows_of_schedule, int64_t vectors, int64_t split) {
  if (rows_of_schedule * vectors < kFewAccumulators) return split;
  int64_t shared = 1;
  while (rows * vectors * shared < kFewAccumulators) shared *= 2;
  return shared;
}

int64_t ChoosePanel(int64_t columns) {
  int64_t best = 32;
  double best_cost = 0;
  for (const int64_t panel : {32, 48, 16}) {
    // One vector per row keeps about four fifths of the speed (measured).
    const double slowness = panel == 16 ? 1.25 : 1.0;
    const int64_t padded = RoundUp(columns, panel);
    const double cost = static_cast<double>(padded) * slowness;
    if (best_cost == 0 || cost < best_cost) {
      best = panel;
      best_cost = cost;
    }
  }
  return best;
}

absl::StatusOr<TiledContraction> AnalyzeContraction(Kernel kernel, const NestBand* band) {
  BlockConstants(kernel);
  AOTC_RETURN_IF_ERROR(CheckForm(kernel));
  Stage& stage = kernel.stages[0];
  AOTC_ASSIGN_OR_RETURN(const Operands operands, FindOperands(kernel, stage));
  AOTC_ASSIGN_OR_RETURN(const size_t column, ColumnAxis(stage, operands));
  const std::string column_name = stage.axes[column].name;
  TiledContraction c{.input = operands.input->tensor, .weights = operands.weights->tensor};
  const std::optional<int64_t> columns = stage.axes[column].extent.AsInt();
  if (!columns) return Refuse("the number of columns is symbolic");
  if (!IsInnermost(kernel, column)) return Refuse("the columns are not innermost in the output");
  c.columns = *columns;
  c.column = DefiningStage(kernel, MainOutput(kernel))->axes[column].name;
  c.panel = ChoosePanel(c.columns);
  c.is_integer = stage.body[0].dtype() == DType::kI32;
  AOTC_RETURN_IF_ERROR(PackWeights(kernel, operands, column_name, c.panel));
  AOTC_RETURN_IF_ERROR(PackScales(kernel, c.weights, column_name, c.panel));
  const Expr weights_load =
      OperandLoad(OperandLoad(stage.body[0].arg(0))->tensor == c.weights ? stage.body[0].arg(0)
                                                                         : stage.body[0].arg(1));
  AOTC_ASSIGN_OR_RETURN(c.nest, BuildNest(kernel));
  if (!c.nest.is_point) return Refuse("the epilogue has other axes");
  if (band != nullptr) AOTC_RETURN_IF_ERROR(TakeBand(c.nest, *band));
  MergeButColumn(c.nest, c.is_integer && c.columns == 1);
  const Expr& product = c.nest.stages[0].bodies[0];
  const bool weights_first = OperandLoad(product.arg(0))->tensor == c.weights;
  const Expr& flat_input = weights_first ? product.arg(1) : product.arg(0);
  AOTC_RETURN_IF_ERROR(
      ClassifyAxes(c, weights_first ? product.arg(0) : product.arg(1), flat_input));
  AOTC_RETURN_IF_ERROR(CheckStatistics(c));
  const KernelTensor& main = kernel.tensors[MainOutput(kernel)];
  c.stored_columns = main.layout.IsRowMajor()
                         ? c.columns
                         : (c.columns + c.column_block - 1) / std::max<int64_t>(c.column_block, 1) *
                               c.column_block;
  if (c.stored_columns == 0)
    c.stored_columns = c.nest.outer.back().extent.AsInt().value_or(c.columns);
  Expr lanes = 1;
  for (const NestAxis& axis : c.nest.outer) {
    if (std::ranges::count(c.column_axes, axis.name) > 0) lanes = lanes * axis.extent;
  }
  if (!ProveEqual(lanes, c.stored_columns, c.nest.bounds))
    return Refuse("rows that read the same are merged with the columns");
  AOTC_ASSIGN_OR_RETURN(const Affine weights, WeightSteps(kernel, c, weights_load, column_name));
  c.panel_stride = Coefficient(weights, "panel");
  c.weight_offset = weights.rest;
  c.column_stride = Coefficient(weights, "lane").AsInt().value_or(1);
  // A single column has no step; the tile reads a whole vector of its panel all the same.
  if (c.column_stride == 0) c.column_stride = c.is_integer ? 4 : 1;
  AOTC_ASSIGN_OR_RETURN(const Affine scales, ScaleSteps(kernel, c, column_name));
  AOTC_RETURN_IF_ERROR(ReadInput(c, flat_input, weights, scales));
  c.kernel = std::move(kernel);
  return c;
}

absl::StatusOr<TiledContraction> AnalyzeDepthwise(Kernel kernel, const NestBand* band) {
  BlockConstants(kernel);
  AOTC_RETURN_IF_ERROR(CheckForm(kernel));
  AOTC_ASSIGN_OR_RETURN(const Operands operands, FindOperands(kernel, kernel.stages[0]));
  TiledContraction c{
      .input = operands.input->tensor, .weights = operands.weights->tensor, .is_depthwise = true};
  c.is_integer = kernel.stages[0].body[0].dtype() == DType::kI32;
  if (ReadContraction(kernel.stages[0])->HasScales()) return Refuse("filters have scales");
  if (!c.is_integer) WeightsAsFloat(kernel, c.weights);
  if (c.is_integer) {
    AOTC_RETURN_IF_ERROR(PackTaps(kernel, operands));
    c.column_stride = kTapGroup;
  }
  AOTC_ASSIGN_OR_RETURN(c.nest, BuildNest(kernel));
  if (band != nullptr) AOTC_RETURN_IF_ERROR(TakeBand(c.nest, *band));
  const std::optional<int64_t> block =
      c.nest.outer.empty() ? std::nullopt : c.nest.outer.back().extent.AsInt();
  if (c.nest.HasStatistics()) return Refuse("there are statistics");
  if (!c.nest.is_point || !HasVectorsOfChannels(kernel, block.value_or(1)))
    return Refuse("the channels are not in blocks");
  c.panel = c.columns = c.stored_columns = *block;
  c.column_axes = {c.nest.outer.back().name};
  c.outer.assign(c.nest.outer.begin(), c.nest.outer.end() - 1);
  if (c.outer.empty()) return Refuse("there are no rows");
  c.row_axis = c.outer.back().name;
  c.row_extent = c.outer.back().extent;
  c.row_walks = c.outer.back().walks;
  c.row_halo = c.outer.back().halo;
  c.outer.pop_back();
  AOTC_RETURN_IF_ERROR(ReadDepthwiseOperands(c));
  c.kernel = std::move(kernel);
  return c;
}

TiledContraction UnderFact(TiledContraction c, const Expr& fact) {
  c.nest.bounds.AddFact(fact);
  c.row_extent = Simplify(c.row_extent, c.nest.bounds);
  for (NestAxis& axis : c.outer) axis.extent = Simplify(axis.extent, c.nest.bounds);
  return c;
}

}  // namespace aotc
