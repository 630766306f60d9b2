#include "compiler/import/dim_parser.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "compiler/ir/expr_simplify.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int kMaxDepth = 50;
// Numbers above this in a dim are refused, so that no product of a few overflows while it is built.
constexpr int64_t kMaxNumber = int64_t{1} << 31;

// numerator / denominator, the latter positive.
struct Fraction {
  Expr numerator;
  int64_t denominator = 1;
};
using MaybeFraction = std::optional<Fraction>;

constexpr size_t kMaxDecimals = 6;

bool IsDigit(char c) { return absl::ascii_isdigit(c); }
bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }

MaybeFraction Scaled(const Expr& numerator, int64_t a, int64_t b) {
  int64_t denominator = 0;
  if (__builtin_mul_overflow(a, b, &denominator) || denominator > kMaxNumber) return std::nullopt;
  return Fraction{numerator, denominator};
}

MaybeFraction Sum(const Fraction& a, const Fraction& b, bool subtract) {
  Expr left = a.numerator * b.denominator;
  Expr right = b.numerator * a.denominator;
  return Scaled(subtract ? left - right : left + right, a.denominator, b.denominator);
}

// The whole number that a fraction is; nothing where that cannot be shown.
std::optional<Expr> Whole(const Fraction& value) {
  if (value.denominator == 1) return value.numerator;
  if (!ProveDivisible(value.numerator, value.denominator)) return std::nullopt;
  return FloorDiv(value.numerator, value.denominator);
}

MaybeFraction Quotient(const Fraction& a, const Fraction& b) {
  std::optional<Expr> divisor = Whole(b);
  std::optional<int64_t> number = divisor ? Simplify(*divisor).AsInt() : std::nullopt;
  if (!number || *number == 0) return std::nullopt;
  if (*number < 0) return Scaled(a.numerator * -1, a.denominator, -*number);
  return Scaled(a.numerator, a.denominator, *number);
}

// Both are whole, and the divisor is not known to be zero.
bool CanDivide(const Fraction& a, const Fraction& b) {
  return a.denominator == 1 && b.denominator == 1 && !Simplify(b.numerator).IsInt(0);
}

// floor(a / b) for a whole divisor that is a positive number or a symbol.
MaybeFraction FloorQuotient(const Fraction& a, const Fraction& b) {
  if (!CanDivide(a, b)) return std::nullopt;
  return Fraction{FloorDiv(a.numerator, b.numerator)};
}

MaybeFraction Remainder(const Fraction& a, const Fraction& b) {
  if (!CanDivide(a, b)) return std::nullopt;
  return Fraction{Mod(a.numerator, b.numerator)};
}

MaybeFraction CeilQuotient(const Fraction& a, const Fraction& b) {
  if (!CanDivide(a, b)) return std::nullopt;
  return Fraction{CeilDiv(a.numerator, b.numerator)};
}

MaybeFraction Floor(const Fraction& a) { return Fraction{FloorDiv(a.numerator, a.denominator)}; }
MaybeFraction Ceiling(const Fraction& a) { return Fraction{CeilDiv(a.numerator, a.denominator)}; }

MaybeFraction Extreme(const std::vector<Fraction>& values, ExprOp op) {
  std::optional<Expr> result;
  for (const Fraction& value : values) {
    std::optional<Expr> whole = Whole(value);
    if (!whole) return std::nullopt;
    result = result ? Binary(op, *result, *whole) : *whole;
  }
  if (!result) return std::nullopt;
  return Fraction{*result};
}

MaybeFraction Call(const std::string& name, const std::vector<Fraction>& args) {
  std::string word = absl::AsciiStrToLower(name);
  if (word == "min") return Extreme(args, ExprOp::kMin);
  if (word == "max") return Extreme(args, ExprOp::kMax);
  if (args.size() == 1) {
    if (word == "floor" || word == "floortoint") return Floor(args[0]);
    if (word == "ceil" || word == "ceiling" || word == "ceiltoint") return Ceiling(args[0]);
  }
  if (args.size() == 2) {
    if (word == "floordiv" || word == "cleandiv") return FloorQuotient(args[0], args[1]);
    if (word == "ceildiv") return CeilQuotient(args[0], args[1]);
    if (word == "mod" || word == "pythonmod") return Remainder(args[0], args[1]);
    if (word == "inttruediv") return Quotient(args[0], args[1]);
  }
  return std::nullopt;
}

MaybeFraction Product(const Fraction& a, const Fraction& b) {
  return Scaled(a.numerator * b.numerator, a.denominator, b.denominator);
}

// Whole exponents that squares and cubes of sizes have.
MaybeFraction Power(const Fraction& base, const Fraction& exponent) {
  constexpr int64_t kMost = 4;
  const std::optional<int64_t> count = exponent.numerator.AsInt();
  if (exponent.denominator != 1 || !count || *count < 0 || *count > kMost) return std::nullopt;
  MaybeFraction result = Fraction{Expr(1)};
  for (int64_t i = 0; result && i < *count; ++i) result = Product(*result, base);
  return result;
}

