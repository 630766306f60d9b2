#include "compiler/ops/kernel_cleanup.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "compiler/ops/empty_stages.h"
#include "compiler/ops/trim_reduction.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using ExprFunction = std::function<Expr(const Expr&)>;

// Replaces every expression of a stage but the combiner.
void RewriteStage(Stage& stage, const ExprFunction& rewrite) {
  for (Axis& axis : stage.axes) axis.extent = rewrite(axis.extent);
  for (Axis& axis : stage.reduce_axes) axis.extent = rewrite(axis.extent);
  for (Expr& body : stage.body) body = rewrite(body);
}

// Marks tensors that outputs need; returns which stages define one of them.
std::vector<bool> MarkLive(const Kernel& kernel, IdVector<TensorId, char>& live) {
  for (TensorId id : kernel.params) {
    if (kernel.tensors[id].role == TensorRole::kOutput) live[id] = 1;
  }
  std::vector<bool> needed(kernel.stages.size());
  for (size_t s = kernel.stages.size(); s-- > 0;) {
    const Stage& stage = kernel.stages[s];
    needed[s] = std::any_of(stage.results.begin(), stage.results.end(),
                            [&](const StageResult& result) { return live[result.tensor] != 0; });
    if (!needed[s]) continue;
    for (const StageResult& result : stage.results) live[result.tensor] = 1;
    for (const Expr& body : stage.body) {
      for (const Expr& load : LoadsOf(body)) live[load->tensor] = 1;
    }
  }
  return needed;
}

void DropDeadStages(Kernel& kernel) {
  IdVector<TensorId, char> live(kernel.tensors.size());
  std::vector<bool> needed = MarkLive(kernel, live);
  std::vector<Stage> stages;
  for (size_t s = 0; s < kernel.stages.size(); ++s) {
    if (needed[s]) stages.push_back(std::move(kernel.stages[s]));
  }
  kernel.stages = std::move(stages);

  IdVector<TensorId, TensorId> renumbered(kernel.tensors.size());
  IdVector<TensorId, KernelTensor> tensors;
  for (TensorId id : kernel.tensors.ids()) {
    if (live[id] != 0) renumbered[id] = tensors.Add(std::move(kernel.tensors[id]));
  }
  kernel.tensors = std::move(tensors);
  std::vector<TensorId> params;
  for (TensorId id : kernel.params) {
    if (renumbered[id].valid()) params.push_back(renumbered[id]);
  }
  kernel.params = std::move(params);
  auto remap = [&](const Expr& e) {
    return Transform(e, [&](const Expr& node) {
      return node.op() == ExprOp::kLoad ? Load(renumbered[node->tensor], node.args(), node.dtype())
                                        : node;
    });
  };
  for (Stage& stage : kernel.stages) {
    for (StageResult& result : stage.results) result.tensor = renumbered[result.tensor];
    RewriteStage(stage, remap);
  }
}

// Gives the axes of one kind their final names and notes what replaces their variables.
void NameAxes(std::vector<Axis>& axes, const std::function<std::string()>& next_name,
              Substitution& renames) {
  for (Axis& axis : axes) {
    std::string name = next_name();
    renames[axis.name] = Var(name);
    axis.name = name;
  }
}

void NumberAxes(Kernel& kernel) {
  std::set<std::string> taken;
  for (const Symbol& symbol : kernel.symbols) taken.insert(symbol.var);
  int next_axis = 0, next_reduce_axis = 0;
  auto fresh = [&](const char* prefix, int& next) {
    std::string name;
    do name = StrCat(prefix, next++);
    while (taken.count(name) != 0 || ParseDType(name));  // i8 would read as a type
    return name;
  };
  for (Stage& stage : kernel.stages) {
    Substitution renames;
    NameAxes(stage.axes, [&] { return fresh("i", next_axis); }, renames);
    NameAxes(stage.reduce_axes, [&] { return fresh("r", next_reduce_axis); }, renames);
    for (Expr& body : stage.body) body = Substitute(body, renames);
  }
}

// Variables in shapes, extents and bodies, of symbols among them.
std::set<std::string> UsedVars(const Kernel& kernel) {
  std::set<std::string> used;
  auto note = [&](const Expr& e) { used.merge(FreeVars(e)); };
  for (const KernelTensor& tensor : kernel.tensors) {
    std::for_each(tensor.shape.begin(), tensor.shape.end(), note);
  }
  for (const Stage& stage : kernel.stages) {
    std::for_each(stage.body.begin(), stage.body.end(), note);
    for (const Axis& axis : stage.axes) note(axis.extent);
    for (const Axis& axis : stage.reduce_axes) note(axis.extent);
  }
  return used;
}

// Leaves the symbols that the kernel uses, and what these give, with the checks over them alone:
// of a graph with many sizes most say nothing here, and all would be asked in every proof.
void KeepRelatedSymbols(Kernel& kernel) {
  std::set<std::string> related = UsedVars(kernel);
  for (const Symbol& symbol : kernel.symbols) {
    const bool follows =
        symbol.value.valid() && std::ranges::includes(related, FreeVars(symbol.value));
    if (follows) related.insert(symbol.var);
  }
  std::erase_if(kernel.symbols, [&](const Symbol& s) { return !related.contains(s.var); });
  for (Symbol& symbol : kernel.symbols) {
    std::erase_if(symbol.checks, [&](const SizeCheck& check) {
      return !std::ranges::includes(related, FreeVars(check.holds));
    });
  }
}

void SimplifyKernel(Kernel& kernel) {
  KeepRelatedSymbols(kernel);
  const Bounds symbols = BoundsOf(kernel.symbols);
  const auto size = [&](const Expr& e) { return NamedSize(Simplify(e, symbols), kernel.symbols); };
  for (KernelTensor& tensor : kernel.tensors) {
    for (Expr& dim : tensor.shape) {
      // An operand keeps a symbol that is a dim: with it stay the checks that say what it is here,
      // which a kernel that this one is joined with may not know.
      const Expr simple = size(dim);
      const bool is_kept = tensor.role == TensorRole::kInput && dim.IsVar() && simple.IsConst();
      if (!is_kept) dim = simple;
    }
  }
  for (Stage& stage : kernel.stages) {
    for (Axis& axis : stage.axes) axis.extent = size(axis.extent);
    for (Axis& axis : stage.reduce_axes) axis.extent = size(axis.extent);
    Bounds bounds = StageBounds(kernel, stage);
    for (Expr& body : stage.body) body = Simplify(body, bounds);
  }
}

void DropUnusedSymbols(Kernel& kernel) {
  const std::set<std::string> used = UsedVars(kernel);
  std::erase_if(kernel.symbols, [&](const Symbol& s) { return !used.contains(s.var); });
  for (Symbol& symbol : kernel.symbols) {
    symbol.value = {};
    std::erase_if(symbol.checks, [&](const SizeCheck& check) {
      return !std::ranges::includes(used, FreeVars(check.holds));
    });
  }
}

}  // namespace

Kernel CleanKernel(Kernel kernel) {
  DropDeadStages(kernel);
  NumberAxes(kernel);
  SimplifyKernel(kernel);
  if (TrimReduceAxes(kernel)) SimplifyKernel(kernel);
  SimplifyEmptyStages(kernel);
  DropDeadStages(kernel);  // simplification may have removed the last load of a tensor
  DropUnusedSymbols(kernel);
  return kernel;
}

}  // namespace aotc
