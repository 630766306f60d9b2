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
  for (const Node& node : graph.nodes) {
    if (!GivesRoom(node)) continue;
    makers_[node.outputs[0]] = {
        .elements = node.inputs[0], .dims = node.inputs[1], .room = node.attributes, .form = {}};
  }
}

void ItemRooms::Note(const Graph& graph, const Node& node, ValueId output) {
  if (!GivesRoom(node)) return;
  const absl::StatusOr<ItemForm> form =
      FormOf(graph.values[node.inputs[0]].type.dims, graph.values[node.inputs[1]].type.dims);
  if (form.ok()) makers_[output].form = *form;
}

void ItemRooms::Want(const Maker& maker, const ItemForm& form) {
  Maker wish = maker;
  SetRoom(form, wish.room);
  if (!SameAttributes(wish.room, maker.room)) wishes_.push_back(std::move(wish));
}

void ItemRooms::Join(const Graph& graph, ValueId first, ValueId second, bool carried) {
  const auto one = makers_.find(first), other = makers_.find(second);
  if (one == makers_.end() || other == makers_.end()) return;
  const std::optional<ItemForm>&start = one->second.form, &next = other->second.form;
  if (!start || !next) return;
  ItemForm join = JoinForms(*start, *next, BoundsOf(graph.symbols));
  if (join.kind == ItemKind::kNone) return;
  const Attributes& given = one->second.room;
  if (carried) join.room = std::max(start->room, given.Int(kRoomLeast));
  if (given.Has(kRoomMost)) join.room = given.Int(kRoomMost);
  join = Stated(graph, std::move(join));
  Want(one->second, join);
  Want(other->second, join);
}

bool ItemRooms::Apply(Graph& graph) const {
  bool changed = false;
  for (const Maker& wish : wishes_) {
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
