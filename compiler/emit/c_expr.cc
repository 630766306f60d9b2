#include "compiler/emit/c_expr.h"

#include <cmath>
#include <limits>
#include <optional>

#include "compiler/ir/expr_evaluate.h"
#include "compiler/support/literals.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Precedence of C++ operators, as far as we emit them.
enum Precedence : int {
  kTernary = 1,
  kOrOr,
  kAndAnd,
  kBitOrLevel,
  kBitXorLevel,
  kBitAndLevel,
  kEquality,
  kRelation,
  kShift,
  kSum,
  kProduct,
  kPrefix,
  kPostfix,
};

struct Infix {
  std::string_view symbol;
  int precedence = 0;  // 0: not an infix operator for these operands
};

// Infix form of an operator on lanes (masks have no short circuit) or on scalars.
Infix InfixOf(const Expr& e) {
  const DType dtype = e.arg(0).dtype();
  const bool vector = e.lanes() > 1;
  switch (e.op()) {
    case ExprOp::kAdd: return {"+", kSum};
    case ExprOp::kSub: return {"-", kSum};
    case ExprOp::kMul: return {"*", kProduct};
    case ExprOp::kDiv:
      if (IsFloat(dtype) || e.arg(1).AsInt().value_or(0) > 0) return {"/", kProduct};
      return {};
    case ExprOp::kTruncMod:
      if (!IsFloat(dtype) && e.arg(1).AsInt().value_or(0) > 0) return {"%", kProduct};
      return {};
    case ExprOp::kEq: return {"==", kEquality};
    case ExprOp::kNe: return {"!=", kEquality};
    case ExprOp::kLt: return {"<", kRelation};
    case ExprOp::kLe: return {"<=", kRelation};
    case ExprOp::kAnd: return vector ? Infix{"&", kBitAndLevel} : Infix{"&&", kAndAnd};
    case ExprOp::kOr: return vector ? Infix{"|", kBitOrLevel} : Infix{"||", kOrOr};
    case ExprOp::kBitAnd: return {"&", kBitAndLevel};
    case ExprOp::kBitOr: return {"|", kBitOrLevel};
    case ExprOp::kBitXor: return {"^", kBitXorLevel};
    default: return {};
  }
}

// Integers narrower than int are promoted by C++ and cut back after arithmetic.
bool NeedsNarrowing(const Expr& e) {
  return IsInteger(e.dtype()) && BitWidth(e.dtype()) < 32 && e.lanes() == 1 && !e.IsConst() &&
         e.op() != ExprOp::kLoad && e.op() != ExprOp::kVar && e.op() != ExprOp::kCast &&
         e.op() != ExprOp::kBitCast && e.op() != ExprOp::kSelect;
}

// Whether C++ computes an i64 as an int, as it is made of literals alone: c ? 1 : 2.
bool IsOfLiterals(const Expr& e) {
  if (e.dtype() != DType::kI64 || e.lanes() > 1) return false;
  if (e.op() == ExprOp::kSelect) return IsOfLiterals(e.arg(1)) && IsOfLiterals(e.arg(2));
  if (IsUnary(e.op()) && e.op() != ExprOp::kCast) return IsOfLiterals(e.arg(0));
  return e.IsConst();
}

// The operator with an operand that says its type, where none does.
Expr WithTypedOperand(const Expr& e) {
  if (!IsBinary(e.op()) || e.dtype() != DType::kI64) return e;
  if (!IsOfLiterals(e.arg(0)) || !IsOfLiterals(e.arg(1))) return e;
  const Expr typed = Expr::Make({.op = ExprOp::kCast, .dtype = DType::kI64, .args = {e.arg(0)}});
  return WithArgs(e, {typed, e.arg(1)});
}

// u8(round(x) + zero), zero a number of u8 in all lanes or left out.
struct RoundedByte {
  Expr x = {};
  int64_t zero = 0;
};

