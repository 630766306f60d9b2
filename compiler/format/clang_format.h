// The layout of everything we emit, done by clang-format's library.
//
//   AOTC_ASSIGN_OR_RETURN(std::string text, FormatSource("int  f( ){return 1;}",
//   SourceKind::kCpp));
//
// The only file of the project that includes Clang's headers is clang_format.cc.
#ifndef AOTC_COMPILER_FORMAT_CLANG_FORMAT_H_
#define AOTC_COMPILER_FORMAT_CLANG_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace aotc {

enum class SourceKind : uint8_t { kC, kCpp, kCuda };

// The text in the one style of our output: Google's with 100 columns, pointers to the right (as C
// programmers write them), includes in the order given. Same text, same result, on every machine.
// Text with a line beyond 16 KiB, an expression without end, comes back as it is; so does a line
// whose parentheses nest beyond what clang-format takes, some fifty, in text laid out else.
// Error: text that clang-format refuses to lay out (unbalanced braces and the like).
absl::StatusOr<std::string> FormatSource(std::string_view text, SourceKind kind);

}  // namespace aotc

#endif  // AOTC_COMPILER_FORMAT_CLANG_FORMAT_H_
