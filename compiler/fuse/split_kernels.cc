#include "compiler/fuse/split_kernels.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "compiler/fuse/control.h"
#include "compiler/fuse/joiner.h"
#include "compiler/fuse/merge_kernels.h"
#include "compiler/support/names.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using StageNumbers = std::vector<size_t>;  // ascending

std::set<TensorId> ReadBy(const Stage& stage) {
  std::set<TensorId> read;
  for (const Expr& body : stage.body) {
    for (const Expr& load : LoadsOf(body)) read.insert(load->tensor);
  }
  return read;
}

class Splitter {
 public:
  Splitter(Graph& graph, const HoldsKernel& holds) : graph_(graph), holds_(holds) {}

  void Reserve(const std::string& kernel_name) { names_.Unique(kernel_name); }

  // The parts of `fused` in the order in which they run; itself where it needs no split.
  std::vector<FusedKernel> Split(const FusedKernel& fused) {
    if (fused.kernel.stages.size() < 2 || holds_(fused.kernel)) return {fused};
    fused_ = &fused;
    NameValues();
    std::vector<FusedKernel> parts;
    for (const StageNumbers& component : Components()) AddParts(component, parts);
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      parts[i].kernel.name = names_.Unique(StrCat(fused.kernel.name, "_part_", i + 1));
    }
    return parts;
  }

 private:
  const Kernel& kernel() const { return fused_->kernel; }

  void NameValues() {
    values_.clear();
    for (size_t i = 0; i < fused_->args.size(); ++i) values_[kernel().params[i]] = fused_->args[i];
  }

  // The graph's value that a tensor of the kernel is; a temp gets one.
  ValueId ValueOf(TensorId id) {
    auto found = values_.find(id);
    if (found != values_.end()) return found->second;
    const KernelTensor& tensor = kernel().tensors[id];
    return values_[id] = graph_.AddValue(StrCat(kernel().name, "_", tensor.name),
                                         TensorType(tensor.dtype, tensor.shape));
  }

  // Stages that read one another's results, directly or through others.
  std::vector<StageNumbers> Components() const {
    std::map<TensorId, size_t> writers;
    StageNumbers component(kernel().stages.size());
    std::iota(component.begin(), component.end(), size_t{0});
    for (size_t s = 0; s < kernel().stages.size(); ++s) {
      for (TensorId id : ReadBy(kernel().stages[s])) {
        const auto writer = writers.find(id);
        if (writer == writers.end()) continue;
        std::ranges::replace(component, component[writer->second], component[s]);
      }
      for (const StageResult& result : kernel().stages[s].results) writers[result.tensor] = s;
    }
    std::map<size_t, StageNumbers> groups;
    for (size_t s = 0; s < component.size(); ++s) groups[component[s]].push_back(s);
    std::vector<StageNumbers> result;
    for (auto& [number, stages] : groups) result.push_back(std::move(stages));
    return result;
  }

  // The longest beginning of the stages that the target holds, and so on with the rest.
  void AddParts(StageNumbers stages, std::vector<FusedKernel>& parts) {
    while (!stages.empty()) {
      size_t count = stages.size();
      FusedKernel part = PartOf({stages.begin(), stages.end()});
      while (count > 1 && !holds_(part.kernel)) {
        --count;
        part = PartOf({stages.begin(), stages.begin() + static_cast<long>(count)});
      }
      parts.push_back(std::move(part));
      stages.erase(stages.begin(), stages.begin() + static_cast<long>(count));
    }
  }

  // Whether some stage that is not of the part reads the tensor.
  bool IsReadOutside(TensorId id, const StageNumbers& part) const {
    for (size_t s = 0; s < kernel().stages.size(); ++s) {
      if (!std::ranges::binary_search(part, s) && ReadBy(kernel().stages[s]).contains(id)) {
        return true;
      }
    }
    return false;
  }

  // These stages as a kernel: it reads what others write, and writes what others read.
  FusedKernel PartOf(const StageNumbers& numbers) {
    FusedKernel part{.kernel = kernel(), .op = fused_->op};
    part.kernel.stages.clear();
    std::set<TensorId> read, written;
    for (size_t s : numbers) {
      const Stage& stage = kernel().stages[s];
      read.merge(ReadBy(stage));
      for (const StageResult& result : stage.results) written.insert(result.tensor);
      part.kernel.stages.push_back(stage);
    }
    std::vector<TensorId> inputs, constants, outputs;
    for (TensorId id : kernel().tensors.ids()) {
      KernelTensor& tensor = part.kernel.tensors[id];
      if (written.contains(id)) {
        const bool is_output = tensor.role == TensorRole::kOutput || IsReadOutside(id, numbers);
        tensor.role = is_output ? TensorRole::kOutput : TensorRole::kTemp;
        if (is_output) outputs.push_back(id);
      } else if (read.contains(id)) {
        if (tensor.role != TensorRole::kConstant) tensor.role = TensorRole::kInput;
        (tensor.role == TensorRole::kConstant ? constants : inputs).push_back(id);
      }
    }
    SetParams(part, {inputs, constants, outputs});
    return part;
  }

  void SetParams(FusedKernel& part, const std::vector<std::vector<TensorId>>& groups) {
    part.kernel.params.clear();
    for (const std::vector<TensorId>& group : groups) {
      for (TensorId id : group) {
        part.kernel.params.push_back(id);
        part.args.push_back(ValueOf(id));
      }
    }
    part.kernel = Compact(part.kernel, part.args);
  }

  Graph& graph_;
  const HoldsKernel& holds_;
  NameTable names_;
  const FusedKernel* fused_ = nullptr;
  std::map<TensorId, ValueId> values_;  // of the tensors of fused_
};

void SplitAll(FusedGraph& fused, Splitter& splitter) {
  std::vector<FusedKernel> kernels;
  for (const FusedKernel& kernel : fused.kernels) {
    std::vector<FusedKernel> parts = splitter.Split(kernel);
    if (parts.size() > 1) {
      fused.decisions.push_back(StrCat(kernel.kernel.name, " in ", parts.size(), " parts: ",
                                       TempBytes(kernel.kernel), " bytes between its stages"));
    }
    std::ranges::move(parts, std::back_inserter(kernels));
  }
  fused.kernels = std::move(kernels);
}

}  // namespace

void SplitKernels(Graph& graph, FusedGraph& fused, const HoldsKernel& holds) {
  Splitter splitter(graph, holds);
  VisitBodies(graph, fused, [&](FusedGraph& part, RegionId) {
    for (const FusedKernel& kernel : part.kernels) splitter.Reserve(kernel.kernel.name);
  });
  VisitBodies(graph, fused, [&](FusedGraph& part, RegionId) { SplitAll(part, splitter); });
}

int64_t TempBytes(const Kernel& kernel) {
  int64_t bytes = 0;
  for (const KernelTensor& tensor : kernel.tensors) {
    if (tensor.role != TensorRole::kTemp) continue;
    bytes +=
        MaxElements(tensor.shape, BoundsOf(kernel.symbols)).value_or(0) * ByteWidth(tensor.dtype);
  }
  return bytes;
}

}  // namespace aotc
