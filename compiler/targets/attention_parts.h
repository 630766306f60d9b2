// The parts of attention that every target computes in one pass: how queries, keys and values are
// read, what is made of a score in front of the softmax, and of a result behind it.
//
//   AOTC_ASSIGN_OR_RETURN(const Attention a, AnalyzeAttention(kernel));
//   a.key.offset + j * a.key.row_step + d * a.key.step        // element d of key j
#ifndef AOTC_COMPILER_TARGETS_ATTENTION_PARTS_H_
#define AOTC_COMPILER_TARGETS_ATTENTION_PARTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/attention.h"

namespace aotc {

// Rows of keys or values: element (row, column) is data[offset + row * row_step + column * step].
struct AttentionRows {
  TensorId tensor = {};
  Expr offset = {}, row_step = {}, step = {};
};

struct Attention {
  Kernel kernel = {};  // as given
  AttentionAnchor anchor = {};
  Nest scores = {};  // points (leading axes, key): from the product to the scores of the softmax
  Nest result = {};  // points (leading axes, column): from the weighted values on
  size_t row = 0;    // the leading axis that keys and values are not read at, the longest
  Expr query = {};   // over leading axes of `scores` and the axis `depth_axis`
  std::string depth_axis = {}, key_axis = {}, column_axis = {};
  Expr keys = {};                      // how many
  int64_t depth = 0;                   // of a query
  int64_t columns = 0;                 // of the values
  AttentionRows key = {}, value = {};  // over leading axes of `scores`

  const NestAxis& rows() const { return scores.outer[row]; }
};

// Leading axes of `result` -> those of `scores`.
Substitution NamesOfScores(const Attention& attention);

// Error: the reason why it cannot be computed so.
absl::StatusOr<Attention> AnalyzeAttention(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_ATTENTION_PARTS_H_
