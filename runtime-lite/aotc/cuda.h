// The device layer of emitted CUDA code: launches, shared memory, barriers, warp exchanges,
// atomics, asynchronous copies and mma, with one text for nvcc and, under -DAOTC_CUDA_EMULATE, for
// any C++17 compiler on POSIX. Example:
//
//   static __global__ void sum_rows(const float *x, float *y, int columns) {
//     AOTC_SHARED(float, partial, 32);
//     ...
//     aotc_syncthreads();
//   }
//   const aotc_launch_config config = {{rows, 1, 1}, {256, 1, 1}, 0, stream, "sum_rows"};
//   return aotc_cuda_status(aotc_launch(config, sum_rows, x, y, columns));
//
// Rules for code that uses it: every function and kernel is static; types with member functions are
// in an unnamed namespace; collectives are called by all 32 lanes of a warp and barriers by all
// threads of a block; elements of shared memory are read and written as values, `float x = tile[i]`
// (under AOTC_CUDA_CHECK_RACES `tile[i]` is an object that watches), and passed on as
// AOTC_SHARED_POINTER(type).
#ifndef AOTC_CUDA_H_
#define AOTC_CUDA_H_

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "aotc/attributes.h"
#include "aotc/cuda_host.h"
#include "aotc/cuda_lanes.h"
#include "aotc/half.h"

#if defined(AOTC_CUDA_EMULATE)

#include "aotc/emulation/async_copy.h"
#include "aotc/emulation/launch.h"
#include "aotc/emulation/matrix.h"
#include "aotc/emulation/warp.h"

#define AOTC_DEVICE static inline

#else

#include "aotc/cuda_native.h"

#endif

#include "aotc/cuda_generic_mma.h"

#if !defined(AOTC_CUDA_EMULATE)
#include "aotc/cuda_native_async.h"
#include "aotc/cuda_native_mma.h"
#endif

// The thread's place in its block as one number, in CUDA's order.
AOTC_DEVICE unsigned aotc_thread_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

#endif  // AOTC_CUDA_H_
