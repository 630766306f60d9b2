#include "compiler/ir/expr.h"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/hash/hash.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// In the order of the enum.
constexpr std::array kNames = std::to_array<std::string_view>({
    "const",   "var",       "load",     "cast",       "neg",         "not",   "bit_not",
    "abs",     "sign",      "floor",    "ceil",       "round",       "trunc", "sqrt",
    "exp",     "log",       "sin",      "cos",        "tan",         "asin",  "acos",
    "atan",    "sinh",      "cosh",     "tanh",       "asinh",       "acosh", "atanh",
    "erf",     "sigmoid",   "is_nan",   "is_inf",     "add",         "sub",   "mul",
    "div",     "floor_div", "mod",      "trunc_mod",  "min",         "max",   "pow",
    "bit_and", "bit_or",    "bit_xor",  "shift_left", "shift_right", "eq",    "ne",
    "lt",      "le",        "and",      "or",         "select",      "table", "broadcast",
    "ramp",    "lane_sum",  "lane_max", "lane_min",   "bit_cast",
});
static_assert(kNames.size() == static_cast<size_t>(ExprOp::kBitCast) + 1);

bool Between(ExprOp op, ExprOp first, ExprOp last) { return first <= op && op <= last; }

size_t HashOf(const ExprNode& node) {
  size_t hash = absl::HashOf(static_cast<int>(node.op), static_cast<int>(node.dtype), node.lanes,
                             node.int_value, std::bit_cast<uint64_t>(node.float_value), node.name,
                             node.tensor.index(), node.guarded, node.args.size());
  for (const Expr& arg : node.args) hash = absl::HashOf(hash, arg->hash);
  return hash;
}

bool IsLogic(ExprOp op) { return op == ExprOp::kAnd || op == ExprOp::kOr || op == ExprOp::kNot; }

// Evaluates +, -, * on i64 constants, so that indices do not grow while they are built.
std::optional<int64_t> FoldIndex(ExprOp op, const Expr& a, const Expr& b) {
  if (a.dtype() != DType::kI64 || !a.IsConst() || !b.IsConst()) return std::nullopt;
  int64_t x = a->int_value, y = b->int_value, result = 0;
  bool overflow = true;
  if (op == ExprOp::kAdd) overflow = __builtin_add_overflow(x, y, &result);
  if (op == ExprOp::kSub) overflow = __builtin_sub_overflow(x, y, &result);
  if (op == ExprOp::kMul) overflow = __builtin_mul_overflow(x, y, &result);
  return overflow ? std::nullopt : std::optional(result);
}

// i64 identities with 0 and 1 that are always worth applying.
std::optional<Expr> TrivialIndex(ExprOp op, const Expr& a, const Expr& b) {
  if (a.dtype() != DType::kI64) return std::nullopt;
  if (auto value = FoldIndex(op, a, b)) return Expr(*value);
  if (op == ExprOp::kAdd && a.IsInt(0)) return b;
  if ((op == ExprOp::kAdd || op == ExprOp::kSub) && b.IsInt(0)) return a;
  if (op == ExprOp::kMul && (a.IsInt(0) || b.IsInt(1))) return a;
  if (op == ExprOp::kMul && (b.IsInt(0) || a.IsInt(1))) return b;
  if ((op == ExprOp::kFloorDiv) && b.IsInt(1)) return a;
  if (op == ExprOp::kMod && b.IsInt(1)) return Expr(0);
  return std::nullopt;
}

}  // namespace

std::string_view ExprOpName(ExprOp op) { return kNames[static_cast<size_t>(op)]; }

std::optional<ExprOp> ParseExprOp(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ExprOp>(i);
  }
  return std::nullopt;
}

bool IsUnary(ExprOp op) {
  return Between(op, ExprOp::kCast, ExprOp::kIsInf) || op == ExprOp::kBitCast;
}
bool IsBinary(ExprOp op) { return Between(op, ExprOp::kAdd, ExprOp::kOr); }
bool IsComparison(ExprOp op) { return Between(op, ExprOp::kEq, ExprOp::kLe); }

bool IsCommutative(ExprOp op) {
  switch (op) {
    case ExprOp::kAdd:
    case ExprOp::kMul:
    case ExprOp::kMin:
    case ExprOp::kMax:
    case ExprOp::kBitAnd:
    case ExprOp::kBitOr:
    case ExprOp::kBitXor:
    case ExprOp::kEq:
    case ExprOp::kNe:
    case ExprOp::kAnd:
    case ExprOp::kOr: return true;
    default: return false;
  }
}

Expr::Expr(int64_t value) : Expr(Make({.int_value = value})) {}

std::optional<int64_t> Expr::AsInt() const {
  if (!IsConst() || IsFloat(dtype())) return std::nullopt;
  return node_->int_value;
}

