#include "compiler/ir/expr_text.h"

#include "absl/strings/ascii.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// How tightly an operator binds; a call or a leaf binds tightest.
enum Precedence {
  kOrLevel = 1,
  kAndLevel,
  kCompareLevel,
  kSumLevel,
  kProductLevel,
  kUnaryLevel,
  kLeafLevel
};

struct Infix {
  std::string_view text;
  int level;
};

Infix InfixOf(const Expr& e, DType index) {
  switch (e.op()) {
    case ExprOp::kOr: return {" || ", kOrLevel};
    case ExprOp::kAnd: return {" && ", kAndLevel};
    case ExprOp::kEq: return {" == ", kCompareLevel};
    case ExprOp::kNe: return {" != ", kCompareLevel};
    case ExprOp::kLt: return {" < ", kCompareLevel};
    case ExprOp::kLe: return {" <= ", kCompareLevel};
    case ExprOp::kAdd: return {" + ", kSumLevel};
    case ExprOp::kSub: return {" - ", kSumLevel};
    // Products in indices are written tight, so that sums stand out.
    case ExprOp::kMul: return {e.dtype() == index ? "*" : " * ", kProductLevel};
    case ExprOp::kDiv: return {" / ", kProductLevel};
    default: return {"", kLeafLevel};
  }
}

std::string LanesOf(const Expr& e) { return e.lanes() == 1 ? "" : StrCat("<", e.lanes(), ">"); }

std::string PrintConst(const Expr& e, DType index) {
  if (e.dtype() == DType::kBool) return e->int_value != 0 ? "true" : "false";
  std::string value = IsFloat(e.dtype()) ? DoubleText(e->float_value) : StrCat(e->int_value);
  if (e.dtype() == index || e.dtype() == DType::kF32) return value;
  return StrCat(DTypeName(e.dtype()), ":", value);
}

// Names that would read as something else, or are no identifiers, carry a sigil.
std::string PrintVar(const Expr& e) {
  const std::string& name = e->name;
  bool plain = !name.empty() && !absl::ascii_isdigit(name[0]) && !ParseDType(name);
  for (char c : name) plain &= absl::ascii_isalnum(c) || c == '_';
  for (std::string_view word : {"inf", "nan", "true", "false"}) plain &= name != word;
  return StrCat(plain ? name : StrCat("$", QuotedText(name)), LanesOf(e));
}

class Printer {
 public:
  Printer(const TensorNames& names, DType index) : names_(names), index_(index) {}

  std::string Print(const Expr& e, int level) const {
    auto [text, own_level] = PrintAt(e);
    return own_level < level ? StrCat("(", text, ")") : text;
  }

 private:
  std::pair<std::string, int> PrintAt(const Expr& e) const {
    switch (e.op()) {
      case ExprOp::kConst: return {PrintConst(e, index_), kLeafLevel};
      case ExprOp::kVar: return {PrintVar(e), kLeafLevel};
      case ExprOp::kLoad: return {PrintLoad(e), kLeafLevel};
      case ExprOp::kCast: return {StrCat(DTypeName(e.dtype()), "(", PrintList(e), ")"), kLeafLevel};
      case ExprOp::kBitCast:
        return {StrCat(kBitsPrefix, DTypeName(e.dtype()), "(", PrintList(e), ")"), kLeafLevel};
      case ExprOp::kNot: return {StrCat("!", Print(e.arg(0), kUnaryLevel)), kUnaryLevel};
      case ExprOp::kNeg:
        // -3 is a constant, so the negation of one is written as a call.
        if (e.arg(0).IsConst()) return {StrCat("neg(", PrintList(e), ")"), kLeafLevel};
        return {StrCat("-", Print(e.arg(0), kUnaryLevel)), kUnaryLevel};
      default: return PrintOperator(e);
    }
  }

  std::pair<std::string, int> PrintOperator(const Expr& e) const {
    auto [text, level] = InfixOf(e, index_);
    if (level == kLeafLevel) {
      bool states_lanes = e.op() == ExprOp::kBroadcast || e.op() == ExprOp::kRamp;
      std::string lanes = states_lanes ? LanesOf(e) : "";
      return {StrCat(ExprOpName(e.op()), lanes, "(", PrintList(e), ")"), kLeafLevel};
    }
    int left_level = level == kCompareLevel ? level + 1 : level;
    return {StrCat(Print(e.arg(0), left_level), text, Print(e.arg(1), level + 1)), level};
  }

  std::string PrintLoad(const Expr& e) const {
    std::string name = names_ ? names_(e->tensor) : StrCat("t", e->tensor.index());
    return StrCat("%", name, LanesOf(e), "[", PrintList(e), "]");
  }

  std::string PrintList(const Expr& e) const {
    return StrJoin(e.args(), ", ", [&](const Expr& arg) { return Print(arg, kOrLevel); });
  }

  const TensorNames& names_;
  DType index_;
};

}  // namespace

std::string PrintExpr(const Expr& e, const TensorNames& tensor_name, DType index) {
  return e.valid() ? Printer(tensor_name, index).Print(e, kOrLevel) : "?";
}

}  // namespace aotc
