// Tensors of strings of the table, to and from the tensors by which a model holds them.
//
//   parts[0]  starts  i64[dims...]  where the bytes of each string begin in the pool
//   parts[1]  sizes   i64[dims...]  how many they are
//   parts[2]  pool    u8[bytes]     one byte at least
#ifndef AOTC_STRINGS_H_
#define AOTC_STRINGS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "aotc/check.h"
#include "aotc/model.h"
#include "aotc/parts.h"

static inline int64_t aotc_count_strings(const aotc_tensor *tensor) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < tensor->rank; ++axis) count *= tensor->dims[axis];
  return count;
}

// The strings of a value that `info` is about, in parts which are lent; these get its dims. A
// string without bytes may be anywhere. `check` is the one that fails where the pool has no room.
static inline aotc_status aotc_pack_strings(const aotc_value *value, const aotc_value_info *info,
                                            int32_t check, aotc_value *parts) {
  const aotc_status status = aotc_check_input(value, info);
  if (status != AOTC_OK) return status;
  const aotc_string *strings = (const aotc_string *)value->tensor.data;
  int64_t *starts = (int64_t *)parts[0].tensor.data, *sizes = (int64_t *)parts[1].tensor.data;
  uint8_t *pool = (uint8_t *)parts[2].tensor.data;
  const size_t room = (size_t)parts[2].tensor.dims[0];
  size_t used = 0;
  const int64_t count = aotc_count_strings(&value->tensor);
  for (int64_t i = 0; i < count; ++i) {
    const size_t size = strings[i].size;
    if (size > room - used) return aotc_failed(AOTC_ERROR_CAPACITY, check);
    if (size > 0 && strings[i].bytes == nullptr) return AOTC_ERROR_POINTER;
    if (size > 0) memcpy(pool + used, strings[i].bytes, size);
    starts[i] = (int64_t)used;
    sizes[i] = (int64_t)size;
    used += size;
  }
  if (used == 0) pool[0] = 0;
  parts[2].tensor.dims[0] = used > 0 ? (int64_t)used : 1;
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    parts[0].tensor.dims[axis] = parts[1].tensor.dims[axis] = value->tensor.dims[axis];
  }
  return AOTC_OK;
}

// The other way: strings of the caller's value point into the pool.
static inline aotc_status aotc_unpack_strings(const aotc_value *parts, const aotc_value_info *info,
                                              aotc_value *value) {
  const aotc_status status = aotc_describe_output(value, info, parts[0].tensor.dims);
  if (status != AOTC_OK) return status;
  aotc_string *strings = (aotc_string *)value->tensor.data;
  const int64_t *starts = (const int64_t *)parts[0].tensor.data;
  const int64_t *sizes = (const int64_t *)parts[1].tensor.data;
  const char *pool = (const char *)parts[2].tensor.data;
  const int64_t bytes = parts[2].tensor.dims[0], count = aotc_count_strings(&value->tensor);
  for (int64_t i = 0; i < count; ++i) {
    const bool within =
        starts[i] >= 0 && sizes[i] >= 0 && starts[i] <= bytes && sizes[i] <= bytes - starts[i];
    if (!within) return AOTC_ERROR_VALUE;
    strings[i].bytes = pool + starts[i];
    strings[i].size = (size_t)sizes[i];
  }
  return AOTC_OK;
}

#endif  // AOTC_STRINGS_H_
