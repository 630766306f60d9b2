// How a kernel is launched. Example:
//   const aotc_launch_config config = {{blocks, 1, 1}, {256, 1, 1}, 0, stream, "mobilenet_conv1"};
#ifndef AOTC_CUDA_LAUNCH_CONFIG_H_
#define AOTC_CUDA_LAUNCH_CONFIG_H_

#include <stdint.h>

struct aotc_extent {
  uint32_t x, y, z;
};

struct aotc_launch_config {
  aotc_extent grid;       // in blocks
  aotc_extent block;      // in threads
  uint32_t shared_bytes;  // of dynamic shared memory
  struct CUstream_st *stream;
  const char *name;  // appears in messages of the emulation; lives on
};

#endif  // AOTC_CUDA_LAUNCH_CONFIG_H_
