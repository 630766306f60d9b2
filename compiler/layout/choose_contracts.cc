#include "compiler/layout/choose_contracts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compiler/layout/least_cost.h"
#include "compiler/layout/reads.h"
#include "compiler/layout/rows_of_blocks.h"
#include "compiler/layout/winograd.h"
#include "compiler/schedule/join.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/support/rounding.h"

namespace aotc {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

using Forms = std::vector<ValueForm>;

// A copy whose result has the operand's axes in another order.
bool Permutes(const Kernel& kernel) {
  if (kernel.stages.size() != 1 || kernel.stages[0].IsReduction()) return false;
  const Stage& stage = kernel.stages[0];
  const Expr& body = stage.body[0];
  if (stage.body.size() != 1 || body.op() != ExprOp::kLoad) return false;
  if (body.args().size() != stage.axes.size()) return false;
  bool in_order = true;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    const Expr& index = body.arg(i);
    if (!index.IsVar() && !index.IsInt(0)) return false;
    in_order = in_order && IsOwnIndex(index, stage.axes[i]);
  }
  return !in_order;
}

class ContractChooser {
 public:
  ContractChooser(const Graph& graph, const AnchorFacts& facts, const ContractOptions& options)
      : graph_(graph),
        facts_(facts),
        options_(options),
        bounds_(BoundsOf(graph.symbols)),
        forms_(graph.values.size()),
        variables_(graph.values.size()) {}

  ContractChoice Run() {
    for (const Node& node : graph_.nodes) AskTarget(node);
    for (const Node& node : graph_.nodes | std::views::reverse) FindWanted(node);
    for (const Region& region : graph_.regions) {
      for (const ValueId input : region.inputs) Introduce(input, {kRowMajor});
    }
    for (const Node& node : graph_.nodes) AddNode(node);
    for (const Region& region : graph_.regions) {
      for (const ValueId output : region.outputs) WantRows(output);
    }
    return Result(problem_.Solve());
  }

 private:
  // What contracts there are, and which values can have their channels innermost for that.
  void AskTarget(const Node& node) {
    const NodeFacts& facts = facts_.Of(node);
    if (facts.anchor || facts.winograd_m > 0) {
      offers_[&node] = OffersFor(facts);
      for (const PricedContract& offer : offers_[&node]) {
        if (offer.contract.result == kInnermost) innermost_.insert(node.outputs[0]);
      }
      return;
    }
    if (facts.kernel && Permutes(facts.kernel->kernel))
      moved_.insert({facts.kernel->inputs[0], facts.kernel->outputs[0]});
    if (IsAlongBlocks(graph_, node, options_.target.channel_block)) moved_.insert(node.inputs[0]);
    if (!facts.WritesAnyLayout() || !CanHave(facts.kernel->outputs[0], kInnermost)) return;
    for (size_t i = 0; i < facts.kernel->inputs.size(); ++i) {
      if (innermost_.contains(facts.kernel->inputs[i]) && Keeps(*facts.kernel, i, kInnermost))
        innermost_.insert(facts.kernel->outputs[0]);
    }
  }

  // From the last node to the first: what contracts want of a value, or what is joined with it can
  // be.
  void FindWanted(const Node& node) {
    const NodeFacts& facts = facts_.Of(node);
    if (const auto found = offers_.find(&node); found != offers_.end()) {
      const std::vector<PricedContract>& offers = found->second;
      Want(facts.kernel->inputs[0], offers[0].contract.operand);
      const auto is_innermost = [](const PricedContract& offer) {
        return offer.contract.operand == kInnermost;
      };
      if (std::ranges::any_of(offers, is_innermost)) Want(facts.kernel->inputs[0], kInnermost);
    } else if (facts.WritesAnyLayout()) {
      const ValueId result = facts.kernel->outputs[0];
      if (innermost_.contains(result) && ReadJoin(facts.kernel->kernel)) Want(result, kInnermost);
      PassOn(*facts.kernel);
    }
  }

  void Want(ValueId value, const ValueForm& form) {
    if (form.IsRows() || !CanHave(value, form)) return;
    Forms& forms = wanted_[value];
    if (std::ranges::find(forms, form) == forms.end()) forms.push_back(form);
  }

