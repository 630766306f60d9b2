#include "compiler/targets/attention_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/fuse/inline_stages.h"
#include "compiler/schedule/anchor.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kMostDepth = 512;  // of queries and values: blocks of them stay in the caches

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// The kernel of some stages, whose result is `output`; what the others define are inputs.
Kernel PartOf(const Kernel& kernel, size_t first, size_t last, TensorId output) {
  Kernel part = kernel;
  part.stages.assign(kernel.stages.begin() + static_cast<std::ptrdiff_t>(first),
                     kernel.stages.begin() + static_cast<std::ptrdiff_t>(last));
  std::erase_if(part.params,
                [&](TensorId id) { return part.tensors[id].role == TensorRole::kOutput; });
  for (KernelTensor& tensor : part.tensors) {
    if (tensor.role == TensorRole::kOutput) tensor.role = TensorRole::kTemp;
  }
  for (size_t s = 0; s < kernel.stages.size(); ++s) {
    if (s >= first && s < last) continue;
    for (const StageResult& result : kernel.stages[s].results) {
      part.tensors[result.tensor].role = TensorRole::kInput;
    }
  }
  part.tensors[output].role = TensorRole::kOutput;
  part.params.push_back(output);
  return part;
}

// Its points are the stages' own axes, in order.
absl::StatusOr<Nest> PointsOf(const Kernel& part) {
  const Stage& last = part.stages.back();
  AOTC_ASSIGN_OR_RETURN(Nest nest, BuildNest(part));
  if (!nest.is_point || nest.HasStatistics() || nest.outer.size() != last.axes.size())
    return Refuse("stages around the softmax have other axes");
  for (size_t i = 0; i < nest.outer.size(); ++i) {
    if (nest.outer[i].name != last.axes[i].name || nest.outer[i].halo != Halo{})
      return Refuse("the result is not in rows");
  }
  return nest;
}

// A plain load of f32, at indices that are affine in the row and the column.
absl::StatusOr<AttentionRows> RowsOf(const Nest& nest, const Expr& load, const std::string& row,
                                     const std::string& column) {
  if (load.op() != ExprOp::kLoad || load->guarded) return Refuse("a matrix is not read plainly");
  if (nest.buffers[load->tensor].dtype != DType::kF32) return Refuse("a matrix is not of f32");
  const Bounds bounds = StageBounds(nest, nest.stages[0]);
  const std::optional<Affine> affine = AsAffine(load.arg(0), {row, column}, bounds);
  if (!affine) return Refuse("a matrix is not read at affine indices");
  const auto step = [&](const std::string& name) {
    const auto found = affine->coefficients.find(name);
    return found == affine->coefficients.end() ? Expr(0) : Simplify(found->second, bounds);
  };
  return AttentionRows{load->tensor, Simplify(affine->rest, bounds), step(row), step(column)};
}

// The factor that is read at the variable, and the other.
std::pair<Expr, Expr> Factors(const Expr& product, const std::string& variable) {
  const bool is_first = UsesVar(product.arg(0), variable);
  return {product.arg(is_first ? 0 : 1), product.arg(is_first ? 1 : 0)};
}

// The leading axis that queries alone are read at, the longest; the last one of single rows.
absl::StatusOr<size_t> RowAxis(const Attention& a) {
  std::optional<size_t> best;
  int64_t most = 1;
  for (size_t i = 0; i + 1 < a.scores.outer.size(); ++i) {
    const NestAxis& axis = a.scores.outer[i];
    const int64_t extent = RangeOf(axis.extent, a.scores.bounds).max;
    const bool moves = UsesVar(a.key.offset, axis.name) || UsesVar(a.value.offset, axis.name);
    if (moves || extent < most) continue;
    if (extent == most && extent > 1) continue;
    best = i;
    most = extent;
  }
  if (!best) return Refuse("queries have no rows of their own");
  return *best;
}

absl::Status ReadScores(Attention& a) {
  const FlatStage& product = a.scores.stages[0];
  a.key_axis = a.scores.outer.back().name;
  a.keys = a.scores.outer.back().extent;
  a.depth_axis = product.reduce[0].name;
  a.depth = product.reduce[0].extent.AsInt().value_or(0);
  const auto [key, query] = Factors(product.bodies[0], a.key_axis);
  if (UsesVar(query, a.key_axis)) return Refuse("queries depend on the key");
  a.query = query;
  AOTC_ASSIGN_OR_RETURN(a.key, RowsOf(a.scores, key, a.key_axis, a.depth_axis));
  return absl::OkStatus();
}

absl::Status ReadValues(Attention& a) {
  const FlatStage& product = a.result.stages[0];
  a.column_axis = a.result.outer.back().name;
  a.columns = a.result.outer.back().extent.AsInt().value_or(0);
  const auto [value, weights] = Factors(product.bodies[0], a.column_axis);
  AOTC_ASSIGN_OR_RETURN(a.value, RowsOf(a.result, value, product.reduce[0].name, a.column_axis));
  a.value.offset = Substitute(a.value.offset, NamesOfScores(a));
  return absl::OkStatus();
}

bool HasOneOutput(const Kernel& kernel) {
  return std::ranges::count_if(kernel.params, [&](TensorId id) {
           return kernel.tensors[id].role == TensorRole::kOutput;
         }) == 1;
}

}  // namespace

Substitution NamesOfScores(const Attention& a) {
  Substitution names;
  for (size_t i = 0; i + 1 < a.result.outer.size(); ++i) {
    names[a.result.outer[i].name] = Var(a.scores.outer[i].name);
  }
  return names;
}

absl::StatusOr<Attention> AnalyzeAttention(const Kernel& kernel) {
  const std::optional<AttentionAnchor> anchor = ReadAttention(kernel);
  if (!anchor) return Refuse("no attention");
  if (!HasOneOutput(kernel)) return Refuse("attention has another result");
  Attention a{.kernel = kernel, .anchor = *anchor};
  Kernel inlined = kernel;
  AOTC_RETURN_IF_ERROR(InlineStages(inlined, anchor->scores, {}));
  const size_t gone = kernel.stages.size() - inlined.stages.size();
  if (gone != anchor->scores) return Refuse("what comes before the scores is stored");
  const size_t maximum = anchor->maximum - gone, values = anchor->values - gone;
  const TensorId last_scores = inlined.stages[maximum - 1].results[0].tensor;
  AOTC_ASSIGN_OR_RETURN(a.scores, PointsOf(PartOf(inlined, 0, maximum, last_scores)));
  AOTC_ASSIGN_OR_RETURN(
      a.result, PointsOf(PartOf(inlined, values, inlined.stages.size(), MainOutput(inlined))));
  AOTC_RETURN_IF_ERROR(ReadScores(a));
  AOTC_RETURN_IF_ERROR(ReadValues(a));
  if (a.depth < 1 || a.columns < 1 || a.depth > kMostDepth || a.columns > kMostDepth)
    return Refuse("rows of queries or values are long");
  AOTC_ASSIGN_OR_RETURN(a.row, RowAxis(a));
  return a;
}

}  // namespace aotc
