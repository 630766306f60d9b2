#include "compiler/lower/nest.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compiler/ir/access.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/lower/ranked_reduction.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool IsTemp(const Kernel& kernel, TensorId id) {
  return kernel.tensors[id].role == TensorRole::kTemp;
}

class NestBuilder {
 public:
  explicit NestBuilder(const Kernel& kernel) : kernel_(kernel), access_(kernel) {}

  absl::StatusOr<Nest> Build(const NestForm& form) {
    const auto& [stages, statistics, shared, is_point] = form;
    nest_.is_point = is_point;
    nest_.bounds = BoundsOf(kernel_.symbols);
    AOTC_RETURN_IF_ERROR(CheckOutputLayouts(kernel_, form));
    if (nest_.is_point) {
      StorageAxes();
    } else {
      LogicalAxes(shared);
    }
    for (const NestAxis& axis : nest_.outer) nest_.bounds.Add(axis.name, 0, axis.extent - 1);
    MakeBuffers(shared);
    for (size_t s = 0; s < stages.size(); ++s) {
      nest_.stages.push_back(Flatten(stages[s], shared));
      nest_.stages.back().stage = s;
      AOTC_RETURN_IF_ERROR(CheckRanks(nest_.stages.back()));
    }
    for (size_t i = 0; i < statistics.size(); ++i) {
      nest_.stages.push_back(Statistic(kernel_.stages[stages.size() + i], statistics[i]));
    }
    return std::move(nest_);
  }

 private:
  const KernelTensor& Main() const { return kernel_.tensors[MainOutput(kernel_)]; }

  // One outer axis per storage axis of the main output; logical_ maps back.
  void StorageAxes() {
    const KernelTensor& main = Main();
    const Stage& last = *DefiningStage(kernel_, MainOutput(kernel_));
    std::vector<StorageAxis> axes = main.layout.axes;
    if (axes.empty()) {
      for (size_t i = 0; i < main.shape.size(); ++i) axes.push_back({static_cast<int>(i)});
    }
    logical_.assign(main.shape.size(), Expr(0));
    nest_.fill = main.layout.fill;
    for (const StorageAxis& axis : axes) AddStorageAxis(main, last, axis);
    for (const StorageAxis& axis : axes) {
      if (!IsPadded(main, axis)) continue;
      const Expr test = Lt(logical_[axis.axis], main.shape[axis.axis]);
      const bool is_first = !nest_.valid.valid();
      nest_.padded = is_first ? logical_[axis.axis] : Expr();
      nest_.logical = is_first ? main.shape[axis.axis] : Expr();
      nest_.valid = is_first ? test : And(nest_.valid, test);
    }
  }

  void AddStorageAxis(const KernelTensor& main, const Stage& last, const StorageAxis& axis) {
    const std::string& base = last.axes[axis.axis].name;
    const Expr& extent = main.shape[axis.axis];
    NestAxis outer{.name = base, .extent = extent};
    if (!main.layout.halo.empty()) outer.halo = main.layout.halo[axis.axis];
    if (axis.divisor > 1) outer = {StrCat(base, "_o"), Simplify(CeilDiv(extent, axis.divisor))};
    if (axis.modulus > 0) outer = {StrCat(base, "_i"), axis.modulus};
    outer.walks = {outer.name};
    logical_[axis.axis] = logical_[axis.axis] + Var(outer.name) * axis.divisor;
    nest_.outer.push_back(outer);
  }

  // What stages call loops within those that all share.
  std::set<std::string> InnerNames(size_t shared) const {
    std::set<std::string> names;
    for (const Stage& stage : kernel_.stages) {
      for (size_t i = shared; i < stage.axes.size(); ++i) names.insert(stage.axes[i].name);
      for (const Axis& axis : stage.reduce_axes) names.insert(axis.name);
    }
    return names;
  }

  // As the first stage calls them, if no other calls one of its own so.
  void LogicalAxes(size_t shared) {
    const std::set<std::string> inner = InnerNames(shared);
    const Stage& first = kernel_.stages.front();
    const Stage& last = *DefiningStage(kernel_, MainOutput(kernel_));
    for (size_t i = 0; i < shared; ++i) {
      std::string name = first.axes[i].name;
      while (inner.contains(name)) name += "_all";
      nest_.outer.push_back(
          {.name = name, .extent = first.axes[i].extent, .walks = {last.axes[i].name}});
      logical_.push_back(Var(name));
    }
  }

