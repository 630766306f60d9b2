// Tensors of strings: from what the caller gives to the three tensors that a model works on (where
// each string begins in a pool of bytes, how many bytes it has, the pool), and back.
#ifndef AOTC_STRINGS_H_
#define AOTC_STRINGS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "aotc/model.h"

// Copies `count` strings into a pool that has room for `room` bytes, at least one; `bytes` is how
// many it has then, at least one too. A string without bytes may be anywhere.
static inline aotc_status aotc_pack_strings(const aotc_string *from, int64_t count, int64_t *starts,
                                            int64_t *sizes, uint8_t *pool, int64_t room,
                                            int64_t *bytes) {
  int64_t used = 0;
  for (int64_t i = 0; i < count; ++i) {
    const size_t size = from[i].size;
    if (size > (size_t)(room - used)) return AOTC_ERROR_CAPACITY;
    if (size > 0 && from[i].bytes == nullptr) return AOTC_ERROR_POINTER;
    if (size > 0) memcpy(pool + used, from[i].bytes, size);
    starts[i] = used;
    sizes[i] = (int64_t)size;
    used += (int64_t)size;
  }
  if (used == 0) pool[0] = 0;
  *bytes = used > 0 ? used : 1;
  return AOTC_OK;
}

// Strings that point into the pool.
static inline void aotc_unpack_strings(const int64_t *starts, const int64_t *sizes,
                                       const uint8_t *pool, int64_t count, aotc_string *to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i].bytes = (const char *)pool + starts[i];
    to[i].size = (size_t)sizes[i];
  }
}

#endif  // AOTC_STRINGS_H_
