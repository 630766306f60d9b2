// Sequences and optionals of the table, to and from the tensors by which a model holds them.
//
//   parts[0]  elements [room, dims...]: item k begins at elements[k], each axis as long as here
//   parts[1]  dims     i64[room, columns]: of each item; no column where all are as long as there
//             is room, one per axis, or, where also the rank varies, one for each axis that a
//             tensor may have and one for the rank; items are then row-major in elements[k]
//   parts[2]  length   i64[]
//   parts[3]  has      bool[], of an optional sequence
#ifndef AOTC_ITEMS_H_
#define AOTC_ITEMS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "aotc/check.h"
#include "aotc/model.h"

// A part that lies in `memory`, with its largest dims.
static inline void aotc_lend_part(aotc_value *part, const aotc_value_info *info, void *memory) {
  *part = {};
  part->kind = AOTC_TENSOR;
  part->tensor.data = memory;
  part->tensor.capacity_bytes = info->max_bytes;
  part->tensor.dtype = info->dtype;
  part->tensor.rank = info->rank;
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    part->tensor.dims[axis] = info->max_dims[axis];
  }
}

// The items of parts, as items of the caller see them.
typedef struct aotc_items {
  uint8_t *elements;
  int64_t *dims;
  int64_t *length;
  int64_t room, columns;
  const int64_t *box;  // of the elements of an item
  int32_t rank;        // of the box
  int32_t dtype;
  bool is_flat;  // ranks vary
} aotc_items;

static inline aotc_items aotc_items_of(const aotc_value *parts) {
  const aotc_tensor *elements = &parts[0].tensor, *dims = &parts[1].tensor;
  aotc_items items = {};
  items.elements = (uint8_t *)elements->data;
  items.dims = (int64_t *)dims->data;
  items.length = (int64_t *)parts[2].tensor.data;
  items.room = elements->dims[0];
  items.columns = dims->dims[1];
  items.box = elements->dims + 1;
  items.rank = elements->rank - 1;
  items.dtype = elements->dtype;
  items.is_flat = items.columns > AOTC_MAX_RANK;
  return items;
}

// Bytes from one item to the next.
static inline size_t aotc_item_bytes(const aotc_items *items) {
  return aotc_tensor_bytes(items->dtype, items->rank, items->box);
}

// Copies the elements of a tensor into the box of an item, or from there.
static inline void aotc_copy_item(const aotc_items *items, int64_t k, const aotc_tensor *tensor,
                                  bool to_box) {
  const size_t bytes = aotc_tensor_bytes(tensor->dtype, tensor->rank, tensor->dims);
  if (bytes == 0) return;
  uint8_t *box = items->elements + (size_t)k * aotc_item_bytes(items);
  uint8_t *data = (uint8_t *)tensor->data;
  const bool whole = items->is_flat || tensor->rank == 0;
  const int32_t last = tensor->rank - 1;
  const size_t width = (size_t)aotc_dtype_bits(tensor->dtype) / 8;
  const size_t row = whole ? bytes : (size_t)tensor->dims[last] * width;
  for (size_t at = 0, number = 0; at < bytes; at += row, ++number) {
    size_t place = 0, stride = whole ? 0 : (size_t)items->box[last] * width, rest = number;
    for (int32_t axis = last - 1; !whole && axis >= 0; --axis) {
      place += rest % (size_t)tensor->dims[axis] * stride;
      rest /= (size_t)tensor->dims[axis];
      stride *= (size_t)items->box[axis];
    }
    memcpy(to_box ? box + place : data + at, to_box ? data + at : box + place, row);
  }
}

// Whether dims fit the box, and are those that an item has to have.
static inline aotc_status aotc_check_item_dims(const aotc_items *items, const aotc_tensor *tensor) {
  if (items->is_flat) {
    if (tensor->rank < 0 || tensor->rank > AOTC_MAX_RANK) return AOTC_ERROR_RANK;
    const size_t bytes = aotc_tensor_bytes(tensor->dtype, tensor->rank, tensor->dims);
    return bytes <= aotc_item_bytes(items) ? AOTC_OK : AOTC_ERROR_DIM;
  }
  if (tensor->rank != items->rank) return AOTC_ERROR_RANK;
  for (int32_t axis = 0; axis < tensor->rank; ++axis) {
    const int64_t dim = tensor->dims[axis];
    if (dim < 0 || dim > items->box[axis]) return AOTC_ERROR_DIM;
    if (items->columns == 0 && dim != items->box[axis]) return AOTC_ERROR_DIM;
  }
  return AOTC_OK;
}

static inline aotc_status aotc_pack_item(const aotc_items *items, int64_t k,
                                         const aotc_value *value) {
  if (value->kind != AOTC_TENSOR) return AOTC_ERROR_KIND;
  if (value->tensor.dtype != items->dtype) return AOTC_ERROR_DTYPE;
  aotc_status status = aotc_check_item_dims(items, &value->tensor);
  if (status == AOTC_OK) status = aotc_check_memory(&value->tensor);
  if (status != AOTC_OK) return status;
  aotc_copy_item(items, k, &value->tensor, true);
  int64_t *row = items->dims + k * items->columns;
  for (int64_t column = 0; column < items->columns; ++column) {
    row[column] = column < value->tensor.rank ? value->tensor.dims[column] : 0;
  }
  if (items->is_flat) row[AOTC_MAX_RANK] = value->tensor.rank;
  return AOTC_OK;
}