  void MakeBuffers(size_t shared) {
    for (const KernelTensor& tensor : kernel_.tensors) {
      LoopBuffer buffer{.name = tensor.name, .dtype = tensor.dtype};
      buffer.written = tensor.role == TensorRole::kOutput;
      if (tensor.role == TensorRole::kTemp) {
        const Shape inner(
            tensor.shape.begin() + static_cast<long>(std::min(shared, tensor.shape.size())),
            tensor.shape.end());
        buffer.written = true;
        buffer.place = BufferPlace::kScratch;
        buffer.elements = inner.empty() || nest_.is_point
                              ? 0
                              : MaxElements(inner, BoundsOf(kernel_.symbols)).value_or(0);
      }
      nest_.buffers.Add(buffer);
    }
  }

  bool IsScalar(TensorId id) const {
    if (nest_.is_point) return IsDefined(kernel_, id);
    return IsTemp(kernel_, id) && nest_.buffers[id].elements == 0;
  }

  FlatStage Flatten(const Stage& stage, size_t shared) {
    FlatStage flat{.reduce = stage.reduce_axes, .combiner = stage.combiner};
    flat.inner.assign(stage.axes.begin() + static_cast<long>(shared), stage.axes.end());
    Substitution substitution;
    for (size_t i = 0; i < shared; ++i) substitution[stage.axes[i].name] = logical_[i];
    const Bounds bounds = StageBounds(nest_, flat);
    for (const Expr& body : stage.body) {
      const Expr point = WithoutTables(ScalarTemps(Substitute(body, substitution)));
      flat.bodies.push_back(Simplify(
          access_.Flatten(Simplify(ScratchLoads(point, shared, bounds), bounds), bounds), bounds));
    }
    for (const StageResult& result : stage.results) {
      flat.results.push_back(Result(stage, result, shared, bounds));
    }
    return flat;
  }

  // Its axes are those of the points; the reduce axes stay outer axes, innermost.
  FlatStage Statistic(const Stage& stage, const StatisticAxes& axes) {
    FlatStage flat{.combiner = stage.combiner};
    Substitution substitution;
    for (size_t i = 0; i < axes.size(); ++i) substitution[axes[i]] = logical_[i];
    for (const NestAxis& outer : nest_.outer) {
      const bool is_kept = std::any_of(stage.axes.begin(), stage.axes.end(), [&](const Axis& axis) {
        return UsesVar(substitution[axis.name], outer.name);
      });
      if (!is_kept) flat.over.push_back(outer.name);
    }
    std::stable_partition(nest_.outer.begin(), nest_.outer.end(), [&](const NestAxis& outer) {
      return std::count(flat.over.begin(), flat.over.end(), outer.name) == 0;
    });
    for (const Expr& body : stage.body) {
      const Expr point = WithoutTables(ScalarTemps(Substitute(body, substitution)));
      flat.bodies.push_back(Simplify(access_.Flatten(point, nest_.bounds), nest_.bounds));
    }
    for (const StageResult& result : stage.results) {
      std::vector<Expr> indices;
      for (const Axis& axis : stage.axes) indices.push_back(substitution[axis.name]);
      const KernelTensor& tensor = kernel_.tensors[result.tensor];
      flat.results.push_back({.tensor = result.tensor,
                              .variable = tensor.name + "_value",
                              .index = access_.Offset(result.tensor, indices, nest_.bounds),
                              .dtype = tensor.dtype});
    }
    return flat;
  }

  FlatResult Result(const Stage& stage, const StageResult& result, size_t shared,
                    const Bounds& bounds) const {
    const KernelTensor& tensor = kernel_.tensors[result.tensor];
    FlatResult flat{.tensor = result.tensor, .dtype = tensor.dtype};
    flat.inner_count = result.axis_count - static_cast<int>(shared);
    if (IsScalar(result.tensor)) flat.variable = tensor.name + "_value";
    if (IsScalar(result.tensor) && IsTemp(kernel_, result.tensor)) return flat;
    std::vector<Expr> inner;
    for (int i = static_cast<int>(shared); i < result.axis_count; ++i) {
      inner.push_back(Var(stage.axes[static_cast<size_t>(i)].name));
    }
    if (IsTemp(kernel_, result.tensor)) {
      flat.index = ScratchIndex(tensor, inner, shared);
      return flat;
    }
    std::vector<Expr> indices = logical_;
    indices.insert(indices.end(), inner.begin(), inner.end());
    flat.index = access_.Offset(result.tensor, indices, WithHalos(nest_, bounds));
    return flat;
  }

