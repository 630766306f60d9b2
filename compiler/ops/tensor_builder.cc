#include "compiler/ops/tensor_builder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/expr_text.h"
#include "compiler/ops/kernel_cleanup.h"
#include "compiler/support/names.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Indices VarsOf(const std::vector<Axis>& axes) {
  Indices vars;
  for (const Axis& axis : axes) vars.push_back(Var(axis.name));
  return vars;
}

// Storage type for a body over `inputs`: see Map.
DType ResultType(const std::vector<Tensor>& inputs, DType body) {
  for (const Tensor& input : inputs) {
    if (ComputeType(input.dtype()) == body) return input.dtype();
  }
  return body;
}

std::string ShapeText(const Shape& shape) {
  return StrCat("[", StrJoin(shape, ", ", [](const Expr& dim) { return PrintExpr(dim); }), "]");
}

// Makes one more dim part of what is common so far; false where they do not broadcast.
bool JoinDim(Expr& common, const Expr& dim, const Bounds& bounds, std::vector<DimPair>* unproved) {
  if (dim.IsInt(1) || ProveEqual(common, dim, bounds)) return true;
  if (common.IsInt(1)) {
    common = dim;
    return true;
  }
  if (unproved == nullptr || Prove(Ne(common, dim), bounds) == true) return false;
  unproved->push_back({common, dim});
  return true;
}

}  // namespace

const Shape& Tensor::shape() const { return builder_->tensor(id_).shape; }
int Tensor::rank() const { return static_cast<int>(shape().size()); }
DType Tensor::dtype() const { return builder_->tensor(id_).dtype; }

const Expr& Tensor::dim(int axis) const {
  return shape()[static_cast<size_t>(axis < 0 ? axis + rank() : axis)];
}

Expr Tensor::Stored(const Indices& indices) const {
  AOTC_CHECK(static_cast<int>(indices.size()) == rank()) << builder_->tensor(id_).name;
  return Load(id_, indices, dtype());
}

Expr Tensor::operator()(const Indices& indices) const {
  return Cast(ComputeType(dtype()), Stored(indices));
}

TensorBuilder::TensorBuilder(std::string kernel_name, Bounds bounds) : bounds_(std::move(bounds)) {
  kernel_.name = std::move(kernel_name);
}

std::string TensorBuilder::UniqueName(std::string_view name) const {
  std::string base = ShortIdentifier(name, "t");
  auto taken = [&](const std::string& candidate) {
    return std::any_of(tensors_.begin(), tensors_.end(),
                       [&](const KernelTensor& tensor) { return tensor.name == candidate; });
  };
  std::string result = base;
  for (int i = 2; taken(result); ++i) result = StrCat(base, "_", i);
  return result;
}

Tensor TensorBuilder::AddTensor(std::string_view name, DType dtype, Shape shape, TensorRole role) {
  const TensorId id(static_cast<int32_t>(tensors_.size()));
  tensors_.push_back(
      {.name = UniqueName(name), .dtype = dtype, .shape = std::move(shape), .role = role});
  return Tensor(this, id);
}

Tensor TensorBuilder::Input(std::string_view name, DType dtype, Shape shape) {
  return AddTensor(name, dtype, std::move(shape), TensorRole::kInput);
}

std::vector<Axis> TensorBuilder::MakeAxes(const Shape& shape, std::string_view prefix) {
  std::vector<Axis> axes;
  for (const Expr& extent : shape) {
    axes.push_back({.name = StrCat("$", prefix, next_axis_++), .extent = extent});
  }
  return axes;
}

Tensor TensorBuilder::Compute(DType dtype, const Shape& shape, const Body& body,
                              std::string_view name) {
  Stage stage;
  stage.axes = MakeAxes(shape, "i");
  stage.body = {Cast(dtype, body(VarsOf(stage.axes)))};
  Tensor result = AddTensor(name, dtype, shape, TensorRole::kTemp);
  stage.results = {{.tensor = result.id(), .axis_count = result.rank()}};
  kernel_.stages.push_back(std::move(stage));
  return result;
}

Tensor TensorBuilder::Map(const std::vector<Tensor>& inputs,
                          const std::function<Expr(const std::vector<Expr>&)>& body, DType dtype) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  absl::StatusOr<Shape> shape = Broadcast(shapes);
  AOTC_CHECK(shape.ok()) << shape.status().message();
  auto body_at = [&](const Indices& i) {
    std::vector<Expr> values;
    for (const Tensor& input : inputs) values.push_back(input(BroadcastIndices(input.shape(), i)));
    return body(values);
  };
  if (dtype == DType::kUndefined) {
    dtype = ResultType(inputs, body_at(Indices(shape->size(), Expr(0))).dtype());
  }
  return Compute(dtype, *shape, body_at);
}

