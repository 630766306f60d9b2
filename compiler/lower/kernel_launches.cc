#include "compiler/lower/kernel_launches.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/kernel_text.h"
#include "compiler/ir/program_access.h"
#include "compiler/lower/pack_elements.h"
#include "compiler/schedule/in_place.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool HasResults(const Kernel& kernel, const std::vector<Symbol>& symbols) {
  const Bounds bounds = BoundsOf(symbols);
  return std::ranges::any_of(kernel.tensors, [&](const KernelTensor& tensor) {
    return tensor.role == TensorRole::kOutput &&
           MaxBytes(ReachedElements(tensor), tensor.dtype, bounds) != 0;
  });
}

// Parts of one node are noted once.
void NoteLaunch(ProgramKernel& kernel, const std::string& sources) {
  const bool known = sources == StrJoin(kernel.kernel.sources, " + ") ||
                     (!kernel.also.empty() && sources == kernel.also.back());
  if (!known) kernel.also.push_back(sources);
}

}  // namespace

absl::Status KernelLaunches::Add(const FusedKernel& fused, const std::vector<ValueId>& checks) {
  if (!HasResults(fused.kernel, program_.symbols)) return absl::OkStatus();
  const std::vector<ValueId>& args = fused.args;
  AOTC_RETURN_IF_ERROR(ComputesPacked(fused.kernel)
                           ? AddPackedLaunches(fused)
                           : AddLaunch(fused.kernel, {args.begin(), args.end()}));
  const bool is_check = std::ranges::find(checks, args.back()) != checks.end();
  if (is_check) {
    program_.steps.push_back({.kind = StepKind::kCheck, .args = {buffers_.Of(args.back())}});
  }
  return absl::OkStatus();
}

absl::StatusOr<KernelId> KernelLaunches::KernelOf(const Kernel& kernel) {
  const std::string text = PrintKernelWithoutNames(kernel);
  auto found = by_text_.find(text);
  if (found != by_text_.end()) {
    NoteLaunch(program_.kernels[found->second], StrJoin(kernel.sources, " + "));
    return found->second;
  }
  AOTC_ASSIGN_OR_RETURN(ProgramKernel scheduled, schedule_(kernel));
  return by_text_[text] = program_.kernels.Add(std::move(scheduled));
}

absl::Status KernelLaunches::AddLaunch(const Kernel& fused, const std::vector<Argument>& args) {
  AOTC_ASSIGN_OR_RETURN(const KernelId id, KernelOf(fused));
  const Kernel& kernel = program_.kernels[id].kernel;
  const Packing& packing = program_.kernels[id].packing;
  Step step{.kernel = id, .sources = fused.sources};
  for (size_t i = 0; i < args.size(); ++i) {
    if (const BufferId* buffer = std::get_if<BufferId>(&args[i])) {
      step.args.push_back(*buffer);
      continue;
    }
    const ValueId value = std::get<ValueId>(args[i]);
    const KernelTensor tensor = StoredTensor(kernel, packing, kernel.params[i]);
    const bool is_constant = graph_.values[value].constant.has_value();
    step.args.push_back(is_constant ? buffers_.Weights(value, tensor) : buffers_.Of(value));
  }
  step.in_place = InPlacePairs(kernel);
  program_.steps.push_back(std::move(step));
  return absl::OkStatus();
}

absl::Status KernelLaunches::AddPackedLaunches(const FusedKernel& fused) {
  const Kernel& packed = fused.kernel;
  AOTC_ASSIGN_OR_RETURN(const Kernel kernel, WithBytePerElement(packed));
  std::vector<Argument> args(fused.args.begin(), fused.args.end());
  const TensorId last = packed.params.back();
  if (IsPackedResult(packed, last)) {
    const std::optional<Kernel> one = PackedInOneStage(kernel, packed.tensors[last].dtype);
    if (one) return AddLaunch(*one, args);
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (IsPackedResult(packed, packed.params[i])) args[i] = buffers_.AddBytes(fused.args[i]);
  }
  AOTC_RETURN_IF_ERROR(AddLaunch(kernel, args));
  for (size_t i = 0; i < args.size(); ++i) {
    const TensorId id = packed.params[i];
    if (!IsPackedResult(packed, id)) continue;
    const Kernel packing = PackingKernel(packed, id);
    AOTC_RETURN_IF_ERROR(AddLaunch(packing, {args[i], fused.args[i]}));
  }
  return absl::OkStatus();
}

}  // namespace aotc
