// The named classes of characters of regular expressions, and letters of either case.
//
//   PerlClass('d');            // 0-9
//   PosixClass("alpha");       // A-Z and a-z
#ifndef AOTC_COMPILER_OPS_REGEX_CLASSES_H_
#define AOTC_COMPILER_OPS_REGEX_CLASSES_H_

#include <optional>
#include <string_view>

#include "compiler/ops/code_points.h"

namespace aotc {

// Of \d, \s and \w, by that letter; of ASCII, as in RE2. Nothing for other letters.
std::optional<CodePoints> PerlClass(char name);
// Of [:name:].
std::optional<CodePoints> PosixClass(std::string_view name);

// The set with the other case of each of its letters. Nothing where it has letters beyond ASCII
// whose other case we do not know.
std::optional<CodePoints> WithBothCases(const CodePoints& set);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_REGEX_CLASSES_H_
