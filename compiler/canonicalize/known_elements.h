// Elements of small tensors as expressions over the symbols, while a graph is inferred.
//
//   KnownElements known;
//   known.Infer(graph, kernel);                 // the outputs of a node, from its inputs
//   known.Find(graph, value);                   // or null
#ifndef AOTC_COMPILER_CANONICALIZE_KNOWN_ELEMENTS_H_
#define AOTC_COMPILER_CANONICALIZE_KNOWN_ELEMENTS_H_

#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/op.h"

namespace aotc {

class KnownElements {
 public:
  // True where the elements of all outputs are known now: those of i32 and i64 outputs are in the
  // graph's values, those of floats and bools, which are steps on the way, stay here.
  bool Infer(Graph& graph, const NodeKernel& kernel);
  // Nothing where they are not known or too many.
  std::optional<std::vector<Expr>> Find(const Graph& graph, ValueId id) const;

 private:
  std::map<ValueId, std::vector<Expr>> steps_;
};

// Elements that are all numbers, as a constant of the value's type.
std::optional<Constant> NumbersOf(const Value& value);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_KNOWN_ELEMENTS_H_
