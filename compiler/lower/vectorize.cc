#include "compiler/lower/vectorize.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace aotc {
namespace {

// Operators that runtime-lite has on vectors of f32.
bool HasVectorForm(ExprOp op) {
  switch (op) {
    case ExprOp::kNeg:
    case ExprOp::kAbs:
    case ExprOp::kFloor:
    case ExprOp::kCeil:
    case ExprOp::kRound:
    case ExprOp::kSqrt:
    case ExprOp::kExp:
    case ExprOp::kLog:
    case ExprOp::kTanh:
    case ExprOp::kErf:
    case ExprOp::kSigmoid:
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul:
    case ExprOp::kDiv:
    case ExprOp::kMin:
    case ExprOp::kMax:
    case ExprOp::kEq:
    case ExprOp::kNe:
    case ExprOp::kLt:
    case ExprOp::kLe:
    case ExprOp::kAnd:
    case ExprOp::kOr:
    case ExprOp::kNot:
    case ExprOp::kSelect: return true;
    default: return false;
  }
}

// Types whose contiguous loads runtime-lite widens to f32.
bool IsVectorFloat(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

// Types that runtime-lite widens to i32, beside bool, which it makes a mask.
bool IsVectorInteger(DType dtype) {
  return dtype == DType::kI32 || dtype == DType::kU8 || dtype == DType::kI8;
}

// On vectors of integers, which hold narrower ones as i32; the other operators are for floats.
bool HasIntegerVectorForm(ExprOp op, DType dtype) {
  switch (op) {
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul: return dtype == DType::kI32;
    case ExprOp::kMin:
    case ExprOp::kMax:
    case ExprOp::kSelect: return IsVectorInteger(dtype);
    default: return false;
  }
}

bool UsesVector(const Expr& e, const Lanes& lanes) {
  return std::any_of(lanes.vectors.begin(), lanes.vectors.end(),
                     [&](const auto& vector) { return UsesVar(e, vector.first); });
}

class Vectorizer {
 public:
  Vectorizer(const Lanes& lanes, const Bounds& bounds) : lanes_(lanes), bounds_(bounds) {}

  std::optional<Expr> Run(const Expr& e) {
    if (e.IsVar()) {
      auto found = lanes_.vectors.find(e->name);
      if (found != lanes_.vectors.end()) return found->second;
    }
    if (!DependsOnLane(e, lanes_)) return Uniform(e);
    if (e.dtype() == DType::kI64) return Index(e);
    if (e.op() == ExprOp::kLoad) return VectorLoad(e);
    if (e.op() == ExprOp::kCast) return VectorCast(e);
    if (e.op() == ExprOp::kSelect) {
      if (!DependsOnLane(e.arg(0), lanes_)) return UniformSelect(e);
      if (HasGuardedLoad(e)) return std::nullopt;  // both sides would be read
    }
    if (!HasVectorForm(e.op())) return std::nullopt;
    const bool is_integer = HasIntegerVectorForm(e.op(), e.dtype());
    if (e.dtype() != DType::kF32 && e.dtype() != DType::kBool && !is_integer) return std::nullopt;
    std::vector<Expr> args;
    for (const Expr& arg : e.args()) {
      std::optional<Expr> vector = Run(arg);
      if (!vector) return arg.dtype() == DType::kI64 ? ComparedWithSum(e) : std::nullopt;
      args.push_back(*std::move(vector));
    }
    return Expr::Make({.op = e.op(), .dtype = e.dtype(), .lanes = lanes_.count, .args = args});
  }

 private:
  std::optional<Expr> Uniform(const Expr& e) {
    const bool is_value = e.dtype() == DType::kF32 || IsVectorInteger(e.dtype());
    if (is_value) return InAllLanes(e, lanes_.count);
    if (e.dtype() == DType::kI64) return InAllLanes(Saturated(e), lanes_.count);
    // A condition that is the same in all lanes: as a mask.
    if (e.dtype() == DType::kBool) {
      const Expr as_int = Select(e, Expr(1), Expr(0));
      return Expr::Make(
          {.op = ExprOp::kNe,
           .dtype = DType::kBool,
           .lanes = lanes_.count,
           .args = {InAllLanes(as_int, lanes_.count), InAllLanes(Expr(0), lanes_.count)}});
    }
    return std::nullopt;
  }

  // base and stride of an index that is affine in the lane variable.
  std::optional<std::pair<Expr, Expr>> BaseAndStride(const Expr& index) const {
    if (UsesVector(index, lanes_)) return std::nullopt;
    std::optional<Affine> affine = AsAffine(index, {lanes_.var}, bounds_);
    if (!affine) return std::nullopt;
    auto found = affine->coefficients.find(lanes_.var);
    const Expr stride = found == affine->coefficients.end() ? Expr(0) : found->second;
    return std::pair(Simplify(affine->rest + stride * lanes_.first, bounds_), stride);
  }

  // One condition for all lanes stays a branch: only the chosen side is evaluated.
  std::optional<Expr> UniformSelect(const Expr& e) {
    std::optional<Expr> yes = Run(e.arg(1)), no = Run(e.arg(2));
    if (!yes || !no) return std::nullopt;
    return Expr::Make({.op = ExprOp::kSelect,
                       .dtype = e.dtype(),
                       .lanes = lanes_.count,
                       .args = {e.arg(0), *yes, *no}});
  }

  static bool HasGuardedLoad(const Expr& e) {
    bool found = false;
    Visit(e, [&](const Expr& node) { found |= node->guarded; });
    return found;
  }

  // Lanes of indices have 32 bits. What they are compared with, a value of the run perhaps, is as
  // far beyond them at the ends of that range as anywhere.
  Expr Saturated(const Expr& e) const {
    const Interval range = RangeOf(e, bounds_);
    if (range.min >= INT32_MIN && range.max <= INT32_MAX) return e;
    return Max(Min(e, INT32_MAX), INT32_MIN);
  }

  // Indices are ramps.
  std::optional<Expr> Index(const Expr& e) {
    const Interval range = RangeOf(e, bounds_);
    if (range.min <= INT32_MIN || range.max >= INT32_MAX) return std::nullopt;
    auto parts = BaseAndStride(e);
    if (!parts) return std::nullopt;
    return Expr::Make({.op = ExprOp::kRamp,
                       .dtype = DType::kI64,
                       .lanes = lanes_.count,
                       .args = {parts->first, parts->second}});
  }

  // A comparison of which one side is a sum of the lane and a value of the run, which is as good as
  // one of the lane with the rest.
  std::optional<Expr> ComparedWithSum(const Expr& e) const {
    const auto parts = BaseAndStride(e.arg(0) - e.arg(1));
    if (!parts || !parts->second.IsConst()) return std::nullopt;
    const Interval lanes = RangeOf(parts->second * (lanes_.count - 1), bounds_);
    if (lanes.min <= INT32_MIN || lanes.max >= INT32_MAX) return std::nullopt;
    const Expr ramp = Expr::Make({.op = ExprOp::kRamp,
                                  .dtype = DType::kI64,
                                  .lanes = lanes_.count,
                                  .args = {Expr(0), parts->second}});
    const Expr rest = Simplify(Expr(0) - parts->first, bounds_);
    return Expr::Make({.op = e.op(),
                       .dtype = DType::kBool,
                       .lanes = lanes_.count,
                       .args = {ramp, InAllLanes(Saturated(rest), lanes_.count)}});
  }

  std::optional<Expr> VectorLoad(const Expr& load) {
    const bool is_mask = load.dtype() == DType::kBool;
    if (!is_mask && !IsVectorFloat(load.dtype()) && !IsVectorInteger(load.dtype()))
      return std::nullopt;
    auto parts = BaseAndStride(load.arg(0));
    if (!parts) return std::nullopt;
    const auto& [base, stride] = *parts;
    if (stride.IsInt(0)) return InAllLanes(Load(load->tensor, {base}, load.dtype()), lanes_.count);
    std::vector<Expr> args = {base, stride};
    const Expr count = lanes_.readable.valid() ? lanes_.readable : lanes_.active;
    if (!stride.IsInt(1) && IsVectorInteger(load.dtype())) return std::nullopt;
    if (count.valid()) args.push_back(count);
    return Expr::Make({.op = ExprOp::kLoad,
                       .dtype = load.dtype(),
                       .lanes = lanes_.count,
                       .tensor = load->tensor,
                       .args = std::move(args)});
  }

  std::optional<Expr> VectorCast(const Expr& e) {
    if (!HasVectorCast(e)) return std::nullopt;
    std::optional<Expr> x = Run(e.arg(0));
    if (!x) return std::nullopt;
    if (x->op() == ExprOp::kBroadcast) {
      return InAllLanes(Cast(e.dtype(), x->arg(0)), lanes_.count);
    }
    return Cast(e.dtype(), *x);
  }

  static bool HasVectorCast(const Expr& e) {
    const DType from = e.arg(0).dtype(), to = e.dtype();
    if (to == DType::kF32) {
      return IsVectorInteger(from) || (e.arg(0).op() == ExprOp::kLoad && IsVectorFloat(from));
    }
    if (from == DType::kF32) return IsVectorFloat(to) || IsVectorInteger(to);
    return to == DType::kI32 && IsVectorInteger(from);
  }

  const Lanes& lanes_;
  const Bounds& bounds_;
};

}  // namespace

Expr VectorVar(std::string_view name, DType dtype, int lanes) {
  return Expr::Make(
      {.op = ExprOp::kVar, .dtype = dtype, .lanes = lanes, .name = std::string(name)});
}

Expr VectorLoad(TensorId tensor, const Expr& index, DType dtype, int lanes) {
  return Expr::Make({.op = ExprOp::kLoad,
                     .dtype = dtype,
                     .lanes = lanes,
                     .tensor = tensor,
                     .args = {index, Expr(1)}});
}

Expr InAllLanes(const Expr& e, int lanes) {
  return Expr::Make({.op = ExprOp::kBroadcast, .dtype = e.dtype(), .lanes = lanes, .args = {e}});
}

bool DependsOnLane(const Expr& e, const Lanes& lanes) {
  return UsesVar(e, lanes.var) || UsesVector(e, lanes);
}

std::optional<Expr> VectorizeExpr(const Expr& e, const Lanes& lanes, const Bounds& bounds) {
  if (e.dtype() == DType::kI64) return std::nullopt;
  return Vectorizer(lanes, bounds).Run(e);
}

}  // namespace aotc
