// The engine behind Simplify, RangeOf and Prove; expr_simplify.h is its public face.
//
//   Simplifier simplifier(bounds);
//   Expr simple = simplifier.Simplify(e);
//   Interval range = simplifier.RangeOfSum(*SumOf(simple));
//
// Expressions are rewritten bottom-up; the result of each rule is built from simplified operands.
// What was found is remembered per context, and a context is what is known at a place: the bounds,
// and the conditions of the selects and conjunctions around it.
#ifndef AOTC_COMPILER_IR_SIMPLIFIER_H_
#define AOTC_COMPILER_IR_SIMPLIFIER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/expr_interval.h"
#include "compiler/ir/expr_linear.h"
#include "compiler/ir/expr_simplify.h"

namespace aotc {

struct ExprHash {
  size_t operator()(const Expr& e) const { return e->hash; }
};
struct ExprSame {
  bool operator()(const Expr& a, const Expr& b) const { return Same(a, b); }
};
template <class T>
using ExprMap = absl::flat_hash_map<Expr, T, ExprHash, ExprSame>;

// Conditions that hold, in the forms in which they are used.
struct Facts {
  std::vector<Sum> nonnegative = {};              // each >= 0
  std::vector<std::pair<Expr, bool>> known = {};  // simplified conditions and their values
  std::map<std::string, Expr, std::less<>> replacements = {};  // variables that equal something
};

// numerator = divisor * whole + scale * rest + low, divisor = scale * rest_divisor, 0 <= low <
// scale; hence floor_div = whole + floor_div(rest, rest_divisor), mod = low + scale * mod(rest,
// rest_divisor).
struct Division {
  Sum whole = {};
  Sum low = {};
  Sum scale = {};
  Sum rest = {};
  Sum rest_divisor = {};
};

class Simplifier {
 public:
  // With the facts about `subject`: what is simplified afterwards consists of its variables.
  Simplifier(const Bounds& bounds, const Expr& subject);

  Expr Simplify(const Expr& e);
  // Range of an integer or bool expression, which need not be simplified.
  Interval Range(const Expr& e);
  Interval RangeOfSum(const Sum& sum);

 private:
  // What is known inside the branch of a select or beside a conjunct.
  struct Context {
    Facts facts = {};
    ExprMap<Expr> simplified = {};
    ExprMap<Interval> ranges = {};
  };
  class Assume;  // adds a condition for the life of the object
  enum class Mode { kFloorDiv, kMod };

  // simplifier.cc: one level of rewriting.
  Expr Rewrite(const Expr& e);
  Expr RewriteVar(const Expr& e);
  Expr RewriteArgs(const Expr& e);
  Expr RewriteIndex(const Expr& e);  // operators on i64
  Expr RewriteSum(const Expr& e);
  std::optional<Sum> Recombine(const Sum& sum);
  std::optional<Sum> RecombineTerm(const Sum& sum, const Term& term);

  // simplifier_values.cc: narrow integers, bools, floats, casts.
  Expr RewriteNarrow(const Expr& e);
  Expr RewriteCast(const Expr& e);
  Expr RewriteBitCast(const Expr& e);
  Expr RewriteFloat(const Expr& e);

  // simplifier_logic.cc
  Expr RewriteLogic(const Expr& e);
  Expr RewriteSelect(const Expr& e);
  Expr RewriteTable(const Expr& e);
  Expr RewriteNot(const Expr& e);
  Expr RewriteBoolEquality(const Expr& e);
  Expr SimplifyOperandOfLogic(const std::vector<Expr>& operands, size_t index, bool is_and);

  // simplifier_compare.cc
  Expr RewriteCompare(const Expr& e);
  Expr CompareSums(const Expr& e, const Sum& difference);
  std::optional<Sum> WithoutDivision(const Sum& sum);
  Expr RewriteEquality(const Expr& e, Sum difference);

  // simplifier_min_max.cc
  Expr RewriteMinMax(const Expr& e);

  // simplifier_divide.cc
  Expr RewriteDivision(const Expr& e);
  std::optional<Sum> Divide(const Sum& numerator, const Sum& divisor, Mode mode);
  std::optional<Sum> DividePositive(const Sum& numerator, const Sum& divisor, Mode mode);
  bool ExtractWhole(Division& division);
  bool ExtractWholeSymbolic(Division& division);
  bool SettleByRange(Division& division);
  bool SettleSymbolic(Division& division);
  bool ExtractLow(Division& division);
  bool TryLow(Division& division, const Term& scale);
  std::optional<Sum> FinishFloorDiv(const Division& division);
  std::optional<Sum> FinishMod(const Division& division);

