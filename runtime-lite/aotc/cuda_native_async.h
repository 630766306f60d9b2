// cp.async under nvcc. Processors before sm_80 copy at once, which is a legal way of being
// asynchronous. Included by cuda.h.
#ifndef AOTC_CUDA_NATIVE_ASYNC_H_
#define AOTC_CUDA_NATIVE_ASYNC_H_

#include <stdint.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define AOTC_NATIVE_CP_ASYNC 1
#else
#define AOTC_NATIVE_CP_ASYNC 0
#endif

AOTC_DEVICE unsigned aotc_native_shared_address(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Copies by words of 4 bytes; `source_bytes` need not be a multiple of 4.
template <int Bytes>
AOTC_DEVICE void aotc_native_copy(void *destination, const void *source, int source_bytes) {
  const uint8_t *from = static_cast<const uint8_t *>(source);
  uint32_t *const to = static_cast<uint32_t *>(destination);
  AOTC_UNROLL(4)
  for (int i = 0; i < Bytes / 4; ++i) {
    uint32_t word = 0;
    if (source_bytes >= 4 * i + 4) {
      word = reinterpret_cast<const uint32_t *>(from)[i];
    } else {
      for (int j = 4 * i; j < source_bytes; ++j) {
        word |= static_cast<uint32_t>(from[j]) << (j % 4 * 8);
      }
    }
    to[i] = word;
  }
}

// Copies `source_bytes` bytes from global to shared memory and fills up to 16, 8 or 4 with zeros.
// Both addresses are multiples of that size; the source is not looked at when `source_bytes` is 0.
AOTC_DEVICE void aotc_cp_async_16(void *destination, const void *source, int source_bytes) {
#if AOTC_NATIVE_CP_ASYNC
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   aotc_native_shared_address(destination)),
               "l"(__cvta_generic_to_global(source)), "r"(source_bytes)
               : "memory");
#else
  aotc_native_copy<16>(destination, source, source_bytes);
#endif
}

AOTC_DEVICE void aotc_cp_async_8(void *destination, const void *source, int source_bytes) {
#if AOTC_NATIVE_CP_ASYNC
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(aotc_native_shared_address(destination)),
      "l"(__cvta_generic_to_global(source)), "r"(source_bytes)
      : "memory");
#else
  aotc_native_copy<8>(destination, source, source_bytes);
#endif
}

AOTC_DEVICE void aotc_cp_async_4(void *destination, const void *source, int source_bytes) {
#if AOTC_NATIVE_CP_ASYNC
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(aotc_native_shared_address(destination)),
      "l"(__cvta_generic_to_global(source)), "r"(source_bytes)
      : "memory");
#else
  aotc_native_copy<4>(destination, source, source_bytes);
#endif
}

// Closes the group of copies that the thread has begun since the last commit.
AOTC_DEVICE void aotc_cp_async_commit() {
#if AOTC_NATIVE_CP_ASYNC
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for this thread's copies of all groups but the latest `Pending`.
template <int Pending>
AOTC_DEVICE void aotc_cp_async_wait_group() {
#if AOTC_NATIVE_CP_ASYNC
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

// Waits for all copies of this thread, committed or not.
AOTC_DEVICE void aotc_cp_async_wait_all() {
#if AOTC_NATIVE_CP_ASYNC
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#endif  // AOTC_CUDA_NATIVE_ASYNC_H_
