#include "compiler/support/scanner.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kPairs[] = {"->", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", ".."};

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsWord(char c) { return absl::ascii_isalnum(c) || c == '_'; }
bool IsNameCharacter(char c) { return IsWord(c) || c == '.' || c == ':' || c == '/'; }
bool IsSigil(char c) { return c == '%' || c == '@' || c == '$'; }

// Cuts a text into tokens, one call of Next() each.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token Next() {
    SkipBlanks();
    Token token;
    token.line = line_;
    token.column = static_cast<int>(position_ - line_start_) + 1;
    token.offset = position_;
    if (position_ < text_.size()) Fill(token);
    return token;
  }

 private:
  char At(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  void SkipBlanks() {
    for (; position_ < text_.size(); ++position_) {
      if (At() == '\n') {
        ++line_;
        line_start_ = position_ + 1;
      } else if (At() == '/' && At(1) == '/') {
        while (position_ + 1 < text_.size() && At(1) != '\n') ++position_;
      } else if (!absl::ascii_isspace(At())) {
        return;
      }
    }
  }

  void Fill(Token& token) {
    if (IsWordStart(At())) return FillIdentifier(token);
    if (absl::ascii_isdigit(At()) || (At() == '.' && absl::ascii_isdigit(At(1))))
      return FillNumber(token);
    if (At() == '"') return FillString(token, TokenKind::kString);
    if (IsSigil(At()) && (IsNameCharacter(At(1)) || At(1) == '"')) return FillName(token);
    FillPunctuation(token);
  }

  void FillIdentifier(Token& token) {
    const size_t start = position_;
    // A dot belongs to the word only between two words: "a.b", but not "a..b" or "a.".
    while (IsWord(At()) || (At() == '.' && IsWordStart(At(1)))) ++position_;
    token.kind = TokenKind::kIdentifier;
    token.text = std::string(text_.substr(start, position_ - start));
  }

  void FillName(Token& token) {
    token.sigil = At();
    ++position_;
    if (At() == '"') return FillString(token, TokenKind::kName);
    const size_t start = position_;
    // "-" counts only between name characters, and never as part of "->".
    while (IsNameCharacter(At()) || (At() == '-' && IsNameCharacter(At(1)))) ++position_;
    // A colon at the end separates the name from its type.
    while (position_ > start + 1 && text_[position_ - 1] == ':') --position_;
    token.kind = TokenKind::kName;
    token.text = std::string(text_.substr(start, position_ - start));
  }

  void FillNumber(Token& token) {
    const size_t start = position_;
    const bool hex = At() == '0' && (At(1) == 'x' || At(1) == 'X');
    if (hex) position_ += 2;
    bool is_float = false;
    for (;; ++position_) {
      const char c = absl::ascii_tolower(At());
      const bool exponent = hex ? c == 'p' : c == 'e';
      if (c == '.' && At(1) == '.') break;  // a range: 1..4
      if (exponent && (At(1) == '+' || At(1) == '-')) ++position_;
      if (exponent || c == '.') {
        is_float = true;
      } else if (!(hex ? absl::ascii_isxdigit(c) : absl::ascii_isdigit(c))) {
        break;
      }
    }
    token.kind = is_float ? TokenKind::kFloat : TokenKind::kInteger;
    token.text = std::string(text_.substr(start, position_ - start));
  }

  void FillString(Token& token, TokenKind kind) {
    ++position_;
    std::string text;
    for (; At() != '"'; ++position_) {
      if (position_ >= text_.size() || At() == '\n') return Invalid(token, "string without end");
      if (At() != '\\') {
        text += At();
      } else if (!AppendEscape(text)) {
        return Invalid(token, "unknown escape in a string");
      }
    }
    ++position_;
    token.kind = kind;
    token.text = std::move(text);
  }

  // At a backslash; ends at the last character of the escape.
  bool AppendEscape(std::string& text) {
    ++position_;
    switch (At()) {
      case 'n': text += '\n'; return true;
      case 't': text += '\t'; return true;
      case 'r': text += '\r'; return true;
      case '"': text += '"'; return true;
      case '\\': text += '\\'; return true;
      case 'x': break;
      default: return false;
    }
    if (!absl::ascii_isxdigit(At(1)) || !absl::ascii_isxdigit(At(2))) return false;
    int value = 0;
    std::from_chars(&text_[position_ + 1], &text_[position_ + 1] + 2, value, 16);
    text += static_cast<char>(value);
    position_ += 2;
    return true;
  }

  void FillPunctuation(Token& token) {
    token.kind = TokenKind::kPunctuation;
    token.text = std::string(1, At());
    for (std::string_view pair : kPairs) {
      if (text_.substr(position_, 2) == pair) token.text = std::string(pair);
    }
    if (!absl::ascii_isprint(At())) return Invalid(token, "character that is not printable");
    position_ += token.text.size();
  }

  void Invalid(Token& token, std::string_view reason) {
    token.kind = TokenKind::kInvalid;
    token.text = std::string(reason);
    position_ = text_.size();
  }

  std::string_view text_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
};

