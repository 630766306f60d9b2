#include "compiler/fuse/keep_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/ops/emit.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Keeper {
 public:
  explicit Keeper(Graph& graph) : graph_(graph), producers_(Producers(graph)) {}

  // Appends `fused` and the copies of what it writes to `kernels`.
  absl::Status Take(FusedKernel fused, std::vector<FusedKernel>& kernels) {
    std::vector<FusedKernel> copies;
    for (size_t i = 0; i < fused.args.size(); ++i) {
      if (fused.kernel.tensors[fused.kernel.params[i]].role != TensorRole::kOutput) continue;
      kept_.push_back({.value = graph_.values[fused.args[i]].name,
                       .location = LocationOf(fused.args[i]),
                       .kernel = fused.kernel.name,
                       .output = OutputOf(fused.args[i])});
      if (kept_.back().output < Outputs().size()) continue;
      AOTC_ASSIGN_OR_RETURN(FusedKernel copy, AddCopy(fused.args[i]));
      copies.push_back(std::move(copy));
    }
    kernels.push_back(std::move(fused));
    std::move(copies.begin(), copies.end(), std::back_inserter(kernels));
    return absl::OkStatus();
  }

  std::vector<KeptValue> TakeKept() { return std::move(kept_); }

 private:
  std::vector<ValueId>& Outputs() { return graph_.main_region().outputs; }

  // The number of outputs where it is none.
  size_t OutputOf(ValueId value) {
    return static_cast<size_t>(std::ranges::find(Outputs(), value) - Outputs().begin());
  }

  Location LocationOf(ValueId value) const {
    const NodeId producer = producers_[value];
    if (!producer.valid() || graph_.nodes[producer].locations.empty()) return {};
    return graph_.nodes[producer].locations[0];
  }

  // A new output of the plain layout.
  absl::StatusOr<FusedKernel> AddCopy(ValueId value) {
    const ValueId copy =
        graph_.AddValue(StrCat(graph_.values[value].name, "_kept"), graph_.values[value].type);
    const NodeId node = graph_.AddNode(graph_.main, RelayoutNode(value, copy));
    Outputs().push_back(copy);
    AOTC_ASSIGN_OR_RETURN(FusedKernel kernel, KernelOfNode(graph_, graph_.nodes[node]));
    kernel.kernel.name = StrCat("keep_", kept_.size() - 1);
    return kernel;
  }

  Graph& graph_;
  const IdVector<ValueId, NodeId> producers_;
  std::vector<KeptValue> kept_;
};

}  // namespace

absl::StatusOr<std::vector<KeptValue>> KeepValues(Graph& graph, FusedGraph& fused) {
  Keeper keeper(graph);
  std::vector<FusedKernel> kernels;
  for (FusedKernel& kernel : fused.kernels) {
    AOTC_RETURN_IF_ERROR(keeper.Take(std::move(kernel), kernels));
  }
  fused.kernels = std::move(kernels);
  return keeper.TakeKept();
}

}  // namespace aotc
