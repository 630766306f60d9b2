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
// fragment. A call that combines a state among threads has the combiner as its one operand: the
// text has a sum over a group of neighbouring threads, for which any combiner may stand.
//
// The call is C++ with
//   $name     the value of a parameter or extent        $I     the type of indices
//   $a        the address of view %a                    $a:T   the type of its elements
//   $a.2      its stride along axis 2                   @a     object %a, or combiner
//   #x        the value of $x where it is constant, else 0
//   $state    the state that the call takes and gives back
//   [x?A|B]   A where $x is constant (a stride or extent) or above 1 (a parameter), else B
// An axis whose stride it does not name lies dense: as far apart as what is behind it is long.
#ifndef AOTC_COMPILER_SCHEDULE_TILE_H_
#define AOTC_COMPILER_SCHEDULE_TILE_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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
  // Why the parameters do not go together on any machine; "" where they do.
  std::string_view conflict = {};
};

// What a machine has of it for one call.
struct TileLimits {
  int64_t registers = INT64_MAX;
  int64_t shared_bytes = INT64_MAX;
  int64_t threads = INT64_MAX;
};

// An extent that is at most as large as a parameter, or larger by so much.
struct TileBound {
  std::string_view extent, param;
  int64_t more = 0;
};

// An operand whose object gives the addresses of runs of neighbours, at(row, column), and how many
// elements of each exist, count(row, column).
struct TileRun {
  std::string_view operand;
  // The parameter with which columns are its last axis and not its first; "": they are.
  std::string_view along_last;
};

// How many bytes the elements of each operand may be together, where all have one type in memory.
struct TileSpan {
  int64_t least = 0;
  int64_t most = INT64_MAX;
  std::span<const DType> types = {};
};

// Types that the elements of an operand may have in memory.
struct TileStorage {
  std::string_view operand;
  std::span<const DType> types;
};

struct TileRow {
  std::string_view name;
  std::string_view header;  // in templates/
  std::string_view text;    // what it computes
  std::span<const TileParam> params = {};
  std::span<const std::string_view> extents = {};
  std::span<const TileBound> at_most = {};
  // Where a call computes a part of the result only: its start and size per axis, as far as the
  // result goes: "m0:block_m, ...".
  std::string_view box = {};
  std::span<const TileRun> runs = {};  // of operands that are not handed over element by element
  // An operand whose object takes a number that the tile has computed, behind the indices, and
  // gives what becomes of it. The text has the sum of the two: any stage at the same indices may
  // stand there.
  std::string_view through = {};
  Fragment result = Fragment::kVector;
  std::span<const TileStorage> stored = {};  // of operands that may have others than the text's
  TileSpan moved = {};                       // with types: those that all operands may have alike
  // An operand whose elements are 0 where the text does not read them: groups that are not whole.
  std::string_view zero_where_unread = {};
  std::string_view epilogue_base = {};  // struct that objects of the result derive from
  std::string_view feature = {};        // what an instruction set has to provide; "": nothing
  // Calls that set the processor up and release it: before a kernel's first task and behind its
  // last, and around calls that want another set-up. Patterns of parameters and of extents that are
  // constants or the kernel's symbols.
  std::string_view enter = {}, leave = {};
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
// extents, an axis that is to lie dense and does not.
absl::Status CheckTileCall(const TileRow& row, const TileCall& call);

// Whether calls may have these parameters for vectors of `lanes`. Error: a value that is not legal,
// values that do not go together, or what they take more of than there is.
absl::Status LegalParams(const TileRow& row, std::span<const int64_t> params, int lanes,
                         const TileLimits& limits);

// The largest value of the extent in calls with these parameters, beside the range of the text.
int64_t MostOf(const TileRow& row, std::string_view extent, std::span<const int64_t> params);

// Whether calls give the stride of the operand along the axis; else it lies dense.
bool NamesStride(const TileRow& row, std::string_view operand, size_t axis);

// Types that elements of the operand may have in memory: that of the text, or those of the row.
std::vector<DType> StoredTypes(const TileRow& row, const KernelTensor& operand);

// The row's text as a kernel. AOTC_CHECK: it is one (a test reads all rows).
Kernel KernelOfTile(const TileRow& row);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_TILE_H_
