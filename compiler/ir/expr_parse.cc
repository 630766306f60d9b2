// Parser of the text form of expressions: precedence climbing, with every dtype checked.
#include <array>
#include <optional>

#include "compiler/ir/expr_text.h"
#include "compiler/support/scanner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Infix {
  std::string_view text;
  ExprOp op;
  int level;          // the higher, the tighter
  bool swap = false;  // a > b is b < a
};

constexpr int kCompareLevel = 3;
constexpr int kTightest = 5;

constexpr std::array<Infix, 12> kInfixes = {{
    {"||", ExprOp::kOr, 1},
    {"&&", ExprOp::kAnd, 2},
    {"==", ExprOp::kEq, kCompareLevel},
    {"!=", ExprOp::kNe, kCompareLevel},
    {"<", ExprOp::kLt, kCompareLevel},
    {"<=", ExprOp::kLe, kCompareLevel},
    {">", ExprOp::kLt, kCompareLevel, true},
    {">=", ExprOp::kLe, kCompareLevel, true},
    {"+", ExprOp::kAdd, 4},
    {"-", ExprOp::kSub, 4},
    {"*", ExprOp::kMul, kTightest},
    {"/", ExprOp::kDiv, kTightest},
}};

bool IsLogic(ExprOp op) { return op == ExprOp::kAnd || op == ExprOp::kOr || op == ExprOp::kNot; }

// What of a call is known before its operands: the operator, or the type of a cast.
struct Call {
  Token name = {};
  int lanes = 1;
  std::vector<Expr> args = {};
};

class Parser {
 public:
  Parser(Scanner& scanner, const ExprScope& scope) : scanner_(scanner), scope_(scope) {}

  absl::StatusOr<Expr> Parse(int level = 1) {
    constexpr int kMaxDepth = 256;
    if (depth_ >= kMaxDepth) return scanner_.Error("the expression is nested too deeply");
    ++depth_;
    absl::StatusOr<Expr> result = ParseInfix(level);
    --depth_;
    return result;
  }

 private:
  absl::StatusOr<Expr> ParseInfix(int level) {
    AOTC_ASSIGN_OR_RETURN(Expr left, ParseUnary());
    int allowed = kTightest;
    while (const Infix* infix = NextInfix(level, allowed)) {
      Token token = scanner_.Take();
      AOTC_ASSIGN_OR_RETURN(Expr right,
                            infix->level == kTightest ? ParseUnary() : Parse(infix->level + 1));
      if (infix->swap) std::swap(left, right);
      AOTC_ASSIGN_OR_RETURN(left, MakeBinary(token, infix->op, left, right));
      // a < b < c is not an expression.
      allowed = infix->level == kCompareLevel ? infix->level - 1 : infix->level;
    }
    return left;
  }

  // The operator that stands next where its level is in [least, most].
  const Infix* NextInfix(int least, int most) const {
    for (const Infix& infix : kInfixes) {
      if (infix.level >= least && infix.level <= most && scanner_.At(infix.text)) return &infix;
    }
    return nullptr;
  }

