// Tuple reductions whose components have different ranks: the weighted row of attention beside its
// maximum and sum.
//
//   %top[i<r], %total[i<r], %row[i<r, d<64] = reduce (k<t) (%s[i, k], 1.0, %v[k, d]) ...
#ifndef AOTC_COMPILER_LOWER_RANKED_REDUCTION_H_
#define AOTC_COMPILER_LOWER_RANKED_REDUCTION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/lower/nest.h"

namespace aotc {

// Whether some results have the stage's inner axes and others have not.
bool HasSeveralRanks(const FlatStage& stage);
// Whether result k has them.
bool IsRanked(const FlatStage& stage, size_t k);
// Error: a component with some of the inner axes only, or one whose row others need.
absl::Status CheckRanks(const FlatStage& stage);

// One element taken in: statements before the loops over the row, what the ranked components become
// in them (as they lie in the memory of their results), and statements behind the loops.
struct RankedStep {
  std::vector<Expr> identities = {};
  std::vector<Stmt> before = {};
  std::vector<Expr> combined = {};
  std::vector<Stmt> after = {};
};
// `variable` names the accumulator of a component without inner axes.
RankedStep SplitRanks(const FlatStage& stage, const std::function<std::string(size_t)>& variable);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_RANKED_REDUCTION_H_
