#include "compiler/fuse/copies.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/fuse/joiner.h"
#include "compiler/fuse/merge_kernels.h"
#include "compiler/ir/access.h"
#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/program_access.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/stage_kinds.h"

namespace aotc {
namespace {

// The loops of a stage that lanes or neighbouring threads may run along.
std::vector<std::string> DenseLoops(const Stage& stage) {
  std::vector<std::string> loops;
  for (const Axis& axis : stage.reduce_axes) loops.push_back(axis.name);
  const bool any = IsContraction(stage);
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    if (any || i + 1 == stage.axes.size()) loops.push_back(stage.axes[i].name);
  }
  return loops;
}

// The load stays where it is in all of the loops, or steps by one in some of them.
bool IsDense(const Expr& offset, const std::vector<std::string>& loops, const Bounds& bounds) {
  bool moves = false;
  for (const std::string& loop : loops) {
    const std::optional<Affine> affine = AsAffine(offset, {loop}, bounds);
    moves = moves || !affine || !affine->coefficients.empty();
    if (affine && !affine->coefficients.empty() && affine->coefficients.at(loop).IsInt(1)) {
      return true;
    }
  }
  return !moves;
}

// A contraction whose one reduction finds its steps anywhere, evenly for all rows and columns.
bool GathersSteps(const Stage& stage, const Expr& offset, const Bounds& bounds) {
  if (!IsContraction(stage)) return false;
  std::vector<std::string> points, steps;
  for (const Axis& axis : stage.axes) points.push_back(axis.name);
  for (const Axis& axis : stage.reduce_axes) {
    if (!axis.extent.IsInt(1)) steps.push_back(axis.name);
  }
  const std::optional<Affine> affine = AsAffine(offset, points, bounds);
  if (steps.size() != 1 || !affine) return false;
  return std::ranges::none_of(affine->coefficients, [&](const auto& coefficient) {
    return UsesVar(coefficient.second, steps[0]);
  });
}

bool IsWideningCast(const Kernel& kernel) {
  if (!IsPointwiseOfOne(kernel)) return false;
  const Expr& body = kernel.stages[0].body[0];
  return body.op() == ExprOp::kCast && body.arg(0).op() == ExprOp::kLoad &&
         BitWidth(body.arg(0).dtype()) <= BitWidth(body.dtype());
}

// Arithmetic on one element of a narrow integer, each operator of which reads constants otherwise.
bool IsOfOneNarrow(const Expr& e) {
  if (e.op() == ExprOp::kLoad) return IsInteger(e.dtype()) && BitWidth(e.dtype()) <= 16;
  if (e.op() == ExprOp::kCast) return IsOfOneNarrow(e.arg(0));
  if (e.op() != ExprOp::kAdd && e.op() != ExprOp::kSub && e.op() != ExprOp::kMul) return false;
  return e.arg(1).IsConst() ? IsOfOneNarrow(e.arg(0))
                            : e.arg(0).IsConst() && IsOfOneNarrow(e.arg(1));
}

// What is cast to a wider type of floats, perhaps, and back.
Expr WithoutWidening(const Expr& e) {
  if (e.op() != ExprOp::kCast) return e;
  Expr from = e.arg(0);
  while (from.op() == ExprOp::kCast && IsFloat(from.arg(0).dtype()) && IsFloat(from.dtype()) &&
         BitWidth(from.arg(0).dtype()) < BitWidth(from.dtype())) {
    from = from.arg(0);
  }
  return from.dtype() == e.dtype() ? from : e;
}

}  // namespace

bool IsDequantization(const Kernel& kernel) {
  if (!IsPointwiseOfOne(kernel)) return false;
  const Expr& body = kernel.stages[0].body[0];
  return body.dtype() == DType::kF32 && body.op() == ExprOp::kMul && IsOfOneNarrow(body);
}

bool IsScaledWeights(const Kernel& kernel) {
  const auto is_constant = [&](TensorId id) {
    const TensorRole role = kernel.tensors[id].role;
    return role == TensorRole::kConstant || role == TensorRole::kOutput;
  };
  if (kernel.stages.size() != 1 || kernel.stages[0].IsReduction()) return false;
  if (!std::ranges::all_of(kernel.params, is_constant)) return false;
  const std::optional<AnchorOperand> operand = ReadOperand(kernel.stages[0].body[0]);
  return operand && operand->scale.valid();
}

bool IsPointwiseOfOne(const Kernel& kernel) {
  if (kernel.params.size() != 2 || kernel.stages.size() != 1) return false;
  const Stage& stage = kernel.stages[0];
  return !stage.IsReduction() && stage.body.size() == 1;
}