  // What readers want of a result, operands may have already.
  void PassOn(const NodeKernel& kernel) {
    const auto wanted = wanted_.find(kernel.outputs[0]);
    if (wanted == wanted_.end()) return;
    const Forms forms = wanted->second;
    for (size_t i = 0; i < kernel.inputs.size(); ++i) {
      for (const ValueForm& form : forms) {
        if (Keeps(kernel, i, form)) Want(kernel.inputs[i], form);
      }
    }
  }

  // What the node's results can be, and what that costs with each form of its operands.
  void AddNode(const Node& node) {
    const NodeFacts& facts = facts_.Of(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid()) Introduce(node.outputs[i], FormsOf(node, facts));
    }
    for (const ValueId input : node.inputs) {
      if (!node.regions.empty()) WantRows(input);  // what a loop carries
    }
    if (!facts.kernel) return;
    if (facts.IsConvolution() || facts.winograd_m > 0) {
      Relate(facts.kernel->inputs[0], facts.kernel->outputs[0],
             [&](const ValueForm& from, const ValueForm& to) {
               const PricedContract* best = BestOffer(node, from, to);
               return best == nullptr ? kNever : CostOf(node, *best, from);
             });
    } else if (facts.WritesAnyLayout()) {
      if (const std::optional<Join> join = ReadJoin(facts.kernel->kernel); join && join->step == 1)
        return RelateJoin(*facts.kernel);
      for (size_t i = 0; i < facts.kernel->inputs.size(); ++i) RelateOperand(*facts.kernel, i);
    }
  }

  // Of the target's, those that the options let through. One alone where the node says which.
  std::vector<PricedContract> OffersFor(const NodeFacts& facts) const {
    if (facts.winograd_m > 0) {
      const ValueForm blocks = BlocksOf(options_.target.channel_block);
      return {{{Algorithm::kWinograd, facts.winograd_m, blocks, blocks}, 0}};
    }
    std::vector<PricedContract> offers = options_.target.offers(*facts.anchor);
    const bool has_winograd = std::ranges::any_of(offers, [](const PricedContract& offer) {
      return offer.contract.algorithm == Algorithm::kWinograd;
    });
    const int64_t wanted = has_winograd ? options_.winograd_m : -1;
    std::erase_if(offers, [&](const PricedContract& offer) {
      const Contract& contract = offer.contract;
      if (contract.algorithm == Algorithm::kWinograd) {
        return wanted < 0 ? !IsExactEnough(contract.m, facts.anchor->size.inputs)
                          : contract.m != wanted;
      }
      return wanted > 0 || (facts.IsConvolution() && contract.operand.IsRows() &&
                            HasBlocks(facts.kernel->inputs[0]));
    });
    return offers;
  }

  // Those of the contracts; of other ops those of operands whose channels they keep, those that
  // readers want, and rows.
  Forms FormsOf(const Node& node, const NodeFacts& facts) const {
    if (!facts.WritesAnyLayout()) return {kRowMajor};
    Forms forms;
    const auto add = [&](const ValueForm& form) {
      if (std::ranges::find(forms, form) == forms.end()) forms.push_back(form);
    };
    if (const auto offers = offers_.find(&node); offers != offers_.end()) {
      for (const PricedContract& offer : offers->second) add(offer.contract.result);
      return forms;
    }
    const NodeKernel& kernel = *facts.kernel;
    for (size_t i = 0; i < kernel.inputs.size(); ++i) {
      for (const ValueForm& form : FormsOf(kernel.inputs[i])) {
        if (!form.IsRows() && CanHave(kernel.outputs[0], form) && Keeps(kernel, i, form)) add(form);
      }
    }
    if (const auto wanted = wanted_.find(kernel.outputs[0]); wanted != wanted_.end())
      std::ranges::for_each(wanted->second, add);
    if (ReadJoin(kernel.kernel))
      std::erase_if(forms, [&](const ValueForm& form) {
        return form.kind == ValueForm::Kind::kBlocks && !AllKeep(kernel, form);
      });
    add(kRowMajor);
    return forms;
  }

  std::span<const ValueForm> FormsOf(ValueId value) const {
    static constexpr ValueForm kRowsAlone[] = {kRowMajor};
    return forms_[value].empty() ? std::span(kRowsAlone) : std::span(forms_[value]);
  }

  // Channels enough for blocks.
  bool HasBlocks(ValueId value) const {
    const Shape& dims = graph_.values[value].type.dims;
    return dims.size() >= 3 && dims[kChannelAxis].AsInt().value_or(0) >= options_.least_channels;
  }

  bool CanHave(ValueId value, const ValueForm& form) const {
    const ValueType& type = graph_.values[value].type;
    if (form != kInnermost) return HasBlocks(value);
    return IsFloat(type.dtype) && type.dims.size() >= 3 && type.dims[kChannelAxis].AsInt();
  }

  // Parts of what is joined begin anywhere where channels lie innermost.
  static bool Keeps(const NodeKernel& kernel, size_t input, const ValueForm& form) {
    if (form == kInnermost && ReadJoin(kernel.kernel)) return true;
    return KeepsChannels(kernel.kernel, kernel.kernel.params[input],
                         form == kInnermost ? 1 : form.block);
  }

  static bool AllKeep(const NodeKernel& kernel, const ValueForm& form) {
    return std::ranges::all_of(std::views::iota(size_t{0}, kernel.inputs.size()),
                               [&](size_t input) { return Keeps(kernel, input, form); });
  }

  // Equal forms cost nothing, if the op keeps them: parts of blocks are in no blocks.
  void RelateOperand(const NodeKernel& kernel, size_t input) {
    Relate(kernel.inputs[input], kernel.outputs[0],
           [&](const ValueForm& from, const ValueForm& to) -> double {
             const double copy = std::min(CopySeconds(kernel.inputs[input], from, to),
                                          CopySeconds(kernel.outputs[0], from, to));
             const bool moves =
                 moved_.contains(kernel.inputs[input]) || moved_.contains(kernel.outputs[0]);
             if (from.IsRows() && to.IsRows()) return moves ? kMovedRows * copy : 0;
             if (from == to && Keeps(kernel, input, from)) return 0;
             if (from == to && from != kInnermost) return kNever;
             return (moves ? kMoved : from.IsRows() ? kGathered : kScattered) * copy;
           });
  }

  // What is joined lies in place where all of it has one form; else all is copied.
  void RelateJoin(const NodeKernel& kernel) {
    const ValueId whole = kernel.outputs[0];
    Forms shared(FormsOf(whole).begin(), FormsOf(whole).end());
    LeastCost::Costs costs(shared.size(), 0);
    costs.push_back(kScattered * CopySeconds(whole, kRowMajor, kRowMajor));
    const size_t in_place = problem_.Add(costs);
    const auto allow = [&](ValueId value, const auto& fits) {
      if (forms_[value].empty()) return;
      LeastCost::Matrix matrix;
      for (const ValueForm& form : forms_[value]) {
        matrix.emplace_back();
        for (const ValueForm& one : shared)
          matrix.back().push_back(form == one && fits(form) ? 0 : kNever);
        matrix.back().push_back(0);
      }
      problem_.Relate(variables_[value], in_place, matrix);
    };
    allow(whole, [](const ValueForm&) { return true; });
    for (size_t i = 0; i < kernel.inputs.size(); ++i) {
      allow(kernel.inputs[i],
            [&](const ValueForm& form) { return form.IsRows() || Keeps(kernel, i, form); });
    }
  }

  // Null where none has this result.
  const PricedContract* BestOffer(const Node& node, const ValueForm& from,
                                  const ValueForm& to) const {
    const PricedContract* best = nullptr;
    double least = kNever;
    for (const PricedContract& offer : offers_.at(&node)) {
      if (offer.contract.result != to) continue;
      const double cost = CostOf(node, offer, from);
      if (cost >= least) continue;
      least = cost;
      best = &offer;
    }
    return best;
  }

  double CostOf(const Node& node, const PricedContract& offer, const ValueForm& from) const {
    const ValueId input = node.inputs[0];
    const ValueForm& operand = offer.contract.operand;
    if (operand == from) return offer.seconds;
    if (!operand.IsRows() && !CanHave(input, operand)) return kNever;
    return offer.seconds + CopySeconds(input, from, operand);
  }

  // Reading and writing all of it, lanes that fill blocks included.
  double CopySeconds(ValueId value, const ValueForm& from, const ValueForm& to) const {
    const ValueType& type = graph_.values[value].type;
    double bytes = ByteWidth(type.dtype);
    for (const Expr& dim : type.dims) {
      constexpr int64_t kLargest = 1 << 20;  // of a symbol without a bound
      bytes *= static_cast<double>(std::clamp<int64_t>(RangeOf(dim, bounds_).max, 1, kLargest));
    }
    return bytes * (Padding(value, from) + Padding(value, to)) / options_.target.copy_bandwidth;
  }

  // How much larger blocks make the value.
  double Padding(ValueId value, const ValueForm& form) const {
    const Shape& dims = graph_.values[value].type.dims;
    if (form.kind != ValueForm::Kind::kBlocks || dims.size() <= kChannelAxis) return 1;
    const int64_t channels = std::max<int64_t>(dims[kChannelAxis].AsInt().value_or(1), 1);
    return static_cast<double>(RoundUp(channels, form.block)) / static_cast<double>(channels);
  }

  void Introduce(ValueId value, Forms forms) {
    variables_[value] = problem_.Add(LeastCost::Costs(forms.size(), 0));
    forms_[value] = std::move(forms);
  }

  void WantRows(ValueId value) {
    if (!value.valid() || forms_[value].empty()) return;
    LeastCost::Costs costs;
    for (const ValueForm& form : forms_[value])
      costs.push_back(form.IsRows() ? 0 : CopySeconds(value, form, kRowMajor));
    problem_.Charge(variables_[value], costs);
  }

  // Constants take any form.
  void Relate(ValueId from, ValueId to, const auto& cost) {
    if (forms_[from].empty() || from == to) return;
    LeastCost::Matrix costs;
    for (const ValueForm& a : forms_[from]) {
      costs.emplace_back();
      for (const ValueForm& b : forms_[to]) costs.back().push_back(cost(a, b));
    }
    problem_.Relate(variables_[from], variables_[to], costs);
  }

  ContractChoice Result(const std::vector<size_t>& choices) const {
    ContractChoice result{.forms = IdVector<ValueId, ValueForm>(graph_.values.size())};
    for (const ValueId value : graph_.values.ids()) {
      if (!forms_[value].empty()) result.forms[value] = forms_[value][choices[variables_[value]]];
    }
    for (const auto& [node, offers] : offers_) {
      const ValueId input = node->inputs[0], output = node->outputs[0];
      const PricedContract* best = BestOffer(*node, result.forms[input], result.forms[output]);
      if (best != nullptr) result.contracts.emplace(node, best->contract);
    }
    return result;
  }

  // Of a copy on the way of other work: into the form that contracts want in place of one for them,
  // or out of it or of several, element by element.
  static constexpr double kGathered = 0.9, kScattered = 2;
  // Beside a transposition, which moves all elements whatever their form, or none if its reader
  // can gather whole channels; and beside rows that are computed where they lie in blocks.
  static constexpr double kMoved = 0.05, kMovedRows = 0.1;

  const Graph& graph_;
  const AnchorFacts& facts_;
  const ContractOptions& options_;
  const Bounds bounds_;
  IdVector<ValueId, Forms> forms_;       // that a value may have; none of constants
  IdVector<ValueId, size_t> variables_;  // of problem_
  std::map<const Node*, std::vector<PricedContract>> offers_;
  std::set<ValueId> innermost_;      // as contracts write the value, or what it is made of
  std::set<ValueId> moved_;          // what transpositions read and write, and rows of blocks
  std::map<ValueId, Forms> wanted_;  // by contracts that read the value or what comes of it
  LeastCost problem_;
};

}  // namespace

ContractChoice ChooseContracts(const Graph& graph, const AnchorFacts& facts,
                               const ContractOptions& options) {
  return ContractChooser(graph, facts, options).Run();
}

}  // namespace aotc
