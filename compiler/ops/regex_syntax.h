// Regular expressions in RE2's syntax, as trees.
//
//   AOTC_ASSIGN_OR_RETURN(RegexNode tree, ParseRegex("(www|ftp)[.]\\w+"));
//
// Whether a whole text matches does not depend on captures or on greed, of which a tree keeps
// nothing. Refused: what RE2 refuses (look-around, back-references, repetitions above 1000), and
// Unicode classes (\pL), single bytes (\C) and letters beyond ASCII without regard to case.
#ifndef AOTC_COMPILER_OPS_REGEX_SYNTAX_H_
#define AOTC_COMPILER_OPS_REGEX_SYNTAX_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/code_points.h"

namespace aotc {

// What has to hold between two characters.
enum class RegexPlace {
  kTextBegin,
  kTextEnd,
  kLineBegin,
  kLineEnd,
  kWordBoundary,  // of words of ASCII
  kNoWordBoundary,
};

struct RegexNode {
  enum class Kind {
    kOne,          // a character of `set`
    kPlace,        // nothing, at such a place
    kSequence,     // children one after another; without any, nothing
    kAlternative,  // one of the children
    kRepeat,       // child 0, from `least` to `most` times
  };
  static constexpr int kUnbounded = -1;

  Kind kind = Kind::kSequence;
  CodePoints set = {};
  RegexPlace place = RegexPlace::kTextBegin;
  int least = 0, most = 0;
  std::vector<RegexNode> children = {};
};

// Error: what is wrong, or not supported, and at which byte of the pattern.
absl::StatusOr<RegexNode> ParseRegex(std::string_view pattern);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_REGEX_SYNTAX_H_
