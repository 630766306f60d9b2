// Pieces: an axis of a point nest parted where a choice between its points changes, so that each
// part computes one side of it, in vectors.
//
//   y[i<120] = select(i < 40, a[i], b[i - 40])
//   PartAt(nest, 0)   // y[i<40] = a[i]   and   y[i<80] = b[i], written from y[40] on
//
// What a Concat copies, the border that a Pad adds, and triangles are of this form.
#ifndef AOTC_COMPILER_LOWER_NEST_PIECES_H_
#define AOTC_COMPILER_LOWER_NEST_PIECES_H_

#include <optional>
#include <string>

#include "compiler/lower/nest.h"

namespace aotc {

struct NestPieces {
  // Where the second begins, over the outer axes and symbols: a variable `cut_name` that is to be
  // defined as `cut_value` in front of both, or a constant, and the name is empty.
  std::string cut_name = {};
  Expr cut_value = {};
  Nest before = {};
  Nest behind = {};  // its axis begins with 0, too
};

// The nest in front of and behind the first place at which a condition on the axis changes, whose
// other terms are outer axes and symbols; in both that condition is decided. Nothing where there
// is none, or where statistics or padding depend on the axis as a whole.
std::optional<NestPieces> PartAt(const Nest& nest, size_t axis);

// Whether the points have vectors along the innermost axis, of which there is half a vector at
// least: all of them, or those of each long piece.
bool PointsHaveVectors(const Nest& nest, int lanes);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_NEST_PIECES_H_