std::optional<RoundedByte> RoundedByteOf(const Expr& e) {
  if (e.lanes() == 1 || e.dtype() != DType::kU8 || e.arg(0).dtype() != DType::kF32) return {};
  Expr rounded = e.arg(0);
  RoundedByte byte;
  if (rounded.op() == ExprOp::kAdd && rounded.arg(1).op() == ExprOp::kBroadcast) {
    const Expr& zero = rounded.arg(1).arg(0);
    if (!zero.IsConst()) return {};
    constexpr double kMost = 255;
    const double number = zero->float_value;
    if (!(number >= 0 && number <= kMost) || number != std::floor(number)) return {};
    byte.zero = static_cast<int64_t>(number);
    rounded = rounded.arg(0);
  }
  if (rounded.op() != ExprOp::kRound) return {};
  byte.x = rounded.arg(0);
  return byte;
}

bool IsSmallestFloat(DType dtype) { return IsFloat(dtype) && BitWidth(dtype) == 8; }

}  // namespace

std::string CElementType(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "float";
    case DType::kF64: return "double";
    default: break;
  }
  if (IsFloat(dtype) && !IsSubByte(dtype)) return StrCat("aotc_", DTypeName(dtype));
  return CInterfaceType(dtype);
}

std::string CInterfaceType(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "float";
    case DType::kF64: return "double";
    case DType::kF16:
    case DType::kBF16: return "uint16_t";
    case DType::kString: return "aotc_string";
    default: break;
  }
  if (IsSubByte(dtype)) return "uint8_t";
  if (IsSignedInteger(dtype)) return StrCat("int", std::max(8, BitWidth(dtype)), "_t");
  return StrCat("uint", std::max(8, BitWidth(dtype)), "_t");
}

std::string CValueType(DType dtype, int lanes) {
  if (lanes > 1) return dtype == DType::kF32 ? "aotc_vf" : "aotc_vi";
  if (dtype == DType::kBool) return "bool";
  if (IsSubByte(dtype) && IsSignedInteger(dtype)) return "int8_t";
  if (dtype == DType::kF4E2M1) return "float";
  return CElementType(dtype);
}

std::string CLiteral(const Expr& constant) {
  const DType dtype = constant.dtype();
  if (dtype == DType::kF64) return DoubleLiteral(constant->float_value);
  if (IsFloat(dtype)) {
    std::string text = FloatLiteral(static_cast<float>(constant->float_value));
    if (dtype == DType::kF32 || IsSubByte(dtype)) return text;
    return StrCat("aotc_to_", DTypeName(dtype), "(", text, ")");
  }
  if (dtype == DType::kBool) return constant->int_value != 0 ? "true" : "false";
  const int64_t value = constant->int_value;
  if (dtype == DType::kU64) return StrCat("UINT64_C(", static_cast<uint64_t>(value), ")");
  if (dtype == DType::kU32) return StrCat(value, "u");
  if (value == std::numeric_limits<int64_t>::min()) return "INT64_MIN";
  if (value == std::numeric_limits<int32_t>::min()) return "INT32_MIN";
  return StrCat(value);
}

std::string CExprPrinter::Print(const Expr& e) const { return PrintNode(e).text; }

std::string CExprPrinter::Literal(const Expr& constant) const {
  uses_.float8 |= IsSmallestFloat(constant.dtype());
  return CLiteral(constant);
}

std::string CExprPrinter::Wrapped(const Expr& e, int least) const {
  Text text = PrintNode(e);
  return text.precedence < least ? StrCat("(", text.text, ")") : text.text;
}

bool CExprPrinter::HasData(const Expr& e) const {
  bool found = false;
  Visit(e, [&](const Expr& node) {
    found |= node.op() == ExprOp::kLoad || (node.IsVar() && is_data_ && is_data_(node->name));
  });
  return found;
}

// ONNX's integers wrap; in C++ those with a sign have no overflow, and the compiler may count on it
// (x + 1 > x). Narrow ones are computed as int, which only products of u16 leave. Indices are known
// to fit.
bool CExprPrinter::MayOverflow(const Expr& e) const {
  const ExprOp op = e.op();
  const bool grows =
      op == ExprOp::kAdd || op == ExprOp::kSub || op == ExprOp::kMul || op == ExprOp::kNeg;
  const bool is_signed = IsSignedInteger(e.dtype()) && BitWidth(e.dtype()) >= 32;
  const bool is_promoted = e.dtype() == DType::kU16 && op == ExprOp::kMul;
  return grows && (is_signed || is_promoted) && HasData(e);
}

