#include "compiler/fuse/aliases.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/schedule/in_place.h"

namespace aotc {
namespace {

// What a kernel does to the memory that its args are in, views and boxes taken as what they are in.
struct Use {
  std::set<ValueId> read = {};
  std::set<ValueId> written = {};
};

class Orderer {
 public:
  Orderer(const Graph& graph, FusedGraph& fused) : graph_(graph), fused_(fused) {
    for (const ValueView& view : fused.views) bases_[view.value] = view.base;
    for (const FusedKernel& kernel : fused.kernels) uses_.push_back(UseOf(kernel));
    AddConflicts();
  }

  void Run() {
    for (Alias& alias : fused_.aliases) {
      if (!alias.axis) alias.copied = !DestroyLast(alias);
    }
    Reorder();
  }

 private:
  ValueId MemoryOf(ValueId value) const {
    const auto base = bases_.find(value);
    return base == bases_.end() ? value : MemoryOf(base->second);
  }

  static bool IsResult(const FusedKernel& kernel, size_t arg) {
    return kernel.kernel.tensors[kernel.kernel.params[arg]].role == TensorRole::kOutput;
  }

  Use UseOf(const FusedKernel& kernel) const {
    Use use;
    for (size_t i = 0; i < kernel.args.size(); ++i) {
      (IsResult(kernel, i) ? use.written : use.read).insert(MemoryOf(kernel.args[i]));
    }
    return use;
  }

  static bool Meet(const std::set<ValueId>& a, const std::set<ValueId>& b) {
    return std::ranges::any_of(a, [&](ValueId value) { return b.contains(value); });
  }

  // The order in which kernels stand is kept where it matters.
  void AddConflicts() {
    before_.resize(uses_.size());
    for (size_t later = 0; later < uses_.size(); ++later) {
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const Use &a = uses_[earlier], &b = uses_[later];
        const bool conflict =
            Meet(a.written, b.read) || Meet(a.written, b.written) || Meet(a.read, b.written);
        if (conflict) before_[later].insert(earlier);
      }
    }
  }

  // Whether `first` has to run before `then`.
  bool Precedes(size_t first, size_t then) const {
    std::vector<size_t> open = {then};
    std::set<size_t> seen;
    while (!open.empty()) {
      const size_t kernel = open.back();
      open.pop_back();
      if (kernel == first) return true;
      if (!seen.insert(kernel).second) continue;
      open.insert(open.end(), before_[kernel].begin(), before_[kernel].end());
    }
    return false;
  }

  // Has all who read the input run before what makes the output in its memory. False: there is no
  // such order, or nobody can make it there.
  bool DestroyLast(const Alias& alias) {
    const ValueId made = WholeOf(alias.output), input = alias.input;
    if (made == input) return true;
    if (!IsMadeAlone(made) || OutputsIn(input) > 0) return false;
    std::vector<std::pair<size_t, size_t>> edges;
    for (size_t writer = 0; writer < uses_.size(); ++writer) {
      if (!uses_[writer].written.contains(made)) continue;
      for (size_t reader = 0; reader < uses_.size(); ++reader) {
        if (!uses_[reader].read.contains(input)) continue;
        const bool fits = reader == writer ? MayOverwrite(fused_.kernels[writer], made, input)
                                           : !Precedes(writer, reader);
        if (!fits) return false;
        if (reader != writer) edges.emplace_back(reader, writer);
      }
    }
    for (const auto& [reader, writer] : edges) before_[writer].insert(reader);
    return true;
  }

  // What the value is all of under another shape; itself where it is no view.
  ValueId WholeOf(ValueId value) const {
    for (const ValueView& view : fused_.views) {
      const bool is_whole = view.value == value && !view.IsBox() && view.offset.IsInt(0) &&
                            HasElementsOf(value, view.base);
      if (is_whole) return view.base;
    }
    return value;
  }

  // Whether kernels make the value, which lies in no larger one, and one output is in it.
  bool IsMadeAlone(ValueId value) const {
    const auto is_made = [&](const Use& use) { return use.written.contains(value); };
    return !bases_.contains(value) && std::ranges::any_of(uses_, is_made) && OutputsIn(value) == 1;
  }

  // How many outputs are what is in the memory of the value, under whatever shape.
  int64_t OutputsIn(ValueId value) const {
    return std::ranges::count_if(graph_.main_region().outputs,
                                 [&](ValueId output) { return MemoryOf(output) == value; });
  }

  bool HasElementsOf(ValueId view, ValueId base) const {
    const auto elements = [&](ValueId value) {
      return StorageElements(graph_.values[value].layout, graph_.values[value].type.dims);
    };
    return graph_.values[base].layout.IsPlain() && SameShape({elements(view)}, {elements(base)});
  }

  // The kernel reads the input only where it has just that element of the output to write.
  bool MayOverwrite(const FusedKernel& kernel, ValueId output, ValueId input) const {
    if (kernel.control.valid()) return false;
    const std::vector<std::pair<int, int>> pairs = InPlacePairs(kernel.kernel);
    for (size_t i = 0; i < kernel.args.size(); ++i) {
      if (IsResult(kernel, i) || MemoryOf(kernel.args[i]) != input) continue;
      const bool is_whole = HasElementsOf(kernel.args[i], input);
      const bool is_safe = std::ranges::any_of(pairs, [&](const auto& pair) {
        const ValueId written = kernel.args[static_cast<size_t>(pair.first)];
        return pair.second == static_cast<int>(i) && MemoryOf(written) == output &&
               HasElementsOf(written, output);
      });
      if (!is_whole || !is_safe) return false;
    }
    return true;
  }

  // The first that may run, again and again.
  void Reorder() {
    std::vector<FusedKernel> ordered;
    std::vector<char> done(uses_.size(), 0);
    while (ordered.size() < uses_.size()) {
      size_t next = 0;
      const auto waits = [&](size_t earlier) { return !done[earlier]; };
      while (done[next] || std::ranges::any_of(before_[next], waits)) ++next;
      done[next] = 1;
      ordered.push_back(std::move(fused_.kernels[next]));
    }
    fused_.kernels = std::move(ordered);
  }

  const Graph& graph_;
  FusedGraph& fused_;
  std::map<ValueId, ValueId> bases_;  // of views
  std::vector<Use> uses_;             // by the kernels, in their order
  std::vector<std::set<size_t>> before_ = {};
};

}  // namespace

void OrderForAliases(const Graph& graph, FusedGraph& fused) {
  const bool has_state = std::ranges::any_of(
      fused.aliases, [](const Alias& alias) { return !alias.axis.has_value(); });
  if (has_state) Orderer(graph, fused).Run();
}

}  // namespace aotc
