// TensorBuilder: the language of op definitions. It writes stages of kernels as tensor expressions.
//
//   Tensor x = op.Input(0);
//   Tensor top = b.ReduceMax(x, {axis}, /*keep_dims=*/true);
//   Tensor e = b.Map({x, top}, [](const auto& v) { return Exp(v[0] - v[1]); });     // broadcasts
//   Tensor acc = b.Compute(f32, {m, n}, [&](const Indices& i) {
//     return b.Sum({k}, [&](const Indices& r) { ... });
//   });
//
// Values of small float types arrive in expressions as f32 (already cast) and are cast back by
// Compute.
#ifndef AOTC_COMPILER_OPS_TENSOR_BUILDER_H_
#define AOTC_COMPILER_OPS_TENSOR_BUILDER_H_

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"

namespace aotc {

using Indices = std::vector<Expr>;

class TensorBuilder;

// Two dims that have to be equal, of which that is not known.
struct DimPair {
  Expr first = {};
  Expr second = {};
};

// numpy broadcasting: the common shape. Where neither dim is 1, and whether they are equal is not
// known, the first is taken and the pair added to `unproved`; without that it is an error.
absl::StatusOr<Shape> BroadcastShapes(const std::vector<Shape>& shapes, const Bounds& bounds = {},
                                      std::vector<DimPair>* unproved = nullptr);

// A handle on a tensor of the kernel under construction.
class Tensor {
 public:
  Tensor() = default;
  Tensor(TensorBuilder* builder, TensorId id) : builder_(builder), id_(id) {}
  bool valid() const { return builder_ != nullptr; }
  TensorId id() const { return id_; }
  const Shape& shape() const;  // lives as long as the builder
  int rank() const;
  const Expr& dim(int axis) const;  // negative axes count from the end
  DType dtype() const;              // storage type
  // The element at logical indices, cast to the compute type.
  Expr operator()(const Indices& indices) const;
  // The element in its storage type: for bodies that only move elements.
  Expr Stored(const Indices& indices) const;

 private:
  TensorBuilder* builder_ = nullptr;
  TensorId id_;
};

class TensorBuilder {
 public:
  using Body = std::function<Expr(const Indices&)>;
  using ReduceBody = std::function<Expr(const Indices& axes, const Indices& reduce)>;
  using TupleBody = std::function<std::vector<Expr>(const Indices& axes, const Indices& reduce)>;

  // References to shapes of Tensors stay good as others are added.
  // `bounds` is what is known of the symbols.
  explicit TensorBuilder(std::string kernel_name, Bounds bounds = {});

  Tensor Input(std::string_view name, DType dtype, Shape shape);

  // Pointwise stage: result[i] = body(i), cast to dtype.
  Tensor Compute(DType dtype, const Shape& shape, const Body& body, std::string_view name = "t");
  // Elementwise with numpy broadcasting of the inputs, whose shapes must broadcast. The dtype,
  // unless given, is the storage type of the first input that computes in the type of the body (f16
  // for a body in f32 over f16), else the type of the body.
  Tensor Map(const std::vector<Tensor>& inputs,
             const std::function<Expr(const std::vector<Expr>&)>& body,
             DType dtype = DType::kUndefined);
  // result[i] = combine over r of body(i, r). `accumulator` is the dtype of body and combiner;
  // the result is cast to `dtype` by a following stage only where they differ.
  Tensor Reduce(std::string_view combiner, DType dtype, const Shape& shape,
                const Shape& reduce_shape, const ReduceBody& body);
  // Tuple reduction: one tensor per component, in the combiner's order, of the accumulators'
  // dtypes.
  std::vector<Tensor> ReduceTuple(const Combiner& combiner, const Shape& shape,
                                  const Shape& reduce_shape, const TupleBody& body);
  // A stock reduction of x over `axes` (normalised, ascending); accumulates, and gives a result, in
  // the compute type of x. `lift` maps each element first.
  Tensor ReduceAxes(std::string_view combiner, const Tensor& x, const std::vector<int>& axes,
                    bool keep_dims, const std::function<Expr(const Expr&)>& lift = {});
  // x with elements of `dtype`; x itself where it has that type.
  Tensor Convert(const Tensor& x, DType dtype);

  // Marks a tensor as output `index` of the kernel; an input is copied by a stage first.
  void SetOutput(size_t index, const Tensor& tensor, std::string_view name = "");

  // The finished kernel: unused stages and inputs dropped, params ordered, axes numbered, bodies
  // simplified. `symbols` are those that shapes and bodies may name; the kernel keeps the ones they
  // do.
  Kernel Finish(const std::vector<Symbol>& symbols);

  // The common shape of what is broadcast. What has to be equal, and may be, is taken to be so.
  absl::StatusOr<Shape> Broadcast(const std::vector<Shape>& shapes) {
    return BroadcastShapes(shapes, bounds_, &unproved_);
  }

  // What Map and Broadcast have taken to be equal: for the caller to require.
  const std::vector<DimPair>& unproved() const { return unproved_; }

  const KernelTensor& tensor(TensorId id) const {
    return tensors_[static_cast<size_t>(id.index())];
  }
  // The part of `name` that a C identifier may hold, made different from all tensors' names.
  std::string UniqueName(std::string_view name) const;

 private:
  friend class Tensor;
  std::vector<Axis> MakeAxes(const Shape& shape, std::string_view prefix);
  Tensor AddTensor(std::string_view name, DType dtype, Shape shape, TensorRole role);
  Tensor Copy(const Tensor& x);

  Kernel kernel_;                     // without its tensors until it is finished
  std::deque<KernelTensor> tensors_;  // where they stay as others are added
  Bounds bounds_;
  std::vector<DimPair> unproved_;
  std::vector<TensorId> outputs_;
  int next_axis_ = 0;
};

// Indices into a tensor of `shape` for result indices `i` of the broadcast: size-1 dims read 0.
Indices BroadcastIndices(const Shape& shape, const Indices& i);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_TENSOR_BUILDER_H_
