// A second evaluator that shares nothing with the first but the definition of Expr: one element at
// a time, by walking the tree. Slow and short; the oracle for the row evaluator.
#ifndef AOTC_TESTS_UNIT_NAIVE_EVALUATOR_H_
#define AOTC_TESTS_UNIT_NAIVE_EVALUATOR_H_

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compiler/eval/evaluate.h"
#include "compiler/support/status.h"

namespace aotc {

class NaiveEvaluator {
 public:
  NaiveEvaluator(const Kernel& kernel, const std::vector<Constant>& inputs, SymbolValues symbols)
      : kernel_(kernel), values_(kernel.tensors.size()), symbols_(std::move(symbols)) {
    size_t next = 0;
    for (TensorId id : kernel.params) {
      if (kernel.tensors[id].role == TensorRole::kOutput) continue;
      Tensor& tensor = values_[id];
      tensor.dims = inputs[next].dims();
      for (int64_t i = 0; i < inputs[next].element_count(); ++i) {
        tensor.values.push_back({inputs[next].FloatAt(i), inputs[next].IntAt(i)});
      }
      ++next;
    }
  }

  std::vector<Constant> Run() {
    for (const Stage& stage : kernel_.stages) RunStage(stage);
    std::vector<Constant> outputs;
    for (TensorId id : kernel_.params) {
      if (kernel_.tensors[id].role == TensorRole::kOutput) outputs.push_back(Pack(id));
    }
    return outputs;
  }

 private:
  struct Number {
    double f = 0;
    int64_t i = 0;
  };
  struct Tensor {
    std::vector<int64_t> dims;
    std::vector<Number> values;
  };
  using Numbers = std::map<std::string, Number>;

  Constant Pack(TensorId id) {
    DType dtype = kernel_.tensors[id].dtype;
    const Tensor& tensor = values_[id];
    std::vector<uint8_t> bytes(StorageBytes(dtype, static_cast<int64_t>(tensor.values.size())));
    for (size_t i = 0; i < tensor.values.size(); ++i) {
      int64_t index = static_cast<int64_t>(i);
      if (IsFloat(dtype)) StoreElement(dtype, bytes.data(), index, tensor.values[i].f);
      if (!IsFloat(dtype)) StoreIntElement(dtype, bytes.data(), index, tensor.values[i].i);
    }
    return Constant::Dense(dtype, tensor.dims, std::move(bytes));
  }

  void RunStage(const Stage& stage) {
    std::vector<int64_t> extents, reduce_extents;
    for (const Axis& axis : stage.axes) extents.push_back(*EvaluateInt(axis.extent, symbols_));
    for (const Axis& axis : stage.reduce_axes) {
      reduce_extents.push_back(*EvaluateInt(axis.extent, symbols_));
    }
    for (size_t k = 0; k < stage.results.size(); ++k) {
      Tensor& tensor = values_[stage.results[k].tensor];
      tensor.dims.assign(extents.begin(), extents.begin() + stage.results[k].axis_count);
      int64_t count = 1;
      for (int64_t dim : tensor.dims) count *= dim;
      tensor.values.resize(static_cast<size_t>(count));
    }
    Numbers scope;
    for (const auto& [name, value] : symbols_) scope[name] = {0, value};
    ForEach(stage.axes, extents, 0, scope, [&] { RunElement(stage, reduce_extents, scope); });
  }

  template <class F>
  void ForEach(const std::vector<Axis>& axes, const std::vector<int64_t>& extents, size_t axis,
               Numbers& scope, F f) {
    if (axis == axes.size()) return f();
    for (int64_t i = 0; i < extents[axis]; ++i) {
      scope[axes[axis].name] = {0, i};
      ForEach(axes, extents, axis + 1, scope, f);
    }
  }

  void RunElement(const Stage& stage, const std::vector<int64_t>& reduce_extents, Numbers& scope) {
    std::vector<Number> accumulators;
    if (!stage.IsReduction()) {
      for (const Expr& body : stage.body) accumulators.push_back(Value(body, scope));
    } else {
      for (const Expr& e : stage.combiner.identity) accumulators.push_back(Value(e, scope));
      ForEach(stage.reduce_axes, reduce_extents, 0, scope, [&] {
        Numbers operands;
        for (size_t k = 0; k < accumulators.size(); ++k) {
          operands["a" + std::to_string(k)] = accumulators[k];
          operands["b" + std::to_string(k)] = Value(stage.body[k], scope);
        }
        for (size_t k = 0; k < accumulators.size(); ++k) {
          accumulators[k] = Value(stage.combiner.combine[k], operands);
        }
      });
    }
    for (size_t k = 0; k < accumulators.size(); ++k) {
      Tensor& tensor = values_[stage.results[k].tensor];
      DType dtype = kernel_.tensors[stage.results[k].tensor].dtype;
      size_t offset = 0;
      for (size_t d = 0; d < tensor.dims.size(); ++d) {
        offset = offset * static_cast<size_t>(tensor.dims[d]) +
                 static_cast<size_t>(scope[stage.axes[d].name].i);
      }
      Number value = accumulators[k];
      if (IsFloat(dtype)) value.f = RoundToDType(dtype, value.f);
      tensor.values[offset] = value;
    }
  }

