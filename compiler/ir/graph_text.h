// Text form of graphs. What graph.h shows, and:
//
//   %s: sequence(f32[n], 64)    %o: optional(i64[])    %m: map(string[n], f32[n])
//   %y = Conv(%x, %w) {pads=[1, 1]} contract(direct, 16 -> 16)          // contract.h
//   %u: f32[*]    %a: ?[2, 3]                         // rank, element type not known
//   %b: f32[1, 32] layout(0, 1/16, 1%16) elements(batch, 3) = ...
//   %p, _ = Dropout(%x, _, %t) {seed=1} loc("drop (Dropout, opset 13)")    // _: absent
//   %y: f32[3] = If(%c)
//     region then_branch() -> (%t) {
//       %t: f32[3] = Relu(%x)
//     }
//   function @gelu(%x) -> (%y) { ... }                                    // before the nodes
//
// A value whose type is not known prints as its name alone. Constants print as splat(v), [short,
// lists] up to `constant_limit` elements, else as a hash (constant_text.h); random(seed=n) is only
// parsed.
#ifndef AOTC_COMPILER_IR_GRAPH_TEXT_H_
#define AOTC_COMPILER_IR_GRAPH_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

std::string PrintGraph(const Graph& graph, int constant_limit = 16);
std::string PrintType(const ValueType& type);
absl::StatusOr<ValueType> ParseType(Scanner& scanner);
absl::StatusOr<Graph> ParseGraph(std::string_view text);
absl::StatusOr<Graph> ParseGraph(Scanner& scanner);

// Every value is defined once and before use (regions see outer values), ids are in range, names
// are unique, dims use declared symbols only; collects all violations in one status.
absl::Status VerifyStructure(const Graph& graph);
// The same, and every value of the main region and of the regions in it has a known type.
absl::Status VerifyGraph(const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_GRAPH_TEXT_H_