  absl::Status CheckOperands(const Token& token, ExprOp op, const std::vector<Expr>& args) const {
    for (const Expr& arg : args) {
      if (arg.dtype() != args[0].dtype()) {
        return scanner_.ErrorAt(token, StrCat("'", token.text, "' of ", DTypeName(args[0].dtype()),
                                              " and ", DTypeName(arg.dtype())));
      }
      if (arg.lanes() != args[0].lanes())
        return scanner_.ErrorAt(token, "operands differ in lanes");
      if (IsLogic(op) && arg.dtype() != DType::kBool) {
        return scanner_.ErrorAt(token, StrCat("'", token.text, "' needs bool operands"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Expr> MakeBinary(const Token& token, ExprOp op, const Expr& a, const Expr& b) {
    AOTC_RETURN_IF_ERROR(CheckOperands(token, op, {a, b}));
    return Binary(op, a, b);
  }

  absl::StatusOr<Expr> ParseUnary() {
    Token token = scanner_.Peek();
    if (scanner_.At("-") && !AtNegativeNumber()) return ParsePrefix(ExprOp::kNeg);
    if (scanner_.At("!")) return ParsePrefix(ExprOp::kNot);
    if (scanner_.TryConsume("(")) {
      AOTC_ASSIGN_OR_RETURN(Expr inner, Parse());
      AOTC_RETURN_IF_ERROR(scanner_.Expect(")"));
      return inner;
    }
    if (scanner_.AtName('%')) return ParseLoad();
    if (scanner_.AtName('$')) return ParseVar(scanner_.Take());
    if (token.kind == TokenKind::kIdentifier) return ParseWord();
    if (AtNegativeNumber() || token.kind == TokenKind::kInteger ||
        token.kind == TokenKind::kFloat) {
      return ParseNumber();
    }
    return scanner_.Error("expected an expression");
  }

  absl::StatusOr<Expr> ParsePrefix(ExprOp op) {
    constexpr int kMaxDepth = 256;
    Token token = scanner_.Take();
    if (depth_ >= kMaxDepth) return scanner_.Error("the expression is nested too deeply");
    ++depth_;
    absl::StatusOr<Expr> operand = ParseUnary();
    --depth_;
    if (!operand.ok()) return operand;
    AOTC_RETURN_IF_ERROR(CheckOperands(token, op, {*operand}));
    return Unary(op, *operand);
  }

  bool AtNegativeNumber() const {
    if (!scanner_.At("-")) return false;
    const Token& next = scanner_.Peek(1);
    if (next.kind == TokenKind::kInteger || next.kind == TokenKind::kFloat) return true;
    return next.kind == TokenKind::kIdentifier && (next.text == "inf" || next.text == "nan");
  }

  absl::StatusOr<Expr> ParseNumber() {
    const Token digits = AtNegativeNumber() ? scanner_.Peek(1) : scanner_.Peek();
    if (digits.kind == TokenKind::kInteger) return ParseTyped(digits, scope_.index);
    AOTC_ASSIGN_OR_RETURN(double value, scanner_.ExpectFloat());
    return FloatConst(value);
  }

  // A constant after its type: u8:3.
  absl::StatusOr<Expr> ParseTyped(const Token& token, DType dtype) {
    if (IsFloat(dtype)) {
      AOTC_ASSIGN_OR_RETURN(double value, scanner_.ExpectFloat());
      return FloatConst(value, dtype);
    }
    if (!IsInteger(dtype)) return scanner_.ErrorAt(token, "no constants of this type");
    AOTC_ASSIGN_OR_RETURN(int64_t value, scanner_.ExpectInteger());
    const auto [min, max] = IntegerRange(dtype);
    if (value < min || value > max)
      return scanner_.ErrorAt(token, "the type does not hold the value");
    return IntConst(value, dtype);
  }

  // A call, a typed constant, true, inf, or a variable.
  absl::StatusOr<Expr> ParseWord() {
    Token word = scanner_.Peek();
    if (word.text == "inf" || word.text == "nan") return ParseNumber();
    scanner_.Take();
    if (word.text == "true" || word.text == "false") return Bool(word.text == "true");
    std::optional<DType> dtype = ParseDType(word.text);
    if (dtype && scanner_.TryConsume(":")) return ParseTyped(word, *dtype);
    bool lanes_first = word.text == "broadcast" || word.text == "ramp";
    if (!scanner_.At("(") && !lanes_first) return ParseVar(word);
    Call call{.name = word};
    if (lanes_first) {
      AOTC_ASSIGN_OR_RETURN(call.lanes, ParseLanes(scanner_));
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    AOTC_ASSIGN_OR_RETURN(call.args, ParseList(")"));
    if (!dtype) return MakeCall(call);
    if (call.args.size() != 1) return scanner_.ErrorAt(word, "a cast takes one operand");
    return Cast(*dtype, call.args[0]);
  }

  absl::StatusOr<Expr> ParseVar(const Token& token) {
    auto found = scope_.vars.find(token.text);
    DType dtype = found == scope_.vars.end() ? scope_.index : found->second;
    AOTC_ASSIGN_OR_RETURN(int lanes, ParseLanes(scanner_));
    return Expr::Make({.op = ExprOp::kVar, .dtype = dtype, .lanes = lanes, .name = token.text});
  }

  absl::StatusOr<Expr> ParseLoad() {
    Token token = scanner_.Take();
    auto found = scope_.tensors.find(token.text);
    if (found == scope_.tensors.end()) {
      return scanner_.ErrorAt(token, StrCat("unknown tensor %", token.text));
    }
    AOTC_ASSIGN_OR_RETURN(int lanes, ParseLanes(scanner_));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("["));
    AOTC_ASSIGN_OR_RETURN(std::vector<Expr> indices, ParseList("]"));
    for (const Expr& index : indices) {
      if (!IsInteger(index.dtype())) return scanner_.ErrorAt(token, "an index is not an integer");
    }
    auto [tensor, dtype] = found->second;
    return Expr::Make({.op = ExprOp::kLoad,
                       .dtype = dtype,
                       .lanes = lanes,
                       .tensor = tensor,
                       .args = std::move(indices)});
  }

  absl::StatusOr<std::vector<Expr>> ParseList(std::string_view end) {
    std::vector<Expr> list;
    while (!scanner_.At(end)) {
      AOTC_ASSIGN_OR_RETURN(Expr item, Parse());
      list.push_back(std::move(item));
      if (!scanner_.TryConsume(",")) break;
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect(end));
    return list;
  }

  absl::StatusOr<Expr> MakeCall(const Call& call) {
    const Token& name = call.name;
    const std::vector<Expr>& args = call.args;
    std::optional<ExprOp> op = ParseExprOp(name.text);
    if (!op && name.text.starts_with(kBitsPrefix)) return MakeBitCast(call);
    if (!op) return scanner_.ErrorAt(name, StrCat("unknown function '", name.text, "'"));
    size_t count = IsUnary(*op) ? 1 : (IsBinary(*op) || *op == ExprOp::kRamp ? 2 : 0);
    if (*op == ExprOp::kSelect) count = 3;
    if (*op == ExprOp::kTable) return MakeTable(call);
    if (*op >= ExprOp::kBroadcast && *op != ExprOp::kRamp) count = 1;
    if (count == 0 || *op == ExprOp::kCast || *op == ExprOp::kBitCast)
      return scanner_.ErrorAt(name, "not a function");
    if (args.size() != count) {
      return scanner_.ErrorAt(name, StrCat(name.text, " takes ", count, " operands"));
    }
    if (*op == ExprOp::kSelect) return MakeSelect(call);
    AOTC_RETURN_IF_ERROR(CheckOperands(name, *op, args));
    if (IsUnary(*op)) return Unary(*op, args[0]);
    if (IsBinary(*op)) return Binary(*op, args[0], args[1]);
    return Expr::Make({.op = *op, .dtype = args[0].dtype(), .lanes = call.lanes, .args = args});
  }

  absl::StatusOr<Expr> MakeBitCast(const Call& call) {
    const Token& name = call.name;
    const std::optional<DType> to = ParseDType(name.text.substr(kBitsPrefix.size()));
    const auto is_number = [](DType type) { return IsFloat(type) || IsInteger(type); };
    if (!to || !is_number(*to)) return scanner_.ErrorAt(name, "bits of no type of numbers");
    if (call.args.size() != 1) return scanner_.ErrorAt(name, "a bit cast takes one operand");
    const DType from = call.args[0].dtype();
    if (!is_number(from) || BitWidth(from) != BitWidth(*to)) {
      return scanner_.ErrorAt(name, StrCat(DTypeName(from), " has not as many bits"));
    }
    return BitCast(*to, call.args[0]);
  }

  absl::StatusOr<Expr> MakeSelect(const Call& call) {
    if (call.args[0].dtype() != DType::kBool) {
      return scanner_.ErrorAt(call.name, "the condition of select is not a bool");
    }
    AOTC_RETURN_IF_ERROR(CheckOperands(call.name, ExprOp::kSelect, {call.args[1], call.args[2]}));
    return Select(call.args[0], call.args[1], call.args[2]);
  }

  absl::StatusOr<Expr> MakeTable(const Call& call) {
    const std::vector<Expr>& args = call.args;
    if (args.size() < 2 || args[0].dtype() != DType::kI64) {
      return scanner_.ErrorAt(call.name, "table takes an index and constants");
    }
    for (size_t i = 1; i < args.size(); ++i) {
      if (args[i].IsConst() && args[i].dtype() == args[1].dtype()) continue;
      return scanner_.ErrorAt(call.name, "the values of a table are constants of one type");
    }
    return Table(args[0], {args.begin() + 1, args.end()});
  }

  Scanner& scanner_;
  const ExprScope& scope_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<int> ParseLanes(Scanner& scanner) {
  constexpr int64_t kMaxLanes = 1024;
  const bool present =
      scanner.At("<") && scanner.Peek(1).kind == TokenKind::kInteger && scanner.Peek(2).text == ">";
  if (!present) return 1;
  scanner.Take();
  AOTC_ASSIGN_OR_RETURN(const int64_t lanes, scanner.ExpectInteger());
  if (lanes < 1 || lanes > kMaxLanes) return scanner.Error("impossible number of lanes");
  AOTC_RETURN_IF_ERROR(scanner.Expect(">"));
  return static_cast<int>(lanes);
}

absl::StatusOr<Expr> ParseExpr(Scanner& scanner, const ExprScope& scope) {
  return Parser(scanner, scope).Parse();
}

absl::StatusOr<Expr> ParseExpr(std::string_view text, const ExprScope& scope) {
  Scanner scanner(text);
  AOTC_ASSIGN_OR_RETURN(Expr e, ParseExpr(scanner, scope));
  AOTC_RETURN_IF_ERROR(scanner.ExpectEnd());
  return e;
}

}  // namespace aotc
