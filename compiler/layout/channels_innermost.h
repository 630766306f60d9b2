// Values whose channels lie innermost, in no blocks: parts of some begin within blocks, where a
// Concat joins them or slices cut them, as grouped convolutions do. Without blocks any part is a
// box of the whole.
//
//   ChannelsInnermost values(graph, 16);
//   values.Add(node_kernel);                      // of each node
//   const std::set<ValueId> innermost = values.Find();
#ifndef AOTC_COMPILER_LAYOUT_CHANNELS_INNERMOST_H_
#define AOTC_COMPILER_LAYOUT_CHANNELS_INNERMOST_H_

#include <cstdint>
#include <map>
#include <set>

#include "compiler/ir/graph.h"
#include "compiler/ops/op.h"

namespace aotc {

class ChannelsInnermost {
 public:
  // Blocks that values have otherwise.
  ChannelsInnermost(const Graph& graph, int64_t block) : graph_(graph), block_(block) {}

  void Add(const NodeKernel& node);
  // What is cut or joined within blocks, and what ops make of it that keep its channels, where a
  // convolution makes or reads any of that: rows of tokens have no channels. Values that an
  // algorithm of its own wants in blocks are not among them.
  std::set<ValueId> Find() const;

 private:
  bool HasChannels(ValueId value) const;
  void AddParts(const NodeKernel& node);
  void Join(ValueId a, ValueId b);
  std::set<ValueId> AlikeWith(ValueId value) const;  // itself and those of one layout with it

  const Graph& graph_;
  const int64_t block_;
  std::map<ValueId, std::set<ValueId>> alike_;  // those that have one layout with the value
  std::set<ValueId> cut_;                       // within blocks
  std::set<ValueId> blocked_;
  std::set<ValueId> convolved_;  // a convolution makes or reads them
};

// Axes in order, the channels behind all others.
Layout InnermostChannels(size_t rank);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_CHANNELS_INNERMOST_H_
