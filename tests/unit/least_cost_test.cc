// Choices at least cost against all that there are.
#include "compiler/layout/least_cost.h"

#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace aotc {
namespace {

double LeastOfAll(const LeastCost& problem, const std::vector<size_t>& counts) {
  std::vector<size_t> choices(counts.size(), 0);
  double least = problem.CostOf(choices);
  for (size_t i = 0; i < counts.size();) {
    if (++choices[i] == counts[i]) {
      choices[i++] = 0;
      continue;
    }
    i = 0;
    least = std::min(least, problem.CostOf(choices));
  }
  return least;
}

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}

  size_t Below(size_t count) { return random_() % count; }
  void AddVariable() {
    counts.push_back(1 + Below(3));
    LeastCost::Costs costs;
    for (size_t i = 0; i < counts.back(); ++i) costs.push_back(static_cast<double>(Below(10)));
    problem.Add(costs);
  }
  void Relate(size_t a, size_t b) {
    LeastCost::Matrix costs(counts[a], LeastCost::Costs(counts[b]));
    for (LeastCost::Costs& row : costs) {
      for (double& cost : row) cost = static_cast<double>(Below(10));
    }
    problem.Relate(a, b, costs);
  }

  LeastCost problem;
  std::vector<size_t> counts;

 private:
  std::mt19937 random_;
};

TEST(LeastCost, ItIsExactOnTrees) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Drawn drawn(seed);
    for (size_t i = 0; i < 8; ++i) {
      drawn.AddVariable();
      if (i > 0) drawn.Relate(i, drawn.Below(i));
    }
    EXPECT_EQ(drawn.problem.CostOf(drawn.problem.Solve()), LeastOfAll(drawn.problem, drawn.counts))
        << seed;
  }
}

// Blocks of three branches from one value to the next, and one past them.
TEST(LeastCost, ItIsExactWhereBranchesJoin) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Drawn drawn(seed);
    drawn.AddVariable();
    size_t from = 0;
    for (int block = 0; block < 2; ++block) {
      for (int i = 0; i < 4; ++i) drawn.AddVariable();
      const size_t to = from + 4;
      drawn.Relate(from, to);
      for (size_t branch = from + 1; branch < to; ++branch) {
        drawn.Relate(from, branch);
        drawn.Relate(branch, to);
      }
      from = to;
    }
    EXPECT_EQ(drawn.problem.CostOf(drawn.problem.Solve()), LeastOfAll(drawn.problem, drawn.counts))
        << seed;
  }
}

// Six variables that all depend on one another: near the best in the mean, and never worse than
// what a change of one variable makes better.
TEST(LeastCost, ElsewhereNoSingleChangeIsBetter) {
  double found = 0, best = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Drawn drawn(seed);
    for (size_t i = 0; i < 6; ++i) drawn.AddVariable();
    for (size_t i = 0; i < 6; ++i) {
      for (size_t j = 0; j < i; ++j) drawn.Relate(i, j);
    }
    const std::vector<size_t> choices = drawn.problem.Solve();
    const double cost = drawn.problem.CostOf(choices);
    found += cost;
    best += LeastOfAll(drawn.problem, drawn.counts);
    for (size_t i = 0; i < 6; ++i) {
      std::vector<size_t> other = choices;
      for (other[i] = 0; other[i] < drawn.counts[i]; ++other[i]) {
        EXPECT_GE(drawn.problem.CostOf(other), cost) << seed;
      }
    }
  }
  EXPECT_LT(found, 1.05 * best);
}

TEST(LeastCost, WhatIsForbiddenIsNotChosen) {
  const double never = std::numeric_limits<double>::infinity();
  LeastCost problem;
  const size_t a = problem.Add({0, 1}), b = problem.Add({0, 5});
  problem.Relate(a, b, {{never, 0}, {0, never}});
  EXPECT_EQ(problem.Solve(), (std::vector<size_t>{1, 0}));
}

TEST(LeastCost, OfEqualOnesTheFirstIsTaken) {
  LeastCost problem;
  problem.Add({3, 3});
  problem.Add({7});
  EXPECT_EQ(problem.Solve(), (std::vector<size_t>{0, 0}));
}

}  // namespace
}  // namespace aotc