  // simplifier_range.cc
  Interval ComputeRange(const Expr& e);
  Interval RangeOfVar(const Expr& e);
  Interval RangeOfOperator(const Expr& e);
  Interval TermwiseRange(const Sum& sum);
  bool MayWrap(const Expr& e);
  // The polynomial that `e` is for all values of its variables: nothing where arithmetic on
  // elements may wrap, for which SumOf holds modulo 2^64 only.
  std::optional<Sum> Polynomial(const Expr& e);
  bool NonNegative(const Sum& sum) { return LowerBound(sum, 0) >= 0; }
  bool Positive(const Sum& sum) { return LowerBound(sum, 1) >= 1; }

  // simplifier_bound.cc: the largest proven lower bound; the search ends when `goal` is reached.
  struct AtomInfo {
    int level = 0;  // more than that of every variable in the ends of its range
    int rank = -1;
    bool compound = false;
    std::vector<std::string> support = {};  // variables below it and below their ends, sorted
  };
  const AtomInfo& InfoOf(const Expr& atom);
  AtomInfo VarInfo(const std::string& name);
  bool EliminatedBefore(const Expr& a, const Expr& b);
  bool IsTermwiseExact(const Sum& sum);
  int64_t LowerBound(const Sum& sum, int64_t goal);
  int64_t BoundWithFacts(const Sum& sum, int64_t goal, int depth);
  int64_t BoundByElimination(const Sum& sum, int64_t goal);
  int64_t Eliminate(const Expr& atom, const Sum& coefficient, const Sum& rest, int64_t goal);
  int64_t EliminateFloorDiv(const Expr& atom, const Sum& coefficient, const Sum& rest, bool rising);
  int64_t BoundOfEither(const Expr& atom, const Sum& coefficient, const Sum& rest, bool need_both);
  int64_t BoundAfter(const Sum& rest, const Sum& coefficient, const std::optional<Sum>& value,
                     int64_t goal);
  std::optional<Sum> EndOf(const Expr& atom, bool upper);
  std::optional<Sum> EndOfVar(const Expr& var, bool upper);

  // simplifier_facts.cc
  void AddFact(const Expr& condition);   // simplified
  void AddFalse(const Expr& condition);  // simplified
  void AddNonNegative(const Sum& sum);
  void AddEquality(const Expr& a, const Expr& b);
  void AddRangeOf(const std::string& name, const Sum& sum);
  bool Reaches(const Expr& e, const std::string& name);
  std::optional<bool> Known(const Expr& condition) const;
  Interval TightenByFacts(const Expr& atom, Interval range) const;

  Context& context() { return *contexts_.back(); }
  const Facts& facts() const { return contexts_.back()->facts; }
  const Bounds::Range* UsableRange(const std::string& name);
  // The ends of a variable's range, simplified without facts: what facts say of other variables
  // could lead back to this one.
  struct Ends {
    Expr min = {};
    Expr max = {};
    Interval range = {};
  };
  const Ends& EndsOf(const std::string& name);

  const Bounds& bounds_;
  std::vector<std::unique_ptr<Context>> contexts_;
  ExprMap<std::unique_ptr<AtomInfo>> atoms_;
  std::map<std::string, Ends, std::less<>> ends_;
  std::map<std::string, int, std::less<>> var_state_;  // 1: in work, 2: usable, 3: part of a cycle
  int budget_ = 0;                                     // eliminations left in this proof
};

// Adds `condition` (or its negation) to what is known, in a context of its own, until destroyed.
class Simplifier::Assume {
 public:
  Assume(Simplifier& simplifier, const Expr& condition, bool value = true)
      : simplifier_(simplifier) {
    auto context = std::make_unique<Context>();
    context->facts = simplifier.facts();
    simplifier.contexts_.push_back(std::move(context));
    Add(condition, value);
  }
  Assume(const Assume&) = delete;
  Assume& operator=(const Assume&) = delete;
  ~Assume() { simplifier_.contexts_.pop_back(); }
  void Add(const Expr& condition, bool value = true) {
    if (value)
      simplifier_.AddFact(condition);
    else
      simplifier_.AddFalse(condition);
  }

 private:
  Simplifier& simplifier_;
};

// The condition's negation with the `not` pushed inwards where that is exact.
Expr Negated(const Expr& condition);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_SIMPLIFIER_H_
