// Names that lowering, schedule rules and emitted functions give to variables of their own. Symbols
// of a model have others, so that no expression over a dim changes its meaning in a loop.
//
//   for (std::string_view name : kLoopNames) taken.Reserve(name);      // "row" becomes row_2
//
// VerifyLoops refuses what would hide a symbol, so that a name missing here is an error, never
// another result.
#ifndef AOTC_COMPILER_IR_LOOP_NAMES_H_
#define AOTC_COMPILER_IR_LOOP_NAMES_H_

#include <string>
#include <string_view>

#include "compiler/support/names.h"

namespace aotc {

inline constexpr std::string_view kLoopNames[] = {
    // Statements of lowering and of the rules.
    "acc", "across", "at_k", "at_m", "at_n", "block", "channel", "column", "column_at",
    "column_block", "depth_at", "down", "e", "element", "end_block", "fill_column", "fill_lane",
    "fill_row", "first_block", "first_column", "first_key", "first_row", "group", "halo",
    "halo_round", "i", "in_tile", "j", "k_at", "key", "key_at", "key_count", "lane", "lanes",
    "m_at", "most", "n_at", "number", "one", "panel", "panel_chunk", "part", "place", "point",
    "position", "row", "row_at", "row_block", "row_chunk", "row_count", "rows_done", "rows_left",
    "run", "scale", "score", "seen", "shift", "step", "strip", "sum", "task", "task_row", "thread",
    "tile", "tile_column", "tile_m", "tile_n", "tile_patch", "tile_row", "tile_vector", "top",
    "top_0", "top_1", "top_2", "vector", "weight", "x",
    // Axes of kernels.
    "i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7",
    // Parameters of emitted functions.
    "config", "scratch", "stream", "task_begin", "task_end", "tasks"};

// What they put behind the name of a tensor or an axis: "acc_value", "i1_v".
inline constexpr std::string_view kLoopEndings[] = {
    "_bits", "_c",    "_chunk", "_cut",  "_element", "_factor", "_g",    "_halo",
    "_i",    "_kept", "_lanes", "_next", "_o",       "_v",      "_value"};

// A table in which these names are taken.
inline NameTable TakenByLowering() {
  NameTable taken;
  for (std::string_view name : kLoopNames) taken.Reserve(name);
  return taken;
}

// The variable of a symbol of that name; `ending` comes behind it.
inline std::string UniqueSymbolVar(NameTable& taken, const std::string& name,
                                   const std::string& ending) {
  for (std::string_view own : kLoopEndings) {
    if (CleanIdentifier(name).ends_with(own)) return taken.Unique(name + ending + "_dim", "dim");
  }
  return taken.Unique(name + ending, "dim");
}

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_LOOP_NAMES_H_
