// What sizes are computed of, where only a run knows that: elements of tensors, as symbols.
//
//   for (const auto& [name, source] : SizeSourcesBehind(graph, value)) {
//     NameElements(model, name, source);
//   }
//
// An input of few integers that a shape operand is computed from has symbols for its elements; so
// has a value that the run computes, where the operand depends on data that is no size.
#ifndef AOTC_COMPILER_CANONICALIZE_SIZE_SOURCES_H_
#define AOTC_COMPILER_CANONICALIZE_SIZE_SOURCES_H_

#include <map>
#include <set>
#include <string>

#include "compiler/ir/graph.h"

namespace aotc {

// Adds the symbol, with a variable of its own, and gives that.
Expr AddSymbol(Graph& graph, Symbol symbol);

struct SizeSource {
  ValueType type = {};
  Interval range = {};  // in which all elements are, if the value is no input
};
using SizeSources = std::map<std::string, SizeSource>;  // by the name of the value

// Values that hold few integers, are not known, and of which alone the elements of a value are
// computed: as far from it as there are such, inputs at best. Empty where there are none.
SizeSources SizeSourcesBehind(const Graph& graph, ValueId value);

// Gives each element of that value a symbol: of an input of the main region at once, of any other
// value by a DefineSizes behind its node, or in front of its body, which all nodes read instead.
// Elements that are only positions on axes may be any; others lie within 32 bits. False where the
// value is none of these.
bool NameElements(Graph& graph, const std::string& name, const SizeSource& source);

// Variables of the symbols that become known in a region, each time it runs.
std::set<std::string> SizesOfRegion(const Graph& graph, RegionId region);
// In front of a node of the region a DefineSizes without operand works out the symbol, which has a
// value, and looks at its checks; the node is given that. The variable.
Expr DefineInFront(Graph& graph, RegionId region, NodeId node, Symbol symbol);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_SIZE_SOURCES_H_
