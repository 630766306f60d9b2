// How a carried value of a Repeat gets from one round to the next, in the memory of the program.
//
//   CarriageOf(graph, node, 0, body, buffers);   // kInTurn: a round reads the room that the one
//                                                // before has written, and writes the other
#ifndef AOTC_COMPILER_LOWER_CARRIED_VALUES_H_
#define AOTC_COMPILER_LOWER_CARRIED_VALUES_H_

#include <cstddef>
#include <cstdint>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/fused_graph.h"
#include "compiler/lower/value_buffers.h"

namespace aotc {

enum class Carriage : uint8_t {
  kReplaced,  // what makes the next value writes it over this one, which nothing else reads
  kInTurn,    // the value has two rooms: a round reads the one and writes the other
  kCopied,    // a copy at the end of the round, of what no step of the body makes for this alone
};

// Carried value `k` of a Repeat with that body. `buffers`: with what has been placed so far.
Carriage CarriageOf(const Graph& graph, const Node& repeat, size_t k, const FusedGraph& body,
                    const ValueBuffers& buffers);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_CARRIED_VALUES_H_
