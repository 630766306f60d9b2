// What may have been meant by a word that names nothing.
//
//   UnknownName("pass", "fuze", {"fold", "fuse"})   // "unknown pass 'fuze'; did you mean 'fuse'?"
//   UnknownName("pass", "x", {"fold", "fuse"})      // "unknown pass 'x'; there are fold, fuse"
#ifndef AOTC_COMPILER_SUPPORT_SUGGESTION_H_
#define AOTC_COMPILER_SUPPORT_SUGGESTION_H_

#include <string>
#include <string_view>
#include <vector>

namespace aotc {

// The least number of bytes to insert, delete, replace or exchange with their neighbour that make
// one word the other, no byte being touched twice (optimal string alignment).
int EditDistance(std::string_view a, std::string_view b);

// The known word that is meant: one that differs in case, - and _ alone, or in at most a third of
// its bytes, or is the only one that begins with the word. "" where there is none, or one differs
// in digits alone: any of that row may be meant.
std::string Meant(std::string_view word, const std::vector<std::string>& known);

// "did you mean 'fuse'?", or `otherwise`.
std::string MeantOr(std::string_view word, const std::vector<std::string>& known,
                    std::string_view otherwise);

// The same, or "the inputs are 'x', 'y'" for `kinds` "inputs".
std::string MeantOrListed(std::string_view word, const std::vector<std::string>& known,
                          std::string_view kinds);

std::string UnknownName(std::string_view kind, std::string_view word,
                        const std::vector<std::string>& known);

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_SUGGESTION_H_
