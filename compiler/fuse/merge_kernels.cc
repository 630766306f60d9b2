#include "compiler/fuse/merge_kernels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/fuse/copies.h"
#include "compiler/fuse/inline_stages.h"
#include "compiler/fuse/joiner.h"
#include "compiler/fuse/turn_rows.h"
#include "compiler/ir/program_access.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Every load of `tensor` in `stage` is at exactly its own axes, which end where the tensor does.
bool ReadsAtOwnIndex(const Stage& stage, TensorId tensor, const Shape& shape) {
  for (const Expr& body : stage.body) {
    for (const Expr& load : LoadsOf(body)) {
      if (load->tensor != tensor) continue;
      if (stage.IsReduction() || stage.axes.size() != shape.size()) return false;
      for (size_t i = 0; i < shape.size(); ++i) {
        if (!IsOwnIndex(load.arg(i), stage.axes[i])) return false;
        if (!ProveEqual(stage.axes[i].extent, shape[i])) return false;
      }
    }
  }
  return true;
}

bool ReadsAtOwnIndex(const Kernel& kernel, TensorId tensor) {
  return std::ranges::all_of(kernel.stages, [&](const Stage& stage) {
    return ReadsAtOwnIndex(stage, tensor, kernel.tensors[tensor].shape);
  });
}

bool ReadByContraction(const Kernel& kernel, TensorId tensor) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(), [&](const Stage& stage) {
    return IsContraction(stage) && Reads(stage, tensor);
  });
}

// Every merge rewrites the kernel: without a limit, long chains would take quadratic time.
constexpr size_t kMostNodes = 64;

}  // namespace

bool IsOutput(const Kernel& kernel, TensorId id) {
  return kernel.tensors[id].role == TensorRole::kOutput;
}

TensorId TensorOf(const FusedKernel& fused, ValueId value) {
  const auto arg = std::ranges::find(fused.args, value);
  AOTC_CHECK(arg != fused.args.end());
  return fused.kernel.params[static_cast<size_t>(arg - fused.args.begin())];
}

int64_t BytesOf(const FusedKernel& fused, ValueId value) {
  const KernelTensor& tensor = fused.kernel.tensors[TensorOf(fused, value)];
  return MaxBytes(ReachedElements(tensor), tensor.dtype, BoundsOf(fused.kernel.symbols));
}

double ReadsPerElement(const Kernel& kernel, TensorId tensor) {
  const Bounds bounds = BoundsOf(kernel.symbols);
  double reads = 0;
  for (const Stage& stage : kernel.stages) {
    if (!Reads(stage, tensor)) continue;
    Shape space;
    for (const Axis& axis : stage.axes) space.push_back(axis.extent);
    for (const Axis& axis : stage.reduce_axes) space.push_back(axis.extent);
    reads += static_cast<double>(MaxElements(space, bounds).value_or(INT64_MAX));
  }
  const auto elements = MaxElements(kernel.tensors[tensor].shape, bounds).value_or(1);
  return reads / static_cast<double>(std::max<int64_t>(elements, 1));
}

