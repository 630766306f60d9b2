// What all tiles of contractions on CUDA share: every contraction is
//
//   C[m, n] = sum over k of A(m, k) * B(n, k)
//
// per batch, with m, n and k counting the axes that only A, only B, and both reduce over.
// Convolutions differ in A's accessor alone (implicit GEMM).
//
//   CudaContraction c = *ReadCudaContraction(kernel);
//   LoopFunction function = StartFunction(kernel, c.nest);
//   AddStates(c, function);
//   ... TileCall with ContractionEpilogue(c) ...
//   function.body = Block(ContractionBody(c, tiles, call, threads))
#ifndef AOTC_COMPILER_TARGETS_CUDA_CONTRACTION_PARTS_H_
#define AOTC_COMPILER_TARGETS_CUDA_CONTRACTION_PARTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/loops.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/schedule.h"

namespace aotc {

struct CudaContraction {
  Nest nest = {};
  Expr a = {}, b = {};  // operands as flat loads, perhaps guarded
  std::vector<NestAxis> batch = {}, m = {}, n = {}, k = {};  // without halos
  DType accumulator = DType::kF32;                           // or i32
  // Pointers to the statistics of a row in a thread: its own, and another one's to be combined.
  std::vector<TensorId> states = {};
};

// The channels of a grouped convolution are two axes: the group, of the batch, and a channel of the
// group, of n. Error: why the kernel is no contraction with an epilogue on its points.
absl::StatusOr<CudaContraction> ReadCudaContraction(const Kernel& kernel);

// Names of the counters of m, n and k in accessors and epilogues: none of a kernel's own names.
inline constexpr std::string_view kAtM = "m_at", kAtN = "n_at", kAtK = "k_at";

// A counter of `axes` as a parameter that may pass the last position by `beyond`: tiles begin
// within the axes and may end so far behind them.
FunctorParam CounterOf(std::string_view name, const std::vector<NestAxis>& axes, int64_t beyond);

// Declares the states among the function's buffers.
void AddStates(CudaContraction& contraction, LoopFunction& function);
// epilogue(m, n, acc): the stages after the contraction. With statistics also a state for each row
// of a thread's results: epilogue(m, n, acc, state), identity(state), combine(state, other) and
// row(m, state), which keeps that of a whole row.
TileObject ContractionEpilogue(const CudaContraction& contraction);

// Results of one block.
struct BlockTile {
  int64_t m = 64, n = 64;
  int64_t threads = 256;
};
// Parameters of a tile of contractions, whose first are m, n and k of a block and two extents of a
// thread's or warp's part: blocks and parts of many sizes, legal or not, of these steps of k, the
// rest as given.
std::vector<std::vector<int64_t>> BlockVariations(
    const std::vector<std::pair<int64_t, int64_t>>& parts, const std::vector<int64_t>& steps,
    std::vector<int64_t> params);
// What a task has: one of each axis of the batch, a block of m and, but for statistics, of n.
std::vector<Cut> ContractionCuts(const CudaContraction& contraction, const BlockTile& tile);
// Where the tile of `tile_m` and `tile_n` begins, and where the contraction ends: m, n, m, n, k.
std::vector<Expr> RangeOfTile(const CudaContraction& contraction, const BlockTile& tile);
// The number of tasks, and the body of one: `call` for its tile, of which `tile_m` and `tile_n` are
// the numbers; with statistics, for all tiles of its rows. The first task fills the halo.
Expr ContractionTasks(const CudaContraction& contraction, const BlockTile& tile);
std::vector<Stmt> ContractionBody(const CudaContraction& contraction, const BlockTile& tile,
                                  const Stmt& call);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CUDA_CONTRACTION_PARTS_H_
