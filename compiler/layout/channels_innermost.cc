#include "compiler/layout/channels_innermost.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/layout/reads.h"
#include "compiler/schedule/join.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/schedule/winograd.h"

namespace aotc {
namespace {

// Whether each read of the tensor is at the reader's own channel.
bool ReadsOwnChannel(const Kernel& kernel, TensorId tensor) {
  return std::ranges::all_of(kernel.stages, [&](const Stage& stage) {
    return std::ranges::all_of(stage.body, [&](const Expr& body) {
      return std::ranges::all_of(LoadsOf(body), [&](const Expr& load) {
        if (load->tensor != tensor) return true;
        return stage.axes.size() > kChannelAxis && load.args().size() == stage.axes.size() &&
               IsOwnIndex(load.arg(kChannelAxis), stage.axes[kChannelAxis]);
      });
    });
  });
}

}  // namespace

bool ChannelsInnermost::HasChannels(ValueId value) const {
  const ValueType& type = graph_.values[value].type;
  return IsFloat(type.dtype) && type.dims.size() >= 3 && type.dims[kChannelAxis].AsInt() &&
         !graph_.values[value].constant;
}

void ChannelsInnermost::Add(const NodeKernel& node) {
  if (node.outputs.size() != 1 || !HasChannels(node.outputs[0])) return;
  if (ReadWinograd(node.kernel)) blocked_.insert({node.inputs[0], node.outputs[0]});
  if (IsConvolution(graph_, node, {})) convolved_.insert({node.inputs[0], node.outputs[0]});
  AddParts(node);
  if (!IsPointNest(node.kernel)) return;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (HasChannels(node.inputs[i]) && ReadsOwnChannel(node.kernel, node.kernel.params[i]))
      Join(node.inputs[i], node.outputs[0]);
  }
}

// Parts have the layout of what they are parts of.
void ChannelsInnermost::AddParts(const NodeKernel& node) {
  const ValueId output = node.outputs[0];
  const auto within_block = [&](const Expr& start) { return !ProveDivisible(start, block_); };
  if (const std::optional<JoinCut> cut = ReadCut(node.kernel)) {
    const ValueId whole = node.inputs[0];
    if (cut->axis != kChannelAxis || !HasChannels(whole)) return;
    const Shape &from = graph_.values[whole].type.dims, &to = graph_.values[output].type.dims;
    const Expr end = Simplify(cut->start + to[kChannelAxis]);
    const bool ends_within = within_block(end) && !ProveEqual(end, from[kChannelAxis]);
    if (!within_block(cut->start) && !ends_within) return;
    cut_.insert(whole);
    Join(whole, output);
  }
  const std::optional<::aotc::Join> join = ReadJoin(node.kernel);
  if (!join || join->axis != kChannelAxis || join->step != 1) return;
  const bool is_cut = std::ranges::any_of(
      join->parts, [&](const JoinPart& part) { return within_block(part.start); });
  if (!is_cut) return;
  cut_.insert(output);
  for (const ValueId input : node.inputs) {
    if (HasChannels(input)) Join(input, output);
  }
}

void ChannelsInnermost::Join(ValueId a, ValueId b) {
  alike_[a].insert(b);
  alike_[b].insert(a);
}

std::set<ValueId> ChannelsInnermost::AlikeWith(ValueId first) const {
  std::set<ValueId> found;
  std::vector<ValueId> reached = {first};
  while (!reached.empty()) {
    const ValueId value = reached.back();
    reached.pop_back();
    if (blocked_.contains(value) || !found.insert(value).second) continue;
    const auto alike = alike_.find(value);
    if (alike != alike_.end())
      reached.insert(reached.end(), alike->second.begin(), alike->second.end());
  }
  return found;
}

std::set<ValueId> ChannelsInnermost::Find() const {
  std::set<ValueId> found;
  for (const ValueId cut : cut_) {
    if (found.contains(cut)) continue;
    std::set<ValueId> alike = AlikeWith(cut);
    const auto is_convolved = [&](ValueId value) { return convolved_.contains(value); };
    if (std::ranges::any_of(alike, is_convolved)) found.merge(alike);
  }
  return found;
}

Layout InnermostChannels(size_t rank) {
  std::vector<int> order;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (axis != kChannelAxis) order.push_back(static_cast<int>(axis));
  }
  order.push_back(static_cast<int>(kChannelAxis));
  return PermutedLayout(order);
}

}  // namespace aotc
