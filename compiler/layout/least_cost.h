// One choice for each of many variables at least total cost, where the cost of a choice depends on
// those of single other variables: a partitioned boolean quadratic problem (Scholz and Eckstein,
// "Register Allocation for Irregular Architectures", 2002; layouts and algorithms of networks are
// chosen so by Anderson and Gregg, "Optimal DNN Primitive Selection", 2018).
//
//   LeastCost problem;
//   const size_t a = problem.Add({0, 2}), b = problem.Add({1, 0});   // cost of each choice
//   problem.Relate(a, b, {{0, 5}, {5, 0}});                          // of each pair, besides
//   problem.Solve();                                                 // {0, 0}: 1 in all
//
// Exact on chains and trees, and on all that branches and joins again in turn (residual blocks,
// blocks of branches between a split and a Concat). Elsewhere, where each variable that is left
// depends on three or more, the one that depends on most takes what would be best if each of those
// could then do as it likes; at the end single choices change until none makes it better.
#ifndef AOTC_COMPILER_LAYOUT_LEAST_COST_H_
#define AOTC_COMPILER_LAYOUT_LEAST_COST_H_

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace aotc {

class LeastCost {
 public:
  using Costs = std::vector<double>;  // by choice; infinity: never
  using Matrix = std::vector<Costs>;  // by the choices of two variables

  // A variable by the costs of its choices, one or more; of equal ones the first is taken.
  size_t Add(Costs costs);
  // By choice, added to what they cost so far.
  void Charge(size_t variable, const Costs& costs);
  // [choice of a][choice of b], likewise. a and b differ.
  void Relate(size_t a, size_t b, const Matrix& costs);

  // The choice of each variable.
  std::vector<size_t> Solve() const;
  double CostOf(const std::vector<size_t>& choices) const;

 private:
  friend class LeastCostSolver;
  struct Variable {
    Costs costs = {};
    std::map<size_t, Matrix> others = {};  // [own choice][choice of the other]
  };
  static Costs CostsGiven(const Variable& variable, const std::vector<size_t>& choices);
  std::vector<Variable> variables_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_LEAST_COST_H_
