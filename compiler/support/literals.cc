#include "compiler/support/literals.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Shortest digits of a finite value, with ".0" where they would read as an integer.
template <class T>
std::string FiniteText(T value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::string NumberText(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return FiniteText(value);
}

// The escape of a character that has a letter for it, or an empty text.
std::string_view LetterEscape(char c) {
  switch (c) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '"': return "\\\"";
    case '\\': return "\\\\";
    default: return "";
  }
}

}  // namespace

std::string FloatText(float value) { return NumberText(value); }
std::string DoubleText(double value) { return NumberText(value); }

std::string FloatLiteral(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return FiniteText(value) + "f";
}

std::string DoubleLiteral(double value) {
  if (std::isnan(value)) return "(double)NAN";
  if (std::isinf(value)) return value < 0 ? "-(double)INFINITY" : "(double)INFINITY";
  return FiniteText(value);
}

std::string IntegerLiteral(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "INT64_MIN";
  // -2147483648 is the negation of a constant that is no int.
  const bool fits_int =
      value > std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  return StrCat(value, fits_int ? "" : "LL");
}

std::string UnsignedLiteral(uint64_t value) {
  return StrCat(value, value <= std::numeric_limits<uint32_t>::max() ? "u" : "ULL");
}

std::string StringLiteral(std::string_view text) {
  std::string result = "\"";
  char previous = 0;
  for (const char c : text) {
    if (const std::string_view escape = LetterEscape(c); !escape.empty()) {
      result += escape;
    } else if (c == '?' && previous == '?') {
      result += "\\?";
    } else if (absl::ascii_isprint(c)) {
      result += c;
    } else {
      result += absl::StrFormat("\\%03o", static_cast<unsigned char>(c));
    }
    previous = c;
  }
  return result + "\"";
}

std::string QuotedText(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (const std::string_view escape = LetterEscape(c); !escape.empty()) {
      result += escape;
    } else if (absl::ascii_iscntrl(c)) {
      result += absl::StrFormat("\\x%02x", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace aotc
