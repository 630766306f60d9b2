#include "compiler/fuse/merge_kernels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/lower/nest.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Expr WithoutCasts(const Expr& e) { return e.op() == ExprOp::kCast ? WithoutCasts(e.arg(0)) : e; }

// A load, perhaps cast, perhaps under a guard whose other side is the identity of the sum.
bool IsOperand(const Expr& e) {
  const Expr bare = WithoutCasts(e);
  if (bare.op() == ExprOp::kLoad) return true;
  return bare.op() == ExprOp::kSelect && IsOperand(bare.arg(1)) && bare.arg(2).IsConst();
}

bool IsOutput(const Kernel& kernel, TensorId id) {
  return kernel.tensors[id].role == TensorRole::kOutput;
}

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

bool Reads(const Stage& stage, TensorId tensor) {
  for (const Expr& body : stage.body) {
    for (const Expr& load : LoadsOf(body)) {
      if (load->tensor == tensor) return true;
    }
  }
  return false;
}

Expr Renumber(const Expr& e, const std::map<TensorId, TensorId>& ids) {
  return Transform(e, [&](const Expr& node) {
    if (node.op() != ExprOp::kLoad) return node;
    ExprNode load = *node;
    load.tensor = ids.at(node->tensor);
    return Expr::Make(std::move(load));
  });
}

bool ReadByContraction(const Kernel& kernel, TensorId tensor) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(), [&](const Stage& stage) {
    return IsContraction(stage) && Reads(stage, tensor);
  });
}

// Builds one kernel from two; params of equal value are joined.
class Joiner {
 public:
  explicit Joiner(ValueId edge) : edge_(edge) {}

  // Adds tensors and stages; the edge's tensor becomes a temp.
  void Add(const FusedKernel& part) {
    std::map<TensorId, TensorId> ids;
    std::map<TensorId, ValueId> values;
    for (size_t i = 0; i < part.args.size(); ++i) values[part.kernel.params[i]] = part.args[i];
    for (TensorId id : part.kernel.tensors.ids()) {
      auto value = values.find(id);
      ids[id] =
          AddTensor(part.kernel.tensors[id], value == values.end() ? ValueId() : value->second);
    }
    for (Stage stage : part.kernel.stages) {
      for (StageResult& result : stage.results) result.tensor = ids[result.tensor];
      for (Expr& body : stage.body) body = Renumber(body, ids);
      kernel_.stages.push_back(std::move(stage));
    }
    for (const std::string& source : part.kernel.sources) kernel_.sources.push_back(source);
    for (const Symbol& symbol : part.kernel.symbols) AddSymbol(symbol);
  }

  Kernel& kernel() { return kernel_; }
  TensorId TensorOf(ValueId value) const { return by_value_.at(value); }

  FusedKernel Finish(std::string name) {
    kernel_.name = std::move(name);
    FusedKernel result{.kernel = kernel_};
    result.kernel.params.clear();
    for (const bool outputs : {false, true}) {
      for (const auto& [value, id] : order_) {
        const TensorRole role = kernel_.tensors[id].role;
        if (role == TensorRole::kTemp || (role == TensorRole::kOutput) != outputs) continue;
        result.kernel.params.push_back(id);
        result.args.push_back(value);
      }
    }
    result.kernel = Compact(result.kernel, result.args);
    return result;
  }

 private:
  TensorId AddTensor(KernelTensor tensor, ValueId value) {
    if (value.valid()) {
      auto found = by_value_.find(value);
      if (found != by_value_.end()) return found->second;
    }
    if (value == edge_) tensor.role = TensorRole::kTemp;
    std::string name = tensor.name;
    for (int i = 2; names_.contains(name); ++i) name = StrCat(tensor.name, "_", i);
    names_.insert(name);
    tensor.name = name;
    const TensorId id = kernel_.tensors.Add(std::move(tensor));
    if (value.valid()) {
      by_value_[value] = id;
      order_.emplace_back(value, id);
    }
    return id;
  }

  void AddSymbol(const Symbol& symbol) {
    for (const Symbol& known : kernel_.symbols) {
      if (known.var == symbol.var) return;
    }
    kernel_.symbols.push_back(symbol);
  }

  const ValueId edge_;
  Kernel kernel_;
  std::set<std::string> names_;
  std::map<ValueId, TensorId> by_value_;
  std::vector<std::pair<ValueId, TensorId>> order_;
};