// Recursive descent with the precedences of Python.
class Parser {
 public:
  Parser(std::string_view text, const DimNames& names) : text_(text), names_(names) {}

  std::optional<Expr> Run() {
    MaybeFraction value = ParseSum();
    if (!value || Peek() != '\0') return std::nullopt;
    std::optional<Expr> whole = Whole(*value);
    if (whole) whole = Simplify(*whole);
    return whole;
  }

 private:
  char Peek() {
    while (position_ < text_.size() && absl::ascii_isspace(text_[position_])) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool TryConsume(std::string_view token) {
    Peek();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }

  MaybeFraction ParseSum() {
    if (++depth_ > kMaxDepth) return std::nullopt;
    MaybeFraction value = ParseProduct();
    while (value && (Peek() == '+' || Peek() == '-')) {
      bool subtract = text_[position_++] == '-';
      MaybeFraction right = ParseProduct();
      value = right ? Sum(*value, *right, subtract) : std::nullopt;
    }
    --depth_;
    return value;
  }

  MaybeFraction ParseProduct() {
    MaybeFraction value = ParseUnary();
    while (value) {
      MaybeFraction right;
      if (TryConsume("//")) {
        right = ParseUnary();
        value = right ? FloorQuotient(*value, *right) : std::nullopt;
      } else if (TryConsume("/")) {
        right = ParseUnary();
        value = right ? Quotient(*value, *right) : std::nullopt;
      } else if (TryConsume("%")) {
        right = ParseUnary();
        value = right ? Remainder(*value, *right) : std::nullopt;
      } else if (TryConsume("*")) {
        right = ParseUnary();
        value = right ? Product(*value, *right) : std::nullopt;
      } else {
        return value;
      }
    }
    return value;
  }

  MaybeFraction ParseUnary() {
    if (!TryConsume("-")) return ParsePower();
    if (++depth_ > kMaxDepth) return std::nullopt;
    MaybeFraction value = ParseUnary();
    --depth_;
    if (value) value->numerator = value->numerator * -1;
    return value;
  }

  MaybeFraction ParsePower() {
    MaybeFraction base = ParsePrimary();
    if (!base || !TryConsume("**")) return base;
    const MaybeFraction exponent = ParsePrimary();
    return exponent ? Power(*base, *exponent) : std::nullopt;
  }

  MaybeFraction ParsePrimary() {
    if (TryConsume("(")) {
      MaybeFraction value = ParseSum();
      return TryConsume(")") ? value : std::nullopt;
    }
    if (absl::ascii_isdigit(Peek())) return ParseNumber();
    if (!IsNameStart(Peek())) return std::nullopt;
    std::string name = TakeWhile(IsNameCharacter);
    if (TryConsume("(")) return ParseCall(name);
    std::optional<Expr> value = names_(name);
    if (!value) return std::nullopt;
    return Fraction{*value};
  }

  std::string TakeWhile(bool (*accept)(char)) {
    size_t start = position_;
    while (position_ < text_.size() && accept(text_[position_])) ++position_;
    return std::string(text_.substr(start, position_ - start));
  }

  MaybeFraction ParseNumber() {
    int64_t value = 0;
    std::string digits = TakeWhile(IsDigit);
    int64_t denominator = 1;
    if (position_ + 1 < text_.size() && text_[position_] == '.' && IsDigit(text_[position_ + 1])) {
      ++position_;
      const std::string decimals = TakeWhile(IsDigit);
      if (decimals.size() > kMaxDecimals) return std::nullopt;
      for (size_t i = 0; i < decimals.size(); ++i) denominator *= 10;
      digits += decimals;
    }
    if (!absl::SimpleAtoi(digits, &value) || value > kMaxNumber) return std::nullopt;
    return Fraction{Expr(value), denominator};
  }

  MaybeFraction ParseCall(const std::string& name) {
    std::vector<Fraction> args;
    do {
      MaybeFraction arg = ParseSum();
      if (!arg) return std::nullopt;
      args.push_back(*arg);
    } while (TryConsume(","));
    return TryConsume(")") ? Call(name, args) : std::nullopt;
  }

  std::string_view text_;
  const DimNames& names_;
  size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<Expr> ParseDimText(std::string_view text, const DimNames& names) {
  constexpr size_t kMaxLength = 4096;
  if (text.size() > kMaxLength) return std::nullopt;
  return Parser(text, names).Run();
}

std::set<std::string> NamesInDim(std::string_view text) {
  std::set<std::string> found;
  const std::optional<Expr> dim = ParseDimText(text, [&](const std::string& name) {
    found.insert(name);
    return std::optional<Expr>(Var(name));
  });
  return dim ? found : std::set<std::string>();
}

bool IsPlainDimName(std::string_view text) {
  return !text.empty() && IsNameStart(text[0]) && std::ranges::all_of(text, IsNameCharacter);
}

}  // namespace aotc
