#include "compiler/ops/worked_out_sizes.h"

#include <algorithm>

#include "compiler/ops/helpers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

const WorkedOutSizes* WorkedOutSizesOf(std::string_view op) {
  static const std::vector<WorkedOutSizes>& all = *new std::vector<WorkedOutSizes>{
      {.of = "OneHot", .by = "OneHotDepth", .reads = {1}, .operand = 3},
      {.of = "Range", .by = "RangeLength", .reads = {0, 1, 2}, .operand = 3},
  };
  const auto found = std::ranges::find(all, op, &WorkedOutSizes::of);
  return found == all.end() ? nullptr : &*found;
}

absl::StatusOr<Expr> OneElement(OpContext& op, size_t index, DType dtype) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(index));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  for (const Expr& dim : x.shape()) {
    if (dim.IsInt(1)) continue;
    return AOTC_REFUSAL(InvalidArgument, StrCat("input ", index, " has to have one element"));
  }
  return Cast(dtype, x(Indices(static_cast<size_t>(x.rank()), Expr(0))));
}

}  // namespace aotc
