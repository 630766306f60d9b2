// The statements of a nest's stages for one iteration of its outer axes: scalar, or over lanes.
#ifndef AOTC_COMPILER_LOWER_NEST_STAGES_H_
#define AOTC_COMPILER_LOWER_NEST_STAGES_H_

#include <optional>
#include <vector>

#include "compiler/lower/nest.h"
#include "compiler/lower/vectorize.h"

namespace aotc {

// All stages of a point nest. With `lanes`, one vector of points along lanes->var; nothing where
// some expression has no vector form.
std::optional<std::vector<Stmt>> PointStatements(const Nest& nest, const Lanes* lanes);

// All stages of a row nest, each in loops over its inner axes; vectors of `lane_count` along the
// innermost axis where that is possible (1: scalar).
std::vector<Stmt> RowStatements(const Nest& nest, int lane_count);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_NEST_STAGES_H_
