// What is known outside of the ops on sequences (items.cc): the attributes of ItemsRoom and
// ItemsRoomDims, with which inference gives what loops carry and branches give the same form.
//
//   SetRoom(JoinForms(first, next, bounds), room.attributes);
#ifndef AOTC_COMPILER_OPS_ITEMS_H_
#define AOTC_COMPILER_OPS_ITEMS_H_

#include "compiler/ops/item_form.h"

namespace aotc {

inline constexpr std::string_view kItemsRoom = "ItemsRoom", kItemsRoomDims = "ItemsRoomDims";
// How many items there is room for; where that is open, those of the input.
inline constexpr const char kRoomItems[] = "items";
// What a user says of that, and what a loop has room for where nobody says anything.
inline constexpr const char kRoomMost[] = "most_items", kRoomLeast[] = "least_items";
// The form: its kind, and the dims as texts over the symbols.
inline constexpr const char kRoomKind[] = "kind";
inline constexpr const char kRoomDims[] = "dims";

void SetRoom(const ItemForm& form, Attributes& attributes);

// The dims of an item of a sequence of that form: where they vary, the elements of input `row`,
// which are required to be within the form.
absl::StatusOr<Shape> DimsOfItem(OpContext& op, const ItemForm& form, size_t row);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_ITEMS_H_
