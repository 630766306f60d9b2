// Tensors of strings in graphs: three plain tensors each, which the importer makes of one.
//
//   starts i64 [dims], sizes i64 [dims]    where the bytes of each element are in the pool
//   pool   u8 [bytes]                      at least one byte; those of no element may be anything
//
// What moves elements moves starts and sizes alone. An op on strings takes the three as inputs in
// this order, and gives the three:
//
//   %starts, %sizes, %pool = StringConcat(%a_starts, %a_sizes, %a_pool, %b_starts, ...)
#ifndef AOTC_COMPILER_OPS_STRINGS_H_
#define AOTC_COMPILER_OPS_STRINGS_H_

#include <string>
#include <vector>

#include "compiler/ops/automaton.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/op.h"

namespace aotc {

inline constexpr size_t kStringParts = 3;  // starts, sizes and pool
// Attribute of an op that makes strings: the most bytes that they may have in a run, all together.
inline constexpr const char kMaxStringBytes[] = "max_string_bytes";
inline constexpr int64_t kMostStringBytes = int64_t{64} << 10;  // where it is not given

struct StringValues {
  ValueId starts = {}, sizes = {}, pool = {};
};

// Inputs first, first + 1 and first + 2 of a node.
StringValues StringInput(const Expansion& e, size_t first);
// Constant strings, of these dims.
StringValues AddStrings(Expansion& e, std::string_view name,
                        const std::vector<std::string>& strings, const std::vector<int64_t>& dims);
// Outputs first, first + 1 and first + 2.
void SetStringOutput(Expansion& e, size_t first, const StringValues& strings);

// The parts of constant strings; the pool has one byte at least.
struct StringConstants {
  Constant starts = {}, sizes = {}, pool = {};
};
StringConstants SplitStrings(const std::vector<std::string>& strings,
                             const std::vector<int64_t>& dims);

// The same as operands of a kernel.
struct StringTensors {
  Tensor starts = {}, sizes = {}, pool = {};

  Expr Size(const Indices& i) const { return sizes(i); }
  // Byte `place` of an element; any byte of the pool where it has none there.
  Expr Byte(const Indices& i, const Expr& place) const;
};
absl::StatusOr<StringTensors> ReadStrings(OpContext& op, size_t first);

// The size of output 0, a new pool, for as many bytes as input `total`, i64 [], says. More than
// attribute `max_string_bytes` are a status of the run.
absl::StatusOr<Expr> NewPoolSize(OpContext& op, size_t total);

// What an automaton gives for each string: i64 [dims].
absl::StatusOr<ValueId> EmitAutomaton(Expansion& e, const StringValues& strings,
                                      const Automaton& automaton);

// Strings of the sizes (i64 [dims]) whose bytes are put together anew, one after another.
struct NewStrings {
  ValueId starts = {};
  ValueId ends = {};   // i64 [elements], of each string in the pool: they ascend
  ValueId total = {};  // i64 []
};
NewStrings EmitNewStrings(Expansion& e, ValueId sizes);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_STRINGS_H_