Expr Expr::Make(ExprNode node) {
  node.hash = HashOf(node);
  Expr result;
  result.node_ = std::make_shared<const ExprNode>(std::move(node));
  return result;
}

bool Same(const Expr& a, const Expr& b) {
  if (!a.valid() || !b.valid()) return a.valid() == b.valid();
  if (&*a == &*b) return true;
  return a->hash == b->hash && a->op == b->op && a->dtype == b->dtype && a->lanes == b->lanes &&
         a->int_value == b->int_value &&
         std::bit_cast<uint64_t>(a->float_value) == std::bit_cast<uint64_t>(b->float_value) &&
         a->name == b->name && a->tensor == b->tensor && a->guarded == b->guarded &&
         Same(a->args, b->args);
}

bool Same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) return false;
  }
  return true;
}

Expr IntConst(int64_t value, DType dtype) {
  return Expr::Make({.dtype = dtype, .int_value = value});
}

Expr FloatConst(double value, DType dtype) {
  return Expr::Make({.dtype = dtype, .float_value = value});
}

Expr NumberConst(double value, DType dtype) {
  if (IsFloat(dtype)) return FloatConst(value, dtype);
  return IntConst(static_cast<int64_t>(value), dtype);
}

Expr Bool(bool value) { return IntConst(value ? 1 : 0, DType::kBool); }

Expr Var(std::string_view name, DType dtype) {
  return Expr::Make({.op = ExprOp::kVar, .dtype = dtype, .name = std::string(name)});
}

Expr Load(TensorId tensor, std::vector<Expr> indices, DType dtype) {
  return Expr::Make(
      {.op = ExprOp::kLoad, .dtype = dtype, .tensor = tensor, .args = std::move(indices)});
}

Expr Cast(DType dtype, const Expr& x) {
  if (x.dtype() == dtype) return x;
  return Expr::Make({.op = ExprOp::kCast, .dtype = dtype, .lanes = x.lanes(), .args = {x}});
}

Expr BitCast(DType dtype, const Expr& x) {
  AOTC_CHECK(BitWidth(dtype) == BitWidth(x.dtype()) && x.lanes() == 1)
      << DTypeName(x.dtype()) << " as " << DTypeName(dtype);
  AOTC_CHECK((IsFloat(dtype) || IsInteger(dtype)) && (IsFloat(x.dtype()) || IsInteger(x.dtype())));
  if (!IsFloat(dtype) && !IsFloat(x.dtype())) return Cast(dtype, x);
  if (x.dtype() == dtype) return x;
  const DType bits = UnsignedOfWidth(dtype);
  if (IsSubByte(dtype) && IsSignedInteger(dtype)) return Cast(dtype, BitCast(bits, x));
  if (IsSubByte(dtype) && IsSignedInteger(x.dtype())) return BitCast(dtype, Cast(bits, x));
  return Expr::Make({.op = ExprOp::kBitCast, .dtype = dtype, .args = {x}});
}

Expr Select(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  AOTC_CHECK(condition.dtype() == DType::kBool);
  AOTC_CHECK(if_true.dtype() == if_false.dtype());
  if (auto value = condition.AsInt()) return *value != 0 ? if_true : if_false;
  return Expr::Make({.op = ExprOp::kSelect,
                     .dtype = if_true.dtype(),
                     .lanes = if_true.lanes(),
                     .args = {condition, if_true, if_false}});
}

Expr Table(const Expr& index, const std::vector<Expr>& values) {
  AOTC_CHECK(!values.empty() && index.dtype() == DType::kI64);
  std::vector<Expr> args = {index};
  for (const Expr& value : values) {
    AOTC_CHECK(value.IsConst() && value.dtype() == values[0].dtype());
    args.push_back(value);
  }
  return Expr::Make({.op = ExprOp::kTable, .dtype = values[0].dtype(), .args = std::move(args)});
}

Expr Unary(ExprOp op, const Expr& x) {
  AOTC_CHECK(IsUnary(op) && op != ExprOp::kCast && op != ExprOp::kBitCast);
  bool is_test = op == ExprOp::kIsNan || op == ExprOp::kIsInf || IsLogic(op);
  return Expr::Make(
      {.op = op, .dtype = is_test ? DType::kBool : x.dtype(), .lanes = x.lanes(), .args = {x}});
}

Expr Binary(ExprOp op, const Expr& a, const Expr& b) {
  AOTC_CHECK(IsBinary(op));
  AOTC_CHECK(a.dtype() == b.dtype())
      << ExprOpName(op) << " of " << DTypeName(a.dtype()) << " and " << DTypeName(b.dtype());
  AOTC_CHECK(a.lanes() == b.lanes()) << ExprOpName(op);
  if (auto trivial = TrivialIndex(op, a, b)) return *trivial;
  bool is_test = IsComparison(op) || IsLogic(op);
  return Expr::Make(
      {.op = op, .dtype = is_test ? DType::kBool : a.dtype(), .lanes = a.lanes(), .args = {a, b}});
}

