#include "compiler/fuse/joiner.h"

#include <algorithm>

#include "compiler/fuse/merge_kernels.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Expr Renumber(const Expr& e, const std::map<TensorId, TensorId>& ids) {
  return Transform(e, [&](const Expr& node) {
    if (node.op() != ExprOp::kLoad) return node;
    ExprNode load = *node;
    load.tensor = ids.at(node->tensor);
    return Expr::Make(std::move(load));
  });
}

// What is computed beside a contraction, for its epilogue, stands behind it: tiles ask that it is
// the first stage.
void PutContractionFirst(Kernel& kernel) {
  const auto first = kernel.stages.begin();
  const auto contraction = std::ranges::find_if(kernel.stages, &IsContraction);
  if (contraction == kernel.stages.end()) return;
  const bool is_beside = std::all_of(first, contraction, [&](const Stage& stage) {
    return !stage.IsReduction() &&
           std::ranges::none_of(stage.results, [&](const StageResult& result) {
             return Reads(*contraction, result.tensor);
           });
  });
  if (is_beside) std::rotate(first, contraction, contraction + 1);
}

}  // namespace

Joiner::Joiner(const FusedKernel& producer, const std::set<ValueId>& kept) {
  for (size_t i = 0; i < producer.args.size(); ++i) {
    if (IsOutput(producer.kernel, producer.kernel.params[i]) && !kept.contains(producer.args[i]))
      internal_.insert(producer.args[i]);
  }
}

void Joiner::Add(const FusedKernel& part) {
  std::map<TensorId, TensorId> ids;
  std::map<TensorId, ValueId> values;
  for (size_t i = 0; i < part.args.size(); ++i) values[part.kernel.params[i]] = part.args[i];
  for (TensorId id : part.kernel.tensors.ids()) {
    auto value = values.find(id);
    ids[id] = AddTensor(part.kernel.tensors[id], value == values.end() ? ValueId() : value->second);
  }
  for (Stage stage : part.kernel.stages) {
    for (StageResult& result : stage.results) result.tensor = ids[result.tensor];
    for (Expr& body : stage.body) body = Renumber(body, ids);
    kernel_.stages.push_back(std::move(stage));
  }
  for (const std::string& source : part.kernel.sources) kernel_.sources.push_back(source);
  for (const Symbol& symbol : part.kernel.symbols) AddSymbol(symbol);
}

FusedKernel Joiner::Finish(std::string name) {
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
  PutContractionFirst(result.kernel);
  return result;
}

TensorId Joiner::AddTensor(KernelTensor tensor, ValueId value) {
  if (value.valid()) {
    auto found = by_value_.find(value);
    if (found != by_value_.end()) return found->second;
  }
  if (internal_.contains(value)) tensor.role = TensorRole::kTemp;
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

void Joiner::AddSymbol(const Symbol& symbol) {
  const auto known = std::ranges::find(kernel_.symbols, symbol.var, &Symbol::var);
  if (known == kernel_.symbols.end()) {
    kernel_.symbols.push_back(symbol);
    return;
  }
  // Each part has the checks over its own symbols.
  for (const SizeCheck& check : symbol.checks) {
    const bool is_known = std::ranges::any_of(
        known->checks, [&](const SizeCheck& other) { return Same(other.holds, check.holds); });
    if (!is_known) known->checks.push_back(check);
  }
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

}  // namespace aotc
