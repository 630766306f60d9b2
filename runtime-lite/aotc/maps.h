// Maps of the table, and sequences of maps, to and from the tensors by which a model holds them.
//
//   keys    parts[0] i64[entries], or the three parts of strings.h
//   values  behind them [entries], or three parts; of a sequence of maps [maps, entries]
//
// The keys of a map differ from one another and are in any order; those of all maps of a sequence
// are the same.
#ifndef AOTC_MAPS_H_
#define AOTC_MAPS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "aotc/check.h"
#include "aotc/model.h"
#include "aotc/parts.h"
#include "aotc/strings.h"

// Of an aotc_value_info of kind AOTC_MAP: its children, and its items.
enum { AOTC_MAP_KEYS = 0, AOTC_MAP_VALUES = 1, AOTC_MAP_CHILDREN = 2 };

// The checks of the model that fail where a map has more entries than there is room for, a key
// twice, strings with too many bytes.
typedef struct aotc_map_checks {
  int32_t entries;
  int32_t keys;
  int32_t bytes;
} aotc_map_checks;

static inline bool aotc_holds_strings(const aotc_value_info *info) { return info->dtype == 8; }

// How many parts the keys are.
static inline int32_t aotc_key_parts(const aotc_value_info *map) {
  return aotc_holds_strings(&map->children[AOTC_MAP_KEYS]) ? 3 : 1;
}

// Below 0, 0 or above 0: the order of two keys.
static inline int aotc_compare_keys(const aotc_tensor *keys, int64_t a, int64_t b) {
  if (keys->dtype != 8) {
    const int64_t *numbers = (const int64_t *)keys->data;
    return (numbers[a] > numbers[b]) - (numbers[a] < numbers[b]);
  }
  const aotc_string *first = (const aotc_string *)keys->data + a;
  const aotc_string *second = (const aotc_string *)keys->data + b;
  const size_t size = first->size < second->size ? first->size : second->size;
  const int order = size == 0 ? 0 : memcmp(first->bytes, second->bytes, size);
  return order != 0 ? order : (first->size > second->size) - (first->size < second->size);
}

// Keys that ascend are looked at once, others each with each.
static inline bool aotc_has_key_twice(const aotc_tensor *keys) {
  const int64_t count = keys->dims[0];
  int64_t ascending = 1;
  while (ascending < count && aotc_compare_keys(keys, ascending - 1, ascending) < 0) ++ascending;
  for (int64_t a = ascending; a < count; ++a) {
    for (int64_t b = 0; b < a; ++b) {
      if (aotc_compare_keys(keys, a, b) == 0) return true;
    }
  }
  return false;
}

// Keys or values of the caller's map in parts which are lent; these get its dims.
static inline aotc_status aotc_pack_column(const aotc_value *value, const aotc_value_info *info,
                                           int32_t bytes_check, aotc_value *parts) {
  if (aotc_holds_strings(info)) return aotc_pack_strings(value, info, bytes_check, parts);
  const aotc_status status = aotc_check_input(value, info);
  if (status != AOTC_OK) return status;
  const aotc_tensor *given = &value->tensor;
  const size_t bytes = aotc_tensor_bytes(given->dtype, 1, given->dims);
  if (bytes > 0) memcpy(parts[0].tensor.data, given->data, bytes);
  parts[0].tensor.dims[0] = given->dims[0];
  return AOTC_OK;
}

static inline aotc_status aotc_pack_map(const aotc_value *value, const aotc_value_info *info,
                                        const aotc_map_checks *checks, aotc_value *parts) {
  if (value->kind != AOTC_MAP) return AOTC_ERROR_KIND;
  if (value->item_count != AOTC_MAP_CHILDREN) return AOTC_ERROR_DIM;
  if (value->items == nullptr) return AOTC_ERROR_POINTER;
  const aotc_value *keys = &value->items[AOTC_MAP_KEYS];
  const aotc_value *values = &value->items[AOTC_MAP_VALUES];
  const aotc_value_info *columns = info->children;
  if (keys->kind != AOTC_TENSOR || values->kind != AOTC_TENSOR) return AOTC_ERROR_KIND;
  if (keys->tensor.rank != 1 || values->tensor.rank != 1) return AOTC_ERROR_RANK;
  if (keys->tensor.dims[0] != values->tensor.dims[0]) return AOTC_ERROR_DIM;
  if (keys->tensor.dims[0] > columns[AOTC_MAP_KEYS].max_dims[0]) {
    return aotc_failed(AOTC_ERROR_DIM, checks->entries);
  }
  aotc_status status = aotc_pack_column(keys, &columns[AOTC_MAP_KEYS], checks->bytes, parts);
  if (status != AOTC_OK) return status;
  if (aotc_has_key_twice(&keys->tensor)) return aotc_failed(AOTC_ERROR_VALUE, checks->keys);
  return aotc_pack_column(values, &columns[AOTC_MAP_VALUES], checks->bytes,
                          parts + aotc_key_parts(info));
}

// Keys or values of a map of the caller's: a row of a part, or strings, which point into the pool.
static inline aotc_status aotc_unpack_column(const aotc_value *parts, const aotc_value_info *info,
                                             int64_t row, aotc_value *value) {
  if (aotc_holds_strings(info)) return aotc_unpack_strings(parts, info, value);
  const aotc_tensor *part = &parts[0].tensor;
  const int64_t *dims = &part->dims[part->rank - 1];
  const aotc_status status = aotc_describe_output(value, info, dims);
  if (status != AOTC_OK) return status;
  const size_t bytes = aotc_tensor_bytes(part->dtype, 1, dims);
  if (bytes > 0) memcpy(value->tensor.data, (uint8_t *)part->data + (size_t)row * bytes, bytes);
  return AOTC_OK;
}

static inline aotc_status aotc_unpack_row(const aotc_value *parts, const aotc_value_info *info,
                                          int64_t row, aotc_value *value) {
  value->kind = AOTC_MAP;
  value->item_count = AOTC_MAP_CHILDREN;
  if (value->item_capacity < AOTC_MAP_CHILDREN) return AOTC_ERROR_CAPACITY;
  if (value->items == nullptr) return AOTC_ERROR_POINTER;
  const aotc_value_info *columns = info->children;
  const aotc_status status =
      aotc_unpack_column(parts, &columns[AOTC_MAP_KEYS], 0, &value->items[AOTC_MAP_KEYS]);
  if (status != AOTC_OK) return status;
  return aotc_unpack_column(parts + aotc_key_parts(info), &columns[AOTC_MAP_VALUES], row,
                            &value->items[AOTC_MAP_VALUES]);
}

static inline aotc_status aotc_unpack_map(const aotc_value *parts, const aotc_value_info *info,
                                          aotc_value *value) {
  return aotc_unpack_row(parts, info, 0, value);
}

// A sequence, of which `info` is about the whole.
static inline aotc_status aotc_unpack_maps(const aotc_value *parts, const aotc_value_info *info,
                                           aotc_value *value) {
  const aotc_value_info *map = info->children;
  const int64_t count = parts[aotc_key_parts(map)].tensor.dims[0];
  value->kind = AOTC_SEQUENCE;
  value->item_count = (int32_t)count;
  if (count > value->item_capacity) return AOTC_ERROR_CAPACITY;
  if (count > 0 && value->items == nullptr) return AOTC_ERROR_POINTER;
  for (int64_t row = 0; row < count; ++row) {
    const aotc_status status = aotc_unpack_row(parts, map, row, &value->items[row]);
    if (status != AOTC_OK) return status;
  }
  return AOTC_OK;
}

#endif  // AOTC_MAPS_H_
