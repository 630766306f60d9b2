// CUDA's keywords, vector types and index variables for the emulated build: with them the text of a
// .cu file is plain C++17. Example: `static __global__ void add(float *x) { x[threadIdx.x] += 1;
// }`.
//
// Everything in the emulation headers has internal linkage (`static`, or an unnamed namespace for
// types with member functions), so that objects built from emitted files hold no weak symbols.
#ifndef AOTC_EMULATION_TYPES_H_
#define AOTC_EMULATION_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#define __global__
#define __device__
#define __host__
#define __constant__ const
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) alignas(bytes)

#define AOTC_EMULATION_UNUSED __attribute__((unused))

// A function that the optimiser must see as a black box: its callers may hold no thread-local
// address, no memory and no caller-saved register across a call.
#if defined(__clang__)
#define AOTC_EMULATION_OPAQUE __attribute__((noinline, unused))
#else
#define AOTC_EMULATION_OPAQUE __attribute__((noipa, unused))
#endif

#if defined(__SANITIZE_ADDRESS__)
#define AOTC_EMULATION_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define AOTC_EMULATION_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AOTC_EMULATION_ASAN 1
#elif __has_feature(thread_sanitizer)
#define AOTC_EMULATION_TSAN 1
#endif
#endif

struct uint3 {
  unsigned x, y, z;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

namespace {
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1)
      : x(width), y(height), z(depth) {}
  constexpr dim3(uint3 other) : x(other.x), y(other.y), z(other.z) {}
};
}  // namespace

static inline float2 make_float2(float x, float y) { return float2{x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }
static inline int2 make_int2(int x, int y) { return int2{x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return int4{x, y, z, w}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return uint2{x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return uint4{x, y, z, w};
}

static inline unsigned __float_as_uint(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline float __uint_as_float(unsigned bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
static inline int __float_as_int(float value) { return static_cast<int>(__float_as_uint(value)); }
static inline float __int_as_float(int bits) {
  return __uint_as_float(static_cast<unsigned>(bits));
}

enum {
  AOTC_EMULATION_MAX_THREADS = 1024,  // of a block
  AOTC_EMULATION_WARP = 32,
};

struct aotc_emulation_engine;
struct aotc_emulation_thread;

// What the running host thread is emulating at this moment. Threads of a block share a host thread;
// the scheduler (block.h) rewrites these on every switch.
struct aotc_emulation_self_state {
  uint3 thread_index, block_index, block_dim, grid_dim;
  aotc_emulation_engine *engine;
  aotc_emulation_thread *thread;
};
static thread_local aotc_emulation_self_state aotc_emulation_self AOTC_EMULATION_UNUSED;

#define threadIdx (aotc_emulation_self.thread_index)
#define blockIdx (aotc_emulation_self.block_index)
#define blockDim (aotc_emulation_self.block_dim)
#define gridDim (aotc_emulation_self.grid_dim)
#define warpSize 32

// The bytes B6 7F repeated fill memory that holds no value yet. They are a NaN as f16, bf16, f32
// and f64, and an integer too large to be an index.
static inline void aotc_emulation_poison(void *destination, size_t bytes) {
  unsigned char *cursor = static_cast<unsigned char *>(destination);
  const uint64_t pattern = 0x7FB67FB67FB67FB6u;
  for (; bytes >= sizeof pattern; bytes -= sizeof pattern, cursor += sizeof pattern) {
    __builtin_memcpy(cursor, &pattern, sizeof pattern);
  }
  __builtin_memcpy(cursor, &pattern, bytes);
}

#endif  // AOTC_EMULATION_TYPES_H_
