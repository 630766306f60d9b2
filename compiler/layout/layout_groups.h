// Values that have one layout, so that some of them can lie in another.
//
//   LayoutNeed shared = {.layout = of_concat};
//   if (Widen(shared, {.layout = of_operand})) groups.Join({concat, operand}, shared);
#ifndef AOTC_COMPILER_LAYOUT_LAYOUT_GROUPS_H_
#define AOTC_COMPILER_LAYOUT_LAYOUT_GROUPS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace aotc {

// How the kernels that read a value want it.
struct LayoutNeed {
  Layout layout = {};
  std::optional<double> fill = {};  // of the halo, where one of them reads it
};

// Gives `need` the widest halo of both. False where they differ in anything else.
bool Widen(LayoutNeed& need, const LayoutNeed& other);

class LayoutGroups {
 public:
  // `members`, and all that shares a layout with one of them, now have that of `shared`.
  void Join(const std::vector<ValueId>& members, const LayoutNeed& shared);
  // Null where the value is in no group.
  const LayoutNeed* Find(ValueId value) const;
  std::map<ValueId, LayoutNeed> All() const;

 private:
  std::vector<LayoutNeed> groups_;
  std::map<ValueId, size_t> group_of_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_LAYOUT_GROUPS_H_
