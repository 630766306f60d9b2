#include "compiler/schedule/chain.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/schedule/stage_kinds.h"

namespace aotc {
namespace {

class Reader {
 public:
  explicit Reader(const Kernel& kernel) : kernel_(kernel) {}

  std::optional<ChainAnchor> Read() {
    const std::vector<Stage>& stages = kernel_.stages;
    if (stages.empty() || !IsContraction(stages[0])) return std::nullopt;
    const auto next = std::find_if(stages.begin() + 1, stages.end(),
                                   [](const Stage& stage) { return stage.IsReduction(); });
    if (next == stages.end() || !IsContraction(*next)) return std::nullopt;
    anchor_.second = static_cast<size_t>(next - stages.begin());
    const Stage& last = stages[anchor_.second - 1];
    if (last.results.size() != 1 || next->results.size() != 1) return std::nullopt;
    anchor_.between = last.results[0].tensor;
    return IsKeptInside() && ReadRows() ? std::optional(anchor_) : std::nullopt;
  }

 private:
  // What the stages before the second contraction make is read by that alone, and %v alone.
  bool IsKeptInside() const {
    for (size_t s = 0; s < anchor_.second; ++s) {
      for (const StageResult& result : kernel_.stages[s].results) {
        if (kernel_.tensors[result.tensor].role != TensorRole::kTemp) return false;
        for (size_t reader = anchor_.second; reader < kernel_.stages.size(); ++reader) {
          const bool may = reader == anchor_.second && result.tensor == anchor_.between;
          if (!may && Reads(kernel_.stages[reader], result.tensor)) return false;
        }
      }
    }
    return true;
  }

  bool ReadRows() {
    const Stage& second = kernel_.stages[anchor_.second];
    std::optional<Expr> read;
    for (const Expr& load : LoadsOf(second.body[0])) {
      if (load->tensor != anchor_.between) continue;
      if (read) return false;
      read = load;
    }
    if (!read) return false;
    const Shape& shape = kernel_.tensors[anchor_.between].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!ReadRow(second, read->arg(i), shape[i])) return false;
    }
    const auto rows = std::ranges::count_if(anchor_.rows, &std::optional<size_t>::has_value);
    return rows > 0 && static_cast<size_t>(rows) < anchor_.rows.size();
  }

  // One axis of %v: at the point's own, or all of it.
  bool ReadRow(const Stage& second, const Expr& index, const Expr& extent) {
    for (size_t axis = next_row_; axis < second.axes.size(); ++axis) {
      const Axis& own = second.axes[axis];
      if (!IsOwnIndex(index, own) || !ProveEqual(own.extent, extent)) continue;
      anchor_.rows.emplace_back(axis);
      next_row_ = axis + 1;
      return true;
    }
    anchor_.rows.emplace_back();
    if (extent.IsInt(1)) return index.IsInt(0);
    return std::ranges::any_of(second.reduce_axes, [&](const Axis& axis) {
      return index.IsVar() && index->name == axis.name && ProveEqual(axis.extent, extent);
    });
  }

  const Kernel& kernel_;
  ChainAnchor anchor_;
  size_t next_row_ = 0;  // rows come in the order of both
};

// The kernel with the stages from `first` to `last` - 1, and of its params those that they have.
Kernel WithStages(Kernel kernel, size_t first, size_t last) {
  const std::vector<Stage> all = std::move(kernel.stages);
  kernel.stages.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                       all.begin() + static_cast<std::ptrdiff_t>(last));
  std::erase_if(kernel.params, [&](TensorId id) {
    return std::ranges::none_of(kernel.stages, [&](const Stage& stage) {
      const auto is_made = std::ranges::find(stage.results, id, &StageResult::tensor);
      return is_made != stage.results.end() || Reads(stage, id);
    });
  });
  return kernel;
}

}  // namespace

std::optional<ChainAnchor> ReadChain(const Kernel& kernel) { return Reader(kernel).Read(); }

Kernel ChainHead(const Kernel& kernel, const ChainAnchor& chain) {
  Kernel head = WithStages(kernel, 0, chain.second);
  head.tensors[chain.between].role = TensorRole::kOutput;
  head.params.push_back(chain.between);
  return head;
}

Kernel ChainTail(const Kernel& kernel, const ChainAnchor& chain) {
  Kernel tail = WithStages(kernel, chain.second, kernel.stages.size());
  tail.tensors[chain.between].role = TensorRole::kInput;
  tail.params.insert(tail.params.begin(), chain.between);
  return tail;
}

}  // namespace aotc
