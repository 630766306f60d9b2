// Abseil's string functions for std::string_view.
//
//   std::string_view name = ...;
//   StrCat("node '", name, "' has ", count, " inputs");
//   StrJoin(names, ", ");
//   StrJoin(dims, "x", [](const Dim& dim) { return Print(dim); });
//   absl::StartsWith(View(name), "aotc_");
//
// Debian builds Abseil with a string_view class of its own, to which std::string_view does not
// convert: absl::StrCat and others refuse it. absl::StrFormat takes both.
#ifndef AOTC_COMPILER_SUPPORT_STRINGS_H_
#define AOTC_COMPILER_SUPPORT_STRINGS_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace aotc {

// The same characters as the class that Abseil's functions take.
inline absl::string_view View(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

// What absl::StrCat takes in place of `value`.
template <class T>
decltype(auto) StrPiece(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return View(value);
  } else {
    return (value);
  }
}

// absl::StrCat that also takes std::string_view.
template <class... T>
std::string StrCat(const T&... values) {
  return absl::StrCat(StrPiece(values)...);
}

// absl::StrAppend that also takes std::string_view.
template <class... T>
void StrAppend(std::string* target, const T&... values) {
  absl::StrAppend(target, StrPiece(values)...);
}

// The items with `separator` between them; `format` gives the text of one.
template <class Range, class Format>
std::string StrJoin(const Range& items, std::string_view separator, const Format& format) {
  std::string result;
  bool first = true;
  for (const auto& item : items) {
    if (!first) result += separator;
    StrAppend(&result, format(item));
    first = false;
  }
  return result;
}

// The items, which StrCat takes, with `separator` between them.
template <class Range>
std::string StrJoin(const Range& items, std::string_view separator) {
  return StrJoin(items, separator, [](const auto& item) { return StrCat(item); });
}

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_STRINGS_H_
