#include "compiler/ir/kernel.h"

#include <array>
#include <limits>

#include "compiler/support/status.h"

namespace aotc {
namespace {

struct StockRow {
  std::string_view name;
  ExprOp op;
};

constexpr std::array<StockRow, 6> kStock = {{
    {"sum", ExprOp::kAdd},
    {"prod", ExprOp::kMul},
    {"max", ExprOp::kMax},
    {"min", ExprOp::kMin},
    {"and", ExprOp::kAnd},
    {"or", ExprOp::kOr},
}};

const StockRow* FindStock(std::string_view name) {
  for (const StockRow& row : kStock) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// The least (or greatest) value of a type; infinities for floats.
Expr Extreme(DType dtype, bool greatest) {
  if (IsFloat(dtype)) {
    double infinity = std::numeric_limits<double>::infinity();
    return FloatConst(greatest ? infinity : -infinity, dtype);
  }
  if (dtype == DType::kBool) return Bool(greatest);
  int bits = BitWidth(dtype);
  if (IsUnsignedInteger(dtype)) {
    uint64_t all_ones = ~uint64_t{0} >> (64 - bits);
    return IntConst(greatest ? static_cast<int64_t>(all_ones) : 0, dtype);
  }
  int64_t max = INT64_MAX >> (64 - bits);
  return IntConst(greatest ? max : -max - 1, dtype);
}

Expr IdentityOf(ExprOp op, DType dtype) {
  switch (op) {
    case ExprOp::kMul: return NumberConst(1, dtype);
    case ExprOp::kMax: return Extreme(dtype, /*greatest=*/false);
    case ExprOp::kMin: return Extreme(dtype, /*greatest=*/true);
    case ExprOp::kAnd: return Bool(true);
    case ExprOp::kOr: return Bool(false);
    default: return NumberConst(0, dtype);
  }
}

// On bool the greatest is `or` and the least is `and`.
ExprOp OnBool(ExprOp op) {
  if (op == ExprOp::kMax) return ExprOp::kOr;
  if (op == ExprOp::kMin) return ExprOp::kAnd;
  return op;
}

void AddAxes(const std::vector<Axis>& axes, Bounds& bounds) {
  for (const Axis& axis : axes) bounds.Add(axis.name, 0, axis.extent - 1);
}

bool IsArithmetic(ExprOp op) {
  if (op == ExprOp::kCast || op == ExprOp::kNot || op == ExprOp::kIsNan) return false;
  if (op == ExprOp::kIsInf || op == ExprOp::kBitCast) return false;
  return IsUnary(op) || (IsBinary(op) && !IsComparison(op));
}

struct OpCount {
  double flops = 0;
  bool reads_data = false;  // a load or an accumulator is below
};

// Arithmetic on floats; with `count_integers` also integer arithmetic on loaded values, which
// leaves index computations out.
OpCount CountArithmetic(const Expr& e, bool count_integers) {
  OpCount count;
  if (e.op() == ExprOp::kLoad) return {.reads_data = true};
  for (const Expr& arg : e.args()) {
    OpCount inner = CountArithmetic(arg, count_integers);
    count.flops += inner.flops;
    count.reads_data |= inner.reads_data;
  }
  bool counts = IsFloat(e.dtype()) || (count_integers && count.reads_data && IsInteger(e.dtype()));
  if (counts && IsArithmetic(e.op())) count.flops += 1;
  return count;
}

// One combination of accumulators: every operation of it works on data.
double CombineFlops(const Expr& combine) {
  double flops = 0;
  Visit(combine, [&](const Expr& e) {
    if (e.dtype() != DType::kBool && IsArithmetic(e.op())) flops += 1;
  });
  return flops;
}

double MaxPoints(const std::vector<Axis>& axes, size_t count, const Bounds& bounds) {
  Shape extents;
  for (size_t i = 0; i < count && i < axes.size(); ++i) extents.push_back(axes[i].extent);
  std::optional<int64_t> points = MaxElements(extents, bounds);
  return points ? static_cast<double>(*points) : std::numeric_limits<double>::infinity();
}

double StageFlops(const Stage& stage, const Bounds& bounds) {
  double reduce_points = MaxPoints(stage.reduce_axes, stage.reduce_axes.size(), bounds);
  double flops = 0;
  for (size_t i = 0; i < stage.body.size(); ++i) {
    double per_point = CountArithmetic(stage.body[i], stage.IsReduction()).flops;
    if (stage.IsReduction()) per_point += CombineFlops(stage.combiner.combine[i]);
    auto axis_count = static_cast<size_t>(stage.results[i].axis_count);
    flops += per_point * reduce_points * MaxPoints(stage.axes, axis_count, bounds);
  }
  return flops;
}

}  // namespace

Combiner StockCombiner(std::string_view name, DType accumulator) {
  const StockRow* row = FindStock(name);
  AOTC_CHECK(row != nullptr) << name;
  ExprOp op = accumulator == DType::kBool ? OnBool(row->op) : row->op;
  Expr a = Var("a0", accumulator), b = Var("b0", accumulator);
  return {.name = std::string(name),
          .identity = {IdentityOf(op, accumulator)},
          .combine = {Binary(op, a, b)}};
}

bool IsStockCombiner(std::string_view name) { return FindStock(name) != nullptr; }

bool HasSubByteTensor(const Kernel& kernel) {
  return std::any_of(kernel.tensors.begin(), kernel.tensors.end(),
                     [](const KernelTensor& tensor) { return IsSubByte(tensor.dtype); });
}

Bounds StageBounds(const Kernel& kernel, const Stage& stage) {
  Bounds bounds = BoundsOf(kernel.symbols);
  AddAxes(stage.axes, bounds);
  AddAxes(stage.reduce_axes, bounds);
  return bounds;
}

const Stage* DefiningStage(const Kernel& kernel, TensorId tensor) {
  for (const Stage& stage : kernel.stages) {
    for (const StageResult& result : stage.results) {
      if (result.tensor == tensor) return &stage;
    }
  }
  return nullptr;
}

double KernelFlops(const Kernel& kernel) {
  Bounds bounds = BoundsOf(kernel.symbols);
  double flops = 0;
  for (const Stage& stage : kernel.stages) flops += StageFlops(stage, bounds);
  return flops;
}

double KernelBytes(const Kernel& kernel) {
  constexpr double kBitsPerByte = 8;
  Bounds bounds = BoundsOf(kernel.symbols);
  double bytes = 0;
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    int bits =
        tensor.dtype == DType::kString ? ByteWidth(tensor.dtype) * 8 : BitWidth(tensor.dtype);
    std::optional<int64_t> elements = MaxElements(tensor.shape, bounds);
    if (!elements) return std::numeric_limits<double>::infinity();
    bytes += static_cast<double>(*elements) * bits / kBitsPerByte;
  }
  return bytes;
}

}  // namespace aotc
