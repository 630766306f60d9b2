#include "compiler/fuse/split_kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
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
  Splitter(Graph& graph, const KernelCosts& costs) : graph_(graph), costs_(costs) {}

  void Reserve(const std::string& kernel_name) { names_.Unique(kernel_name); }

  // The parts of `fused` in the order in which they run; itself where it needs no split.
  std::vector<FusedKernel> Split(const FusedKernel& fused) {
    if (!KeepsTemps(fused.kernel)) return {fused};
    fused_ = &fused;
    std::vector<StageNumbers> cuts;
    for (const StageNumbers& component : Independent()) AddParts(component, cuts);
    if (cuts.size() == 1) return {fused};
    NameValues();
    std::vector<FusedKernel> parts;
    for (const StageNumbers& stages : cuts) {
      parts.push_back(PartOf(stages, [&](TensorId id) { return ValueOf(id); }));
    }
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
    const ValueId value = graph_.AddValue(StrCat(kernel().name, "_", tensor.name),
                                          TensorType(tensor.dtype, tensor.shape));
    graph_.values[value].layout = tensor.layout;
    return values_[id] = value;
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
        const size_t joined = component[writer->second];  // not the element, which is replaced
        std::ranges::replace(component, joined, component[s]);
      }
      for (const StageResult& result : kernel().stages[s].results) writers[result.tensor] = s;
    }
    std::map<size_t, StageNumbers> groups;
    for (size_t s = 0; s < component.size(); ++s) groups[component[s]].push_back(s);
    std::vector<StageNumbers> result;
    for (auto& [number, stages] : groups) result.push_back(std::move(stages));
    return result;
  }

  // Components that take less apart; else all stages together.
  std::vector<StageNumbers> Independent() const {
    std::vector<StageNumbers> components = Components();
    std::vector<Kernel> kernels;
    for (const StageNumbers& component : components) kernels.push_back(KernelOf(component));
    KernelCosts::Parts parts;
    for (const Kernel& part : kernels) parts.push_back(&part);
    if (!IsRealised(kernel()) || costs_.AreCheaper(parts, kernel())) return components;
    StageNumbers all(kernel().stages.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return {all};
  }

  bool IsRealised(const Kernel& kernel) const { return std::isfinite(costs_.Of(kernel).seconds); }

  bool KeepsTemps(const Kernel& kernel) const {
    if (kernel.stages.size() < 2 || !costs_.IsKnown()) return false;
    return costs_.Of(kernel).kept_bytes > 0 || !IsRealised(kernel);
  }

  // The stages, or the parts of the two that they are best cut in.
  void AddParts(const StageNumbers& stages, std::vector<StageNumbers>& parts) {
    const Kernel whole = KernelOf(stages);
    const size_t best = !KeepsTemps(whole)   ? 0
                        : !IsRealised(whole) ? LongestRealised(stages)
                                             : BestCut(stages, whole);
    if (best == 0) return parts.push_back(stages);
    const auto [first, second] = CutAt(stages, best);
    AddParts(first, parts);
    AddParts(second, parts);
  }

  // How many stages are before the cut that saves most; 0: none saves anything.
  size_t BestCut(const StageNumbers& stages, const Kernel& whole) const {
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t count = 1; count < stages.size(); ++count) {
      const auto [first, second] = CutAt(stages, count);
      const Kernel a = KernelOf(first), b = KernelOf(second);
      const double seconds = costs_.Seconds({&a, &b});
      if (seconds >= least || !costs_.AreCheaper({&a, &b}, whole)) continue;
      best = count;
      least = seconds;
    }
    return best;
  }

  // How many stages the target has a realisation for; 1 where it has none.
  size_t LongestRealised(const StageNumbers& stages) const {
    size_t count = stages.size() - 1;
    while (count > 1 && !IsRealised(KernelOf(CutAt(stages, count).first))) --count;
    return count;
  }

  static std::pair<StageNumbers, StageNumbers> CutAt(const StageNumbers& stages, size_t count) {
    const auto cut = stages.begin() + static_cast<std::ptrdiff_t>(count);
    return {{stages.begin(), cut}, {cut, stages.end()}};
  }

  // As a part, whose arguments nobody asks for.
  Kernel KernelOf(const StageNumbers& stages) const {
    return PartOf(stages, [](TensorId) { return ValueId(); }).kernel;
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
  FusedKernel PartOf(const StageNumbers& numbers,
                     const std::function<ValueId(TensorId)>& value_of) const {
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
    part.kernel.params.clear();
    for (const std::vector<TensorId>& group : {inputs, constants, outputs}) {
      for (TensorId id : group) {
        part.kernel.params.push_back(id);
        part.args.push_back(value_of(id));
      }
    }
    part.kernel = Compact(part.kernel, part.args);
    return part;
  }

  Graph& graph_;
  const KernelCosts& costs_;
  NameTable names_;
  const FusedKernel* fused_ = nullptr;
  std::map<TensorId, ValueId> values_;  // of the tensors of fused_
};

void SplitAll(FusedGraph& fused, const KernelCosts& costs, Splitter& splitter) {
  std::vector<FusedKernel> kernels;
  for (const FusedKernel& kernel : fused.kernels) {
    std::vector<FusedKernel> parts = splitter.Split(kernel);
    if (parts.size() > 1) {
      KernelCosts::Parts kernels_of_parts;
      for (const FusedKernel& part : parts) kernels_of_parts.push_back(&part.kernel);
      fused.decisions.push_back(StrCat(kernel.kernel.name, " in ", parts.size(),
                                       " parts: ", costs.Figures(kernels_of_parts, kernel.kernel)));
    }
    std::ranges::move(parts, std::back_inserter(kernels));
  }
  fused.kernels = std::move(kernels);
}

}  // namespace

void SplitKernels(Graph& graph, FusedGraph& fused, const KernelCosts& costs) {
  Splitter splitter(graph, costs);
  VisitBodies(graph, fused, [&](FusedGraph& part, RegionId) {
    for (const FusedKernel& kernel : part.kernels) splitter.Reserve(kernel.kernel.name);
  });
  VisitBodies(graph, fused, [&](FusedGraph& part, RegionId) { SplitAll(part, costs, splitter); });
}

}  // namespace aotc
