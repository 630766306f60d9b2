// Spelling of sizes, guards and places of buffers in the host program. What they use is noted in
// the context.
//
//   HostExpr(context, CeilDiv(Var("m"), 14), bounds)    // "(dims.m + 13) / 14"
//   BufferPointer(context, buffer, /*written=*/false)   // "(const float *)(arena + at::conv1)"
#ifndef AOTC_COMPILER_EMIT_HOST_EXPR_H_
#define AOTC_COMPILER_EMIT_HOST_EXPR_H_

#include <set>
#include <string>

#include "compiler/emit/parts.h"
#include "compiler/ir/program.h"

namespace aotc {

// An integer or bool expression over the symbols, which are members of `dims`. Divisions of what is
// never negative are plain ones. `locals` are variables of the host's own loops.
std::string HostExpr(const EmitContext& context, const Expr& e, const Bounds& bounds,
                     const std::set<std::string>& locals = {});

// What is known of the symbols before any of their checks.
Bounds RangesOf(const Program& program);

// Whether a sum or product of operands within their bounds may pass 64 bits; of `node` alone.
bool MayOverflow(const Expr& node, const Bounds& bounds);

// The first byte of a buffer of the arena: "arena + at::conv1", or of the pool that it lies in,
// "(uint8_t *)pools.fast + at::conv1".
std::string ArenaPlace(const EmitContext& context, const Buffer& buffer);

// The address of the first element of a buffer, as the kernel's parameter is declared. Uses the
// names in, out, arena or pools, weights, and the constants of the namespaces `at` and `packed`.
std::string BufferPointer(const EmitContext& context, BufferId id, bool written);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_HOST_EXPR_H_
