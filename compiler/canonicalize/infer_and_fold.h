// One walk forward that gives every value its type and turns what is known into constants.
//
//   const %s: i64[2] = [6, 4]
//   %y = Reshape(%w, %s)          =>      const %y: f32[6, 4] = ...        (%w is a constant)
//   %z = Shape(%x)                =>      %z: i64[2] elements(n, 4) = Elements()
//
// * Types are those of the ops' kernels; a declared shape that contradicts them gives a warning.
// * A node whose kernel reads constants only is evaluated. The cap (fold.cap-bytes) leaves results
//   that are large, and larger than their inputs, to run time, unless they stay splats or a weight
//   is made of them.
// * Small integer tensors that depend on symbols have their elements as expressions: shape operands
//   read them.
// * Branches and bodies are walked where they stand (infer_control.h).
// * All complaints of all nodes are collected before the pass fails.
#ifndef AOTC_COMPILER_CANONICALIZE_INFER_AND_FOLD_H_
#define AOTC_COMPILER_CANONICALIZE_INFER_AND_FOLD_H_

#include "compiler/pass/pass.h"

namespace aotc {

inline constexpr ConfigKey kFoldCapBytes = {
    "fold.cap-bytes", 16 << 20, 0, int64_t{1} << 40,
    "most bytes of a folded constant that no weight is made of and that is larger than its inputs"};

absl::StatusOr<Graph> InferAndFold(const Graph& graph, PassContext& context);

// An error for each input of unknown type: a compile needs them all.
void ComplainOfInputs(const Graph& graph, Diagnostics& diagnostics);

// InferAndFold for graphs with inputs of unknown type: what is made of those stays unknown.
absl::StatusOr<Graph> InferWhatIsKnown(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_INFER_AND_FOLD_H_
