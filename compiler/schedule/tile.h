// Tile functions: the hand-written leaves of Loops, one row of a target's table each. From a row
// follow the C++ of a call, what an interpreter does at one, its test, and which calls are legal.
//
//   {.name = "contract_tile",
//    .header = "cpu/contract_tile.h",
//    .text = "kernel @contract_tile(in %a: f32[rows, s], in %b: f32[s, vectors * lanes], "
//            "out %y: f32[rows, vectors * lanes]) { symbol rows in 1..14 ... }",
//    .params = kContractParams,                       // rows, vectors, split
//    .extents = kContractExtents,                     // s
//    .call = "aotc_contract_tile<$rows, $vectors>(aotc_rows<$a:T>{$a, $a.0}, ..., @y)"}
//
// The text is a Kernel whose symbols are the parameters, `lanes`, and the extents. Its inputs and
// outputs are the operands of a call, in order. An input is a view, or an object whose method gives
// the element at the tensor's indices (stored types are converted to that of the text). An output
// is a view, or an epilogue: an object that is called with the indices and the value of each
// fragment. A call that combines a state among threads has the combiner as its one operand.
//
// The call is C++ with
//   $name     the value of a parameter or extent        $I     the type of indices
//   $a        the address of view %a                    $a:T   the type of its elements
//   $a.2      its stride along axis 2                   @a     object %a, or combiner
//   #x        the value of $x where it is constant, else 0
//   $state    the state that the call takes and gives back
//   [x?A|B]   A where $x is constant (a stride or extent) or above 1 (a parameter), else B
#ifndef AOTC_COMPILER_SCHEDULE_TILE_H_
#define AOTC_COMPILER_SCHEDULE_TILE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"
#include "compiler/ir/loops.h"

namespace aotc {

// How the elements of an operand or result are handed over.
enum class Fragment : uint8_t {
  kElement,  // one at a time, at its own indices
  kVector,   // `lanes` neighbours along the last axis, whose index counts vectors
  kMemory,   // where a view says
};

struct TileParam {
  std::string_view name;
  std::span<const int64_t> legal;  // values that a call may have, ascending
};

// What a call takes of the machine, as a function of its parameters.
struct TileNeeds {
  int64_t registers = 0;     // vector registers of a CPU
  int64_t shared_bytes = 0;  // of a block
  int64_t threads = 1;       // of a block
};

struct TileRow {
  std::string_view name;
  std::string_view header;  // in templates/
  std::string_view text;    // what it computes
  std::span<const TileParam> params = {};
  std::span<const std::string_view> extents = {};
  // Where a call computes a part of the result only: its start and size per axis, "m0:block_m, ...",
  // as far as the result goes.
  std::string_view box = {};
  Fragment result = Fragment::kVector;
  std::string_view epilogue_base = {};  // struct that objects of the result derive from
  // Null where nothing is asked.
  TileNeeds (*needs)(std::span<const int64_t> params, int lanes) = nullptr;
  std::string_view call;
  std::string_view summary;
};

// All tile functions of a target.
using TileTable = std::span<const TileRow>;

// Null where there is none of this name.
const TileRow* FindTile(TileTable tiles, std::string_view name);

// Error: not as many values as the row has parameters, or one that is not legal.
absl::Status CheckTileParams(const TileRow& row, std::span<const int64_t> params);

// Error: the call is not as its row says: values of parameters, numbers of operands, strides and
// extents, a result that is no fragment of the row's kind.
absl::Status CheckTileCall(const TileRow& row, const TileCall& call);

// The row's text as a kernel. AOTC_CHECK: it is one (a test reads all rows).
Kernel KernelOfTile(const TileRow& row);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_TILE_H_
