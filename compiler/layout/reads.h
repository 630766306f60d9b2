// How kernels read a value: what of its layout they ask for or pass on.
//
//   ReachOf(kernel, stage, load)       // {{}, {}, {1, 1}, {1, 1}}: of 3 x 3, padded by 1
//   KeepsChannels(kernel, tensor, 16)  // result and tensor may lie in the same blocks
#ifndef AOTC_COMPILER_LAYOUT_READS_H_
#define AOTC_COMPILER_LAYOUT_READS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ops/op.h"

namespace aotc {

// Elements of the input of integer tiles that are read at a time.
inline constexpr int64_t kIntegerGroup = 4;

// The first contraction among the stages; null where there is none.
const Stage* ContractionOf(const Kernel& kernel);
// Output columns on axis 1 and at least one axis behind them that slides over the input. `weights`:
// values that nodes make of constants.
bool IsConvolution(const Graph& graph, const NodeKernel& node, const std::set<ValueId>& weights);
bool IsOfIntegers(const Kernel& kernel);
// The rows of a matrix product of bytes are read in groups, the last of which may not be whole: the
// bytes that it lacks.
int64_t RowsLack(const Graph& graph, const NodeKernel& node);

// What the contraction reads beyond its input; nothing where it reads nothing there.
std::optional<double> FillOf(const Stage& stage);

// Every read of `tensor` is at the reader's own axis 1, or whole blocks away from it.
bool KeepsChannels(const Kernel& kernel, TensorId tensor, int64_t block);

// How far the contraction reads beyond its input, per axis. Nothing where that is not bounded.
std::optional<std::vector<Halo>> ReachOf(const Kernel& kernel, const Stage& stage,
                                         const Expr& load);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_READS_H_
