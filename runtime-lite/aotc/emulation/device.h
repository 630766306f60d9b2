// The emulated device: memory, copies, what it says about itself. Device memory is host memory that
// holds poison until it is written.
#ifndef AOTC_EMULATION_DEVICE_H_
#define AOTC_EMULATION_DEVICE_H_

#include "aotc/emulation/event.h"

// The compute capability that the device claims, times 10.
#if !defined(AOTC_CUDA_EMULATE_CAPABILITY)
#define AOTC_CUDA_EMULATE_CAPABILITY 80
#endif

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

static inline cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (posix_memalign(pointer, 256, bytes) != 0) {
    *pointer = nullptr;
    return aotc_emulation_note(cudaErrorMemoryAllocation);
  }
  aotc_emulation_poison(*pointer, bytes);
  return cudaSuccess;
}

template <typename T>
static inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
  void *memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  *pointer = static_cast<T *>(memory);
  return error;
}

template <typename T>
static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes) {
  return cudaMalloc(pointer, bytes);
}

template <typename T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned = 1) {
  return cudaMalloc(pointer, bytes);
}

// Waits for the work that may still use the memory, as the runtime does.
static inline cudaError_t cudaFree(void *pointer) {
  const cudaError_t error = cudaDeviceSynchronize();
  free(pointer);
  return error;
}

static inline cudaError_t cudaFreeHost(void *pointer) { return cudaFree(pointer); }

namespace {
struct aotc_emulation_transfer {
  void *destination;
  const void *source;  // null: fill with `value`
  size_t bytes;
  int value;
};
}  // namespace

static inline cudaError_t aotc_emulation_run_transfer(aotc_emulation_operation *operation,
                                                      cudaStream_t) {
  aotc_emulation_transfer transfer;
  __builtin_memcpy(&transfer, operation->payload, sizeof transfer);
  if (transfer.bytes == 0) return cudaSuccess;
  if (transfer.source == nullptr) {
    memset(transfer.destination, transfer.value, transfer.bytes);
  } else {
    memcpy(transfer.destination, transfer.source, transfer.bytes);
  }
  return cudaSuccess;
}

static inline cudaError_t aotc_emulation_enqueue_transfer(const aotc_emulation_transfer &transfer,
                                                          cudaStream_t stream) {
  aotc_emulation_operation *operation =
      aotc_emulation_operation_create(aotc_emulation_run_transfer, sizeof transfer);
  if (operation != nullptr) __builtin_memcpy(operation->payload, &transfer, sizeof transfer);
  return aotc_emulation_enqueue(stream, operation);
}

static inline cudaError_t cudaMemcpyAsync(void *destination, const void *source, size_t bytes,
                                          cudaMemcpyKind, cudaStream_t stream = nullptr) {
  if (bytes != 0 && (destination == nullptr || source == nullptr)) {
    return aotc_emulation_note(cudaErrorInvalidValue);
  }
  return aotc_emulation_enqueue_transfer({destination, source, bytes, 0}, stream);
}

static inline cudaError_t cudaMemcpy(void *destination, const void *source, size_t bytes,
                                     cudaMemcpyKind kind) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(destination, source, bytes, kind, nullptr);
}

static inline cudaError_t cudaMemsetAsync(void *destination, int value, size_t bytes,
                                          cudaStream_t stream = nullptr) {
  if (bytes != 0 && destination == nullptr) return aotc_emulation_note(cudaErrorInvalidValue);
  return aotc_emulation_enqueue_transfer({destination, nullptr, bytes, value}, stream);
}

static inline cudaError_t cudaMemset(void *destination, int value, size_t bytes) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return error;
  return cudaMemsetAsync(destination, value, bytes, nullptr);
}

static inline cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

static inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}

static inline cudaError_t cudaSetDevice(int device) {
  return aotc_emulation_note(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

static inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return aotc_emulation_note(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = AOTC_EMULATION_MAX_THREADS; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = AOTC_EMULATION_STATIC_BYTES; break;
    case cudaDevAttrWarpSize: *value = AOTC_EMULATION_WARP; break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    case cudaDevAttrComputeCapabilityMajor: *value = AOTC_CUDA_EMULATE_CAPABILITY / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = AOTC_CUDA_EMULATE_CAPABILITY % 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = AOTC_EMULATION_DYNAMIC_BYTES; break;
    default: return aotc_emulation_note(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

#endif  // AOTC_EMULATION_DEVICE_H_