std::vector<Tensor> TensorBuilder::ReduceTuple(const Combiner& combiner, const Shape& shape,
                                               const Shape& reduce_shape, const TupleBody& body) {
  Stage stage;
  stage.axes = MakeAxes(shape, "i");
  stage.reduce_axes = MakeAxes(reduce_shape, "r");
  stage.body = body(VarsOf(stage.axes), VarsOf(stage.reduce_axes));
  if (stage.IsReduction()) stage.combiner = combiner;
  std::vector<Tensor> results;
  for (const Expr& component : stage.body) {
    results.push_back(AddTensor("acc", component.dtype(), shape, TensorRole::kTemp));
    stage.results.push_back({.tensor = results.back().id(), .axis_count = results.back().rank()});
  }
  kernel_.stages.push_back(std::move(stage));
  return results;
}

Tensor TensorBuilder::Reduce(std::string_view combiner, DType dtype, const Shape& shape,
                             const Shape& reduce_shape, const ReduceBody& body) {
  DType accumulator =
      body(Indices(shape.size(), Expr(0)), Indices(reduce_shape.size(), Expr(0))).dtype();
  auto lifted = [&](const Indices& i, const Indices& r) { return std::vector<Expr>{body(i, r)}; };
  Tensor total = ReduceTuple(StockCombiner(combiner, accumulator), shape, reduce_shape, lifted)[0];
  return Convert(total, dtype);
}

Tensor TensorBuilder::ReduceAxes(std::string_view combiner, const Tensor& x,
                                 const std::vector<int>& axes, bool keep_dims,
                                 const std::function<Expr(const Expr&)>& lift) {
  Shape shape, reduce_shape;
  for (int d = 0; d < x.rank(); ++d) {
    bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (reduced) reduce_shape.push_back(x.dim(d));
    if (!reduced || keep_dims) shape.push_back(reduced ? Expr(1) : x.dim(d));
  }
  auto body = [&](const Indices& i, const Indices& r) {
    Indices indices;
    size_t next_kept = 0, next_reduced = 0;
    for (int d = 0; d < x.rank(); ++d) {
      bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
      indices.push_back(reduced ? r[next_reduced++] : i[next_kept]);
      if (!reduced || keep_dims) ++next_kept;
    }
    return lift ? lift(x(indices)) : x(indices);
  };
  return Reduce(combiner, ComputeType(x.dtype()), shape, reduce_shape, body);
}

Tensor TensorBuilder::Convert(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return Compute(dtype, x.shape(), [&](const Indices& i) { return x(i); });
}

Tensor TensorBuilder::Copy(const Tensor& x) {
  return Compute(x.dtype(), x.shape(), [&](const Indices& i) { return x.Stored(i); });
}

void TensorBuilder::SetOutput(size_t index, const Tensor& tensor, std::string_view name) {
  const bool is_temp = this->tensor(tensor.id()).role == TensorRole::kTemp;
  const Tensor output = is_temp ? tensor : Copy(tensor);
  KernelTensor& kept = tensors_[static_cast<size_t>(output.id().index())];
  kept.role = TensorRole::kOutput;
  if (!name.empty()) kept.name = UniqueName(name);
  if (outputs_.size() <= index) outputs_.resize(index + 1);
  outputs_[index] = output.id();
}

Kernel TensorBuilder::Finish(const std::vector<Symbol>& symbols) {
  for (KernelTensor& tensor : tensors_) {
    const bool is_input = tensor.role == TensorRole::kInput;
    const TensorId id = kernel_.tensors.Add(std::move(tensor));
    if (is_input) kernel_.params.push_back(id);
  }
  for (TensorId id : outputs_) {
    if (id.valid()) kernel_.params.push_back(id);
  }
  kernel_.symbols = symbols;
  return CleanKernel(std::move(kernel_));
}

absl::StatusOr<Shape> BroadcastShapes(const std::vector<Shape>& shapes, const Bounds& bounds,
                                      std::vector<DimPair>* unproved) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape result(rank, Expr(1));
  for (const Shape& shape : shapes) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (JoinDim(result[rank - shape.size() + d], shape[d], bounds, unproved)) continue;
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("shapes do not broadcast: ", StrJoin(shapes, " and ", ShapeText)));
    }
  }
  return result;
}

Indices BroadcastIndices(const Shape& shape, const Indices& i) {
  AOTC_CHECK(shape.size() <= i.size());
  Indices result;
  for (size_t d = 0; d < shape.size(); ++d) {
    result.push_back(shape[d].IsInt(1) ? Expr(0) : i[i.size() - shape.size() + d]);
  }
  return result;
}

}  // namespace aotc
