// Keeps the faults that emulated kernels of a test file report. The file says before in which mode
// it uses the emulation.
#ifndef AOTC_TESTS_CUDA_FAULTS_H_
#define AOTC_TESTS_CUDA_FAULTS_H_

#include <cstdlib>
#include <string>
#include <vector>

#include "aotc/cuda.h"

static std::string last_fault;  // of the latest launch, "" where the emulation found none

static inline void KeepFault(const char* message) { last_fault = message; }

// Launches on a stream of its own, waits, and returns the error; last_fault tells the reason.
template <typename... Parameters, typename... Arguments>
static cudaError_t LaunchAndWait(aotc_launch_config config, void (*kernel)(Parameters...),
                                 Arguments... arguments) {
  KeepFault("");
#if defined(AOTC_CUDA_EMULATE)
  aotc_emulation_on_fault = KeepFault;
#endif
  cudaStream_t stream = nullptr;
  if (cudaStreamCreate(&stream) != cudaSuccess) return cudaErrorUnknown;
  config.stream = stream;
  cudaError_t error = aotc_launch(config, kernel, arguments...);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return error;
}

// Memory that a kernel reaches, on the emulation as on a GPU.
template <typename T>
struct SharedAllocator {
  typedef T value_type;
  SharedAllocator() = default;
  template <typename U>
  SharedAllocator(const SharedAllocator<U>&) {}
  T* allocate(size_t count) {
    T* memory = nullptr;
    if (cudaMallocManaged(&memory, count * sizeof(T)) != cudaSuccess) std::abort();
    return memory;
  }
  void deallocate(T* memory, size_t) { cudaFree(memory); }
  bool operator==(const SharedAllocator&) const { return true; }
  bool operator!=(const SharedAllocator&) const { return false; }
};
template <typename T>
using Vector = std::vector<T, SharedAllocator<T>>;

// A launch of `blocks` blocks of `threads` threads, both in one dimension.
static inline aotc_launch_config Line(uint32_t blocks, uint32_t threads, const char* name,
                                      uint32_t shared_bytes = 0) {
  return {{blocks, 1, 1}, {threads, 1, 1}, shared_bytes, nullptr, name};
}

#endif  // AOTC_TESTS_CUDA_FAULTS_H_
