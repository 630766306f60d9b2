// Dot products of four u8 with four s8, added to i32 lanes: the step of integer contractions.
//
//   const aotc_dot_u8 x = aotc_dot_prepare_u8(four_activations);         // the same in each lane
//   const aotc_dot_s8 w = aotc_dot_prepare_s8(aotc_load_s8x4(weights));  // four per lane
//   acc = aotc_dot(acc, x, w);    // acc[lane] += sum over j of x[j] * w[lane][j]
//   acc = aotc_dot(acc, aotc_dot_prepare_u8(bytes), w);  // four activations of its own in each
//   lane
//
// Exact for all operands: one instruction with VNNI; without it both operands are spread to 16 bits
// (pmaddubsw would saturate). Signed activations add 128, the correction is the epilogue's.
#ifndef AOTC_DOT_H_
#define AOTC_DOT_H_

#include "aotc/pairs.h"
#include "aotc/vector.h"

// Four s8 in each lane, as they lie in memory.
AOTC_INLINE aotc_vi aotc_load_s8x4(const int8_t *from) {
  aotc_vi vector;
  memcpy(&vector, from, sizeof vector);
  return vector;
}

// The instruction that is the whole step. AVX-VNNI has it too, on 256 bits and encoded otherwise,
// which assemblers want to be told.
#if defined(AOTC_WITH_AVX512VNNI)
#define AOTC_DOT_INSTRUCTION "vpdpbusd"
#elif defined(AOTC_WITH_AVXVNNI)
#define AOTC_DOT_INSTRUCTION "%{vex%} vpdpbusd"
#endif

#if defined(AOTC_DOT_INSTRUCTION)

struct aotc_dot_u8 {
  aotc_vi bytes;
};
struct aotc_dot_s8 {
  aotc_vi bytes;
};

AOTC_INLINE aotc_dot_u8 aotc_dot_prepare_u8(int32_t four) {
  aotc_dot_u8 x = {aotc_broadcast(four)};
  aotc_pin(x.bytes);
  return x;
}

AOTC_INLINE aotc_dot_u8 aotc_dot_prepare_u8(aotc_vi bytes) { return aotc_dot_u8{bytes}; }
AOTC_INLINE aotc_dot_s8 aotc_dot_prepare_s8(aotc_vi bytes) { return aotc_dot_s8{bytes}; }

AOTC_INLINE aotc_vi aotc_dot(aotc_vi acc, aotc_dot_u8 x, aotc_dot_s8 w) {
  __asm__(AOTC_DOT_INSTRUCTION " %2, %1, %0"
          : "+" AOTC_REGISTER(acc)
          : AOTC_REGISTER(x.bytes), AOTC_REGISTER(w.bytes));
  return acc;
}

#else

// Bytes 0 and 2 of each lane as 16-bit integers, and bytes 1 and 3.
struct aotc_dot_u8 {
  aotc_vi even, odd;
};
struct aotc_dot_s8 {
  aotc_vi even, odd;
};

AOTC_INLINE aotc_dot_u8 aotc_dot_prepare_u8(int32_t four) {
  aotc_dot_u8 x = {aotc_broadcast(four & 0x00ff00ff),
                   aotc_broadcast((int32_t)(((uint32_t)four >> 8) & 0x00ff00ffu))};
  aotc_pin(x.even);
  aotc_pin(x.odd);
  return x;
}

AOTC_INLINE aotc_dot_u8 aotc_dot_prepare_u8(aotc_vi bytes) {
  return aotc_dot_u8{bytes & 0x00ff00ff, (aotc_vi)((aotc_vu)bytes >> 8) & 0x00ff00ff};
}

typedef int16_t aotc_vi16x2 __attribute__((vector_size(AOTC_LANES * 4)));

AOTC_INLINE aotc_dot_s8 aotc_dot_prepare_s8(aotc_vi bytes) {
  const aotc_vi16x2 pairs = (aotc_vi16x2)bytes;
  return aotc_dot_s8{(aotc_vi)((pairs << 8) >> 8), (aotc_vi)(pairs >> 8)};
}

AOTC_INLINE aotc_vi aotc_dot(aotc_vi acc, aotc_dot_u8 x, aotc_dot_s8 w) {
  return acc + aotc_multiply_add_pairs(x.even, w.even) + aotc_multiply_add_pairs(x.odd, w.odd);
}

#endif

#endif  // AOTC_DOT_H_
