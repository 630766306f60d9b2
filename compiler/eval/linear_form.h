// Index expressions as linear forms over the loop variables of one evaluation: all symbols have
// values.
//
//   LoopVars vars = {{"i", 64}, {"j", 8}};
//   LinearOf(Var("i") * 8 + Var("j"), vars);            // 8*[0] + [1]
//   LinearOf(FloorDiv(Var("i") * 8 + Var("j"), 8), vars);  // [0], since 0 <= j < 8
#ifndef AOTC_COMPILER_EVAL_LINEAR_FORM_H_
#define AOTC_COMPILER_EVAL_LINEAR_FORM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/expr.h"

namespace aotc {

// A variable of the nest, 0 <= value < extent; named by its position.
struct LoopVar {
  std::string name;
  int64_t extent;
};
using LoopVars = std::vector<LoopVar>;

struct LinearForm {
  int64_t base = 0;
  std::vector<std::pair<int, int64_t>> terms = {};  // position, coefficient; sorted, none zero

  int64_t Coefficient(int position) const;
  // One more than the last position used; 0 for a constant.
  int Level() const { return terms.empty() ? 0 : terms.back().first + 1; }
  int64_t At(const int64_t* values) const {
    int64_t sum = base;
    for (const auto& [position, coefficient] : terms) sum += coefficient * values[position];
    return sum;
  }
};

// a + factor * b
LinearForm AddScaled(const LinearForm& a, const LinearForm& b, int64_t factor);
// Least and largest value over the whole nest (all extents positive).
std::pair<int64_t, int64_t> RangeOfForm(const LinearForm& form, const LoopVars& vars);
// Nothing where `e` is not linear, or names something else than the loop variables.
std::optional<LinearForm> LinearOf(const Expr& e, const LoopVars& vars);

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_LINEAR_FORM_H_
