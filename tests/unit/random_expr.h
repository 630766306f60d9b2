// Seeded random integer expressions over the variables x, y, z, n, m: for property tests.
//
//   RandomExprs random(/*seed=*/1);
//   Expr index = random.Index(/*depth=*/3);
//   Expr guard = random.Condition(2);
#ifndef AOTC_TESTS_UNIT_RANDOM_EXPR_H_
#define AOTC_TESTS_UNIT_RANDOM_EXPR_H_

#include <array>
#include <cstdint>
#include <random>
#include <string_view>

#include "compiler/ir/expr.h"

namespace aotc {

class RandomExprs {
 public:
  explicit RandomExprs(uint32_t seed) : engine_(seed) {}

  int Below(int n) { return static_cast<int>(engine_() % static_cast<uint32_t>(n)); }

  // i64; n and m are likely divisors and factors.
  Expr Index(int depth) {
    if (depth == 0 || Below(8) == 0) return Below(3) == 0 ? Expr(Below(25) - 8) : AnyVar();
    Expr a = Index(depth - 1);
    switch (Below(13)) {
      case 0:
      case 1: return a + Index(depth - 1);
      case 2: return a - Index(depth - 1);
      case 3: return a * (Below(9) - 3);
      case 4: return a * (Below(2) == 0 ? Dim() : Index(depth - 1));
      case 5: return FloorDiv(a, Divisor());
      case 6: return Mod(a, Divisor());
      case 7: return Below(2) == 0 ? FloorDiv(a, Index(1)) : Mod(a, Index(1));
      case 8: return Binary(Below(2) == 0 ? ExprOp::kDiv : ExprOp::kTruncMod, a, Index(depth - 1));
      case 9: return Min(a, Index(depth - 1));
      case 10: return Max(a, Index(depth - 1));
      case 11: return Select(Condition(depth - 1), a, Index(depth - 1));
      default: return Below(2) == 0 ? Unary(ExprOp::kAbs, a) : -a;
    }
  }

  Expr Condition(int depth) {
    if (depth == 0) return Below(4) == 0 ? Bool(Below(2) == 0) : Lt(AnyVar(), Below(8));
    switch (Below(8)) {
      case 0: return Lt(Index(depth - 1), Index(depth - 1));
      case 1: return Le(Index(depth - 1), Index(depth - 1));
      case 2: return Eq(Index(depth - 1), Index(depth - 1));
      case 3: return Ne(Index(depth - 1), Index(depth - 1));
      case 4: return And(Condition(depth - 1), Condition(depth - 1));
      case 5: return Or(Condition(depth - 1), Condition(depth - 1));
      case 6: return Not(Condition(depth - 1));
      default: return Le(AnyVar(), Index(depth - 1));
    }
  }

 private:
  Expr AnyVar() {
    constexpr std::array<std::string_view, 5> kNames = {"x", "y", "z", "n", "m"};
    return Var(kNames[static_cast<size_t>(Below(5))]);
  }
  Expr Dim() { return Var(Below(2) == 0 ? "n" : "m"); }
  Expr Divisor() {
    switch (Below(6)) {
      case 0: return -Below(4);
      case 1:
      case 2: return Dim();
      default: return Below(12) + 1;
    }
  }

  std::mt19937 engine_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_RANDOM_EXPR_H_
