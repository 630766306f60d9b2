// One form for the sequences that branches give, and for those that a loop carries: what gives them
// room (ItemsRoom, ops/items.h) is told which.
//
//   rooms.Join(rebuilder, first, next, /*carried=*/true);     // for each pair, while a graph is walked
//   if (rooms.Apply(graph)) ...                               // walk again
#ifndef AOTC_COMPILER_CANONICALIZE_ITEM_ROOMS_H_
#define AOTC_COMPILER_CANONICALIZE_ITEM_ROOMS_H_

#include <map>
#include <optional>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/items.h"

namespace aotc {

class ItemRooms {
 public:
  ItemRooms() = default;
  explicit ItemRooms(const Graph& graph);

  // Two values of the graph that is walked, which have to have one type: of a loop what it starts
  // with and what a round gives. Nothing happens where nodes that give room do not make both.
  void Join(Rebuilder& rebuilder, ValueId first, ValueId second, bool carried);
  // Tells the nodes of `graph`, the one that was walked. False where they have the forms already.
  bool Apply(Graph& graph) const;

 private:
  struct Wish {
    ValueId elements, dims;  // that are given room
    Attributes room;
  };

  std::optional<ItemForm> FormGiven(Rebuilder& rebuilder, NodeId node) const;
  void Want(const Graph& graph, NodeId node, const ItemForm& form);

  std::map<ValueId, NodeId> makers_;  // by their output
  std::map<NodeId, Wish> wishes_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_ITEM_ROOMS_H_