bool IsCopy(const Kernel& kernel) {
  if (!IsPointwiseOfOne(kernel) || kernel.stages[0].body[0].op() != ExprOp::kLoad) return false;
  const Layout& from = kernel.tensors[kernel.params[0]].layout;
  const Layout& to = kernel.tensors[kernel.params[1]].layout;
  const auto in_blocks = [](const StorageAxis& axis) { return axis.modulus != 0; };
  return !from.HasHalo() && !to.HasHalo() && (from.IsRowMajor() ? to.IsRowMajor() : from == to) &&
         std::ranges::none_of(from.axes, in_blocks);
}

std::optional<ValueView> AsView(const Graph& graph, const FusedKernel& fused) {
  const Kernel& kernel = fused.kernel;
  if (!IsPointwiseOfOne(kernel)) return std::nullopt;
  const Stage& stage = kernel.stages[0];
  const Expr body = WithoutWidening(stage.body[0]);
  if (body.op() != ExprOp::kLoad || graph.values[fused.args[0]].constant) return std::nullopt;
  const KernelTensor& from = kernel.tensors[kernel.params[0]];
  const KernelTensor& to = kernel.tensors[kernel.params[1]];
  if (from.dtype != to.dtype || from.layout.HasHalo() || to.layout.HasHalo()) return std::nullopt;
  const Bounds bounds = StageBounds(kernel, stage);
  // Lanes that pad blocks are the same ones of both.
  const bool pads = !to.layout.IsPlain();
  if (pads && !ProveEqual(StorageElements(from.layout, from.shape),
                          StorageElements(to.layout, to.shape), bounds))
    return std::nullopt;
  std::vector<Expr> indices;
  for (const Axis& axis : stage.axes) indices.push_back(Var(axis.name));
  const Access access(kernel);
  const Expr distance = Simplify(access.Offset(kernel.params[0], body.args(), bounds) -
                                     access.Offset(kernel.params[1], indices, bounds),
                                 bounds);
  for (const Axis& axis : stage.axes) {
    if (UsesVar(distance, axis.name)) return std::nullopt;
  }
  // Kernels rely on the alignment of whole buffers; a symbolic distance has none.
  constexpr int64_t kAlignBytes = 64;
  const std::optional<int64_t> elements = distance.AsInt();
  if (IsSubByte(to.dtype) && !distance.IsInt(0)) return std::nullopt;
  if (!elements || *elements * ByteWidth(to.dtype) % kAlignBytes != 0) return std::nullopt;
  // Dims that are symbols of their own may reach further than what they are together.
  const Bounds sizes = BoundsOf(graph.symbols);
  const int64_t room = MaxBytes(StorageElements(from.layout, from.shape), from.dtype, sizes);
  const int64_t end = MaxBytes(distance + StorageElements(to.layout, to.shape), to.dtype, sizes);
  if (end < 0 || end > room) return std::nullopt;
  return ValueView{.value = fused.args[1], .base = fused.args[0], .offset = distance};
}

std::optional<FusedKernel> CopyPart(const FusedKernel& fused, ValueId value) {
  FusedKernel part{.kernel = fused.kernel, .op = fused.op, .rounded = fused.rounded};
  part.kernel.params.clear();
  for (size_t i = 0; i < fused.args.size(); ++i) {
    const TensorId id = fused.kernel.params[i];
    if (IsOutput(fused.kernel, id) && fused.args[i] != value) {
      part.kernel.tensors[id].role = TensorRole::kTemp;
      continue;
    }
    part.kernel.params.push_back(id);
    part.args.push_back(fused.args[i]);
  }
  part.kernel = Compact(part.kernel, part.args);
  const bool is_cheap = IsWideningCast(part.kernel) || IsDequantization(part.kernel);
  if (is_cheap || IsCopy(part.kernel)) return part;
  return std::nullopt;
}

bool ReadsNeighbours(const Kernel& kernel, TensorId tensor) {
  const Access access(kernel);
  for (const Stage& stage : kernel.stages) {
    const Bounds bounds = StageBounds(kernel, stage);
    const std::vector<std::string> loops = DenseLoops(stage);
    for (const Expr& body : stage.body) {
      for (const Expr& load : LoadsOf(body)) {
        if (load->tensor != tensor) continue;
        const Expr offset = access.Offset(tensor, load.args(), bounds);
        if (!IsDense(offset, loops, bounds) && !GathersSteps(stage, offset, bounds)) return false;
      }
    }
  }
  return true;
}

bool ReadsRounded(const FusedKernel& producer, const FusedKernel& consumer) {
  return std::ranges::any_of(consumer.args,
                             [&](ValueId value) { return producer.rounded.contains(value); });
}

}  // namespace aotc
