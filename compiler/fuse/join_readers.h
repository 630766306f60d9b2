// Which values a node joins with others along an axis: a slice among them may lie where it is.
//
//   JoinReaders(graph).Contains(slice)    // %y = Concat(%slice, %b)
#ifndef AOTC_COMPILER_FUSE_JOIN_READERS_H_
#define AOTC_COMPILER_FUSE_JOIN_READERS_H_

#include <map>

#include "compiler/ir/graph.h"

namespace aotc {

class JoinReaders {
 public:
  explicit JoinReaders(const Graph& graph);

  // Builds the kernels of the value's readers.
  bool Contains(ValueId value) const;

 private:
  const Graph& graph_;
  std::multimap<ValueId, const Node*> readers_;  // but control flow
};

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_JOIN_READERS_H_
