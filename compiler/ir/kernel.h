// Kernel: what one kernel computes, as an ordered list of stages over tensors. No loops, no target.
//
//   kernel @dense_relu(in %x: f32[m, 512], const %w: f32[512, 40], in %b: f32[40],
//                      out %y: f32[m, 40]) {
//     symbol m in 1..200
//     temp %acc: f32[m, 40]
//     %acc[i<m, j<40] = reduce sum(k<512) %x[i, k] * %w[k, j]
//     %y[i<m, j<40] = max(%acc[i, j] + %b[j], 0.0)
//   }
//
// A stage defines every element of its results, once, from tensors that were defined before it.
// * pointwise: no reduce axes, body over the axes.
// * reduction: a combiner over a tuple of accumulators. Each body is the lifted element; the result
//   is the combination of all of them with the identity. `sum`, `prod`, `max`, `min`, `argmax` ...
//   are names of stock combiners; any other is spelled out. A component may have more axes than the
//   others (the weighted row of attention): results[k].axis_count says how many leading axes of the
//   stage it has; reduce axes come after them in meaning.
#ifndef AOTC_COMPILER_IR_KERNEL_H_
#define AOTC_COMPILER_IR_KERNEL_H_

#include <string>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/shape.h"
#include "compiler/support/ids.h"

namespace aotc {

enum class TensorRole : uint8_t { kInput, kConstant, kOutput, kTemp };

struct KernelTensor {
  std::string name = {};  // unique within the kernel, a C identifier
  DType dtype = DType::kF32;
  Shape shape = {};  // logical
  TensorRole role = TensorRole::kInput;
  Layout layout = {};
  std::vector<Expr> strides = {};  // per storage axis, in elements; empty: dense
};

struct Axis {
  std::string name = {};  // unique within the kernel
  Expr extent = {};
};

// An associative combiner over a tuple. `combine[k]` is over the variables a0..an and b0..bn of the
// accumulators' types; a is the earlier operand.
struct Combiner {
  std::string name = {};  // stock name, or "" where spelled out
  std::vector<Expr> identity = {};
  std::vector<Expr> combine = {};
};

// The stock combiners of one accumulator: sum, prod, max, min, and, or (`and`/`or` on bool).
Combiner StockCombiner(std::string_view name, DType accumulator);
bool IsStockCombiner(std::string_view name);

struct StageResult {
  TensorId tensor = {};
  int axis_count = 0;  // leading axes that index this result; all of them but in tuple reductions
};

struct Stage {
  std::vector<StageResult> results = {};
  std::vector<Axis> axes = {};
  std::vector<Axis> reduce_axes = {};
  Combiner combiner = {};       // where reduce_axes is not empty
  std::vector<Expr> body = {};  // one per result; its dtype is the accumulator's, or the result's

  bool IsReduction() const { return !reduce_axes.empty(); }
};

struct Kernel {
  std::string name = {};
  IdVector<TensorId, KernelTensor> tensors = {};
  std::vector<TensorId> params = {};  // inputs, constants, then outputs: the order of arguments
  std::vector<Stage> stages = {};
  std::vector<Symbol> symbols = {};
  std::vector<std::string> sources = {};  // ONNX nodes it came from: "conv1 (Conv)"
};

// Temps and outputs: what a stage of the kernel computes.
inline bool IsDefined(const Kernel& kernel, TensorId id) {
  const TensorRole role = kernel.tensors[id].role;
  return role == TensorRole::kTemp || role == TensorRole::kOutput;
}

// The index is the axis itself; 0 will do where the axis has one element.
inline bool IsOwnIndex(const Expr& index, const Axis& axis) {
  if (index.IsVar()) return index->name == axis.name;
  return index.IsInt(0) && axis.extent.IsInt(1);
}

// Whether a tensor's elements share bytes: they are read one by one, and written as bytes.
bool HasSubByteTensor(const Kernel& kernel);

// Symbols of the kernel, then the axes of `stage`.
Bounds StageBounds(const Kernel& kernel, const Stage& stage);
// The stage that defines a temp or output; null for inputs and constants.
const Stage* DefiningStage(const Kernel& kernel, TensorId tensor);
// FLOP at the symbols' maxima: arithmetic on floats in all stages; a multiply-add is 2.
double KernelFlops(const Kernel& kernel);
// Bytes of all inputs, constants and outputs, each counted once, at the symbols' maxima.
double KernelBytes(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_KERNEL_H_
