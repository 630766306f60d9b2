// The blob of packed weights: 64 bytes of header, then the data, both aligned to 64 bytes.
//
//   // once, all of it
//   aotc_status status = aotc_weights_check(blob, blob_bytes, data_bytes, hash);
//   // in every run, the header alone
//   if (!aotc_weights_match(blob, data_bytes, hash)) return AOTC_ERROR_WEIGHTS;
//   const float *filter = (const float *)((const unsigned char *)blob + 64 + offset);
//
// offset  bytes  what
//      0      8  "AOTCWGTS"
//      8      4  version of this format, 1
//     12      4  0x01020304 as the writer stored it: the byte order of the data
//     16      8  bytes of the data
//     24      8  hash of the data
//     32     32  zero
#ifndef AOTC_WEIGHTS_H_
#define AOTC_WEIGHTS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "aotc/model.h"

enum { AOTC_WEIGHTS_VERSION = 1, AOTC_WEIGHTS_HEADER_BYTES = 64 };

// A hash of 64-bit words, the last one filled up with zeros. Every step is a bijection of the state
// for a given word, and of the word for a given state: damage within one word is always noticed.
static inline uint64_t aotc_weights_hash(const void *data, size_t bytes) {
  const unsigned char *from = (const unsigned char *)data;
  uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes;
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    memcpy(&word, from + at, bytes - at < 8 ? bytes - at : 8);
    hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
  }
  return hash;
}

// True if the header is that of the weights that the code was written for.
static inline bool aotc_weights_match(const void *blob, uint64_t data_bytes, uint64_t hash) {
  uint32_t version, byte_order;
  uint64_t size, stated;
  const unsigned char *header = (const unsigned char *)blob;
  memcpy(&version, header + 8, sizeof version);
  memcpy(&byte_order, header + 12, sizeof byte_order);
  memcpy(&size, header + 16, sizeof size);
  memcpy(&stated, header + 24, sizeof stated);
  return memcmp(header, "AOTCWGTS", 8) == 0 && version == AOTC_WEIGHTS_VERSION &&
         byte_order == 0x01020304u && size == data_bytes && stated == hash;
}

// The whole blob: `bytes` of it are at hand.
static inline aotc_status aotc_weights_check(const void *blob, size_t bytes, uint64_t data_bytes,
                                             uint64_t hash) {
  if (blob == nullptr || ((uintptr_t)blob & 63) != 0) return AOTC_ERROR_POINTER;
  if (bytes < AOTC_WEIGHTS_HEADER_BYTES || bytes - AOTC_WEIGHTS_HEADER_BYTES < data_bytes) {
    return AOTC_ERROR_WEIGHTS;
  }
  if (!aotc_weights_match(blob, data_bytes, hash)) return AOTC_ERROR_WEIGHTS;
  const unsigned char *data = (const unsigned char *)blob + AOTC_WEIGHTS_HEADER_BYTES;
  return aotc_weights_hash(data, (size_t)data_bytes) == hash ? AOTC_OK : AOTC_ERROR_WEIGHTS;
}

#endif  // AOTC_WEIGHTS_H_
