// The flag that gives an output the memory of an input.
//
//   *ParseAliasOption("h_out=h_in");                     // one type: the next state is the last
//   *ParseAliasOption("present_0=past_0:2=1024");        // room for 1024 along axis 2
//   *ParseAliasOption("present_*=past_*");               // the same text on both sides
#ifndef AOTC_COMPILER_LAYOUT_ALIAS_OPTION_H_
#define AOTC_COMPILER_LAYOUT_ALIAS_OPTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace aotc {

struct AliasOption {
  std::string output = {};
  std::string input = {};
  std::optional<int64_t> axis = {};  // the one that grows
  int64_t capacity = 0;              // its extent in memory; 0: the largest dim

  // "present_*=past_*:2=1024"
  std::string Text() const;
  bool IsPattern() const { return output.find('*') != std::string::npos; }
  // The input that belongs to an output; nothing where the flag does not speak of the output.
  std::optional<std::string> InputOf(std::string_view name) const;
};

// The error names the flag and its grammar.
absl::StatusOr<AliasOption> ParseAliasOption(std::string_view text);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_ALIAS_OPTION_H_
