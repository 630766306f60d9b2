// The order of the elements of a row, by sorting; their ranks, which are how many come before each;
// and the places of the first few.
//
//   aotc_order_tile<1>(count, x, 1, y);   // y[0] is where the greatest element is
//   aotc_order_tile<0>(count, x, 1, y);   // the least
//   aotc_rank_tile<1>(count, x, 1, y);    // y[i] is 0 for the greatest element, at i
//
// Of equal elements the first comes first. NaN is the greatest of all. Element i of x is
// x[i * x_step].
//
// What is sorted are words in y itself: 32 bits of a key over 32 bits of the place that it came
// from. Keys of 64 bits are sorted by their upper halves, then those that have one upper half by
// their lower ones. Words are put in buckets by the eight bits from the first that differs on, in
// place, and each bucket in the same way, down to a few words.
//
// Sizes: up to 2^31 elements. At most eight passes, with 2 KiB of stack for each.
#ifndef AOTC_RANK_TILE_H_
#define AOTC_RANK_TILE_H_

#include <stdint.h>
#include <string.h>

#include "aotc/attributes.h"

#define AOTC_RANK_PLACE 0xFFFFFFFFu /* the bits of a word that are a place */

// Keys of more are greater, and those of equal elements equal.
AOTC_INLINE uint64_t aotc_rank_key(int64_t x) { return (uint64_t)x ^ ((uint64_t)1 << 63); }

AOTC_INLINE uint64_t aotc_rank_key(int32_t x) {
  return (uint64_t)((uint32_t)x ^ (uint32_t)1 << 31) << 32;
}

AOTC_INLINE uint64_t aotc_rank_key(float x) {
  const float plain = x + 0.0f;  // 0 for -0
  uint32_t bits;
  memcpy(&bits, &plain, sizeof(bits));
  if (x != x) return UINT64_MAX;
  bits = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
  return (uint64_t)bits << 32;
}

AOTC_INLINE void aotc_sort_few(uint64_t *words, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    const uint64_t word = words[i];
    int64_t to = i;
    for (; to > 0 && words[to - 1] > word; --to) words[to] = words[to - 1];
    words[to] = word;
  }
}

// Ascending.
static inline void aotc_sort_words(uint64_t *words, int64_t count) {
  if (count <= 32) return aotc_sort_few(words, count);
  uint64_t differ = 0;
  for (int64_t i = 1; i < count; ++i) differ |= words[i] ^ words[0];
  int shift = 0;
  while (differ >> shift > 255) ++shift;
  uint32_t next[256], end[256];
  memset(end, 0, sizeof(end));
  for (int64_t i = 0; i < count; ++i) ++end[words[i] >> shift & 255];
  uint32_t done = 0;
  for (int b = 0; b < 256; ++b) {
    next[b] = done;
    done += end[b];
    end[b] = done;
  }
  // Words of a bucket change places with what lies where they go. None of these exchanges waits for
  // what the one before it read.
  for (int open = 1; open != 0;) {
    open = 0;
    for (int b = 0; b < 256; ++b) {
      for (uint32_t i = next[b]; i < end[b]; ++i) {
        const uint64_t word = words[i];
        const uint32_t to = next[word >> shift & 255]++;
        words[i] = words[to];
        words[to] = word;
      }
      open |= next[b] < end[b];
    }
  }
  uint32_t begin = 0;
  for (int b = 0; b < 256; ++b) {
    if (shift > 0 && end[b] - begin > 1) aotc_sort_words(words + begin, end[b] - begin);
    begin = end[b];
  }
}

// Places in order become the order of places.
static inline void aotc_turn_places(uint64_t *places, int64_t count) {
  const uint64_t mark = (uint64_t)1 << 63;
  for (int64_t first = 0; first < count; ++first) {
    if ((places[first] & mark) != 0) continue;
    int64_t from = first, at = (int64_t)places[first];
    for (;;) {
      const int64_t next = (int64_t)places[at];
      places[at] = (uint64_t)from | mark;
      if (at == first) break;
      from = at;
      at = next;
    }
  }
  for (int64_t i = 0; i < count; ++i) places[i] &= ~mark;
}

