// Axes that only a run knows: the elements of an input that lists them are symbols.
//
//   AOTC_ASSIGN_OR_RETURN(RunAxes axes, RunAxes::Read(op, 1, x.rank()));
//   axes.Names(0);            // a condition: the list has 0 or -rank
//   axes.Others(x.shape());   // the dims of all other axes, in their order
#ifndef AOTC_COMPILER_OPS_RUN_AXES_H_
#define AOTC_COMPILER_OPS_RUN_AXES_H_

#include <cstddef>
#include <vector>

#include "compiler/ops/op.h"

namespace aotc {

// Whether one of the elements is no number. Error: they are not known.
absl::StatusOr<bool> HasRunElements(const OpContext& op, size_t input);

// Whether an element of a list of axes of a tensor of `rank` names that axis, from either end.
Expr NamesAxis(const Expr& element, int axis, int rank);

class RunAxes {
 public:
  // Of the input at `index`, which lists axes of a tensor of `rank`, each once, negative ones from
  // the end: that is required of a run.
  static absl::StatusOr<RunAxes> Read(OpContext& op, size_t index, int rank);

  size_t count() const { return count_; }
  const Expr& Names(size_t axis) const { return names_[axis]; }
  // Of what there is for each axis that is not named, in order, that of `axis`.
  Expr OfOther(size_t axis, const std::vector<Expr>& others) const;
  // What there is for each axis, of those that are not named, in order.
  std::vector<Expr> Others(const std::vector<Expr>& of_axes) const;

 private:
  size_t count_ = 0;
  std::vector<Expr> names_;   // of each axis: whether the list has it
  std::vector<Expr> before_;  // of each axis: how many axes before it the list does not have
};

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_RUN_AXES_H_
