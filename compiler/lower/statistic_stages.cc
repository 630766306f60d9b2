// The statements around the loops over which statistics are combined.
#include "compiler/lower/nest_stages.h"

namespace aotc {
std::optional<ExprOp> LaneCombiner(const Combiner& combiner) {
  if (combiner.name == "sum") return ExprOp::kLaneSum;
  if (combiner.name == "max") return ExprOp::kLaneMax;
  if (combiner.name == "min") return ExprOp::kLaneMin;
  return std::nullopt;
}

bool CombinesLanes(const FlatStage& statistic) {
  const DType dtype = statistic.combiner.identity[0].dtype();
  return statistic.bodies.size() == 1 && LaneCombiner(statistic.combiner) &&
         (dtype == DType::kF32 || dtype == DType::kI32);
}

std::vector<Stmt> DeclareStatistics(const Nest& nest, int lane_count) {
  std::vector<Stmt> declarations;
  const Lanes lanes{.var = "", .first = 0, .count = lane_count};
  for (const FlatStage& stage : nest.stages) {
    for (size_t k = 0; k < stage.results.size() && !stage.over.empty(); ++k) {
      const Expr& identity = stage.combiner.identity[k];
      const Expr start = lane_count > 1 ? *VectorizeExpr(identity, lanes, nest.bounds) : identity;
      declarations.push_back(Declare(stage.results[k].variable, start));
    }
  }
  return declarations;
}

std::vector<Stmt> StoreStatistics(const Nest& nest, int lane_count) {
  std::vector<Stmt> stores;
  for (const FlatStage& stage : nest.stages) {
    for (size_t k = 0; k < stage.results.size() && !stage.over.empty(); ++k) {
      const FlatResult& result = stage.results[k];
      const DType dtype = stage.combiner.identity[k].dtype();
      Expr value = VectorVar(result.variable, dtype, lane_count);
      if (lane_count > 1) {
        value = Expr::Make({.op = *LaneCombiner(stage.combiner), .dtype = dtype, .args = {value}});
      }
      stores.push_back(Store(result.tensor, result.index, Cast(result.dtype, value)));
    }
  }
  return stores;
}

}  // namespace aotc