namespace {

Joiner Join(const FusedKernel& producer, const FusedKernel& consumer,
            const std::set<ValueId>& kept = {}) {
  Joiner joiner(producer, kept);
  joiner.Add(producer);
  joiner.Add(consumer);
  return joiner;
}

FusedKernel Finish(Joiner joiner, const FusedKernel& producer, const FusedKernel& consumer) {
  const bool adds_work = !IsCopy(producer.kernel);
  FusedKernel merged = joiner.Finish(adds_work ? StrCat(producer.kernel.name, "_", consumer.op)
                                               : consumer.kernel.name);
  merged.op = consumer.op;
  merged.rounded = producer.rounded;
  merged.rounded.insert(consumer.rounded.begin(), consumer.rounded.end());
  if (ReadsRounded(producer, consumer) && !HasReduction(consumer.kernel)) {
    merged.rounded.insert(merged.args.back());  // moved, perhaps
  }
  return merged;
}

// The producer's body in place of each load of the edge.
absl::StatusOr<FusedKernel> MergeInlined(const FusedKernel& producer, const FusedKernel& consumer,
                                         ValueId value) {
  Joiner joiner = Join(producer, consumer);
  const bool repeats = ReadsPerElement(joiner.kernel(), joiner.TensorOf(value)) > 1.0;
  AOTC_RETURN_IF_ERROR(InlineStages(joiner.kernel(), producer.kernel.stages.size(), {}));
  FusedKernel merged = Finish(std::move(joiner), producer, consumer);
  const bool is_free = IsCopy(producer.kernel) &&
                       ReadsNeighbours(merged.kernel, TensorOf(merged, producer.args.front()));
  if (repeats && !is_free && !IsScaledWeights(producer.kernel)) {
    return absl::FailedPreconditionError("elements would be computed more than once");
  }
  return merged;
}

// The producer's stages in front of the consumer's, the edge a temp of each row. Right where each
// element that the consumer reads belongs to the row it is at, and the rows are enough to share the
// work out by.
absl::StatusOr<FusedKernel> MergeRows(const FusedKernel& producer, const FusedKernel& consumer,
                                      ValueId value, const std::set<ValueId>& kept,
                                      int64_t fewest_rows) {
  Joiner joiner = Join(producer, consumer, kept);
  const TensorId edge = joiner.TensorOf(value);
  const size_t rank = joiner.kernel().tensors[edge].shape.size();
  if (!HasReduction(producer.kernel)) {
    AOTC_RETURN_IF_ERROR(InlineStages(joiner.kernel(), producer.kernel.stages.size(), edge));
  }
  FusedKernel merged = Finish(std::move(joiner), producer, consumer);
  const Shape rows = SharedExtents(merged.kernel);
  if (rows.size() + 1 < rank) {
    return absl::FailedPreconditionError("its value is read by other rows than its own");
  }
  const Shape& shape = producer.kernel.tensors[TensorOf(producer, value)].shape;
  const bool in_memory = rows.size() + 1 == rank && !shape.back().IsInt(1);
  if (ReadsRounded(producer, consumer) && !in_memory) {
    return absl::FailedPreconditionError("a cast rounds its value");
  }
  if (MaxElements(rows, BoundsOf(merged.kernel.symbols)).value_or(INT64_MAX) < fewest_rows) {
    return absl::FailedPreconditionError("few rows would hold all of the work");
  }
  return merged;
}

absl::StatusOr<FusedKernel> Merge(const FusedKernel& producer, const FusedKernel& consumer,
                                  ValueId value, const std::set<ValueId>& kept,
                                  int64_t fewest_rows) {
  Joiner joiner = Join(producer, consumer, kept);
  const bool rounds = ReadsRounded(producer, consumer);
  if (!rounds && ReadsAtOwnIndex(joiner.kernel(), joiner.TensorOf(value))) {
    // A contraction stays the first stage, which tiles ask for.
    if (IsDequantization(producer.kernel)) return MergeInlined(producer, consumer, value);
    return Finish(std::move(joiner), producer, consumer);
  }
  if (HasReduction(producer.kernel)) {
    std::optional<FusedKernel> turned;
    if (kept.empty()) turned = TurnRows(producer, consumer, value);
    return turned ? *std::move(turned) : MergeRows(producer, consumer, value, kept, fewest_rows);
  }
  absl::StatusOr<FusedKernel> inlined =
      kept.empty() ? MergeInlined(producer, consumer, value)
                   : absl::FailedPreconditionError("its value has other readers");
  if (inlined.ok() || !HasReduction(consumer.kernel)) return inlined;
  absl::StatusOr<FusedKernel> rows = MergeRows(producer, consumer, value, kept, fewest_rows);
  return rows.ok() ? rows : inlined;
}

absl::Status CheckNodeCount(size_t nodes) {
  if (nodes <= kMostNodes) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("the kernel would have more than ", kMostNodes, " nodes"));
}

}  // namespace

FusedKernel JoinKernels(const FusedKernel& producer, const FusedKernel& consumer) {
  return Finish(Join(producer, consumer), producer, consumer);
}

absl::StatusOr<FusedKernel> MergeKernels(const FusedKernel& producer, const FusedKernel& consumer,
                                         ValueId value, const std::set<ValueId>& kept,
                                         int64_t fewest_rows) {
  AOTC_RETURN_IF_ERROR(
      CheckNodeCount(producer.kernel.sources.size() + consumer.kernel.sources.size()));
  AOTC_ASSIGN_OR_RETURN(FusedKernel merged, Merge(producer, consumer, value, kept, fewest_rows));
  AOTC_RETURN_IF_ERROR(CheckMerged(merged.kernel));
  return merged;
}

absl::Status CheckMerged(const Kernel& merged) {
  AOTC_RETURN_IF_ERROR(CheckNodeCount(merged.sources.size()));
  // GPUs hand at most 4 KiB of parameters to a kernel, and code that chooses among many operands is
  // slow to compile.
  constexpr size_t kMostParams = 64;
  if (merged.params.size() > kMostParams) {
    return absl::FailedPreconditionError(
        StrCat("the kernel would have more than ", kMostParams, " operands and results"));
  }
  return CheckOutputLayouts(merged);
}

void InlineSplats(const Graph& graph, FusedKernel& fused) {
  Kernel& kernel = fused.kernel;
  std::map<TensorId, Expr> literals;
  for (size_t i = 0; i < fused.args.size(); ++i) {
    KernelTensor& tensor = kernel.tensors[kernel.params[i]];
    const std::optional<Constant>& constant = graph.values[fused.args[i]].constant;
    if (!constant || tensor.role == TensorRole::kOutput) continue;
    tensor.role = TensorRole::kConstant;
    if (ReadByContraction(kernel, kernel.params[i])) continue;  // it will be packed
    const bool is_one_value = constant->is_splat() || constant->element_count() == 1;
    if (!is_one_value || constant->element_count() == 0) continue;
    literals[kernel.params[i]] = IsFloat(tensor.dtype)
                                     ? FloatConst(constant->FloatAt(0), tensor.dtype)
                                     : IntConst(constant->IntAt(0), tensor.dtype);
  }
  if (literals.empty()) return;
  for (Stage& stage : kernel.stages) {
    for (Expr& body : stage.body) {
      body = Transform(body, [&](const Expr& node) {
        if (node.op() != ExprOp::kLoad) return node;
        auto found = literals.find(node->tensor);
        return found == literals.end() ? node : found->second;
      });
      body = Simplify(body, StageBounds(kernel, stage));
    }
  }
  kernel = Compact(kernel, fused.args);
}

}  // namespace aotc