  Number Value(const Expr& e, const Numbers& scope) {
    if (e.IsConst()) return {RoundToDType(e.dtype(), e->float_value), e->int_value};
    if (e.IsVar()) return scope.at(e->name);
    if (e.op() == ExprOp::kSelect)
      return Value(e.arg(Value(e.arg(0), scope).i != 0 ? 1 : 2), scope);
    if (e.op() == ExprOp::kLoad) {
      Tensor& tensor = values_[e->tensor];
      size_t offset = 0;
      for (size_t d = 0; d < tensor.dims.size(); ++d) {
        int64_t index = Value(e.arg(d), scope).i;
        AOTC_CHECK(index >= 0 && index < tensor.dims[d]) << index;
        offset = offset * static_cast<size_t>(tensor.dims[d]) + static_cast<size_t>(index);
      }
      return tensor.values[offset];
    }
    Number a = Value(e.arg(0), scope);
    DType from = e.arg(0).dtype();
    if (e.op() == ExprOp::kCast) return Cast(from, e.dtype(), a);
    if (e.op() == ExprOp::kBitCast) return BitCast(from, e.dtype(), a);
    if (IsUnary(e.op())) return IsFloat(from) ? FloatUnary(e.op(), a.f) : IntUnary(e.op(), a.i);
    Number b = Value(e.arg(1), scope);
    return IsFloat(from) ? FloatBinary(e.op(), a.f, b.f)
                         : Wrapped(e.dtype(), Int(e.op(), a.i, b.i));
  }

  static Number Wrapped(DType dtype, int64_t value) {
    uint8_t bytes[8] = {};
    StoreIntElement(dtype, bytes, 0, value);
    return {0, LoadIntElement(dtype, bytes, 0)};
  }

  static Number Cast(DType from, DType to, Number a) {
    if (IsFloat(from) && IsFloat(to)) return {RoundToDType(to, a.f), 0};
    if (IsFloat(to)) return {RoundToDType(to, static_cast<double>(a.i)), 0};
    if (!IsFloat(from)) return Wrapped(to, a.i);
    uint8_t bytes[8] = {};
    StoreElement(to, bytes, 0, a.f);
    return {0, LoadIntElement(to, bytes, 0)};
  }

  static Number BitCast(DType from, DType to, Number a) {
    const int64_t bits = IsFloat(from) ? BitsOfFloat(from, a.f) : a.i;
    return IsFloat(to) ? Number{FloatOfBits(to, bits), 0} : Wrapped(to, bits);
  }

  static Number FloatUnary(ExprOp op, double x) {
    switch (op) {
      case ExprOp::kNeg: return {-x, 0};
      case ExprOp::kAbs: return {std::fabs(x), 0};
      case ExprOp::kSqrt: return {std::sqrt(x), 0};
      case ExprOp::kExp: return {std::exp(x), 0};
      case ExprOp::kLog: return {std::log(x), 0};
      case ExprOp::kTanh: return {std::tanh(x), 0};
      case ExprOp::kErf: return {std::erf(x), 0};
      case ExprOp::kFloor: return {std::floor(x), 0};
      case ExprOp::kCeil: return {std::ceil(x), 0};
      case ExprOp::kRound: return {std::nearbyint(x), 0};
      case ExprOp::kSigmoid: return {1 / (1 + std::exp(-x)), 0};
      case ExprOp::kIsNan: return {0, std::isnan(x)};
      case ExprOp::kIsInf: return {0, std::isinf(x)};
      default: break;
    }
    AOTC_CHECK(false) << ExprOpName(op);
    return {};
  }

  static Number IntUnary(ExprOp op, int64_t x) {
    if (op == ExprOp::kNeg) return {0, -x};
    if (op == ExprOp::kAbs) return {0, std::abs(x)};
    AOTC_CHECK(op == ExprOp::kNot) << ExprOpName(op);
    return {0, x == 0};
  }

  static Number FloatBinary(ExprOp op, double x, double y) {
    switch (op) {
      case ExprOp::kAdd: return {x + y, 0};
      case ExprOp::kSub: return {x - y, 0};
      case ExprOp::kMul: return {x * y, 0};
      case ExprOp::kDiv: return {x / y, 0};
      case ExprOp::kPow: return {std::pow(x, y), 0};
      case ExprOp::kMin: return {std::isnan(x) || std::isnan(y) ? NAN : std::fmin(x, y), 0};
      case ExprOp::kMax: return {std::isnan(x) || std::isnan(y) ? NAN : std::fmax(x, y), 0};
      case ExprOp::kEq: return {0, x == y};
      case ExprOp::kNe: return {0, x != y};
      case ExprOp::kLt: return {0, x < y};
      case ExprOp::kLe: return {0, x <= y};
      default: break;
    }
    AOTC_CHECK(false) << ExprOpName(op);
    return {};
  }

  static int64_t Int(ExprOp op, int64_t x, int64_t y) {
    int64_t floor = y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0));
    switch (op) {
      case ExprOp::kAdd: return x + y;
      case ExprOp::kSub: return x - y;
      case ExprOp::kMul: return x * y;
      case ExprOp::kDiv: return y == 0 ? 0 : x / y;
      case ExprOp::kFloorDiv: return floor;
      case ExprOp::kMod: return x - floor * y;
      case ExprOp::kMin: return std::min(x, y);
      case ExprOp::kMax: return std::max(x, y);
      case ExprOp::kEq: return x == y;
      case ExprOp::kNe: return x != y;
      case ExprOp::kLt: return x < y;
      case ExprOp::kLe: return x <= y;
      case ExprOp::kAnd: return x & y;
      case ExprOp::kOr: return x | y;
      default: break;
    }
    AOTC_CHECK(false) << ExprOpName(op);
    return 0;
  }

  const Kernel& kernel_;
  IdVector<TensorId, Tensor> values_;
  SymbolValues symbols_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_NAIVE_EVALUATOR_H_
