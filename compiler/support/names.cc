#include "compiler/support/names.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kReserved[] = {"EOF",
                                          "I",
                                          "INFINITY",
                                          "NAN",
                                          "NULL",
                                          "RAND_MAX",
                                          "_Alignas",
                                          "_Alignof",
                                          "_Atomic",
                                          "_Bool",
                                          "_Complex",
                                          "_Generic",
                                          "_Imaginary",
                                          "_Noreturn",
                                          "_Static_assert",
                                          "_Thread_local",
                                          "alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "assert",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "blockDim",
                                          "blockIdx",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "complex",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "dim3",
                                          "do",
                                          "double",
                                          "double2",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "errno",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "far",
                                          "float",
                                          "float2",
                                          "float4",
                                          "for",
                                          "friend",
                                          "goto",
                                          "gridDim",
                                          "half",
                                          "half2",
                                          "i386",
                                          "if",
                                          "inline",
                                          "int",
                                          "int16_t",
                                          "int2",
                                          "int32_t",
                                          "int4",
                                          "int64_t",
                                          "int8_t",
                                          "interface",
                                          "linux",
                                          "long",
                                          "max",
                                          "min",
                                          "mutable",
                                          "namespace",
                                          "near",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "offsetof",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "ptrdiff_t",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "restrict",
                                          "return",
                                          "setjmp",
                                          "short",
                                          "signed",
                                          "size_t",
                                          "sizeof",
                                          "small",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "stderr",
                                          "stdin",
                                          "stdout",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "threadIdx",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "typeof",
                                          "uint16_t",
                                          "uint32_t",
                                          "uint64_t",
                                          "uint8_t",
                                          "uintptr_t",
                                          "union",
                                          "unix",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "warpSize",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq"};
static_assert(std::is_sorted(std::begin(kReserved), std::end(kReserved)));

// <stdint.h>, <limits.h>, <float.h>: INT64_MAX, UINT_FAST8_MAX, SIZE_MAX, WCHAR_MIN, FLT_MAX ...
bool IsLimitMacro(std::string_view word) {
  static constexpr std::string_view kTypes[] = {
      "CHAR",       "DBL",  "FLT",   "LDBL",  "LLONG",  "LONG",  "PTRDIFF", "SCHAR", "SHRT",
      "SIG_ATOMIC", "SIZE", "SSIZE", "UCHAR", "ULLONG", "ULONG", "USHRT",   "WCHAR", "WINT"};
  for (const std::string_view ending : {"_MAX", "_MIN", "_WIDTH"}) {
    if (!word.ends_with(ending)) continue;
    const std::string_view type = word.substr(0, word.size() - ending.size());
    if (type.starts_with("INT") || type.starts_with("UINT")) return true;
    if (std::ranges::find(kTypes, type) != std::end(kTypes)) return true;
  }
  return false;
}

// What runtime-lite calls its own: aotc_load, AOTC_OK.
bool IsOfRuntime(std::string_view word) {
  return word.starts_with("aotc_") || word.starts_with("AOTC_");
}

bool IsWord(char c) { return absl::ascii_isalnum(c) || c == '_'; }

}  // namespace

bool IsIdentifier(std::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name,
                             [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

bool IsReservedWord(std::string_view word) {
  return std::binary_search(std::begin(kReserved), std::end(kReserved), word) ||
         IsLimitMacro(word) || IsOfRuntime(word);
}

std::string CleanIdentifier(std::string_view text, std::string_view fallback) {
  std::string result;
  bool gap = false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(c)) {
      gap = true;
      continue;
    }
    // A double underscore belongs to the implementation, as does one at the front.
    if (gap && !result.empty()) result += '_';
    gap = false;
    result += c;
  }
  if (result.empty()) return std::string(fallback);
  if (absl::ascii_isdigit(result[0])) result.insert(0, "m");
  if (IsReservedWord(result)) result += '_';
  return result;
}

std::string ShortIdentifier(std::string_view text, std::string_view fallback) {
  constexpr size_t kLongest = 48, kLongestPart = 24;
  std::string whole = CleanIdentifier(text, fallback);
  if (whole.size() <= kLongest) return whole;
  const std::string end = whole.substr(whole.size() - kLongest);
  const size_t gap = end.find('_');  // before it, maybe the rest of a word
  return CleanIdentifier(gap < kLongestPart ? end.substr(gap) : end);
}

std::string ModelPrefix(std::string_view text) {
  if (text.empty()) return "model";
  std::string result(text);
  std::replace_if(result.begin(), result.end(), [](char c) { return !IsWord(c); }, '_');
  if (absl::ascii_isdigit(result[0])) result.insert(0, "m");
  // Not case by case: macros and guards of headers are in capitals.
  const std::string lower = absl::AsciiStrToLower(result);
  if (IsReservedWord(result) || IsOfRuntime(lower) || result == "main") result += "_model";
  if (lower == "aotc") result += "_model_model";  // aotc_model is of the runtime as well
  return result;
}

std::string MacroCase(std::string_view identifier) {
  return absl::AsciiStrToUpper(View(identifier));
}

std::string NameTable::Unique(std::string_view text, std::string_view fallback) {
  const std::string base = CleanIdentifier(text, fallback);
  std::string name = base;
  for (int i = 2; !Reserve(name); ++i) {
    // "float_" becomes "float_2", not "float__2".
    name = StrCat(base, base.back() == '_' ? "" : "_", i);
  }
  return name;
}

bool NameTable::Reserve(std::string_view name) { return taken_.emplace(name).second; }

}  // namespace aotc
