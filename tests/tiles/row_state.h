// Calls that combine a state among threads: one of several combiners in place of the sum of the
// row's text, for each group of neighbouring threads, all of which get the result.
//
//   DrawCombiner(drawn, random);
//   drawn.text   // %s[part<4] = reduce max(i<8) %x[part, i];  %y[part<4, thread<8] = %s[part]
#ifndef AOTC_TESTS_TILES_ROW_STATE_H_
#define AOTC_TESTS_TILES_ROW_STATE_H_

#include "tests/tiles/row_case.h"

namespace aotc {

bool CombinesState(const TileRow& row);

// Of a block: those that the row asks for, or a warp where threads of one share a call.
int64_t ThreadsOf(const RowCase& of);

// Sets the combiner, the lifts, and the text that says what comes of them.
void DrawCombiner(RowCase& of, Random& random);

}  // namespace aotc

#endif  // AOTC_TESTS_TILES_ROW_STATE_H_
