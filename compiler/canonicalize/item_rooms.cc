#include "compiler/canonicalize/item_rooms.h"

#include <algorithm>
#include <utility>

namespace aotc {
namespace {

bool GivesRoom(const Node& node) { return node.op == kItemsRoom || node.op == kItemsRoomDims; }

// Items whose dims a run computes have none that could be stated in front of it.
ItemForm Stated(const Graph& graph, ItemForm form) {
  const bool of_run =
      std::ranges::any_of(form.dims, [&](const Expr& dim) { return DependsOnRun(graph, dim); });
  if (!of_run) return form;
  const Bounds bounds = BoundsOf(graph.symbols);
  for (Expr& dim : form.dims) dim = std::max<int64_t>(RangeOf(dim, bounds).max, 0);
  form.kind = ItemKind::kFree;
  return form;
}

}  // namespace

ItemRooms::ItemRooms(const Graph& graph) {
  for (NodeId id : graph.nodes.ids()) {
    const Node& node = graph.nodes[id];
    if (GivesRoom(node)) makers_[node.outputs[0]] = id;
  }
}

std::optional<ItemForm> ItemRooms::FormGiven(Rebuilder& rebuilder, NodeId node) const {
  const Node& room = rebuilder.old_graph().nodes[node];
  const Graph& graph = rebuilder.graph();
  const ValueId elements = rebuilder.Mapped(room.inputs[0]),
                dims = rebuilder.Mapped(room.inputs[1]);
  if (!elements.valid() || !dims.valid()) return std::nullopt;
  const ValueType &first = graph.values[elements].type, &second = graph.values[dims].type;
  if (!IsKnownType(first) || !IsKnownType(second)) return std::nullopt;
  absl::StatusOr<ItemForm> form = FormOf(first.dims, second.dims);
  return form.ok() ? std::optional(*std::move(form)) : std::nullopt;
}

void ItemRooms::Want(const Graph& graph, NodeId node, const ItemForm& form) {
  const Node& room = graph.nodes[node];
  Wish wish = {.elements = room.inputs[0], .dims = room.inputs[1], .room = room.attributes};
  SetRoom(form, wish.room);
  if (!SameAttributes(wish.room, room.attributes)) wishes_[node] = std::move(wish);
}

void ItemRooms::Join(Rebuilder& rebuilder, ValueId first, ValueId second, bool carried) {
  const auto one = makers_.find(first), other = makers_.find(second);
  if (one == makers_.end() || other == makers_.end()) return;
  const std::optional<ItemForm> start = FormGiven(rebuilder, one->second);
  const std::optional<ItemForm> next = FormGiven(rebuilder, other->second);
  if (!start || !next) return;
  const Graph &graph = rebuilder.graph(), &old = rebuilder.old_graph();
  ItemForm join = JoinForms(*start, *next, BoundsOf(graph.symbols));
  if (join.kind == ItemKind::kNone) return;
  const Attributes& given = old.nodes[one->second].attributes;
  if (carried) join.room = std::max(start->room, given.Int(kRoomLeast));
  if (given.Has(kRoomMost)) join.room = given.Int(kRoomMost);
  join = Stated(graph, std::move(join));
  Want(old, one->second, join);
  Want(old, other->second, join);
}

bool ItemRooms::Apply(Graph& graph) const {
  bool changed = false;
  for (const auto& [id, wish] : wishes_) {
    for (Node& node : graph.nodes) {
      const bool is_it =
          GivesRoom(node) && node.inputs[0] == wish.elements && node.inputs[1] == wish.dims;
      if (!is_it || SameAttributes(node.attributes, wish.room)) continue;
      node.attributes = wish.room;
      changed = true;
    }
  }
  return changed;
}

}  // namespace aotc
