// The statements of a nest's stages for one iteration of its outer axes: scalar, or over lanes.
#ifndef AOTC_COMPILER_LOWER_NEST_STAGES_H_
#define AOTC_COMPILER_LOWER_NEST_STAGES_H_

#include <functional>
#include <optional>
#include <vector>

#include "compiler/lower/nest.h"
#include "compiler/lower/vectorize.h"

namespace aotc {

// All stages of a point nest. With `lanes`, one vector of points along lanes->var; nothing where
// some expression has no vector form.
std::optional<std::vector<Stmt>> PointStatements(const Nest& nest, const Lanes* lanes);

// The nest's stages behind the first, whose value is in its variable, for the points `at` which its
// axes are. Where the first one's result is an output, it is stored.
Nest StagesBehind(Nest nest, const Substitution& at, const Bounds& bounds);

// Where lanes lie along the axis that they run over.
struct LaneRange {
  Expr first = {};   // position of lane 0
  Expr stored = {};  // positions from here on have no storage; not given: all lanes have
};

// PointStatements for lanes that may reach into padding, or beyond the storage: it branches on
// whether all lanes, some or none are there. Tensors without the padding are not read in it.
std::optional<std::vector<Stmt>> PaddedStatements(const Nest& nest, const Lanes& lanes,
                                                  const LaneRange& range);

// Whether points that only pad would read outside of some tensor, and the nest that does not.
bool PaddingReadsBeyond(const Nest& nest);
Nest GuardPadding(Nest nest);

// The halo's fill value (or another) for all results of the points, at the current indices.
std::vector<Stmt> FillStatements(const Nest& nest);

// Accumulators of the nest's statistics, which PointStatements combines with: declared before the
// loops over their axes, stored behind them. `lane_count` as PointStatements has them (1: scalar).
std::vector<Stmt> DeclareStatistics(const Nest& nest, int lane_count);
std::vector<Stmt> StoreStatistics(const Nest& nest, int lane_count);
// Whether lanes of the statistic can be combined at the end.
bool CombinesLanes(const FlatStage& statistic);
// The operator that combines the lanes of a vector as the combiner does.
std::optional<ExprOp> LaneCombiner(const Combiner& combiner);

// All stages of a row nest, each in loops over its inner axes; vectors of `lane_count` along the
// innermost axis where that is possible (1: scalar).
std::vector<Stmt> RowStatements(const Nest& nest, int lane_count);

// A value as a variable holds it: in its compute type. Small floats round at stores only.
Expr InVariable(const Expr& value);

// Bit casts of loads that become such variables take the value in its stored type.
Expr WithBitsOfStored(const Expr& e, const std::function<bool(TensorId)>& becomes_variable);

// Loops over the axes, the first one outermost.
std::vector<Stmt> Around(const std::vector<Axis>& axes, std::vector<Stmt> body);

// accumulator = combine(accumulator, element) for every component of a reduction, scalar; the
// elements are the bodies of the stage.
std::vector<Stmt> AccumulateElements(const FlatStage& stage,
                                     const std::vector<std::string>& accumulators);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_NEST_STAGES_H_