// `count` values as the items of parts.
static inline aotc_status aotc_pack_items(const aotc_value *values, int32_t count,
                                          const aotc_value *parts) {
  const aotc_items items = aotc_items_of(parts);
  if (count < 0 || count > items.room) return AOTC_ERROR_DIM;
  if (count > 0 && values == nullptr) return AOTC_ERROR_POINTER;
  if (items.room > 0) memset(items.elements, 0, (size_t)items.room * aotc_item_bytes(&items));
  for (int64_t i = 0; i < items.room * items.columns; ++i) items.dims[i] = 0;
  for (int32_t k = 0; k < count; ++k) {
    const aotc_status status = aotc_pack_item(&items, k, &values[k]);
    if (status != AOTC_OK) return status;
  }
  *items.length = count;
  return AOTC_OK;
}

static inline aotc_status aotc_unpack_item(const aotc_items *items, int64_t k, aotc_value *value) {
  const int64_t *row = items->columns == 0 ? items->box : items->dims + k * items->columns;
  value->kind = AOTC_TENSOR;
  value->item_count = 0;
  value->tensor.dtype = items->dtype;
  value->tensor.rank = items->is_flat ? (int32_t)row[AOTC_MAX_RANK] : items->rank;
  for (int32_t axis = 0; axis < AOTC_MAX_RANK; ++axis) {
    value->tensor.dims[axis] = axis < value->tensor.rank ? row[axis] : 0;
  }
  if (aotc_check_item_dims(items, &value->tensor) != AOTC_OK) return AOTC_ERROR_VALUE;
  const aotc_status status = aotc_check_memory(&value->tensor);
  if (status == AOTC_OK) aotc_copy_item(items, k, &value->tensor, false);
  return status;
}

// The items of parts as those of a value of the caller's, of that kind.
static inline aotc_status aotc_unpack_items(const aotc_value *parts, int32_t kind,
                                            aotc_value *value) {
  const aotc_items items = aotc_items_of(parts);
  if (*items.length < 0 || *items.length > items.room) return AOTC_ERROR_VALUE;
  value->kind = kind;
  value->item_count = (int32_t)*items.length;
  if (value->item_count > value->item_capacity) return AOTC_ERROR_CAPACITY;
  if (value->item_count > 0 && value->items == nullptr) return AOTC_ERROR_POINTER;
  for (int32_t k = 0; k < value->item_count; ++k) {
    const aotc_status status = aotc_unpack_item(&items, k, &value->items[k]);
    if (status != AOTC_OK) return status;
  }
  return AOTC_OK;
}

static inline aotc_status aotc_pack_sequence(const aotc_value *value, const aotc_value *parts) {
  if (value->kind != AOTC_SEQUENCE) return AOTC_ERROR_KIND;
  return aotc_pack_items(value->items, value->item_count, parts);
}

static inline aotc_status aotc_unpack_sequence(const aotc_value *parts, aotc_value *value) {
  return aotc_unpack_items(parts, AOTC_SEQUENCE, value);
}

static inline aotc_status aotc_pack_optional(const aotc_value *value, const aotc_value *parts) {
  if (value->kind != AOTC_OPTIONAL) return AOTC_ERROR_KIND;
  return aotc_pack_items(value->items, value->item_count, parts);
}

static inline aotc_status aotc_unpack_optional(const aotc_value *parts, aotc_value *value) {
  return aotc_unpack_items(parts, AOTC_OPTIONAL, value);
}

static inline aotc_status aotc_pack_optional_sequence(const aotc_value *value,
                                                      const aotc_value *parts) {
  if (value->kind != AOTC_OPTIONAL) return AOTC_ERROR_KIND;
  if (value->item_count < 0 || value->item_count > 1) return AOTC_ERROR_DIM;
  *(uint8_t *)parts[3].tensor.data = (uint8_t)value->item_count;
  if (value->item_count == 0) return aotc_pack_items(nullptr, 0, parts);
  if (value->items == nullptr) return AOTC_ERROR_POINTER;
  return aotc_pack_sequence(&value->items[0], parts);
}

static inline aotc_status aotc_unpack_optional_sequence(const aotc_value *parts,
                                                        aotc_value *value) {
  value->kind = AOTC_OPTIONAL;
  value->item_count = *(const uint8_t *)parts[3].tensor.data != 0 ? 1 : 0;
  if (value->item_count == 0) return AOTC_OK;
  if (value->item_capacity < 1) return AOTC_ERROR_CAPACITY;
  if (value->items == nullptr) return AOTC_ERROR_POINTER;
  return aotc_unpack_sequence(parts, &value->items[0]);
}

#endif  // AOTC_ITEMS_H_
