// The host code between the caller's values and the tensors that steps know, where these are not
// the same (ir/bundle.h).
#ifndef AOTC_COMPILER_EMIT_HOST_BUNDLES_H_
#define AOTC_COMPILER_EMIT_HOST_BUNDLES_H_

#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"

namespace aotc {

// `tensor_inputs` and `tensor_outputs`: what the steps read and write.
void EmitTensorStructs(const EmitContext& context, CodeWriter& w);

// `pack(in, out, parts, given, made)`, which checks what the caller gives and fills in the structs
// of tensors, with parts in the memory `parts`; `unpack(made, out)`, which tells the caller of the
// results once they are there.
void EmitPacking(const EmitContext& context, CodeWriter& w);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_HOST_BUNDLES_H_