std::string DescribeToken(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd: return "the end of the text";
    case TokenKind::kString: return "a string";
    case TokenKind::kInvalid: return token.text;
    case TokenKind::kName: return StrCat("'", std::string(1, token.sigil), token.text, "'");
    case TokenKind::kIdentifier:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kPunctuation: return StrCat("'", token.text, "'");
  }
  return "";
}

// Decimal or hexadecimal digits without sign.
bool ParseUnsigned(std::string_view text, uint64_t& value) {
  const bool hex = text.size() > 2 && (text[1] == 'x' || text[1] == 'X');
  if (hex) text.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size();
}

// A number without sign, decimal or hexadecimal. Values beyond the range become infinite or zero.
bool ParseDouble(std::string_view text, double& value) {
  if (text.size() < 2 || (text[1] != 'x' && text[1] != 'X'))
    return absl::SimpleAtod(View(text), &value);
  text.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::hex);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Scanner::Scanner(std::string_view text, std::string_view place)
    : text_(std::make_shared<const std::string>(text)),
      place_(std::make_shared<const std::string>(place)) {
  Lexer lexer(*text_);
  auto tokens = std::make_shared<std::vector<Token>>();
  do {
    tokens->push_back(lexer.Next());
  } while (tokens->back().kind != TokenKind::kEnd);
  tokens_ = std::move(tokens);
}

const Token& Scanner::Peek(size_t ahead) const {
  return (*tokens_)[std::min(position_ + ahead, tokens_->size() - 1)];
}

Token Scanner::Take() {
  Token token = Peek();
  if (!AtEnd()) ++position_;
  return token;
}

bool Scanner::At(std::string_view text) const {
  const Token& token = Peek();
  return (token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kPunctuation) &&
         token.text == text;
}

bool Scanner::AtName(char sigil) const {
  return Peek().kind == TokenKind::kName && Peek().sigil == sigil;
}

bool Scanner::TryConsume(std::string_view text) {
  if (!At(text)) return false;
  ++position_;
  return true;
}

absl::Status Scanner::Expect(std::string_view text) {
  if (TryConsume(text)) return absl::OkStatus();
  return Error(StrCat("expected '", text, "', found ", DescribeToken(Peek())));
}

absl::StatusOr<std::string> Scanner::ExpectIdentifier() {
  if (Peek().kind != TokenKind::kIdentifier)
    return Error(StrCat("expected an identifier, found ", DescribeToken(Peek())));
  return Take().text;
}

absl::StatusOr<std::string> Scanner::ExpectName(char sigil) {
  if (!AtName(sigil)) {
    return Error(
        StrCat("expected a name with ", std::string(1, sigil), ", found ", DescribeToken(Peek())));
  }
  return Take().text;
}

absl::StatusOr<int64_t> Scanner::ExpectInteger() {
  const Scanner before = *this;
  const bool negative = TryConsume("-");
  const Token token = Peek();
  uint64_t magnitude = 0;
  if (token.kind != TokenKind::kInteger) {
    *this = before;
    return Error(StrCat("expected an integer, found ", DescribeToken(token)));
  }
  const uint64_t limit = uint64_t{1} << 63;
  if (!ParseUnsigned(token.text, magnitude) || magnitude > limit - (negative ? 0 : 1))
    return Error(StrCat("integer ", token.text, " does not fit into 64 bits"));
  ++position_;
  return static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
}

absl::StatusOr<double> Scanner::ExpectFloat() {
  const Scanner before = *this;
  const double sign = TryConsume("-") ? -1.0 : 1.0;
  if (TryConsume("inf")) return sign * std::numeric_limits<double>::infinity();
  if (TryConsume("nan")) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  const Token token = Peek();
  const bool number = token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat;
  double value = 0;
  if (!number || !ParseDouble(token.text, value)) {
    *this = before;
    return Error(StrCat("expected a number, found ", DescribeToken(token)));
  }
  ++position_;
  return sign * value;
}

absl::StatusOr<std::string> Scanner::ExpectString() {
  if (Peek().kind != TokenKind::kString)
    return Error(StrCat("expected a string, found ", DescribeToken(Peek())));
  return Take().text;
}

absl::Status Scanner::ExpectEnd() {
  if (AtEnd()) return absl::OkStatus();
  return Error(StrCat("expected the end of the text, found ", DescribeToken(Peek())));
}

absl::Status Scanner::Error(std::string_view message) const { return ErrorAt(Peek(), message); }

absl::Status Scanner::ErrorAt(const Token& token, std::string_view message) const {
  const std::string place = place_->empty() ? "" : StrCat(*place_, ":");
  return absl::InvalidArgumentError(
      absl::StrFormat("%s%d:%d: %s", place, token.line, token.column, message));
}

std::string_view Scanner::TextBetween(const Token& first, const Token& end) const {
  return std::string_view(*text_).substr(first.offset, end.offset - first.offset);
}

}  // namespace aotc
