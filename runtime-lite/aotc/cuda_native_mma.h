// mma.sync and ldmatrix under nvcc; before sm_80 the shapes are made of shuffles
// (cuda_generic_mma.h). Fragments as in cuda_lanes.h. Included by cuda.h.
#ifndef AOTC_CUDA_NATIVE_MMA_H_
#define AOTC_CUDA_NATIVE_MMA_H_

#include <stdint.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define AOTC_NATIVE_MMA 1
#else
#define AOTC_NATIVE_MMA 0
#endif

// D = A·B + C with A 16x16 and B 16x8 of f16, in f32.
AOTC_DEVICE void aotc_mma_m16n8k16_f16_f32(float d[4], const uint32_t a[4], const uint32_t b[2],
                                           const float c[4]) {
#if AOTC_NATIVE_MMA
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
#else
  aotc_mma_generic<aotc_dot_f16>(d, a, b, c);
#endif
}

// D = A·B + C with A 16x8 and B 8x8 of tf32 (the low 13 bits of each f32 are ignored), in f32.
AOTC_DEVICE void aotc_mma_m16n8k8_tf32_f32(float d[4], const uint32_t a[4], const uint32_t b[2],
                                           const float c[4]) {
#if AOTC_NATIVE_MMA
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
#else
  aotc_mma_generic<aotc_dot_tf32>(d, a, b, c);
#endif
}

#define AOTC_MMA_S32(a_type, b_type)                                                          \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." a_type "." b_type                     \
               ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"     \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), \
                 "r"(c[1]), "r"(c[2]), "r"(c[3]))

// D = A·B + C with A 16x32 and B 32x8 of int8_t or uint8_t each, in s32 with wrap-around.
template <class TypeA, class TypeB>
AOTC_DEVICE void aotc_mma_m16n8k32_s32(int32_t d[4], const uint32_t a[4], const uint32_t b[2],
                                       const int32_t c[4]) {
#if AOTC_NATIVE_MMA
  constexpr bool a_signed = TypeA(-1) < TypeA(0), b_signed = TypeB(-1) < TypeB(0);
  if constexpr (a_signed && b_signed) {
    AOTC_MMA_S32("s8", "s8");
  } else if constexpr (a_signed) {
    AOTC_MMA_S32("s8", "u8");
  } else if constexpr (b_signed) {
    AOTC_MMA_S32("u8", "s8");
  } else {
    AOTC_MMA_S32("u8", "u8");
  }
#else
  aotc_mma_generic<aotc_dot_bytes<TypeA, TypeB>>(d, a, b, c);
#endif
}
#undef AOTC_MMA_S32

// Rounds to the 10 bits of mantissa that tf32 has: to nearest, ties away from zero.
AOTC_DEVICE uint32_t aotc_f32_to_tf32(float value) {
  const uint32_t bits = __float_as_uint(value);
  const bool finite = (bits & 0x7F800000u) != 0x7F800000u;
  return finite ? (bits + 0x1000u) & 0xFFFFE000u : bits;
}

// Loads `Count` 8x8 matrices of 16-bit elements: lane i names row i % 8 of matrix i / 8 (16 bytes,
// aligned); word j of the result is this lane's pair of matrix j, transposed if asked.
template <int Count, bool Transposed>
AOTC_DEVICE void aotc_ldmatrix(uint32_t result[Count], const void *row) {
  static_assert(Count == 1 || Count == 2 || Count == 4, "ldmatrix loads 1, 2 or 4 matrices");
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (Count == 4 && Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Count == 4) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Count == 2 && Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(result[0]), "=r"(result[1])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Count == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(result[0]), "=r"(result[1])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(result[0])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(result[0])
                 : "r"(address)
                 : "memory");
  }
}

#endif  // AOTC_CUDA_NATIVE_MMA_H_
