// Reductions that look in each element of a result for the few that go there: scatters, counts,
// permutations turned round. Told by one comparison with an axis of the result,
//
//   %y[i<n, j<d] = reduce sum(r<m) select(%at[r] == i, %u[r, j], 0.0)      // n * m * d steps
//
// they are sums in memory, each element taken to where it goes:                  n * d + m * d
//
//   for i, j { store %y[i*d + j] = 0.0 }
//   for r { let i_at = %at[r]
//           if 0 <= i_at && i_at < n {
//             let i = i_at
//             for j { store %y[i*d + j] = %y[i*d + j] + %u[r*d + j] } } }
//
// The elements come in the order in which the reduction has them.
#ifndef AOTC_COMPILER_LOWER_UPDATES_H_
#define AOTC_COMPILER_LOWER_UPDATES_H_

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/lower/nest.h"

namespace aotc {

struct Updates {
  struct Place {
    Axis axis = {};  // inner, of the stage
    Expr at = {};    // over its other axes, i64
  };
  std::vector<Place> places = {};
  std::vector<Expr> conditions = {};  // what else has to hold of an element that counts
  Expr value = {};
  Expr first = {};  // what each element of the result begins with

  bool HasPlaceOf(std::string_view axis) const;
};

// Nothing where the stage is no such reduction to memory, or where that does not save most of its
// work.
std::optional<Updates> ReadUpdates(const Nest& nest, const FlatStage& stage);

// The loops that take the elements; the result holds `first` everywhere before them. Of the
// elements of the result only those are written that are `owned`, a condition over its axes.
std::vector<Stmt> UpdateLoops(const FlatStage& stage, const Updates& updates,
                              const Expr& owned = {});

// The kernel as a row nest in which its reductions are updates, where that saves most of its work
// in another form. Nothing where none is, or the kernel is one already.
std::optional<Nest> UpdateNest(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_UPDATES_H_
