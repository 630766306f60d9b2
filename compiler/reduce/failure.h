// What goes wrong with a model, as a text that stays the same while the model shrinks.
//
//   Failure failure = FailureOf(diagnostics.Sorted());
//   failure.IsSameAs(original)
#ifndef AOTC_COMPILER_REDUCE_FAILURE_H_
#define AOTC_COMPILER_REDUCE_FAILURE_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.h"

namespace aotc {

struct Failure {
  std::string first = {};          // "" where nothing fails
  std::set<std::string> all = {};  // the errors, without numbers, quoted names, paths and hints
  std::string example = {};        // the first as it was printed

  // The first error of `original` is here and nothing else has come up: a smaller model that fails
  // for want of what was cut away is of no use.
  bool IsSameAs(const Failure& original) const;
};

Failure FailureOf(const std::vector<Diagnostic>& findings);
// A failure of this text alone.
Failure FailureOf(std::string_view text);

// "node 'conv1' (Conv, opset 13): 3 dims" and "node 'b' (Conv, opset 9): 4 dims" have one text.
std::string WithoutNumbers(std::string_view text);

}  // namespace aotc

#endif  // AOTC_COMPILER_REDUCE_FAILURE_H_
