#include "compiler/schedule/stage_kinds.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/schedule/anchor.h"

namespace aotc {
bool IsContraction(const Stage& stage) {
  const std::optional<ContractionAnchor> contraction = ReadContraction(stage);
  return contraction && !contraction->HasZeroPoints() && !contraction->HasScales();
}

bool HasContraction(const Kernel& kernel) { return ReadContraction(kernel).has_value(); }

bool MultipliesConstants(const Kernel& kernel) {
  return std::ranges::any_of(kernel.stages, [&](const Stage& stage) {
    if (!IsContraction(stage)) return false;
    return std::ranges::any_of(LoadsOf(stage.body[0]), [&](const Expr& load) {
      return kernel.tensors[load->tensor].role == TensorRole::kConstant;
    });
  });
}

bool HasReduction(const Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(),
                     [](const Stage& stage) { return stage.IsReduction(); });
}

bool Reads(const Stage& stage, TensorId tensor) {
  return std::ranges::any_of(stage.body, [&](const Expr& body) {
    const std::vector<Expr> loads = LoadsOf(body);
    return std::ranges::any_of(loads, [&](const Expr& load) { return load->tensor == tensor; });
  });
}

bool OnlyMoves(const Kernel& kernel) {
  const auto moves = [](const Expr& e, const auto& self) -> bool {
    switch (e.op()) {
      case ExprOp::kLoad:
      case ExprOp::kConst: return true;
      case ExprOp::kCast: return self(e.arg(0), self);
      case ExprOp::kSelect: return self(e.arg(1), self) && self(e.arg(2), self);
      default: return false;
    }
  };
  return std::ranges::all_of(kernel.stages, [&](const Stage& stage) {
    return !stage.IsReduction() &&
           std::ranges::all_of(stage.body, [&](const Expr& body) { return moves(body, moves); });
  });
}

}  // namespace aotc
