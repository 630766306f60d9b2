// Deterministic automata over bytes: what finds a string among constant ones, or matches it with a
// regular expression, in one table look-up for each byte.
//
//   AOTC_ASSIGN_OR_RETURN(Automaton www, RegexAutomaton("www[.]\\w+"));
//   www.Run("www.a");                                       // 1: it matches
//   DictionaryAutomaton({"Amy", "Sally"})->Run("Sally");    // 1: its place; 2 of any other string
#ifndef AOTC_COMPILER_OPS_AUTOMATON_H_
#define AOTC_COMPILER_OPS_AUTOMATON_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

struct Automaton {
  std::array<uint8_t, 256> classes = {};  // bytes of one class are alike in every state
  int32_t class_count = 1;
  std::vector<int32_t> next = {};    // state x class, row-major: the state behind such a byte
  std::vector<int64_t> result = {};  // per state: of a string that ends there
  int32_t start = 0;
  int32_t depth =
      -1;  // longer strings all have the result of one state; -1: there is no such length

  int32_t state_count() const { return static_cast<int32_t>(result.size()); }
  int64_t Run(std::string_view text) const;
};

// Results are 1 for strings that match as a whole, else 0. Error: what ParseRegex refuses, or an
// automaton of too many states.
absl::StatusOr<Automaton> RegexAutomaton(std::string_view pattern);

// Results are places among `keys`; the number of keys where a string is none of them. Of equal keys
// the last counts. Error: too many bytes.
absl::StatusOr<Automaton> DictionaryAutomaton(const std::vector<std::string>& keys);

// The same results with the fewest states and classes.
Automaton Minimized(const Automaton& automaton);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_AUTOMATON_H_