// Replaces loads of a pointwise stage's result by its body.
void Substitute(Kernel& kernel, TensorId tensor) {
  const Stage* source = DefiningStage(kernel, tensor);
  const Stage definition = *source;
  size_t component = 0;
  while (definition.results[component].tensor != tensor) ++component;
  auto inline_loads = [&](const Expr& body) {
    return Transform(body, [&](const Expr& node) {
      if (node.op() == ExprOp::kCast) return Cast(node.dtype(), node.arg(0));
      if (node.op() != ExprOp::kLoad || node->tensor != tensor) return node;
      Substitution axes;
      for (size_t i = 0; i < definition.axes.size(); ++i)
        axes[definition.axes[i].name] = node.arg(i);
      return aotc::Substitute(definition.body[component], axes);
    });
  };
  for (Stage& stage : kernel.stages) {
    const Bounds bounds = StageBounds(kernel, stage);
    for (Expr& body : stage.body) {
      if (Reads(stage, tensor)) body = Simplify(inline_loads(body), bounds);
    }
  }
}

// Replaces loads of the temps that the first `count` stages make, the edge's among them: a temp
// left behind an inlined edge would be computed for a whole row where one element is read.
void InlineProducer(Kernel& kernel, size_t count) {
  for (size_t s = count; s-- > 0;) {
    const std::vector<StageResult> results = kernel.stages[s].results;
    for (const StageResult& result : results) {
      if (kernel.tensors[result.tensor].role == TensorRole::kTemp) {
        Substitute(kernel, result.tensor);
      }
    }
  }
}

}  // namespace

bool IsContraction(const Stage& stage) {
  if (!stage.IsReduction() || stage.combiner.name != "sum" || stage.body.size() != 1) return false;
  const Expr& product = stage.body[0];
  return product.op() == ExprOp::kMul && IsOperand(product.arg(0)) && IsOperand(product.arg(1)) &&
         !Same(product.arg(0), product.arg(1));
}

bool HasReduction(const Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(),
                     [](const Stage& stage) { return stage.IsReduction(); });
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

Kernel Compact(const Kernel& kernel, std::vector<ValueId>& args) {
  std::set<TensorId> needed;
  std::vector<bool> keep(kernel.stages.size());
  for (TensorId id : kernel.params) {
    if (IsOutput(kernel, id)) needed.insert(id);
  }
  for (size_t s = kernel.stages.size(); s-- > 0;) {
    for (const StageResult& result : kernel.stages[s].results)
      keep[s] = keep[s] || needed.contains(result.tensor);
    if (!keep[s]) continue;
    for (const StageResult& result : kernel.stages[s].results) needed.insert(result.tensor);
    for (const Expr& body : kernel.stages[s].body) {
      for (const Expr& load : LoadsOf(body)) needed.insert(load->tensor);
    }
  }
  Kernel result{.name = kernel.name, .symbols = kernel.symbols, .sources = kernel.sources};
  std::map<TensorId, TensorId> ids;
  for (TensorId id : needed) ids[id] = result.tensors.Add(kernel.tensors[id]);
  std::vector<ValueId> kept_args;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (!needed.contains(kernel.params[i])) continue;
    result.params.push_back(ids[kernel.params[i]]);
    kept_args.push_back(args[i]);
  }
  args = std::move(kept_args);
  for (size_t s = 0; s < kernel.stages.size(); ++s) {
    if (!keep[s]) continue;
    Stage stage = kernel.stages[s];
    for (StageResult& part : stage.results) part.tensor = ids[part.tensor];
    for (Expr& body : stage.body) body = Renumber(body, ids);
    result.stages.push_back(std::move(stage));
  }
  return result;
}

absl::StatusOr<FusedKernel> MergeKernels(const FusedKernel& producer, const FusedKernel& consumer,
                                         ValueId value) {
  // Every merge rewrites the kernel: without a limit, long chains would take quadratic time.
  constexpr size_t kMostNodes = 64;
  if (producer.kernel.sources.size() + consumer.kernel.sources.size() > kMostNodes) {
    return absl::FailedPreconditionError(
        StrCat("the kernel would have more than ", kMostNodes, " nodes"));
  }
  Joiner joiner(value);
  joiner.Add(producer);
  joiner.Add(consumer);
  Kernel& kernel = joiner.kernel();
  const TensorId edge = joiner.TensorOf(value);
  const Shape shape = kernel.tensors[edge].shape;
  bool same_index = true;
  for (const Stage& stage : kernel.stages) same_index &= ReadsAtOwnIndex(stage, edge, shape);
  if (!same_index) {
    if (DefiningStage(kernel, edge)->IsReduction()) {
      return absl::FailedPreconditionError(
          "a reduction's result is read at other indices than its own");
    }
    if (HasReduction(producer.kernel)) {
      return absl::FailedPreconditionError(
          "the producer has a reduction behind the value that is read");
    }
    if (ReadsPerElement(kernel, edge) > 1.0) {
      return absl::FailedPreconditionError("elements would be computed more than once");
    }
    InlineProducer(kernel, producer.kernel.stages.size());
  }
  FusedKernel merged = joiner.Finish(StrCat(producer.kernel.name, "_", consumer.op));
  merged.op = consumer.op;
  AOTC_RETURN_IF_ERROR(CheckOutputLayouts(merged.kernel));
  return merged;
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