std::string CExprPrinter::Pointer(TensorId buffer, const Expr& offset) const {
  if (offset.IsInt(0)) return buffer_name_(buffer);
  return StrCat(buffer_name_(buffer), " + ", Term(offset));
}

std::string CExprPrinter::Term(const Expr& e) const { return Wrapped(e, kSum); }

CExprPrinter::Text CExprPrinter::PrintNode(const Expr& e) const {
  uses_.vectors |= e.lanes() > 1;
  if (!NeedsNarrowing(e)) return PrintOperator(WithTypedOperand(e));
  if (IsSubByte(e.dtype())) {
    uses_.packed = true;
    return {StrCat("aotc_to_", DTypeName(e.dtype()), "(", PrintOperator(e).text, ")"), kPostfix};
  }
  return {StrCat("(", CValueType(e.dtype()), ")(", PrintOperator(e).text, ")"), kPrefix};
}

CExprPrinter::Text CExprPrinter::PrintOperator(const Expr& e) const {
  switch (e.op()) {
    case ExprOp::kConst: return {Literal(e), kPostfix};
    case ExprOp::kVar: return {e->name, kPostfix};
    case ExprOp::kLoad: return PrintLoad(e);
    case ExprOp::kCast: return PrintCast(e);
    case ExprOp::kBitCast: return PrintBitCast(e);
    case ExprOp::kNeg:
      if (MayOverflow(e)) return PrintCall(e);
      return {StrCat("-", Wrapped(e.arg(0), kPostfix)), kPrefix};
    case ExprOp::kNot:
      return {StrCat(e.lanes() > 1 ? "~" : "!", Wrapped(e.arg(0), kPostfix)), kPrefix};
    case ExprOp::kBitNot: return {StrCat("~", Wrapped(e.arg(0), kPostfix)), kPrefix};
    case ExprOp::kSelect:
      if (e.arg(0).lanes() > 1) return PrintCall(e);
      return {StrCat(Wrapped(e.arg(0), kOrOr), " ? ", Wrapped(e.arg(1), kOrOr), " : ",
                     Wrapped(e.arg(2), kTernary)),
              kTernary};
    default: return IsBinary(e.op()) ? PrintBinary(e) : PrintCall(e);
  }
}

CExprPrinter::Text CExprPrinter::PrintBinary(const Expr& e) const {
  const Infix infix = InfixOf(e);
  if (infix.precedence == 0 || MayOverflow(e)) return PrintCall(e);
  // Compilers warn of && inside ||, of a comparison in a comparison, and of any other operator in
  // one on bits or masks.
  const bool is_logic = infix.precedence <= kAndAnd;
  const bool is_bitwise = !is_logic && infix.precedence <= kBitAndLevel;
  const bool associates =
      is_logic || is_bitwise ? e.arg(0).op() == e.op() : infix.precedence > kRelation;
  const int right = is_logic ? kEquality : is_bitwise ? kPrefix : infix.precedence + 1;
  const int left = associates ? infix.precedence : right;
  return {StrCat(Wrapped(e.arg(0), left), " ", infix.symbol, " ", Wrapped(e.arg(1), right)),
          infix.precedence};
}

std::string CExprPrinter::VectorLoad(const Expr& load) const {
  const Expr& stride = load.arg(1);
  std::string arguments = Pointer(load->tensor, load.arg(0));
  std::string name = "aotc_load";
  if (!stride.IsInt(1)) {
    name += "_strided";
    StrAppend(&arguments, ", ", Print(stride));
  }
  if (load.args().size() == 3) {
    name += "_first";
    StrAppend(&arguments, ", ", Print(load.arg(2)));
  }
  return StrCat(name, "(", arguments, ")");
}

