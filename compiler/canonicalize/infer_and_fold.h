// One forward walk that gives every value its type and folds what is constant.
#ifndef AOTC_COMPILER_CANONICALIZE_INFER_AND_FOLD_H_
#define AOTC_COMPILER_CANONICALIZE_INFER_AND_FOLD_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

// Types come from the ops' compute definitions, constants from the reference evaluator. A node of
// constants is folded unless its result is larger than `fold_bytes` and than all its inputs. Small
// integer tensors keep their elements as expressions over the symbols, so that shape arithmetic
// vanishes too. Findings of all nodes are collected (node, op, opset); the status is an error when
// there is one.
absl::StatusOr<Graph> InferAndFold(const Graph& graph, Diagnostics& diagnostics,
                                   int64_t fold_bytes = int64_t{64} << 20);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_INFER_AND_FOLD_H_
