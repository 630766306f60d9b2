// What a kernel around one contraction looks like to a register tile: which axes are rows, columns
// and steps of the reduction, and how its constant operand is packed for all instruction sets
// alike.
#ifndef AOTC_COMPILER_TARGETS_CPU_CONTRACTION_H_
#define AOTC_COMPILER_TARGETS_CPU_CONTRACTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/nest_band.h"

namespace aotc {

// One loop of the reduction: extent, distance of the input, of the packed weights and of their
// scales per step.
struct ContractLevel {
  Expr extent = {};
  Expr input_stride = {};
  Expr weight_stride = {};
  Expr scale_stride = 0;
};

struct TiledContraction {
  Kernel kernel = {};  // with its constants packed, and the reduction split as they are
  Nest nest = {};      // stages[0] is the contraction, the others its epilogue
  TensorId input = {};
  TensorId weights = {};
  // Of weights that are stored as narrow integers, (weight - zero) * scale; invalid: none.
  TensorId scales = {}, zeros = {};
  int64_t panel = 32;                         // columns that lie together in the packed weights
  int64_t columns = 0;                        // N
  int64_t stored_columns = 0;                 // N rounded up to the output's channel block
  std::vector<std::string> column_axes = {};  // of the nest: {"c_o", "c_i"} or {"n"}
  int64_t column_block = 0;   // extent of the second column axis; 0 where there is one
  std::string column = {};    // the same axis of the result
  std::string row_axis = {};  // the axis of the tile's rows; "" where there is one row
  std::vector<std::string> row_walks = {};  // what it walks (NestAxis::walks)
  Expr row_extent = 1;
  Halo row_halo = {};
  std::vector<NestAxis> outer = {};  // what is left, outermost first
  Expr input_offset = {};            // at step 0, over outer and row axes
  Expr row_stride = {};
  // Where the steps of the one level lie, over the variable "step", if that is not affine; null: at
  // the level's stride.
  Expr gathered = {};
  Expr panel_stride = {};                  // weights of one panel
  Expr scale_panel_stride = 0;             // scales of one panel
  Expr scale_offset = 0;                   // at the first step
  int64_t column_stride = 1;               // from a column of a panel to the next
  std::vector<ContractLevel> levels = {};  // outermost first, at most 4
  // u8 times i8 into i32: four steps of the innermost reduce axis lie together in the weights, and
  // are one step of the levels.
  bool is_integer = false;
  // Depthwise: operands share the columns, which are the lanes of one channel block; no panels.
  bool is_depthwise = false;
  Expr weight_offset = 0;  // at the first step; depthwise: over outer axes
};

// Tiles of fewer accumulators do not hide the latency of their additions.
inline constexpr int64_t kFewAccumulators = 8;

// How many accumulators share an output in a tile of so many rows and vectors of columns. Where the
// schedule's own tiles have few it says so; last rows take as many as hide the latency.
int64_t SplitOfTile(int64_t rows, int64_t rows_of_schedule, int64_t vectors, int64_t split);

// Column panel for n columns: as little padding as two or three vectors of 16 allow.
int64_t ChoosePanel(int64_t columns);

// The kernel with its constant operand in panels (of f32, or i8), read as above; with a band, what
// that has of it. Error: the reason why the tile cannot compute it.
absl::StatusOr<TiledContraction> AnalyzeContraction(Kernel kernel, const NestBand* band = nullptr);

// The same for convolutions whose channels each have a filter of their own.
absl::StatusOr<TiledContraction> AnalyzeDepthwise(Kernel kernel, const NestBand* band = nullptr);

// The contraction where `fact`, a condition on the symbols, holds.
TiledContraction UnderFact(TiledContraction contraction, const Expr& fact);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CONTRACTION_H_
