// The CUDA runtime for host code of a model, real or emulated, and its errors as statuses. Example:
//   const aotc_status status = aotc_cuda_status(cudaMalloc(&arena, bytes));
//   if (status != AOTC_OK) return status;
#ifndef AOTC_CUDA_HOST_H_
#define AOTC_CUDA_HOST_H_

#include "aotc/model.h"

#if defined(AOTC_CUDA_EMULATE)
#include "aotc/emulation/device.h"
#else
#include <cuda_runtime_api.h>
#endif

// AOTC_ERROR_DEVICE where no device can run the code, AOTC_ERROR_CUDA for every other error.
static inline aotc_status aotc_cuda_status(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return AOTC_OK;
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorNoKernelImageForDevice: return AOTC_ERROR_DEVICE;
    default: return AOTC_ERROR_CUDA;
  }
}

#endif  // AOTC_CUDA_HOST_H_
