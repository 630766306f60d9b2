// Nodes that phases write of their own accord: which op one is, and in what form that takes what it
// is told, is known to the files of the ops alone.
//
//   const ValueId copy = EmitRelayout(rebuilder, x, node);    // on behalf of `node`
//   rebuilder.graph().values[copy].layout = wanted;
//
// Patterns of optimize/ write what they match and are about, by name.
#ifndef AOTC_COMPILER_OPS_EMIT_H_
#define AOTC_COMPILER_OPS_EMIT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/index_operand.h"

namespace aotc {

// The value in a layout of its result's own.
Node RelayoutNode(ValueId x, ValueId result);
ValueId EmitRelayout(Rebuilder& rebuilder, ValueId x, const Node& origin);

// The value as it is.
ValueId EmitCopy(Rebuilder& rebuilder, ValueId x, const Node& origin);

// Axis i of the result is axis perm[i] of the value.
Node TransposeNode(ValueId x, ValueId result, std::vector<int64_t> perm);
ValueId EmitTransposed(Rebuilder& rebuilder, ValueId x, std::vector<int64_t> perm,
                       const ValueType& type, const Node& origin);

// Elements of two or more values in turn along an axis.
ValueId EmitInterleaved(Rebuilder& rebuilder, std::vector<ValueId> parts, size_t axis,
                        const ValueType& type, const Node& origin);

// The convolution `origin` of the old graph over m x m outputs at a time, of weights that are
// transformed for that (ir/winograd.h); pads as Conv has them.
ValueId EmitWinogradConv(Rebuilder& rebuilder, std::vector<ValueId> inputs, int64_t m,
                         std::vector<int64_t> pads, const Node& origin);

// Dims as the operand of a Reshape: a constant where all are known.
ValueId EmitDims(Rebuilder& rebuilder, const Shape& dims, const Node& origin);

// Whether all indices that a node has lie in their axes (OpTrait kMustHold); without its result.
Node IndexCheckNode(const Node& node, const IndexOperand& operand);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_EMIT_H_