// Words of the row in order; their places are in the lower halves.
template <int GreatestFirst, class T>
AOTC_INLINE void aotc_sort_row(int64_t count, const T *x, int64_t x_step, uint64_t *words) {
  const uint64_t turned = GreatestFirst ? UINT64_MAX : 0;
  for (int64_t i = 0; i < count; ++i)
    words[i] = (aotc_rank_key(x[i * x_step]) ^ turned) >> 32 << 32 | (uint64_t)i;
  aotc_sort_words(words, count);
  if (sizeof(T) <= sizeof(float)) return;
  for (int64_t begin = 0, end; begin < count; begin = end) {
    const uint64_t upper = words[begin] >> 32;
    for (end = begin + 1; end < count && words[end] >> 32 == upper;) ++end;
    if (end - begin == 1) continue;
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t place = words[i] & AOTC_RANK_PLACE;
      words[i] = (aotc_rank_key(x[(int64_t)place * x_step]) ^ turned) << 32 | place;
    }
    aotc_sort_words(words + begin, end - begin);
  }
}

// y[j]: where the element is that has rank j.
template <int GreatestFirst, class T>
AOTC_KERNEL void aotc_order_tile(int64_t count, const T *x, int64_t x_step, int64_t *y) {
  uint64_t *words = (uint64_t *)y;
  aotc_sort_row<GreatestFirst>(count, x, x_step, words);
  for (int64_t i = 0; i < count; ++i) words[i] &= AOTC_RANK_PLACE;
}

// y[i]: the rank of element i. Turning the order round in place waits for each word that it reads,
// which may take longer than to sort.
template <int GreatestFirst, class T>
AOTC_KERNEL void aotc_rank_tile(int64_t count, const T *x, int64_t x_step, int64_t *y) {
  aotc_order_tile<GreatestFirst>(count, x, x_step, y);
  aotc_turn_places((uint64_t *)y, count);
}

// --- The first few of that order ----------------------------------------------------------------
//
//   aotc_select_tile<1>(count, chosen, x, 1, y);   // where the greatest elements are, in order
//
// y is a heap of places, whose root is the last of those chosen so far: most elements are looked at
// once. Where there are fewer than `chosen`, the rest of y is 0 (of no element, INT64_MIN).

// Whether place a comes behind place b.
template <class T>
AOTC_INLINE bool aotc_is_behind(const T *x, int64_t x_step, uint64_t turned, int64_t a, int64_t b) {
  const uint64_t key_a = aotc_rank_key(x[a * x_step]) ^ turned;
  const uint64_t key_b = aotc_rank_key(x[b * x_step]) ^ turned;
  return key_a > key_b || (key_a == key_b && a > b);
}

// Lets the place at `at` of the heap y[0..count) sink to where it belongs.
template <class T>
AOTC_INLINE void aotc_sink_place(const T *x, int64_t x_step, uint64_t turned, int64_t *y,
                                 int64_t at, int64_t count) {
  const int64_t place = y[at];
  for (int64_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
    if (below + 1 < count && aotc_is_behind(x, x_step, turned, y[below + 1], y[below])) ++below;
    if (!aotc_is_behind(x, x_step, turned, y[below], place)) break;
    y[at] = y[below];
    at = below;
  }
  y[at] = place;
}

template <int GreatestFirst, class T>
AOTC_KERNEL void aotc_select_tile(int64_t count, int64_t chosen, const T *x, int64_t x_step,
                                  int64_t *y) {
  const uint64_t turned = GreatestFirst ? UINT64_MAX : 0;
  const int64_t kept = chosen < count ? chosen : count;
  for (int64_t j = kept; j < chosen; ++j) y[j] = count > 0 ? 0 : INT64_MIN;
  if (kept == 0) return;
  for (int64_t j = 0; j < kept; ++j) y[j] = j;
  for (int64_t j = kept / 2; j-- > 0;) aotc_sink_place(x, x_step, turned, y, j, kept);
  uint64_t last = aotc_rank_key(x[y[0] * x_step]) ^ turned;
  for (int64_t i = kept; i < count; ++i) {
    if ((aotc_rank_key(x[i * x_step]) ^ turned) >= last) continue;
    y[0] = i;
    aotc_sink_place(x, x_step, turned, y, 0, kept);
    last = aotc_rank_key(x[y[0] * x_step]) ^ turned;
  }
  for (int64_t end = kept; end-- > 1;) {
    const int64_t behind = y[0];
    y[0] = y[end];
    y[end] = behind;
    aotc_sink_place(x, x_step, turned, y, 0, end);
  }
}

#endif  // AOTC_RANK_TILE_H_
