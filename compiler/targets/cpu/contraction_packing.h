// How the constant operand of a contraction lies in memory, for all instruction sets alike, and the
// reduce axes that walk it.
#ifndef AOTC_COMPILER_TARGETS_CPU_CONTRACTION_PACKING_H_
#define AOTC_COMPILER_TARGETS_CPU_CONTRACTION_PACKING_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"

namespace aotc {

// The loads of the first stage's product.
struct Operands {
  Expr input;
  Expr weights;
};

// Error: neither or both are constant, or no tile has their types.
absl::StatusOr<Operands> FindOperands(const Kernel& kernel, const Stage& stage);

// The axis of the stage that indexes the weights and not the input: the columns.
absl::StatusOr<size_t> ColumnAxis(const Stage& stage, const Operands& operands);

// Gives the weights the layout [N/panel, steps of the reduction, N%panel] as f32, with the reduce
// axes split as the input is blocked; products of integers [N/panel, k/4, N%panel, k%4] with the
// innermost reduce axis split likewise. Error: weights that are not read plainly.
absl::Status PackWeights(Kernel& kernel, Operands operands, const std::string& column,
                         int64_t panel);

// Depthwise products of integers: neighbouring taps of a row in groups, [C/block, taps/4, C%block,
// taps%4], for channels in blocks as the output has them. Error: a row of one tap.
inline constexpr int64_t kTapGroup = 4;
absl::Status PackTaps(Kernel& kernel, const Operands& operands);

// The constant in another type: converted when it is packed.
void StoreAs(Kernel& kernel, TensorId constant, DType dtype);

// The weights as f32 unless they are of a type that tiles of floats read.
void WeightsAsFloat(Kernel& kernel, TensorId weights);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CONTRACTION_PACKING_H_