  Expr ScratchIndex(const KernelTensor& tensor, const std::vector<Expr>& inner,
                    size_t shared) const {
    const Shape shape(tensor.shape.begin() + static_cast<long>(shared), tensor.shape.end());
    return LinearIndex(inner, RowMajorStrides(shape));
  }

  // Loads of scalar temps become variables of the compute type.
  Expr ScalarTemps(const Expr& e) const {
    const Expr stored = WithBitsOfStored(e, [&](TensorId id) { return IsScalar(id); });
    return Transform(stored, [&](const Expr& node) {
      if (node.op() == ExprOp::kCast) return Cast(node.dtype(), node.arg(0));
      if (node.op() != ExprOp::kLoad || !IsScalar(node->tensor)) return node;
      const KernelTensor& tensor = kernel_.tensors[node->tensor];
      return Var(tensor.name + "_value", ComputeType(tensor.dtype));
    });
  }

  // Loads of temps in scratch drop the outer indices; as rank-1 loads, which Flatten leaves alone.
  Expr ScratchLoads(const Expr& e, size_t shared, const Bounds& bounds) const {
    return Transform(e, [&](const Expr& node) {
      if (node.op() != ExprOp::kLoad || !IsTemp(kernel_, node->tensor)) return node;
      const KernelTensor& tensor = kernel_.tensors[node->tensor];
      const std::vector<Expr> inner(node.args().begin() + static_cast<long>(shared),
                                    node.args().end());
      ExprNode load = *Load(node->tensor, {ScratchIndex(tensor, inner, shared)}, node.dtype());
      if (!access_.InStorage(node->tensor, node.args(), bounds)) load.guarded = true;
      return Expr::Make(std::move(load));
    });
  }

  const Kernel& kernel_;
  Access access_;
  Nest nest_;
  std::vector<Expr> logical_;  // logical index of the shared axes, over outer variables
};

}  // namespace

absl::StatusOr<Nest> BuildNest(const Kernel& kernel) {
  return NestBuilder(kernel).Build(FormOf(kernel));
}

absl::StatusOr<Nest> BuildRowNest(const Kernel& kernel) {
  return NestBuilder(kernel).Build(RowFormOf(kernel));
}

absl::StatusOr<Nest> BuildRowNest(const Kernel& kernel, size_t most_shared) {
  NestForm form = RowFormOf(kernel);
  form.shared = std::min(form.shared, most_shared);
  return NestBuilder(kernel).Build(form);
}

Expr FullExtent(const NestAxis& axis) {
  return Simplify(axis.extent + (axis.halo.before + axis.halo.after));
}

bool HasHalo(const NestAxis& axis) { return axis.halo.before + axis.halo.after > 0; }

size_t KeptAxes(const Nest& nest) {
  if (!nest.HasStatistics()) return nest.outer.size() + 1;
  return nest.outer.size() - nest.stages.back().over.size();
}

std::vector<std::string> WalksOf(const std::vector<NestAxis>& axes) {
  std::vector<std::string> walks;
  for (const NestAxis& axis : axes) walks.insert(walks.end(), axis.walks.begin(), axis.walks.end());
  return walks;
}

const FlatStage* StageAt(const Nest& nest, size_t index) {
  const auto found = std::ranges::find(nest.stages, index, &FlatStage::stage);
  return found == nest.stages.end() ? nullptr : &*found;
}

std::optional<Expr> StepAlong(const Expr& index, const std::string& axis, const Bounds& bounds) {
  const std::optional<Affine> affine = AsAffine(index, {axis}, bounds);
  if (!affine) return std::nullopt;
  const auto found = affine->coefficients.find(axis);
  return found == affine->coefficients.end() ? Expr(0) : Simplify(found->second, bounds);
}

int64_t TempBytes(const Nest& nest) {
  int64_t bytes = 0;
  for (const LoopBuffer& buffer : nest.buffers) {
    if (buffer.place == BufferPlace::kScratch) bytes += buffer.elements * ByteWidth(buffer.dtype);
  }
  return bytes;
}

Bounds StageBounds(const Nest& nest, const FlatStage& stage) {
  Bounds bounds = nest.bounds;
  for (const Axis& axis : stage.inner) bounds.Add(axis.name, 0, axis.extent - 1);
  for (const Axis& axis : stage.reduce) bounds.Add(axis.name, 0, axis.extent - 1);
  return bounds;
}

Bounds WithHalos(const Nest& nest, Bounds bounds) {
  for (const NestAxis& axis : nest.outer) {
    if (axis.halo == Halo{}) continue;
    bounds.Add(axis.name, -axis.halo.before, axis.extent + axis.halo.after - 1);
  }
  return bounds;
}

}  // namespace aotc
