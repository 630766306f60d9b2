// Text form of constants, after their type, and of attributes.
//
//   splat(1.0)   [1, 2, 3]   ["a", "b"]   random(seed=7)   #0123456789abcdef
//
// random is only parsed. A hash stands for the values of a long constant: it is parsed to random
// values that print as this hash, so that every dump can be read, though not compared in numbers.
#ifndef AOTC_COMPILER_IR_CONSTANT_TEXT_H_
#define AOTC_COMPILER_IR_CONSTANT_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/attributes.h"
#include "compiler/ir/constant.h"
#include "compiler/support/scanner.h"

namespace aotc {

// Lists of up to `limit` elements are written out.
std::string PrintConstantValue(const Constant& constant, int limit);
absl::StatusOr<Constant> ParseConstantValue(Scanner& scanner, DType dtype,
                                            const std::vector<int64_t>& dims);

// "{axis=1, alpha=0.5, mode=\"linear\", pads=[1, 1], value=f32[2] [1.0, 2.0]}"; nothing where
// empty. Lists without elements say their type: floats[], strings[].
std::string PrintAttributes(const Attributes& attributes, int constant_limit);
// At "{".
absl::StatusOr<Attributes> ParseAttributes(Scanner& scanner);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_CONSTANT_TEXT_H_
