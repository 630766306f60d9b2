#include "compiler/ops/run_axes.h"

#include <algorithm>
#include <cstdint>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::StatusOr<bool> HasRunElements(const OpContext& op, size_t input) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> elements, op.IntElements(input));
  return std::ranges::any_of(
      elements, [&](const Expr& element) { return !Simplify(element, op.bounds()).IsConst(); });
}

Expr NamesAxis(const Expr& element, int axis, int rank) {
  return Or(Eq(element, axis), Eq(element, axis - rank));
}

absl::StatusOr<RunAxes> RunAxes::Read(OpContext& op, size_t index, int rank) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> elements, op.IntElements(index));
  RunAxes axes;
  axes.count_ = elements.size();
  axes.names_.assign(static_cast<size_t>(rank), Bool(false));
  for (size_t k = 0; k < elements.size(); ++k) {
    const Expr& element = elements[k];
    AOTC_RETURN_IF_ERROR(
        op.Require(And(Le(-rank, element), Lt(element, rank)),
                   StrCat("element ", k, " of the axes is out of range for rank ", rank)));
    for (int d = 0; d < rank; ++d) {
      Expr& names = axes.names_[static_cast<size_t>(d)];
      names = Or(names, NamesAxis(element, d, rank));
    }
  }
  Expr named = 0, before = 0;
  for (Expr& names : axes.names_) {
    names = Simplify(names, op.bounds());
    axes.before_.push_back(Simplify(before, op.bounds()));
    named = named + Select(names, Expr(1), Expr(0));
    before = before + Select(names, Expr(0), Expr(1));
  }
  AOTC_RETURN_IF_ERROR(
      op.Require(Eq(named, static_cast<int64_t>(elements.size())), "an axis is named twice"));
  return axes;
}

Expr RunAxes::OfOther(size_t axis, const std::vector<Expr>& others) const {
  Expr result = 0;
  for (size_t k = std::min(axis + 1, others.size()); k-- > 0;) {
    result = Select(Eq(before_[axis], static_cast<int64_t>(k)), others[k], result);
  }
  return result;
}

std::vector<Expr> RunAxes::Others(const std::vector<Expr>& of_axes) const {
  std::vector<Expr> others;
  for (size_t k = 0; k + count_ < of_axes.size(); ++k) {
    Expr result = 0;
    for (size_t d = of_axes.size(); d-- > k;) {
      const Expr is_it = And(Not(names_[d]), Eq(before_[d], static_cast<int64_t>(k)));
      result = Select(is_it, of_axes[d], result);
    }
    others.push_back(result);
  }
  return others;
}

}  // namespace aotc