CExprPrinter::Text CExprPrinter::PrintLoad(const Expr& e) const {
  const std::string name = buffer_name_(e->tensor);
  if (e.lanes() > 1) {
    const std::string lanes = VectorLoad(e);
    if (e.dtype() == DType::kBool) return {lanes + " != 0", kEquality};
    return {lanes, kPostfix};
  }
  if (IsSubByte(e.dtype())) {
    return {StrCat("aotc_load_", DTypeName(e.dtype()), "(", name, ", ", Print(e.arg(0)), ")"),
            kPostfix};
  }
  std::string element = StrCat(name, "[", Print(e.arg(0)), "]");
  if (is_shared_ && is_shared_(e->tensor)) {
    element = StrCat("(", CElementType(e.dtype()), ")", element);
    if (e.dtype() != DType::kBool) return {element, kPrefix};
  }
  if (e.dtype() == DType::kBool) return {StrCat(element, " != 0"), kEquality};
  return {element, kPostfix};
}

CExprPrinter::Text CExprPrinter::PrintCast(const Expr& e) const {
  const Expr& x = e.arg(0);
  const DType from = x.dtype(), to = e.dtype();
  // A vector load of a small type converts already.
  if (e.lanes() > 1 && x.op() == ExprOp::kLoad && ComputeType(from) == to) return PrintLoad(x);
  const bool plain =
      e.lanes() == 1 &&
      ((!IsFloat(from) && BitWidth(to) >= 8 && to != DType::kBool && ComputeType(to) == to) ||
       (to == DType::kF64 && from == DType::kF32) || (to == DType::kF32 && from == DType::kF64));
  if (plain) return {StrCat("(", CValueType(to), ")", Wrapped(x, kPrefix)), kPrefix};
  if (to == DType::kBool) {
    return {StrCat(Wrapped(x, kEquality + 1), " != ", Literal(NumberConst(0, from))), kEquality};
  }
  uses_.functions = true;
  uses_.float8 |= IsSmallestFloat(to);
  uses_.packed |= IsSubByte(to);
  if (const std::optional<RoundedByte> byte = RoundedByteOf(e)) {
    return {StrCat("aotc_round_to_u8(", Print(byte->x), ", ", byte->zero, ")"), kPostfix};
  }
  return {StrCat("aotc_to_", DTypeName(to), "(", Print(x), ")"), kPostfix};
}

// Values of f4e2m1 are floats, those of all other types are as they are stored.
CExprPrinter::Text CExprPrinter::PrintBitCast(const Expr& e) const {
  const DType from = e.arg(0).dtype(), to = e.dtype();
  uses_.functions = true;
  uses_.float8 |= IsSmallestFloat(from) || IsSmallestFloat(to);
  uses_.packed |= IsSubByte(to);
  std::string function = StrCat("aotc_bit_cast<", CValueType(to), ">");
  if (from == DType::kF4E2M1) function = "aotc_bits_of_f4e2m1";
  if (to == DType::kF4E2M1) function = "aotc_f4e2m1_of_bits";
  return {StrCat(function, "(", Print(e.arg(0)), ")"), kPostfix};
}

CExprPrinter::Text CExprPrinter::PrintCall(const Expr& e) const {
  uses_.functions = true;
  std::string name = StrCat("aotc_", ExprOpName(e.op()));
  std::vector<Expr> args = e.args();
  if ((e.op() == ExprOp::kMax || e.op() == ExprOp::kMin) && IsFloat(e.dtype())) {
    if (PutsConstantFirst(e)) std::swap(args[0], args[1]);
    if (IsKnownNumber(args[0])) name += "_known";
  }
  if (e.op() == ExprOp::kLaneSum) name = "aotc_sum_lanes";
  if (e.op() == ExprOp::kLaneMax) name = "aotc_max_lanes";
  if (e.op() == ExprOp::kLaneMin) name = "aotc_min_lanes";
  std::string text = StrCat(name, "(");
  if (e.op() == ExprOp::kBroadcast && e.dtype() != DType::kF32) {
    StrAppend(&text, "(int32_t)");
    return {StrCat(text, Wrapped(args[0], kPrefix), ")"), kPostfix};
  }
  for (size_t i = 0; i < args.size(); ++i) {
    StrAppend(&text, i == 0 ? "" : ", ", Print(args[i]));
  }
  return {text + ")", kPostfix};
}

}  // namespace aotc
