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
// Repeat(trip, cond, carried...): ours, made of Loop and Scan. `trip` is i64 [], `cond` bool [];
// either may be absent, not both. The body runs while there is a trip left and the condition, which
// it gives anew as its first output where `cond` is present, holds. Its inputs are the carried
// values, its outputs the next ones, then those that the node stacks, [trip, dims...] each, which
// needs a count; where `cond` ends it before, the rest is not written.
//
//   %n: i64[] elements(n) = DefineSizes(%count)               n is count's element from here on
//   %h: i64[1] elements(m) = DefineSizes()                    so is m, which has a value, m + 1 say
//
// DefineSizes(values): ours. Each element of a small integer tensor becomes a symbol (`computed`),
// which the elements of the result name: sizes of what comes behind it in its region. Without an
// operand the symbols have values, which are worked out there, and checks, which are looked at
// there: of a branch or body only where that runs. It is kept whether or not its result is read.
//
// A dim may be another one on each way to a value. Attribute `sizes` of an If or a Repeat lists the
// variables of symbols (`computed`, known behind the node) that are dims of its results: each has
// the value that this dim has in what the branch taken, or the last round, gives. Attribute
// `round_sizes` of a Repeat lists those that are dims of its body's inputs, known in the body: of
// the initial values in the first round, of what the round before gives in any other.
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

// Attributes of control flow, variables each with a space in between.
inline constexpr const char kSizes[] = "sizes";
inline constexpr const char kRoundSizes[] = "round_sizes";
std::vector<std::string> VariablesIn(const Node& node, const char* attribute);
void AddVariable(Node& node, const char* attribute, std::string_view var);
// Whether a dim is one of the variables, and just that.
bool IsListed(const Expr& dim, const std::vector<std::string>& vars);
// Symbols are known behind the node that were not before.
bool GivesSizes(const Node& node);

// What symbols are on one way to a value.
struct SizeEdge {
  std::vector<Expr> elements = {};  // variables
  std::vector<Expr> values = {};
};
// Of the symbols listed that are dims of `to`, the dims of `from` at those places; the two lists of
// values go together.
SizeEdge EdgeTo(const Graph& graph, const std::vector<std::string>& vars,
                const std::vector<ValueId>& to, const std::vector<ValueId>& from);
// Of a Repeat, from carried values: to those that its body begins with, and to those behind it.
SizeEdge EdgeToRound(const Graph& graph, const Node& repeat, const std::vector<ValueId>& from);

// Attribute of any node: symbols of a DefineSizes without operand, in whose checks it trusts.
inline constexpr const char kGiven[] = "given";
// The symbols as the node sees them. Of those that a DefineSizes without operand works out it knows
// the values of the given ones alone, and what has been checked there as checks of what it is over.
std::vector<Symbol> SymbolsAt(const Graph& graph, const Node& node);
// Makes it a check of the last symbol that it names; false where it names none.
bool AddCheckOver(std::vector<Symbol>& symbols, const SizeCheck& check);

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
