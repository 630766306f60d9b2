// Expressions over lanes: one lowering that turns scalar text into vectors along one variable.
//
//   Lanes lanes{.var = "v", .first = Var("v0"), .count = 16};
//   VectorizeExpr(exp(%x[v*1 + 3] - top), lanes)   // exp(load(%x, v0 + 3) - broadcast(top))
#ifndef AOTC_COMPILER_LOWER_VECTORIZE_H_
#define AOTC_COMPILER_LOWER_VECTORIZE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/expr.h"
#include "compiler/ir/expr_simplify.h"

namespace aotc {

// The lane map: lane l stands for var = first + l.
struct Lanes {
  std::string var = {};
  Expr first = {};
  int count = 1;
  Expr active = {};    // leading lanes that are stored; all where not given
  Expr readable = {};  // leading lanes that are loaded, others are 0; as `active` where not given
  std::map<std::string, Expr> vectors = {};  // variables that are vectors already (accumulators)
};

// A vector that a variable holds, one from memory at neighbours from `index`, and `e` in all lanes.
Expr VectorVar(std::string_view name, DType dtype, int lanes);
Expr VectorLoad(TensorId tensor, const Expr& index, DType dtype, int lanes);
Expr InAllLanes(const Expr& e, int lanes);

// Whether the value differs between lanes.
bool DependsOnLane(const Expr& e, const Lanes& lanes);

// `e` (flat loads) with lanes.count lanes, or nothing where it has no vector form: other types than
// f32 and i32 (narrower ones are widened by loads, and come from casts), operators without a vector
// function, loads at indices that are not affine in the variable, of integers at others than
// neighbours. Of i64 there are operands of
// comparisons alone, as lanes of 32 bits: no value of that type comes out whole.
std::optional<Expr> VectorizeExpr(const Expr& e, const Lanes& lanes, const Bounds& bounds);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_VECTORIZE_H_
