// A tile of a contraction on tensor cores: operands of bytes, with a sign or without each, sums in
// s32 by mma.sync m16n8k32. As mma_tile.cuh but for this:
//
// Types: that of the elements is what at() points to, const int8_t * or const uint8_t *.
// Runs: 16, 8 or 4 elements that lie together, or 1. The tensor cores want both operands along k:
//   runs of B along n are turned, element by element, on their way to shared memory.
// Missing elements are `fill` of the operand's struct where it has one (a zero point), of one
//   operand at most: beyond k the other one's are zeros. Such an operand has runs of 1.
//
//   struct a_rows { enum { fill = 127 };
//     AOTC_MEMBER const uint8_t *at(int64_t m, int64_t k) const { return a + m * depth + k; }
//     AOTC_MEMBER int64_t count(int64_t m, int64_t k) const { return m < rows ? depth - k : 0; } };
//   ...
//   aotc_mma_tile_int8<64, 64, 64, 32, 32, 1, 16, 0>(a, b, epilogue, range);
#ifndef AOTC_CUDA_MMA_TILE_INT8_CUH_
#define AOTC_CUDA_MMA_TILE_INT8_CUH_

#include "mma_parts.cuh"

// The type of an operand's elements.
template <class Pointer>
struct aotc_pointed_to;
template <class Type>
struct aotc_pointed_to<const Type *> {
  typedef Type type;
};

template <class TypeA, class TypeB>
struct aotc_mma_bytes {
  typedef uint8_t element;
  typedef int32_t sum;
  enum { depth = 32, transposes = 0 };
  AOTC_MEMBER static element read(const void *source, int i) {
    return static_cast<const uint8_t *>(source)[i];
  }
  AOTC_MEMBER static void multiply(int32_t d[4], const uint32_t a[4], const uint32_t b[2]) {
    aotc_mma_m16n8k32_s32<TypeA, TypeB>(d, a, b, d);
  }
};

template <int BM, int BN, int BK, int WM, int WN, int ARun, int BRun, int BAlongN, class A, class B,
          class Epilogue, class Index>
AOTC_DEVICE void aotc_mma_tile_int8(const A &a, const B &b, const Epilogue &epilogue,
                                    const aotc_tile_range<Index> &range) {
  static_assert(ARun == 16 || ARun == 8 || ARun == 4 || ARun == 1, "elements that a copy moves");
  static_assert(BRun == 16 || BRun == 8 || BRun == 4 || BRun == 1, "elements that a copy moves");
  static_assert(aotc_fill_of<A>::value == 0 || aotc_fill_of<B>::value == 0, "zeros beyond k");
  typedef typename aotc_pointed_to<decltype(a.at(Index(), Index()))>::type type_a;
  typedef typename aotc_pointed_to<decltype(b.at(Index(), Index()))>::type type_b;
  typedef aotc_mma_bytes<type_a, type_b> unit;
  aotc_mma_contract<unit, BM, BN, BK, WM, WN, ARun, BRun, BAlongN>(a, b, epilogue, range);
}

#endif  // AOTC_CUDA_MMA_TILE_INT8_CUH_
