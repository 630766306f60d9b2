// Control flow in graphs: what If and Repeat, whose regions run as values decide, hand to their
// regions and take from them.
//
//   %y: f32[4] = If(%c) {
//     then_branch: () -> (%a) { %a: f32[4] = Relu(%x) }        the branch not taken does not run
//     else_branch: () -> (%b) { %b: f32[4] = Neg(%x) }
//   }
//   %z: f32[4], %s: f32[n, 4] = Repeat(%trip, _, %x) {         for (i = 0; i < trip; ++i)
//     body: (%v: f32[4]) -> (%w, %r) { ... }                     v, s[i] = body(v)
//   }
//
// If: `cond` is bool []; its regions have no inputs and as many outputs as the node, of its types.
// Dims may differ where attribute `chosen` names the variable of a symbol that is 1 where the
// condition holds, and 0 elsewhere: an output then has the dims that it selects.
// Repeat(trip, cond, carried...): ours, made of Loop and Scan. `trip` is i64 [], `cond` bool [];
// either may be absent, not both. The body runs while there is a trip left and the condition, which
// it gives anew as its first output where `cond` is present, holds. Its inputs are the carried
// values, its outputs the next ones, then those that the node stacks, [trip, dims...] each, which
// needs a count; where `cond` ends it before, the rest is not written. Types of carried values are
// the same in all iterations.
//
//   %n: i64[] elements(n) = DefineSizes(%count)               n is count's element from here on
//
// DefineSizes(values): ours. Each element of a small integer tensor becomes a symbol (`computed`),
// which the elements of the result name: sizes of what comes behind it. It stands in the main
// region, and is kept whether or not its result is read.
//
// In a typed graph every output of a region is the output of a node in that region, each another
// one: rebuilding puts an Identity where a branch or a body only passes a value on.
#ifndef AOTC_COMPILER_IR_CONTROL_FLOW_H_
#define AOTC_COMPILER_IR_CONTROL_FLOW_H_

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace aotc {

bool IsIf(const Node& node);
bool IsRepeat(const Node& node);
inline constexpr std::string_view kDefineSizes = "DefineSizes";
bool DefinesSizes(const Node& node);

// Attribute of an If whose branches give different sizes.
inline constexpr const char kChosen[] = "chosen";
// Attribute of a Repeat that is not typed yet: per stacked output, the axis along which it stacks.
inline constexpr const char kStackAxes[] = "stack_axes";

// Where the values of a Repeat are: carried value k is input kFirstCarried + k of the node, input k
// and output first_next + k of the body, output k of the node; stacked value j is output
// first_next + carried + j of the body and output carried + j of the node.
struct RepeatForm {
  static constexpr size_t kTrip = 0, kCond = 1, kFirstCarried = 2;
  size_t carried = 0;
  size_t stacked = 0;
  size_t first_next = 0;  // 1 where the body gives a condition
};
RepeatForm FormOf(const Graph& graph, const Node& repeat);

// The number of rounds that a typed Repeat has at most; invalid where only its condition ends it.
Expr TripOf(const Graph& graph, const Node& repeat);

// What is read of an If or a Repeat, position by position; all its regions alike. What is not read
// can go.
struct LivePorts {
  std::vector<char> node_inputs = {};
  std::vector<char> node_outputs = {};
  std::vector<char> region_inputs = {};
  std::vector<char> region_outputs = {};
};
// Where `needed` holds for the node's outputs and for what its regions need in turn.
LivePorts LivePortsOf(const Graph& graph, const Node& node, const IdVector<ValueId, char>& needed);

// What an If or a Repeat has that is not of the form above, a line each; of types only where
// `typed`.
std::vector<std::string> ControlFlowProblems(const Graph& graph, const Node& node, bool typed);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_CONTROL_FLOW_H_
