// Tokens of the text IRs, with their places.
//
//   Scanner scanner("%y = add(%x, 1.5e3)", "case.air");
//   AOTC_ASSIGN_OR_RETURN(std::string name, scanner.ExpectName('%'));      // "y"
//   AOTC_RETURN_IF_ERROR(scanner.Expect("="));
//   if (scanner.TryConsume("add")) ...
//
// Blanks, newlines and `// comments` separate tokens and are otherwise ignored. Nesting is the
// parsers' concern. Errors carry "file:line:col: " in front of the message. A Scanner is cheap to
// copy: a copy is a look-ahead.
#ifndef AOTC_COMPILER_SUPPORT_SCANNER_H_
#define AOTC_COMPILER_SUPPORT_SCANNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace aotc {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,   // letters, digits, _ and inner dots: batch, f32, com.microsoft.Gelu
  kName,         // %name, @name, $name: a sigil and letters, digits, _ . : / -; or %"any text"
  kInteger,      // 12, 0x1f
  kFloat,        // 1.5, 1e-3, 0x1.8p+3; inf and nan are identifiers that ExpectFloat takes
  kString,       // "text" with \n \t \\ \" \xHH
  kPunctuation,  // -> == != <= >= && || << >> .. or a single character
  kInvalid,      // what cannot be a token; `text` says why
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text = {};  // as written; decoded for strings, without sigil and quotes for names
  char sigil = 0;         // of a name: % @ $
  int line = 1;           // from 1
  int column = 1;         // from 1, in bytes
  size_t offset = 0;      // of the first byte in the text
};

class Scanner {
 public:
  // `place` stands before line and column in errors; it may be empty.
  explicit Scanner(std::string_view text, std::string_view place = "");

  const Token& Peek() const { return (*tokens_)[position_]; }
  // The token after the next, and so on.
  const Token& Peek(size_t ahead) const;
  Token Take();
  bool AtEnd() const { return Peek().kind == TokenKind::kEnd; }

  // Whether the next token is this identifier or punctuation.
  bool At(std::string_view text) const;
  bool AtName(char sigil) const;

  // Takes the next token if it is this identifier or punctuation.
  bool TryConsume(std::string_view text);
  absl::Status Expect(std::string_view text);

  absl::StatusOr<std::string> ExpectIdentifier();
  absl::StatusOr<std::string> ExpectName(char sigil);  // without the sigil
  // An integer with an optional sign; error where it does not fit.
  absl::StatusOr<int64_t> ExpectInteger();
  // A number with an optional sign: integer, float, hex float, inf, nan.
  absl::StatusOr<double> ExpectFloat();
  absl::StatusOr<std::string> ExpectString();
  absl::Status ExpectEnd();

  // InvalidArgument with the place of the next token in front.
  absl::Status Error(std::string_view message) const;
  // The same at a token taken before.
  absl::Status ErrorAt(const Token& token, std::string_view message) const;

  // The text from one token up to another, for messages and verbatim blocks.
  std::string_view TextBetween(const Token& first, const Token& end) const;

 private:
  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const std::string> place_;
  std::shared_ptr<const std::vector<Token>> tokens_;
  size_t position_ = 0;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_SCANNER_H_
