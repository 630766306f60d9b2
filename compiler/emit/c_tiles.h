// The C++ of a call of a tile function, from the pattern of its row (schedule/tile.h).
//
//   TileText text{.value = ..., .object = ...};
//   SpellTile(row, call, text)      // "aotc_contract_tile<14, 2>(aotc_rows<float, 64>{x}, ...)"
#ifndef AOTC_COMPILER_EMIT_C_TILES_H_
#define AOTC_COMPILER_EMIT_C_TILES_H_

#include <functional>
#include <string>

#include "compiler/ir/loops.h"
#include "compiler/schedule/tile.h"

namespace aotc {

// How the parts of a call are written.
struct TileText {
  std::function<std::string(const Expr&)> value;
  std::function<std::string(TensorId, const Expr& offset)> pointer;
  std::function<std::string(TensorId)> element;  // type of a buffer's elements
  std::vector<std::string> objects = {};         // what stands for each operand that is no view
  std::string index = {};                        // type of indices
  std::string state = {};                        // first argument of a call with a state
};

// AOTC_CHECK: a call as its row says, a pattern that names what the row has.
std::string SpellTile(const TileRow& row, const TileCall& call, const TileText& text);
// The same of what sets the processor up for the call; "" where there is nothing to set up.
std::string SpellEnter(const TileRow& row, const TileCall& call, const TileText& text);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_C_TILES_H_
