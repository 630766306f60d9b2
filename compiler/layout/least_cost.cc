#include "compiler/layout/least_cost.h"

#include <algorithm>

namespace aotc {
namespace {

using Costs = LeastCost::Costs;
using Matrix = LeastCost::Matrix;

size_t LeastOf(const Costs& costs) {
  return static_cast<size_t>(std::ranges::min_element(costs) - costs.begin());
}

Matrix Transposed(const Matrix& matrix) {
  Matrix result(matrix[0].size(), Costs(matrix.size()));
  for (size_t i = 0; i < matrix.size(); ++i) {
    for (size_t j = 0; j < matrix[i].size(); ++j) result[j][i] = matrix[i][j];
  }
  return result;
}

void AddTo(Matrix& sum, const Matrix& matrix) {
  if (sum.empty()) {
    sum = matrix;
    return;
  }
  for (size_t i = 0; i < matrix.size(); ++i) {
    for (size_t j = 0; j < matrix[i].size(); ++j) sum[i][j] += matrix[i][j];
  }
}

}  // namespace

// Takes variables out one by one, those with the fewest others first; what they cost then stands
// in the costs of what is left. They choose in the opposite order.
class LeastCostSolver {
 public:
  explicit LeastCostSolver(std::vector<LeastCost::Variable> variables)
      : variables_(std::move(variables)), choices_(variables_.size()) {
    for (size_t i = 0; i < variables_.size(); ++i) left_.insert({Degree(i), i});
  }

  std::vector<size_t> Solve() {
    constexpr size_t kMostExact = 2;
    while (!left_.empty()) {
      const auto [degree, variable] = *left_.begin();
      if (degree <= kMostExact) {
        TakeOut(variable);
      } else {
        Fix(left_.rbegin()->second);
      }
    }
    std::ranges::reverse(taken_);
    for (const size_t variable : taken_)
      choices_[variable] = LeastOf(LeastCost::CostsGiven(variables_[variable], choices_));
    return choices_;
  }

  bool is_exact() const { return is_exact_; }

 private:
  // Variables without a choice hold nothing up.
  size_t Degree(size_t variable) const {
    const LeastCost::Variable& v = variables_[variable];
    return v.costs.size() == 1 ? 0 : v.others.size();
  }

  void TakeOut(size_t variable) {
    const LeastCost::Variable& v = variables_[variable];
    if (v.costs.size() == 1) return Fix(variable, 0);
    left_.erase({Degree(variable), variable});
    taken_.push_back(variable);
    if (v.others.empty()) return;
    const auto &first = *v.others.begin(), &last = *v.others.rbegin();
    Unlink(first.first, variable);
    if (v.others.size() == 1) {
      for (size_t a = 0; a < variables_[first.first].costs.size(); ++a) {
        variables_[first.first].costs[a] += LeastGiven(v, first.second, a, nullptr, 0);
      }
      return;
    }
    Unlink(last.first, variable);
    Matrix sum(variables_[first.first].costs.size(), Costs(variables_[last.first].costs.size()));
    for (size_t a = 0; a < sum.size(); ++a) {
      for (size_t b = 0; b < sum[a].size(); ++b) {
        sum[a][b] = LeastGiven(v, first.second, a, &last.second, b);
      }
    }
    Link(first.first, last.first, sum);
    Link(last.first, first.first, Transposed(sum));
  }

  static double LeastGiven(const LeastCost::Variable& v, const Matrix& first, size_t a,
                           const Matrix* last, size_t b) {
    Costs costs = v.costs;
    for (size_t i = 0; i < costs.size(); ++i) {
      costs[i] += first[i][a] + (last == nullptr ? 0 : (*last)[i][b]);
    }
    return *std::ranges::min_element(costs);
  }

  // The best where all others could follow.
  void Fix(size_t variable) {
    const LeastCost::Variable& v = variables_[variable];
    Costs costs = v.costs;
    for (const auto& [other, matrix] : v.others) {
      for (size_t i = 0; i < costs.size(); ++i) {
        Costs theirs = variables_[other].costs;
        for (size_t j = 0; j < theirs.size(); ++j) theirs[j] += matrix[i][j];
        costs[i] += *std::ranges::min_element(theirs);
      }
    }
    is_exact_ = false;
    Fix(variable, LeastOf(costs));
  }

  void Fix(size_t variable, size_t choice) {
    left_.erase({Degree(variable), variable});
    choices_[variable] = choice;
    for (const auto& [other, matrix] : variables_[variable].others) {
      Unlink(other, variable);
      Costs& theirs = variables_[other].costs;
      for (size_t j = 0; j < theirs.size(); ++j) theirs[j] += matrix[choice][j];
    }
    variables_[variable].others.clear();
  }

  void Unlink(size_t variable, size_t from) {
    left_.erase({Degree(variable), variable});
    variables_[variable].others.erase(from);
    left_.insert({Degree(variable), variable});
  }

  void Link(size_t variable, size_t to, const Matrix& matrix) {
    left_.erase({Degree(variable), variable});
    AddTo(variables_[variable].others[to], matrix);
    left_.insert({Degree(variable), variable});
  }

  std::vector<LeastCost::Variable> variables_;
  std::vector<size_t> choices_;
  std::set<std::pair<size_t, size_t>> left_;  // how many others, and the variable
  std::vector<size_t> taken_;
  bool is_exact_ = true;
};

size_t LeastCost::Add(Costs costs) {
  variables_.push_back({.costs = std::move(costs)});
  return variables_.size() - 1;
}

void LeastCost::Charge(size_t variable, const Costs& costs) {
  for (size_t i = 0; i < costs.size(); ++i) variables_[variable].costs[i] += costs[i];
}

void LeastCost::Relate(size_t a, size_t b, const Matrix& costs) {
  const auto is_zero = [](const Costs& row) {
    return std::ranges::all_of(row, [](double cost) { return cost == 0; });
  };
  if (std::ranges::all_of(costs, is_zero)) return;
  AddTo(variables_[a].others[b], costs);
  AddTo(variables_[b].others[a], Transposed(costs));
}

Costs LeastCost::CostsGiven(const Variable& variable, const std::vector<size_t>& choices) {
  Costs costs = variable.costs;
  for (const auto& [other, matrix] : variable.others) {
    for (size_t i = 0; i < costs.size(); ++i) costs[i] += matrix[i][choices[other]];
  }
  return costs;
}

std::vector<size_t> LeastCost::Solve() const {
  LeastCostSolver solver(variables_);
  std::vector<size_t> choices = solver.Solve();
  for (bool again = !solver.is_exact(); again;) {
    again = false;
    for (size_t i = 0; i < variables_.size(); ++i) {
      const Costs costs = CostsGiven(variables_[i], choices);
      const size_t best = LeastOf(costs);
      constexpr double kRounding = 1e-9;
      if (costs[best] >= costs[choices[i]] * (1 - kRounding)) continue;
      choices[i] = best;
      again = true;
    }
  }
  return choices;
}

double LeastCost::CostOf(const std::vector<size_t>& choices) const {
  double sum = 0;
  for (size_t i = 0; i < variables_.size(); ++i) {
    sum += variables_[i].costs[choices[i]];
    for (const auto& [other, matrix] : variables_[i].others) {
      if (other > i) sum += matrix[choices[i]][choices[other]];
    }
  }
  return sum;
}

}  // namespace aotc
