// Calls of a tile function, drawn from its row: parameters, types in memory, which extents and
// strides are numbers and which are known when the call runs.
//
//   Random random(7);
//   std::optional<RowCase> one = DrawRowCase(row, {.lanes = 16, .limits = limits}, "one", random);
//   RowSizes sizes = DrawRowSizes(*one, random);       // of one run: {"s3", 17}, {"a_0", 40}, ...
#ifndef AOTC_TESTS_TILES_ROW_CASE_H_
#define AOTC_TESTS_TILES_ROW_CASE_H_

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compiler/schedule/tile.h"

namespace aotc {

using Random = std::mt19937;
// Values of extents, of strides ("a_0") and of where operands begin ("a_at"), by name.
using RowSizes = std::map<std::string, int64_t, std::less<>>;

struct RowMachine {
  int lanes = 1;
  TileLimits limits = {};
};

struct RowCase {
  const TileRow* row = nullptr;
  Kernel text = {};
  std::vector<int64_t> params = {};
  int lanes = 1;
  std::vector<DType> types = {};  // of operands in memory
  bool has_initial = false;       // of the epilogue: what lies in %start is added
  TileCombiner combiner = {};     // of a call that combines a state among threads
  std::vector<Expr> lifts = {};   // of that state: its values for an element "mine"
  RowSizes constants = {};        // what the call has as a number
  // The call, of a task for each box of the result; its buffers are the operands, then %start.
  LoopFunction loops = {};

  const KernelTensor& operand(size_t i) const { return text.tensors[text.params[i]]; }
  size_t result() const { return text.params.size() - 1; }
  // What the call has in words, for complaints.
  std::string Describe(const RowSizes& sizes) const;
  // All symbols of the text.
  RowSizes TextSymbols(const RowSizes& sizes) const;
  std::vector<int64_t> Dims(size_t operand, const RowSizes& sizes) const;
  // Of the operand in memory, dense axes included.
  std::vector<int64_t> Strides(size_t operand, const RowSizes& sizes) const;
  int64_t Tasks(const RowSizes& sizes) const;
};

// Nothing where no parameters that were drawn are legal on the machine.
std::optional<RowCase> DrawRowCase(const TileRow& row, const RowMachine& machine,
                                   const std::string& name, Random& random);
RowSizes DrawRowSizes(const RowCase& of, Random& random);

}  // namespace aotc

#endif  // AOTC_TESTS_TILES_ROW_CASE_H_
