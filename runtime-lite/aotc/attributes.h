// Function attributes that decide inlining, spelled once for GCC, Clang and nvcc (where functions
// that kernels call are functions of the device).
//
//   AOTC_INLINE float aotc_half(float x) { return x * 0.5f; }
//   template <int N> AOTC_KERNEL void aotc_tile(...);
#ifndef AOTC_ATTRIBUTES_H_
#define AOTC_ATTRIBUTES_H_

// For members of function objects (accessors, epilogues): inlined at every optimisation level.
#if defined(__CUDACC__)
#define AOTC_MEMBER __device__ __forceinline__
#else
#define AOTC_MEMBER inline __attribute__((always_inline))
#endif

// For free functions that must disappear into their caller.
#define AOTC_INLINE static AOTC_MEMBER

// For tile functions: one copy, never cloned for a known trip count. GCC's constant propagation
// into such a clone unrolls the reduction and moves accumulators around (half the speed).
#if defined(__clang__)
#define AOTC_KERNEL static __attribute__((noinline))
#else
#define AOTC_KERNEL static __attribute__((noinline, noclone))
#endif

// AOTC_UNROLL(n) and AOTC_NO_UNROLL stand before a loop.
#define AOTC_PRAGMA(text) _Pragma(#text)
#if defined(__CUDACC__)
#define AOTC_UNROLL(n) AOTC_PRAGMA(unroll n)
#define AOTC_NO_UNROLL AOTC_PRAGMA(unroll 1)
#elif defined(__clang__)
#define AOTC_UNROLL(n) AOTC_PRAGMA(clang loop unroll_count(n))
#define AOTC_NO_UNROLL AOTC_PRAGMA(clang loop unroll(disable))
#else
#define AOTC_UNROLL(n) AOTC_PRAGMA(GCC unroll n)
#define AOTC_NO_UNROLL AOTC_PRAGMA(GCC unroll 1)
#endif

#endif  // AOTC_ATTRIBUTES_H_