Expr WithArgs(const Expr& e, std::vector<Expr> args) {
  ExprNode node = *e;
  node.args = std::move(args);
  return Expr::Make(std::move(node));
}

Expr operator+(const Expr& a, const Expr& b) { return Binary(ExprOp::kAdd, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return Binary(ExprOp::kSub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return Binary(ExprOp::kMul, a, b); }
Expr operator-(const Expr& a) { return Unary(ExprOp::kNeg, a); }
Expr Div(const Expr& a, const Expr& b) { return Binary(ExprOp::kDiv, a, b); }
Expr FloorDiv(const Expr& a, const Expr& b) { return Binary(ExprOp::kFloorDiv, a, b); }
Expr CeilDiv(const Expr& a, const Expr& b) { return FloorDiv(a + b - 1, b); }
Expr Mod(const Expr& a, const Expr& b) { return Binary(ExprOp::kMod, a, b); }
Expr Min(const Expr& a, const Expr& b) { return Binary(ExprOp::kMin, a, b); }
Expr Max(const Expr& a, const Expr& b) { return Binary(ExprOp::kMax, a, b); }
Expr Exp(const Expr& x) { return Unary(ExprOp::kExp, x); }
Expr Sqrt(const Expr& x) { return Unary(ExprOp::kSqrt, x); }
Expr Eq(const Expr& a, const Expr& b) { return Binary(ExprOp::kEq, a, b); }
Expr Ne(const Expr& a, const Expr& b) { return Binary(ExprOp::kNe, a, b); }
Expr Lt(const Expr& a, const Expr& b) { return Binary(ExprOp::kLt, a, b); }
Expr Le(const Expr& a, const Expr& b) { return Binary(ExprOp::kLe, a, b); }
Expr And(const Expr& a, const Expr& b) { return Binary(ExprOp::kAnd, a, b); }
Expr Or(const Expr& a, const Expr& b) { return Binary(ExprOp::kOr, a, b); }
Expr Not(const Expr& x) { return Unary(ExprOp::kNot, x); }

Expr Transform(const Expr& e, const std::function<Expr(const Expr&)>& rewrite) {
  if (e.args().empty()) return rewrite(e);
  std::vector<Expr> args;
  args.reserve(e.args().size());
  bool changed = false;
  for (const Expr& arg : e.args()) {
    args.push_back(Transform(arg, rewrite));
    changed |= &*args.back() != &*arg;
  }
  return rewrite(changed ? WithArgs(e, std::move(args)) : e);
}

Expr Substitute(const Expr& e, const Substitution& substitution) {
  if (substitution.empty()) return e;
  return Transform(e, [&](const Expr& node) {
    if (!node.IsVar()) return node;
    auto found = substitution.find(node->name);
    return found == substitution.end() ? node : found->second;
  });
}

Expr WithoutTables(const Expr& e) {
  return Transform(e, [](const Expr& node) {
    if (node.op() != ExprOp::kTable) return node;
    Expr value = node.args().back();
    for (size_t i = node.args().size() - 1; i-- > 1;) {
      const auto index = static_cast<int64_t>(i) - 1;
      value = Select(Eq(node.arg(0), index), node.arg(i), value);
    }
    return value;
  });
}

void Visit(const Expr& e, const std::function<void(const Expr&)>& visit) {
  for (const Expr& arg : e.args()) Visit(arg, visit);
  visit(e);
}

std::set<std::string> FreeVars(const Expr& e) {
  std::set<std::string> names;
  Visit(e, [&](const Expr& node) {
    if (node.IsVar()) names.insert(node->name);
  });
  return names;
}

bool UsesVar(const Expr& e, std::string_view name) {
  bool found = false;
  Visit(e, [&](const Expr& node) { found |= node.IsVar() && node->name == name; });
  return found;
}

bool NamesAny(const Expr& e, const std::set<std::string>& names) {
  bool found = false;
  if (names.empty()) return found;
  Visit(e, [&](const Expr& node) { found |= node.IsVar() && names.contains(node->name); });
  return found;
}

int64_t TermCount(const Expr& e) {
  int64_t count = 0;
  Visit(e, [&](const Expr&) { ++count; });
  return count;
}

std::vector<Expr> LoadsOf(const Expr& e) {
  std::vector<Expr> loads;
  Visit(e, [&](const Expr& node) {
    if (node.op() != ExprOp::kLoad) return;
    for (const Expr& seen : loads) {
      if (Same(seen, node)) return;
    }
    loads.push_back(node);
  });
  return loads;
}

}  // namespace aotc
