#include "compiler/ops/regex_classes.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace aotc {
namespace {

CodePoints SetOf(std::initializer_list<CodeRange> ranges) {
  CodePoints set;
  for (const CodeRange& range : ranges) set.Add(range.first, range.last);
  return set;
}

// The two letters beyond ASCII whose other case is of ASCII.
constexpr int32_t kLongS = 0x17F, kKelvin = 0x212A;

void AddOtherCase(int32_t code, CodePoints& set) {
  const bool upper = code >= 'A' && code <= 'Z', lower = code >= 'a' && code <= 'z';
  if (!upper && !lower) return;
  const int32_t other = upper ? code - 'A' + 'a' : code - 'a' + 'A';
  set.Add(other, other);
  if (code == 's' || code == 'S') set.Add(kLongS, kLongS);
  if (code == 'k' || code == 'K') set.Add(kKelvin, kKelvin);
}

}  // namespace

std::optional<CodePoints> PerlClass(char name) {
  switch (name) {
    case 'd': return SetOf({{'0', '9'}});
    case 's': return SetOf({{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}});
    case 'w': return SetOf({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
    default: return std::nullopt;
  }
}

std::optional<CodePoints> PosixClass(std::string_view name) {
  struct Named {
    std::string_view name;
    std::initializer_list<CodeRange> ranges;
  };
  static const std::array<Named, 14> kClasses = {{
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7F}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  }};
  const auto found = std::ranges::find(kClasses, name, &Named::name);
  if (found == kClasses.end()) return std::nullopt;
  return SetOf(found->ranges);
}

std::optional<CodePoints> WithBothCases(const CodePoints& set) {
  CodePoints both = set;
  for (const CodeRange& range : set.ranges()) {
    for (int32_t code = range.first; code <= std::min(range.last, 0x7F); ++code) {
      AddOtherCase(code, both);
    }
    if (range.last > 0x7F) return std::nullopt;
  }
  return both;
}

}  // namespace aotc
