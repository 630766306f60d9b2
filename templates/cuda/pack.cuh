// Packs: runs of neighbouring elements that move between memory and a thread's registers in one
// access of up to 16 bytes. Example, y = 2 x for four elements of a thread:
//
//   float x_pack[4], y_pack[4];
//   aotc_load_pack<4>(x_pack, x + i);
//   for (int e = 0; e < 4; ++e) y_pack[e] = 2 * x_pack[e];
//   aotc_store_pack<4>(y + i, y_pack);
//
// Addresses need the alignment of an element only: those that are no multiples of the pack's size
// are reached element by element (a caller's tensor may begin anywhere).
#ifndef AOTC_CUDA_PACK_CUH_
#define AOTC_CUDA_PACK_CUH_

#include <stdint.h>
#include <string.h>

#include "aotc/cuda.h"

// The device moves a pack in one access where the type says that it is aligned. A host has no use
// for that, and g++ 12 at -O2 joins both ways of moving a pack below into the aligned one.
#if defined(__CUDACC__)
#define AOTC_PACK_ALIGNED(bytes) aligned(bytes)
#else
#define AOTC_PACK_ALIGNED(bytes) aligned(4)
#endif

// What one access moves.
template <int Bytes>
struct __attribute__((may_alias, AOTC_PACK_ALIGNED(Bytes))) aotc_pack_bits {
  uint32_t words[Bytes / 4];
};
template <>
struct __attribute__((may_alias)) aotc_pack_bits<2> {
  uint16_t half;
};

template <int Count, class T>
AOTC_DEVICE void aotc_load_pack(T *pack, const T *from) {
  typedef aotc_pack_bits<Count *static_cast<int>(sizeof(T))> bits;
  static_assert(sizeof(bits) == Count * sizeof(T) && sizeof(bits) <= 16, "one access");
  if (reinterpret_cast<uintptr_t>(from) % sizeof(bits) == 0) {
    const bits value = *reinterpret_cast<const bits *>(from);
    memcpy(pack, &value, sizeof value);
    return;
  }
  AOTC_UNROLL(16)
  for (int i = 0; i < Count; ++i) pack[i] = from[i];
}

template <int Count, class T>
AOTC_DEVICE void aotc_store_pack(T *to, const T *pack) {
  typedef aotc_pack_bits<Count *static_cast<int>(sizeof(T))> bits;
  static_assert(sizeof(bits) == Count * sizeof(T) && sizeof(bits) <= 16, "one access");
  if (reinterpret_cast<uintptr_t>(to) % sizeof(bits) == 0) {
    bits value;
    memcpy(&value, pack, sizeof value);
    *reinterpret_cast<bits *>(to) = value;
    return;
  }
  AOTC_UNROLL(16)
  for (int i = 0; i < Count; ++i) to[i] = pack[i];
}

#endif  // AOTC_CUDA_PACK_CUH_
