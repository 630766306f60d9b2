#include "compiler/targets/cuda/contraction_operands.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/lower_loops.h"

namespace aotc {
bool UsesAny(const Expr& e, const std::vector<NestAxis>& axes) {
  return e.valid() && std::any_of(axes.begin(), axes.end(),
                                  [&](const NestAxis& axis) { return UsesVar(e, axis.name); });
}

int64_t InnermostStep(const CudaContraction& c, const Expr& operand,
                      const std::vector<NestAxis>& axes) {
  const Expr load = OperandLoad(operand);
  if (!load.valid()) return 0;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].extent.IsInt(1)) continue;
    const Bounds bounds = StageBounds(c.nest, c.nest.stages[0]);
    const auto affine = AsAffine(load.arg(0), {axes[i].name}, bounds);
    if (!affine || affine->coefficients.count(axes[i].name) == 0) return 0;
    return affine->coefficients.at(axes[i].name).AsInt().value_or(0);
  }
  return 0;
}

std::vector<Stmt> DecodeUsed(const std::vector<NestAxis>& axes, const Expr& position,
                             const std::vector<Expr>& used) {
  std::vector<Stmt> lets = DecodeAxes(axes, position);
  std::erase_if(lets, [&](const Stmt& let) {
    return std::none_of(used.begin(), used.end(),
                        [&](const Expr& e) { return e.valid() && UsesVar(e, let->name); });
  });
  return lets;
}

void ExchangeOperands(CudaContraction& c) {
  std::swap(c.a, c.b);
  std::swap(c.m, c.n);
}

}  // namespace aotc
