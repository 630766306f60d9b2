// Exchanges between the lanes of a warp, with all lanes taking part: shuffles, votes, atomics.
// Example: `sum += aotc_shuffle_down(sum, 16);`.
#ifndef AOTC_EMULATION_WARP_H_
#define AOTC_EMULATION_WARP_H_

#include "aotc/emulation/barrier.h"

// The value of lane `source`; poison where the last warp of a block has no such lane.
template <typename T>
static inline T aotc_emulation_shuffle(T value, unsigned source, const aotc_emulation_site &site) {
  static_assert(sizeof(T) <= 8 && __is_trivially_copyable(T), "a shuffle moves 8 bytes at most");
  aotc_emulation_exchange *const exchange = aotc_emulation_exchange_begin();
  __builtin_memcpy(exchange->input[aotc_lane()], &value, sizeof value);
  aotc_emulation_meet(exchange, nullptr, site);
  const uint32_t lanes =
      aotc_emulation_lane_count(aotc_emulation_self.engine, aotc_emulation_self.thread);
  if (source < lanes) {
    __builtin_memcpy(&value, exchange->input[source], sizeof value);
  } else {
    aotc_emulation_poison(&value, sizeof value);
  }
  return value;
}

// The value of the lane `delta` above; lanes without such a lane keep their own.
template <typename T>
static inline T aotc_shuffle_down(T value, unsigned delta, const char *file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  const unsigned source = aotc_lane() + delta;
  return aotc_emulation_shuffle(value, source < AOTC_EMULATION_WARP ? source : aotc_lane(),
                                aotc_emulation_site{file, line, "shuffle"});
}

// The value of the lane whose number differs in the bits of `mask`.
template <typename T>
static inline T aotc_shuffle_xor(T value, unsigned mask, const char *file = __builtin_FILE(),
                                 int line = __builtin_LINE()) {
  return aotc_emulation_shuffle(value, (aotc_lane() ^ mask) % AOTC_EMULATION_WARP,
                                aotc_emulation_site{file, line, "shuffle"});
}

// The value of lane `source` (modulo 32).
template <typename T>
static inline T aotc_shuffle(T value, unsigned source, const char *file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
  return aotc_emulation_shuffle(value, source % AOTC_EMULATION_WARP,
                                aotc_emulation_site{file, line, "shuffle"});
}

// Bit i is set where lane i says so.
static inline unsigned aotc_vote_ballot(bool says, const char *file = __builtin_FILE(),
                                        int line = __builtin_LINE()) {
  aotc_emulation_exchange *const exchange = aotc_emulation_exchange_begin();
  exchange->input[aotc_lane()][0] = says ? 1 : 0;
  aotc_emulation_meet(exchange, nullptr, aotc_emulation_site{file, line, "vote"});
  const uint32_t lanes =
      aotc_emulation_lane_count(aotc_emulation_self.engine, aotc_emulation_self.thread);
  unsigned ballot = 0;
  for (uint32_t lane = 0; lane < lanes; ++lane) ballot |= exchange->input[lane][0] << lane;
  return ballot;
}

static inline bool aotc_vote_any(bool says, const char *file = __builtin_FILE(),
                                 int line = __builtin_LINE()) {
  return aotc_vote_ballot(says, file, line) != 0;
}

static inline bool aotc_vote_all(bool says, const char *file = __builtin_FILE(),
                                 int line = __builtin_LINE()) {
  return aotc_vote_ballot(!says, file, line) == 0;
}

// Atomics of the device: relaxed, as CUDA's are. Each returns the value before.
#define AOTC_EMULATION_INTEGER_ATOMICS(type)                                                   \
  static inline type aotc_atomic_add(type *address, type value) {                              \
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);                               \
  }                                                                                            \
  static inline type aotc_atomic_or(type *address, type value) {                               \
    return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);                                \
  }                                                                                            \
  static inline type aotc_atomic_exchange(type *address, type value) {                         \
    return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);                              \
  }                                                                                            \
  static inline type aotc_atomic_cas(type *address, type expected, type desired) {             \
    __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED,          \
                                __ATOMIC_RELAXED);                                             \
    return expected;                                                                           \
  }                                                                                            \
  static inline type aotc_atomic_max(type *address, type value) {                              \
    type seen = __atomic_load_n(address, __ATOMIC_RELAXED);                                    \
    while (seen < value && !__atomic_compare_exchange_n(address, &seen, value, false,          \
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { \
    }                                                                                          \
    return seen;                                                                               \
  }                                                                                            \
  static inline type aotc_atomic_min(type *address, type value) {                              \
    type seen = __atomic_load_n(address, __ATOMIC_RELAXED);                                    \
    while (value < seen && !__atomic_compare_exchange_n(address, &seen, value, false,          \
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { \
    }                                                                                          \
    return seen;                                                                               \
  }
AOTC_EMULATION_INTEGER_ATOMICS(int32_t)
AOTC_EMULATION_INTEGER_ATOMICS(uint32_t)
AOTC_EMULATION_INTEGER_ATOMICS(int64_t)
AOTC_EMULATION_INTEGER_ATOMICS(uint64_t)
#undef AOTC_EMULATION_INTEGER_ATOMICS

static inline float aotc_atomic_add(float *address, float value) {
  uint32_t *const bits = reinterpret_cast<uint32_t *>(address);
  uint32_t seen = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(bits, &seen, __float_as_uint(__uint_as_float(seen) + value),
                                      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return __uint_as_float(seen);
}

static inline void aotc_threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif  // AOTC_EMULATION_WARP_H_
