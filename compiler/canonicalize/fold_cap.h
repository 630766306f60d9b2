// When a result may become a constant of the model.
//
//   FoldCap cap(graph, 16 << 20);
//   cap.Allows(node, kernel, inputs)
#ifndef AOTC_COMPILER_CANONICALIZE_FOLD_CAP_H_
#define AOTC_COMPILER_CANONICALIZE_FOLD_CAP_H_

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/kernel.h"

namespace aotc {

class FoldCap {
 public:
  FoldCap(const Graph& graph, int64_t cap_bytes);

  // `node` of the graph given above; `kernel` is its own, without symbols, and reads `inputs`.
  bool Allows(const Node& node, const Kernel& kernel, const std::vector<Constant>& inputs) const;

 private:
  int64_t cap_bytes_;
  IdVector<ValueId, char> reaches_weight_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_FOLD_CAP_H_
