// The kernels of the slice, their data, and the comparison of what a realisation wrote with what
// the evaluator says.
#ifndef AOTC_TESTS_SLICE_SLICE_DATA_H_
#define AOTC_TESTS_SLICE_SLICE_DATA_H_

#include <string>
#include <vector>

#include "tests/slice/slice_model.h"

namespace aotc {

// The types of the one kernel text: f32; f16 operands with f32 accumulators; u8 times i8 into i32,
// requantised.
enum class SliceTypes { kFloat, kHalf, kQuantized };

// `tests/slice/dense.air` with these types and sizes.
struct DenseSizes {
  int64_t columns = 40, depth = 64;
};
absl::StatusOr<Kernel> DenseKernel(SliceTypes types, const DenseSizes& sizes = {});
// Sets constants and the destination of %y.
SliceOptions DenseOptions(const Kernel& kernel);
std::vector<Constant> DenseInputs(const Kernel& kernel, int64_t rows);

// Values that sums of products represent exactly where the type is an integer.
Constant SliceTensor(DType dtype, std::vector<int64_t> dims, uint64_t seed);

// "" where all of y, its halo, its padding, what lies around it and rowmax are as they must be.
std::string CompareDense(const Kernel& kernel, const SliceOptions& options, const SliceRun& run,
                         const std::vector<Bytes>& outputs);
// Runs and compares.
std::string CheckDense(const SliceModel& model, const SliceOptions& options, int64_t rows,
                       int workers = 1);

}  // namespace aotc

#endif  // AOTC_TESTS_SLICE_SLICE_DATA_H_
