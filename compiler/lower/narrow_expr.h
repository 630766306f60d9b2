// Expressions over indices of 64 bits as such over indices of 32, where all that is computed fits.
//
//   NarrowExprs exprs(function);
//   exprs.scope().Define("i", 0, 99);
//   exprs.Index(Var("i") * 4)                  // i*4 as an i32, over the i32 variable i
//   exprs.Value(Cast(DType::kF32, Var("i")))   // f32(i), i being an i32
//   exprs.complaint()                          // "i*4 reaches 2147483648"; "" where all fits
//
// Element values of type i64 stay what they are: computed with 64 bits, also where indices take
// part.
#ifndef AOTC_COMPILER_LOWER_NARROW_EXPR_H_
#define AOTC_COMPILER_LOWER_NARROW_EXPR_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/loops.h"

namespace aotc {

// The i64 variables at one place of the loops, before they are narrowed.
struct IndexScope {
  Bounds bounds = {};
  std::set<std::string> indices = {};  // those that become i32; others hold element values

  void Define(std::string_view name, const Expr& min, const Expr& max);
  // A variable of element values, within `range`.
  void DefineData(std::string_view name, const Interval& range = {});
};

class NarrowExprs {
 public:
  explicit NarrowExprs(const LoopFunction& function) : function_(function) {}

  IndexScope& scope() { return scope_; }
  const std::string& complaint() const { return complaint_; }

  // An i64 as an i32. Complains where its range, or that of what it is computed from, is larger.
  Expr Index(const Expr& e);
  // The same, or nothing in place of a complaint.
  std::optional<Expr> TryIndex(const Expr& e);
  // An expression of the same type. Complains of the indices of loads.
  Expr Value(const Expr& e);
  // Complains where an i64 may not fit.
  void Check(const Expr& e);
  // Whether element values of type i64 take part.
  bool HasData(const Expr& e) const;

 private:
  bool Fits(const Expr& e);
  Expr OfIndices(const Expr& e);
  std::optional<Expr> OfNarrowOperands(const Expr& e);
  Expr ValueOfSelect(const Expr& e);

  const LoopFunction& function_;
  IndexScope scope_;
  std::string complaint_;  // the first
};

// Takes down in `scope` what holds where `condition` does, of its variables against the symbols.
void Refine(IndexScope& scope, const Expr& condition, const std::vector<Symbol>& symbols);

// The largest value of an i64 as an expression over the symbols. It knows more than an interval
// does: of p / n that it is below m where p < m*n.
Expr MostOf(const Expr& e, const Bounds& bounds, const std::vector<Symbol>& symbols);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_NARROW_EXPR_H_
