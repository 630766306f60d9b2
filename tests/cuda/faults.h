// Keeps the faults that emulated kernels of a test file report. The file says before in which mode
// it uses the emulation.
#ifndef AOTC_TESTS_CUDA_FAULTS_H_
#define AOTC_TESTS_CUDA_FAULTS_H_

#include <string>

#include "aotc/cuda.h"

static std::string last_fault;  // the latest, "" when there was none since ExpectFaults

static inline void KeepFault(const char* message) { last_fault = message; }

// Launches on a stream of its own, waits, and returns the error; last_fault tells the reason.
template <typename... Parameters, typename... Arguments>
static cudaError_t LaunchAndWait(aotc_launch_config config, void (*kernel)(Parameters...),
                                 Arguments... arguments) {
  last_fault.clear();
  aotc_emulation_on_fault = KeepFault;
  cudaStream_t stream = nullptr;
  if (cudaStreamCreate(&stream) != cudaSuccess) return cudaErrorUnknown;
  config.stream = stream;
  cudaError_t error = aotc_launch(config, kernel, arguments...);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return error;
}

// A launch of `blocks` blocks of `threads` threads, both in one dimension.
static inline aotc_launch_config Line(uint32_t blocks, uint32_t threads, const char* name,
                                      uint32_t shared_bytes = 0) {
  return {{blocks, 1, 1}, {threads, 1, 1}, shared_bytes, nullptr, name};
}

#endif  // AOTC_TESTS_CUDA_FAULTS_H_
