// The device layer under nvcc; see cuda.h for what it offers. Code for newer processors is guarded
// by __CUDA_ARCH__, with a path that any supported processor runs.
#ifndef AOTC_CUDA_NATIVE_H_
#define AOTC_CUDA_NATIVE_H_

#include <cuda_runtime.h>
#include <stdint.h>

#include "aotc/cuda_lanes.h"
#include "aotc/cuda_launch_config.h"

#define AOTC_DEVICE static __device__ __forceinline__

#define AOTC_SHARED_POINTER(type) type *
#define AOTC_SHARED(type, name, size) __shared__ __align__(128) type name[size]
#define AOTC_DYNAMIC_SHARED(type, name)                                  \
  extern __shared__ __align__(128) unsigned char aotc_dynamic_shared_[]; \
  type *const name = reinterpret_cast<type *>(aotc_dynamic_shared_)

template <typename T>
struct aotc_same {
  typedef T type;
};

// Runs `kernel` over a grid, in the order of its stream. The arguments are copied.
template <typename... Parameters>
static inline cudaError_t aotc_launch(const aotc_launch_config &config,
                                      void (*kernel)(Parameters...),
                                      typename aotc_same<Parameters>::type... arguments) {
  const void *function = reinterpret_cast<const void *>(kernel);
  if (config.shared_bytes > 48 * 1024) {
    const cudaError_t error =
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(config.shared_bytes));
    if (error != cudaSuccess) return error;
  }
  // Filled by member: the constructors of CUDA's dim3 would be weak symbols of the object.
  alignas(cudaLaunchConfig_t) unsigned char memory[sizeof(cudaLaunchConfig_t)] = {};
  cudaLaunchConfig_t *const launch = reinterpret_cast<cudaLaunchConfig_t *>(memory);
  launch->gridDim.x = config.grid.x;
  launch->gridDim.y = config.grid.y;
  launch->gridDim.z = config.grid.z;
  launch->blockDim.x = config.block.x;
  launch->blockDim.y = config.block.y;
  launch->blockDim.z = config.block.z;
  launch->dynamicSmemBytes = config.shared_bytes;
  launch->stream = config.stream;
  void *pointers[] = {const_cast<void *>(static_cast<const void *>(&arguments))..., nullptr};
  return cudaLaunchKernelExC(launch, function, pointers);
}

// The same memory as elements of another type.
template <typename To, typename From>
AOTC_DEVICE To *aotc_shared_cast(From *pointer) {
  return reinterpret_cast<To *>(pointer);
}

// The lane in blocks of any shape: warps are runs of 32 in linear order of threads.
AOTC_DEVICE unsigned aotc_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

AOTC_DEVICE void aotc_syncthreads() { __syncthreads(); }
// The same; whether any thread of the block says so.
AOTC_DEVICE bool aotc_syncthreads_any(bool says) { return __syncthreads_or(says) != 0; }
AOTC_DEVICE void aotc_syncwarp() { __syncwarp(); }
AOTC_DEVICE void aotc_threadfence() { __threadfence(); }

template <typename T>
AOTC_DEVICE T aotc_shuffle_down(T value, unsigned delta) {
  return __shfl_down_sync(0xFFFFFFFFu, value, delta);
}
template <typename T>
AOTC_DEVICE T aotc_shuffle_xor(T value, unsigned mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, value, static_cast<int>(mask));
}
template <typename T>
AOTC_DEVICE T aotc_shuffle(T value, unsigned source) {
  return __shfl_sync(0xFFFFFFFFu, value, static_cast<int>(source));
}
AOTC_DEVICE unsigned aotc_vote_ballot(bool says) { return __ballot_sync(0xFFFFFFFFu, says); }
AOTC_DEVICE bool aotc_vote_any(bool says) { return __any_sync(0xFFFFFFFFu, says) != 0; }
AOTC_DEVICE bool aotc_vote_all(bool says) { return __all_sync(0xFFFFFFFFu, says) != 0; }

// Atomics, each returning the value before. CUDA has them for its own 64-bit types, of which some
// operations know only the unsigned one: `bits` is the type for those, `ordered` for max and min.
typedef unsigned long long aotc_native_u64;
typedef long long aotc_native_i64;
AOTC_DEVICE float aotc_atomic_add(float *address, float value) { return atomicAdd(address, value); }
#define AOTC_NATIVE_ATOMIC(type, native, name, function)                    \
  AOTC_DEVICE type name(type *address, type value) {                        \
    native *const target = reinterpret_cast<native *>(address);             \
    return static_cast<type>(function(target, static_cast<native>(value))); \
  }
#define AOTC_NATIVE_ATOMICS(type, bits, ordered)                                                  \
  AOTC_NATIVE_ATOMIC(type, bits, aotc_atomic_add, atomicAdd)                                      \
  AOTC_NATIVE_ATOMIC(type, bits, aotc_atomic_or, atomicOr)                                        \
  AOTC_NATIVE_ATOMIC(type, bits, aotc_atomic_exchange, atomicExch)                                \
  AOTC_NATIVE_ATOMIC(type, ordered, aotc_atomic_max, atomicMax)                                   \
  AOTC_NATIVE_ATOMIC(type, ordered, aotc_atomic_min, atomicMin)                                   \
  AOTC_DEVICE type aotc_atomic_cas(type *address, type expected, type desired) {                  \
    return static_cast<type>(atomicCAS(reinterpret_cast<bits *>(address),                         \
                                       static_cast<bits>(expected), static_cast<bits>(desired))); \
  }
AOTC_NATIVE_ATOMICS(int32_t, int, int)
AOTC_NATIVE_ATOMICS(uint32_t, unsigned, unsigned)
AOTC_NATIVE_ATOMICS(int64_t, aotc_native_u64, aotc_native_i64)
AOTC_NATIVE_ATOMICS(uint64_t, aotc_native_u64, aotc_native_u64)
#undef AOTC_NATIVE_ATOMICS
#undef AOTC_NATIVE_ATOMIC

#endif  // AOTC_CUDA_NATIVE_H_
