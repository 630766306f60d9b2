// What several families of op definitions share: checks of operand types, typed constants, index
// algebra.
//
//   AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, BroadcastInputs(op, 0, 2));   // two, of one dtype
//   op.SetOutput(0, op.b().Map(x, [](const auto& v) { return v[0] * Number(0.5, v[0]); }));
#ifndef AOTC_COMPILER_OPS_HELPERS_H_
#define AOTC_COMPILER_OPS_HELPERS_H_

#include <string>
#include <vector>

#include "compiler/ops/op.h"

namespace aotc {

std::string TypeName(DType type);

// Error where `x` does not hold floats / holds bools.
absl::Status RequireFloat(const Tensor& x);
absl::Status RequireNumber(const Tensor& x);
absl::Status RequireSameType(const std::vector<Tensor>& tensors);
inline constexpr int kAnyRank = 1 << 20;
absl::Status RequireRank(const Tensor& x, int least, int most = kAnyRank);
// An input of a type and of ranks that the op alone may be given. Error: of another.
absl::StatusOr<Tensor> TypedInput(OpContext& op, size_t index, DType type, int least, int most);
inline absl::StatusOr<Tensor> TypedInput(OpContext& op, size_t index, DType type, int rank) {
  return TypedInput(op, index, type, rank, rank);
}
// Error where the shapes broadcast in no run.
absl::Status RequireBroadcast(const OpContext& op, const std::vector<Tensor>& tensors);

// Inputs [first, first + count) as operands of one dtype whose shapes broadcast.
absl::StatusOr<std::vector<Tensor>> BroadcastInputs(OpContext& op, size_t first, size_t count);

// A constant of the type of `like`.
Expr Number(double value, const Expr& like);
// 0 <= index < extent
Expr InBounds(const Expr& index, const Expr& extent);
Expr Clamp(const Expr& x, const Expr& low, const Expr& high);
// The indices of the element at a row-major position of a tensor, which LinearIndex takes back.
Indices Unraveled(const Expr& position, const Shape& dims);
// A float cast to a float type, limited to its finite values; NaN stays. What is beyond them is
// infinity, or NaN, for a plain cast.
Expr CastWithin(DType type, const Expr& x);
bool IsFloat8(DType type);
// Error where a constant has not one element; nullptr is no constant and none.
absl::Status RequireOneElement(const Constant* constant);
// The one element of an input, a tensor of one, as a number of that type. Error: it has another
// number of elements.
absl::StatusOr<Expr> OneElement(OpContext& op, size_t index, DType dtype);
// The elements of an input that gives sizes. FailedPrecondition: they are not known, and of a type
// whose elements are no sizes, floats say: an op of ours has to work the sizes out first.
absl::StatusOr<std::vector<Expr>> SizeElements(const OpContext& op, size_t index);
// Beyond every size: what such an op gives for numbers that are none, and a run then refuses.
inline constexpr double kNoSize = double{1LL << 40};
// The value of one element of a constant.
Expr ElementOf(const Constant& constant, int64_t index, DType dtype);
// The identity of max (min) for a type: minus infinity, or the least integer, or false.
Expr LowestOf(DType dtype);
Expr HighestOf(DType dtype);
// Combines (value, position) pairs to the greatest (least) value; among equals the first position
// wins, or the last. NaN is beyond every number, as in numpy, and equal to NaN. The identity is
// beaten by every pair.
Combiner ArgCombiner(DType value_type, bool maximum, bool prefer_last);
// `values` filled up to `count` with `fallback` where the attribute is absent. Error: another
// length.
absl::StatusOr<std::vector<int64_t>> IntsOr(const OpContext& op, std::string_view name,
                                            size_t count, int64_t fallback);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_HELPERS_H_
