// Attention in one pass on a CPU: a task has a block of rows and walks blocks of keys. What it
// keeps of a row is its largest score so far, the sum of the weights and the weighted values, so
// that scratch does not grow with the number of keys.
//
//   schedule { tasks %y(n:1, h:1, i:32)  loop j:112
//              %s, %z @ j in scratch by contract_tile(14, 2, 1)
//              %top, %t, %sum, %p @ j in scratch by loops(16)
//              %y @ j in scratch by contract_tile(13, 2, 1) partial }
//
// The rows of a block are the lanes: both products take what lies between them as their packed
// operand, keys and values as they lie in memory, and the softmax needs no sums over lanes.
//
//   s[j][i] = sum over d of  k[j][d] * q[d][i]       // q: the block's rows, transposed once
//   y[e][i] += sum over j of  v[j][e] * p[j][i]      // after y and sum were scaled to the new top
//
// A single row, as a step of decoding has it, is a task of its own (`i:1`): keys are the lanes of
// its softmax, and the products are those of row_dots and row_products.
#ifndef AOTC_COMPILER_TARGETS_CPU_ATTENTION_H_
#define AOTC_COMPILER_TARGETS_CPU_ATTENTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/loops.h"
#include "compiler/schedule/schedule.h"
#include "compiler/targets/attention_parts.h"
#include "compiler/targets/cpu/features.h"

namespace aotc {

struct AttentionTiling {
  int64_t block = 32;                        // rows of a task; 1: keys are the lanes
  int64_t keys = 112;                        // of a block
  int64_t score_rows = 14, value_rows = 14;  // of the register tiles: keys, columns of the values
  int64_t vectors = 2;
  int64_t width = 4;  // of a single row: keys, or vectors of columns, at a time
};

// The product of a row with a matrix whose rows are the results and whose columns are the terms:
// row_dots where those lie together, row_products where the results do, `width` results or vectors
// of them at a time. Null where neither does.
SchedulePart RowProductPart(const AttentionRows& matrix, int64_t width);
// Whether there is one row for each of the keys' matrices, as in a step of decoding.
bool HasSingleRows(const Attention& attention);
// Error: single rows whose keys or values lie apart.
absl::Status CheckRowAttention(const Attention& attention);

// Whether a schedule is one of attention in one pass.
bool IsAttention(const Schedule& schedule);
// Error: the reason why the schedule is none of this attention.
absl::StatusOr<AttentionTiling> AttentionTilingOf(const Attention& attention,
                                                  const Schedule& schedule, int lanes);
// Blocks of many sizes; none of so few rows that most lanes would be idle.
std::vector<Schedule> AttentionCandidates(const Attention& attention, const Isa& isa);

// Error: as above, or stages without vector form.
absl::StatusOr<LoopFunction> ApplyAttention(const Attention& attention, const Schedule& schedule,
                                            int lanes);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_ATTENTION_H_
