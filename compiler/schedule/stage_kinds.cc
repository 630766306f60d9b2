#include "compiler/schedule/stage_kinds.h"

#include <algorithm>

namespace aotc {
namespace {

Expr WithoutCasts(const Expr& e) { return e.op() == ExprOp::kCast ? WithoutCasts(e.arg(0)) : e; }

// A load, perhaps cast, perhaps under a guard whose other side is the identity of the sum.
bool IsOperand(const Expr& e) {
  const Expr bare = WithoutCasts(e);
  if (bare.op() == ExprOp::kLoad) return true;
  return bare.op() == ExprOp::kSelect && IsOperand(bare.arg(1)) && bare.arg(2).IsConst();
}

}  // namespace

bool IsContraction(const Stage& stage) {
  if (!stage.IsReduction() || stage.combiner.name != "sum" || stage.body.size() != 1) return false;
  const Expr& product = stage.body[0];
  return product.op() == ExprOp::kMul && IsOperand(product.arg(0)) && IsOperand(product.arg(1)) &&
         !Same(product.arg(0), product.arg(1));
}

bool HasContraction(const Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(), IsContraction);
}

bool HasReduction(const Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(),
                     [](const Stage& stage) { return stage.IsReduction(); });
}

}  // namespace aotc
