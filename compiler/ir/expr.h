// Scalar expressions: dims, indices, guards and the bodies of kernel stages.
//
// An Expr is a value: a handle on an immutable node. Equality (`Same`) and hashing are structural.
//
//   Expr i = Var("i"), n = Var("n");
//   Expr e = Max(Load(x, {i * n + 1}, DType::kF32), FloatConst(0));   // max(%x[i*n + 1], 0.0)
//
// Contract of the operators:
// * Both operands of a binary operator have one dtype; comparisons and logic give bool. The
//   builders below check it (AOTC_CHECK): whoever builds from user input converts first.
// * i64 is the type of dims and indices; it does not overflow (importers bound it). Narrower
//   integers wrap.
// * kDiv on integers truncates and gives 0 for a zero divisor; kFloorDiv and kMod round to minus
//   infinity (the remainder has the sign of the divisor); kTruncMod is C's `%` or fmod.
// * kMin and kMax propagate NaN on floats. Float identities that change NaN, infinities, -0.0 or
//   rounding are never applied by the simplifier.
// * Small floats (f16, bf16, f8, f4) are storage types: a Load has the storage type, arithmetic is
//   done after a cast to ComputeType(), and a stage's body ends with the cast back.
#ifndef AOTC_COMPILER_IR_EXPR_H_
#define AOTC_COMPILER_IR_EXPR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/dtype.h"
#include "compiler/support/ids.h"

namespace aotc {

// A tensor of the Kernel (or a buffer of the Loops) that an expression reads.
using TensorId = Id<struct TensorTag>;

enum class ExprOp : uint8_t {
  // Leaves
  kConst,
  kVar,
  kLoad,
  // Unary
  kCast,
  kNeg,
  kNot,
  kBitNot,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kSqrt,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kSigmoid,
  kIsNan,
  kIsInf,
  // Binary
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kTruncMod,
  kMin,
  kMax,
  kPow,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kEq,
  kNe,
  kLt,
  kLe,
  kAnd,
  kOr,
  // Ternary: condition, value if true, value if false (only the chosen one is evaluated)
  kSelect,
  // Index, then constants: the one that the index, of 0 or more, says; the last one beyond them.
  kTable,
  // Lanes, made by lower/vectorize: copies of a scalar; base + lane * stride; the sum, the maximum
  // or the minimum over all lanes. (A contiguous or strided load is a kLoad with lanes > 1 and
  // arguments first index, stride[, lanes to load].)
  kBroadcast,
  kRamp,
  kLaneSum,
  kLaneMax,
  kLaneMin,
  // Unary: the bits of a float as an integer of its width, of an integer as a float, or of one kind
  // of floats as another.
  kBitCast,
};

// Spelled as in the text form: "add", "exp", ...
std::string_view ExprOpName(ExprOp op);
std::optional<ExprOp> ParseExprOp(std::string_view name);
bool IsUnary(ExprOp op);
bool IsBinary(ExprOp op);
bool IsComparison(ExprOp op);
bool IsCommutative(ExprOp op);

struct ExprNode;

class Expr {
 public:
  Expr() = default;     // null
  Expr(int64_t value);  // NOLINT: an i64 constant; indices read like arithmetic
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}  // NOLINT: likewise

  bool valid() const { return node_ != nullptr; }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* operator->() const { return node_.get(); }
  inline ExprOp op() const;
  inline DType dtype() const;
  inline int lanes() const;
  inline const std::vector<Expr>& args() const;
  inline const Expr& arg(size_t i) const;

  inline bool IsConst() const;
  inline bool IsVar() const;
  // The value of an integer or bool constant.
  std::optional<int64_t> AsInt() const;
  bool IsInt(int64_t value) const { return AsInt() == value; }

  // Makes a node; the hash is filled in here. For the builders, passes and parsers.
  static Expr Make(ExprNode node);

 private:
  std::shared_ptr<const ExprNode> node_;
};

struct ExprNode {
  ExprOp op = ExprOp::kConst;
  DType dtype = DType::kI64;
  int lanes = 1;                // > 1 only after lower/vectorize
  int64_t int_value = 0;        // kConst of an integer or bool type
  double float_value = 0;       // kConst of a float type
  std::string name = {};        // kVar
  TensorId tensor = {};         // kLoad
  bool guarded = false;         // kLoad: only the condition around it keeps it within storage
  std::vector<Expr> args = {};  // operands; indices of a kLoad
  size_t hash = 0;
};

