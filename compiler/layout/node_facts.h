// What the layout phase knows of a node: its kernel, read once, and the anchor of that.
//
//   const AnchorFacts facts(graph);
//   facts.Of(node).anchor->size.outputs        // 64, of a convolution to as many channels
#ifndef AOTC_COMPILER_LAYOUT_NODE_FACTS_H_
#define AOTC_COMPILER_LAYOUT_NODE_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "compiler/ir/contract.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/op.h"

namespace aotc {

struct NodeFacts {
  std::optional<NodeKernel> kernel = {};  // none where the op has no compute definition
  // Of a product, or of a convolution with constant weights: what contracts are about.
  std::optional<AnchorSignature> anchor = {};
  int64_t winograd_m = 0;  // of one that is written by Winograd's algorithm already
  int64_t rows_lack = 0;   // bytes that rows of a product are short of whole groups

  bool IsConvolution() const { return anchor && anchor->form != Algorithm::kProduct; }
  // The kernel can write its output in any layout. The columns of a matrix product have to lie
  // innermost, without a halo.
  bool WritesAnyLayout() const;
};

class AnchorFacts {
 public:
  explicit AnchorFacts(const Graph& graph);

  const NodeFacts& Of(const Node& node) const { return facts_.at(&node); }

 private:
  std::map<const Node*, NodeFacts> facts_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_NODE_FACTS_H_
