// Convolutions by Winograd's algorithm on a CPU: patches of the input are transformed into scratch,
// multiplied by weights, a matrix product for each place of a patch, and gathered. What is packed
// of the weights is no larger than in the model; those of each place are made of it for each panel.
//
//   schedule { tasks %y(n:1, h:16, w:56, k:64)  loop k:32
//              %r, %v @ tasks in scratch by winograd_input_tile(4)
//              %f, %u @ k in scratch by winograd_weights_tile(4)
//              %p @ k in scratch by contract_tile(14, 2, 1)
//              %q, %s, %y @ k in fragment by winograd_output_tile(4) }
//
// A task has whole patches: all that begin in its block of rows and columns of the result.
#ifndef AOTC_COMPILER_TARGETS_CPU_WINOGRAD_H_
#define AOTC_COMPILER_TARGETS_CPU_WINOGRAD_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/lower/nest.h"
#include "compiler/pass/pass.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/winograd.h"
#include "compiler/support/rounding.h"
#include "compiler/targets/cpu/features.h"
#include "compiler/targets/cpu/limits.h"

namespace aotc {

inline constexpr std::string_view kWinogradInputTile = "winograd_input_tile";
inline constexpr std::string_view kWinogradWeightsTile = "winograd_weights_tile";
inline constexpr std::string_view kWinogradOutputTile = "winograd_output_tile";

struct WinogradContraction {
  Kernel kernel = {};  // with its constants packed
  WinogradAnchor anchor = {};
  Nest nest =
      {};  // of the result: n, c_o, h, w, c_i; stages[0] gathers, the others are its epilogue
  std::vector<std::string> axes = {};  // of the result: n, c, h, w
  ConvolutionSize size = {};           // with the most images
  int64_t panel = 32;                  // columns that lie together in the packed weights
  int64_t stored_columns = 0;          // channels of the result with those that pad its blocks

  int64_t m() const { return anchor.m; }
  int64_t patch() const { return anchor.m + 2; }  // rows and columns of one
  int64_t places() const { return patch() * patch(); }
  int64_t rows() const { return CeilOf(size.height, m()); }  // of patches
  int64_t columns() const { return CeilOf(size.width, m()); }
  int64_t panels() const { return CeilOf(size.outputs, panel); }
};

// Error: the reason why the tiles do not take the kernel.
absl::StatusOr<WinogradContraction> AnalyzeWinograd(const Kernel& kernel);

// What a schedule says to the loops.
struct WinogradTiling {
  int64_t rows = 1, columns = 1;  // patches of a task
  int64_t panels = 1;             // of the weights, of a task
  int64_t tile_rows = 1;          // of the products' register tile: patches
  int64_t tile_vectors = 1;       // and vectors of columns
  int64_t split = 1;

  int64_t Patches() const { return rows * columns; }
  // Tasks of one image that have all panels.
  int64_t Blocks(const ConvolutionSize& size, int64_t m) const {
    return CeilOf(CeilOf(size.height, m), rows) * CeilOf(CeilOf(size.width, m), columns);
  }
};

// Error: the reason why the schedule is none of this contraction.
absl::StatusOr<WinogradTiling> WinogradTilingOf(const WinogradContraction& contraction,
                                                const Schedule& schedule, int lanes);

// The one of least cost.
Schedule ChooseWinogradSchedule(const WinogradContraction& contraction, const Isa& isa,
                                const CpuLimits& limits);
std::vector<Schedule> WinogradCandidates(const WinogradContraction& contraction, const Isa& isa);

// Error: as above, or an epilogue without vector form.
absl::StatusOr<LoopFunction> ApplyWinogradSchedule(const WinogradContraction& contraction,
                                                   const Schedule& schedule, int lanes);

// Seconds that a schedule should take.
double WinogradCost(const ConvolutionSize& size, int64_t m, const WinogradTiling& tiling,
                    const Isa& isa, const CpuLimits& limits);
// The same with the tiling that would be chosen; with m = 0 those of a direct convolution.
double ConvolutionSeconds(const ConvolutionSize& size, int64_t m, const Isa& isa,
                          const CpuLimits& limits);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_WINOGRAD_H_
