// One form for the sequences that branches give, and for those that a loop carries: what gives them
// room (ItemsRoom, ops/items.h) is told which.
//
//   rooms.Note(graph, node, old_output);                 // of each node, while a graph is walked
//   rooms.Join(graph, first, next, /*carried=*/true);    // of each pair
//   if (rooms.Apply(old_graph)) ...                      // walk again
#ifndef AOTC_COMPILER_CANONICALIZE_ITEM_ROOMS_H_
#define AOTC_COMPILER_CANONICALIZE_ITEM_ROOMS_H_

#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/items.h"

namespace aotc {

class ItemRooms {
 public:
  ItemRooms() = default;
  explicit ItemRooms(const Graph& graph);

  // What a node of the graph in work is given, if it gives room; `output` is that of the node in
  // the graph that is walked, of which the next one speaks too.
  void Note(const Graph& graph, const Node& node, ValueId output);
  // Two values that have to have one type: of a loop what it starts with and what a round gives.
  // Nothing happens where nodes that give room do not make both.
  void Join(const Graph& graph, ValueId first, ValueId second, bool carried);
  // Tells the nodes of `graph`, the one that was walked. False where they have the forms already.
  bool Apply(Graph& graph) const;

 private:
  // A node that gives room, by its output.
  struct Maker {
    ValueId elements, dims;  // that it is given
    Attributes room;
    std::optional<ItemForm> form;  // of what it is given, once that is known
  };

  void Want(const Maker& maker, const ItemForm& form);

  std::map<ValueId, Maker> makers_;
  std::vector<Maker> wishes_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_ITEM_ROOMS_H_