inline ExprOp Expr::op() const { return node_->op; }
inline DType Expr::dtype() const { return node_->dtype; }
inline int Expr::lanes() const { return node_->lanes; }
inline const std::vector<Expr>& Expr::args() const { return node_->args; }
inline const Expr& Expr::arg(size_t i) const { return node_->args[i]; }
inline bool Expr::IsConst() const { return valid() && op() == ExprOp::kConst; }
inline bool Expr::IsVar() const { return valid() && op() == ExprOp::kVar; }

// Structural equality; two null expressions are the same. NaN constants equal themselves.
bool Same(const Expr& a, const Expr& b);
bool Same(const std::vector<Expr>& a, const std::vector<Expr>& b);

// --- Builders ---------------------------------------------------------------------------------
Expr IntConst(int64_t value, DType dtype = DType::kI64);
Expr FloatConst(double value, DType dtype = DType::kF32);
// A constant of any arithmetic type from a double that it can represent.
Expr NumberConst(double value, DType dtype);
Expr Bool(bool value);
Expr Var(std::string_view name, DType dtype = DType::kI64);
Expr Load(TensorId tensor, std::vector<Expr> indices, DType dtype);
// `x` itself where it already has the type.
Expr Cast(DType dtype, const Expr& x);
// The bits of `x` as another type of as many bits: a cast between integers, `x` itself where it has
// the type. AOTC_CHECK: both are numbers of equal width; bool is none.
Expr BitCast(DType dtype, const Expr& x);
Expr Select(const Expr& condition, const Expr& if_true, const Expr& if_false);
// AOTC_CHECK: the values are constants of one type, at least one.
Expr Table(const Expr& index, const std::vector<Expr>& values);
// Any unary or binary operator by its name in the enum, but casts.
Expr Unary(ExprOp op, const Expr& x);
Expr Binary(ExprOp op, const Expr& a, const Expr& b);
// The same node with other operands.
Expr WithArgs(const Expr& e, std::vector<Expr> args);

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr Div(const Expr& a, const Expr& b);
Expr FloorDiv(const Expr& a, const Expr& b);
Expr CeilDiv(const Expr& a, const Expr& b);  // i64: floor_div(a + b - 1, b)
Expr Mod(const Expr& a, const Expr& b);
Expr Min(const Expr& a, const Expr& b);
Expr Max(const Expr& a, const Expr& b);
Expr Exp(const Expr& x);
Expr Sqrt(const Expr& x);
Expr Eq(const Expr& a, const Expr& b);
Expr Ne(const Expr& a, const Expr& b);
Expr Lt(const Expr& a, const Expr& b);
Expr Le(const Expr& a, const Expr& b);
Expr And(const Expr& a, const Expr& b);
Expr Or(const Expr& a, const Expr& b);
Expr Not(const Expr& x);

// --- Walks ------------------------------------------------------------------------------------
// Variables by name to what replaces them.
using Substitution = std::map<std::string, Expr, std::less<>>;
Expr Substitute(const Expr& e, const Substitution& substitution);
// Rebuilds bottom-up: `rewrite` sees each node after its operands were rewritten.
Expr Transform(const Expr& e, const std::function<Expr(const Expr&)>& rewrite);
// The same with tables as chains of selects, for those who know no other choice.
Expr WithoutTables(const Expr& e);
// Visits every node, operands first.
void Visit(const Expr& e, const std::function<void(const Expr&)>& visit);
// Names of the variables in `e`.
std::set<std::string> FreeVars(const Expr& e);
bool UsesVar(const Expr& e, std::string_view name);
// Whether it names one of the variables.
bool NamesAny(const Expr& e, const std::set<std::string>& names);
// Nodes of `e` as a tree: what its text would write.
int64_t TermCount(const Expr& e);
// Limit of an expression that others are substituted into. Each of a chain of x * sigmoid(x)
// doubles what it reads: thirty of them would give a statement of 10^9 terms.
inline constexpr int64_t kMostTerms = 512;
// All kLoad nodes of `e` in order of first visit; equal ones once.
std::vector<Expr> LoadsOf(const Expr& e);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_EXPR_H_
