// aotc_launch for the emulated build: checks the configuration as the driver would, copies the
// arguments and queues the kernel on its stream.
#ifndef AOTC_EMULATION_LAUNCH_H_
#define AOTC_EMULATION_LAUNCH_H_

#include "aotc/cuda_launch_config.h"
#include "aotc/emulation/device.h"

namespace {

template <typename T>
struct aotc_same {
  typedef T type;
};

// The arguments of a kernel, by value.
template <typename... T>
struct aotc_emulation_arguments {};
template <typename First, typename... Rest>
struct aotc_emulation_arguments<First, Rest...> {
  First first;
  aotc_emulation_arguments<Rest...> rest;
};

template <typename... Parameters>
struct aotc_emulation_launch {
  void (*kernel)(Parameters...);
  aotc_emulation_grid grid;
  aotc_emulation_arguments<Parameters...> arguments;
};

}  // namespace

template <typename Kernel, typename... Done>
static inline void aotc_emulation_call(Kernel kernel, const aotc_emulation_arguments<> &,
                                       const Done &...done) {
  kernel(done...);
}
template <typename Kernel, typename First, typename... Rest, typename... Done>
static inline void aotc_emulation_call(Kernel kernel,
                                       const aotc_emulation_arguments<First, Rest...> &arguments,
                                       const Done &...done) {
  aotc_emulation_call(kernel, arguments.rest, done..., arguments.first);
}

static inline void aotc_emulation_pack(aotc_emulation_arguments<> *) {}
template <typename First, typename... Rest>
static inline void aotc_emulation_pack(aotc_emulation_arguments<First, Rest...> *arguments,
                                       const First &first, const Rest &...rest) {
  __builtin_memcpy(&arguments->first, &first, sizeof first);
  aotc_emulation_pack(&arguments->rest, rest...);
}

template <typename... Parameters>
static inline void aotc_emulation_invoke(const void *arguments) {
  const auto *launch = static_cast<const aotc_emulation_launch<Parameters...> *>(arguments);
  aotc_emulation_call(launch->kernel, launch->arguments);
}

template <typename... Parameters>
static inline cudaError_t aotc_emulation_run_launch(aotc_emulation_operation *operation,
                                                    cudaStream_t stream) {
  auto *launch = reinterpret_cast<aotc_emulation_launch<Parameters...> *>(operation->payload);
  aotc_emulation_grid grid = launch->grid;  // a graph may hold the operation in two streams
  grid.arguments = launch;
  if (!aotc_emulation_run_grid(stream->engines, &grid)) return cudaErrorMemoryAllocation;
  return grid.fault != 0 ? cudaErrorLaunchFailure : cudaSuccess;
}

static inline cudaError_t aotc_emulation_check_config(const aotc_launch_config &config) {
  const aotc_extent grid = config.grid, block = config.block;
  const bool grid_fits = grid.x - 1 < 0x7FFFFFFFu && grid.y - 1 < 65535 && grid.z - 1 < 65535;
  const bool block_fits = block.x - 1 < 1024 && block.y - 1 < 1024 && block.z - 1 < 64;
  if (!grid_fits || !block_fits) return cudaErrorInvalidConfiguration;
  if (block.x * block.y * block.z > AOTC_EMULATION_MAX_THREADS) {
    return cudaErrorInvalidConfiguration;
  }
  if (config.shared_bytes > AOTC_EMULATION_DYNAMIC_BYTES) return cudaErrorInvalidValue;
  return cudaSuccess;
}

// Runs `kernel` over a grid, in the order of its stream. The arguments are copied. An error of the
// configuration is returned at once, one of the kernel by whoever waits for the stream.
template <typename... Parameters>
static inline cudaError_t aotc_launch(const aotc_launch_config &config,
                                      void (*kernel)(Parameters...),
                                      typename aotc_same<Parameters>::type... arguments) {
  const cudaError_t error = aotc_emulation_check_config(config);
  if (error != cudaSuccess) return aotc_emulation_note(error);
  typedef aotc_emulation_launch<Parameters...> launch_type;
  static_assert(__is_trivially_copyable(launch_type), "kernels take plain values");
  aotc_emulation_operation *operation = aotc_emulation_operation_create(
      aotc_emulation_run_launch<Parameters...>, sizeof(launch_type));
  if (operation == nullptr) return aotc_emulation_note(cudaErrorMemoryAllocation);
  launch_type *launch = reinterpret_cast<launch_type *>(operation->payload);
  const aotc_extent grid = config.grid, block = config.block;
  launch->kernel = kernel;
  launch->grid = aotc_emulation_grid{};
  launch->grid.name = config.name;
  launch->grid.grid_dim = uint3{grid.x, grid.y, grid.z};
  launch->grid.block_dim = uint3{block.x, block.y, block.z};
  launch->grid.dynamic_bytes = config.shared_bytes;
  launch->grid.block_count = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
  launch->grid.invoke = aotc_emulation_invoke<Parameters...>;
  launch->grid.work = aotc_emulation_work;
  aotc_emulation_pack(&launch->arguments, arguments...);
  return aotc_emulation_enqueue(config.stream, operation);
}

#endif  // AOTC_EMULATION_LAUNCH_H_
