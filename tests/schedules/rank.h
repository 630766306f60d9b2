// How well one list of numbers orders another (C. Spearman, 1904).
//
//   RankCorrelation({1, 2, 3}, {10, 20, 15});   // 0.5
#ifndef AOTC_TESTS_SCHEDULES_RANK_H_
#define AOTC_TESTS_SCHEDULES_RANK_H_

#include <vector>

namespace aotc {

// Spearman's coefficient: of the ranks, equal numbers sharing theirs. 0 where a list is constant,
// and so says nothing.
double RankCorrelation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace aotc

#endif  // AOTC_TESTS_SCHEDULES_RANK_H_
