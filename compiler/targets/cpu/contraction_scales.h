// Scales and zero points of weights that are stored as narrow integers: how they lie in memory,
// next to the panels of the weights, and the reduce axis that walks their blocks.
//
//   %acc[m, n] = reduce sum(k) %a[m, k] * (f32(i32(%w[k, n]) - i32(%z[k / 32, n])) * %s[k / 32, n])
//     =>  reduce sum(k_o, k_i), %s and %z as [N/panel, K/32, N%panel]
#ifndef AOTC_COMPILER_TARGETS_CPU_CONTRACTION_SCALES_H_
#define AOTC_COMPILER_TARGETS_CPU_CONTRACTION_SCALES_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"

namespace aotc {

// The loads with which a factor is dequantised; null: none.
struct WeightScales {
  Expr scale = {};
  Expr zero = {};
};

// Of the factor that reads `weights` in the first stage's product. Error: they are no elements of
// constants.
absl::StatusOr<WeightScales> ReadScales(const Kernel& kernel, TensorId weights);

// Packs the two and splits the reduce axis as they are blocked. Error: they are not read plainly,
// or the last block is not whole.
absl::Status PackScales(Kernel& kernel, TensorId weights, const std::string& column, int64_t panel);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CONTRACTION_SCALES_H_
