// Which keys a block of rows of attention reaches: a mask by position (keys up to the row, those of
// a window, as many as a sample has) leaves out the rest, whose weights are 0. A mask of elements
// does so where a run finds that it hides all of a block.
//
//   // %z[i, j] = select(j <= i + 5, %s[i, j], -inf), rows first .. first + 15
//   const KeyRange reached = ReachedKeys(a, Var("first"), 16);
//   // [0, min(first + 21, keys))
#ifndef AOTC_COMPILER_TARGETS_ATTENTION_REACH_H_
#define AOTC_COMPILER_TARGETS_ATTENTION_REACH_H_

#include <optional>

#include "compiler/targets/attention_parts.h"

namespace aotc {

// From `begin` to before `end`, both from 0 to the number of keys; empty where they meet or cross.
struct KeyRange {
  Expr begin = {}, end = {};
};

// Over the rows' first and number, leading axes of the scores, and elements that a mask is made of.
// All keys where no mask is by position.
KeyRange ReachedKeys(const Attention& attention, const Expr& first_row, const Expr& row_count);

// A mask of elements that a run is given or computes: where it does not let a row see a key, the
// score is at most `hidden`, -inf or a finite number.
struct MaskOfElements {
  Expr seen = {};  // over rows and keys, with flat loads
  double hidden = 0;
};

// What selects of constants, and sums with elements of -inf, say; nothing where no element differs
// from key to key.
std::optional<MaskOfElements> ReadMaskOfElements(const Attention& attention);

// Whether the weight of a score, at most `hidden`, is 0 in f32 beside one of `top`, f32; that of
// -inf always is.
Expr IsFarBelow(double hidden, const Expr& top);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_ATTENTION_REACH_H_
