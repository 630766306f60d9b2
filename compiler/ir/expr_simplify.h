// The integer simplifier and range analysis: one for dims, indices, guards and strides.
//
//   Bounds bounds;
//   bounds.Add("i", 0, Var("n") - 1);       // 0 <= i <= n - 1
//   bounds.Add("n", 1, 200);
//   Simplify(FloorDiv(Var("i") * 16 + 3, 16), bounds);   // i
//   Prove(Lt(Var("i"), Var("n")), bounds);               // true
#ifndef AOTC_COMPILER_IR_EXPR_SIMPLIFY_H_
#define AOTC_COMPILER_IR_EXPR_SIMPLIFY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/expr.h"

namespace aotc {

// Inclusive; an open end is INT64_MIN or INT64_MAX.
struct Interval {
  int64_t min = INT64_MIN;
  int64_t max = INT64_MAX;
};

// What is known of the i64 variables: an inclusive range each, whose ends may name variables that
// were added before it (the extent of an axis is a dim), and facts: bool expressions that hold.
class Bounds {
 public:
  struct Range {
    Expr min;
    Expr max;
  };
  void Add(std::string_view name, const Expr& min, const Expr& max);
  // A variable that holds what was computed from elements of tensors.
  void AddElement(std::string_view name, const Interval& range);
  // `known_with`: variables without which it need not hold. It is a fact about expressions that
  // name them, or what is known no earlier.
  void AddFact(const Expr& condition, std::set<std::string> known_with = {});
  // Wherever `name` is known, so is `earlier`.
  void AddKnownBefore(std::string_view name, std::string_view earlier);

  const Range* Find(std::string_view name) const;
  bool IsElement(std::string_view name) const { return elements_.contains(name); }
  // Position in the order of Add; variables with a higher one are eliminated first. -1 if unknown.
  int Rank(std::string_view name) const;
  // The facts that can say something of `e`, in the order of AddFact: those over its variables,
  // over what the ends of their ranges name, and over what such facts name in turn.
  std::vector<Expr> FactsAbout(const Expr& e) const;

 private:
  struct Fact {
    Expr holds;
    std::set<std::string> vars;
    std::set<std::string> known_with;
  };
  // Adds to `vars` what the ends of their ranges name, and what those name.
  void CloseOverRanges(std::set<std::string>& vars) const;
  std::set<std::string> KnownWith(const std::set<std::string>& vars) const;

  std::map<std::string, std::pair<int, Range>, std::less<>> ranges_;
  std::set<std::string, std::less<>> elements_;
  std::vector<Fact> facts_;
  std::multimap<std::string, std::string, std::less<>> known_before_;
};

// Whether elements of tensors take part in an i64: loads, casts, variables that hold such values.
bool HasElements(const Expr& e, const Bounds& bounds);

// Canonical form: sums of products with sorted terms; floor_div and mod split into exact parts
// (also for symbolic divisors where one divides), nested divisions merged, min, max, comparisons
// and selects decided by range, guards by facts, bool algebra, integer constants folded (any
// integer dtype, with wrap-around). On floats only what is exact: constant selects, x * 1, casts
// that change nothing. Idempotent; the same object comes back where nothing changes.
Expr Simplify(const Expr& e, const Bounds& bounds = {});

// Range of an integer expression over all values of its variables; nothing where unbounded both
// ways.
Interval RangeOf(const Expr& e, const Bounds& bounds);

// True or false where it can be proved, else nothing.
std::optional<bool> Prove(const Expr& condition, const Bounds& bounds);
bool ProveEqual(const Expr& a, const Expr& b, const Bounds& bounds = {});
// e % divisor == 0 for all values of the variables.
bool ProveDivisible(const Expr& e, int64_t divisor, const Bounds& bounds = {});

// e as sum(coefficient[var] * var) + rest where `rest` is free of the named variables and the
// coefficients are too; nothing where e is not affine in them.
struct Affine {
  std::map<std::string, Expr> coefficients;  // absent: 0
  Expr rest;
};
std::optional<Affine> AsAffine(const Expr& e, const std::vector<std::string>& vars,
                               const Bounds& bounds = {});

// The value of an integer expression for given variables; nothing where one is missing or a load
// occurs.
std::optional<int64_t> EvaluateInt(const Expr& e,
                                   const std::map<std::string, int64_t, std::less<>>& values);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_EXPR_SIMPLIFY_H_
