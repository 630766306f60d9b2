#include "compiler/layout/layout_groups.h"

#include <algorithm>

namespace aotc {

bool Widen(LayoutNeed& need, const LayoutNeed& other) {
  if (need.layout.axes != other.layout.axes) return false;
  if (need.fill && other.fill && *need.fill != *other.fill) return false;
  if (other.fill) need.fill = other.fill;
  need.layout.fill = need.fill.value_or(0);
  std::vector<Halo>& halo = need.layout.halo;
  halo.resize(std::max(halo.size(), other.layout.halo.size()));
  for (size_t i = 0; i < other.layout.halo.size(); ++i) {
    halo[i].before = std::max(halo[i].before, other.layout.halo[i].before);
    halo[i].after = std::max(halo[i].after, other.layout.halo[i].after);
  }
  return true;
}

void LayoutGroups::Join(const std::vector<ValueId>& members, const LayoutNeed& shared) {
  const size_t group = groups_.size();
  groups_.push_back(shared);
  for (ValueId member : members) {
    const auto [found, is_new] = group_of_.emplace(member, group);
    const size_t before = found->second;
    if (is_new || before == group) continue;
    for (auto& [value, of] : group_of_) {
      if (of == before) of = group;
    }
  }
}

const LayoutNeed* LayoutGroups::Find(ValueId value) const {
  const auto found = group_of_.find(value);
  return found == group_of_.end() ? nullptr : &groups_[found->second];
}

std::map<ValueId, LayoutNeed> LayoutGroups::All() const {
  std::map<ValueId, LayoutNeed> all;
  for (const auto& [value, group] : group_of_) all.emplace(value, groups_[group]);
  return all;
}

}  // namespace aotc
