// What the author of a model can do about a node that cannot be compiled as it stands.
#ifndef AOTC_COMPILER_CANONICALIZE_NODE_HINT_H_
#define AOTC_COMPILER_CANONICALIZE_NODE_HINT_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace aotc {

// The hint of the error about `node`, whose inputs are typed: the flag that fixes a dim, equates
// two, or gives an input of the graph its value, where one would do; "" where none would. `refusal`
// is Unimplemented where more has to be known or is not supported, else the model is wrong.
std::string NodeHint(const Graph& graph, const Node& node, const absl::Status& refusal);
// The same about dims of its inputs that have to be equal and may differ.
std::string SizesHint(const Graph& graph, const Node& node);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_NODE_HINT_H_
