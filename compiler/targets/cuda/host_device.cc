// NAME_device.cu: the few calls of the CUDA runtime that a host program needs.
#include "absl/strings/numbers.h"
#include "compiler/emit/host_control.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {

bool AsksForCapability(const Program& program) {
  for (const ProgramKernel& kernel : program.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      if (!variant.feature.empty()) return true;
    }
  }
  return false;
}

std::optional<int> CapabilityOf(std::string_view feature) {
  int number = 0;
  if (feature.substr(0, 3) != "sm_" || !absl::SimpleAtoi(View(feature.substr(3)), &number)) {
    return std::nullopt;
  }
  return number;
}

void DeclareCudaDevice(const EmitContext& context, CodeWriter& w) {
  w.Emit(R"(
    $NAME$_LOCAL aotc_status $name$_device_allocate(void **memory, size_t bytes);
    $NAME$_LOCAL aotc_status $name$_device_free(void *memory);
    $NAME$_LOCAL aotc_status $name$_device_copy(void *to, const void *from, size_t bytes,
                                                struct CUstream_st *stream);
    $NAME$_LOCAL aotc_status $name$_device_wait(struct CUstream_st *stream);
    $NAME$_LOCAL aotc_status $name$_device_stream_create(struct CUstream_st **stream);
    $NAME$_LOCAL aotc_status $name$_device_stream_destroy(struct CUstream_st *stream);)",
         {{"name", context.interface.prefix}, {"NAME", context.interface.macro}});
  if (AsksForCapability(context.program)) {
    w.Emit("$NAME$_LOCAL aotc_status $name$_device_capability(int32_t *capability);",
           {{"name", context.interface.prefix}, {"NAME", context.interface.macro}});
  }
  w.Line();
  DeclareDeviceEvents(context, w);
  if (LateChecks(context.program) == 0) return;
  w.Emit(R"(
    $NAME$_LOCAL aotc_status $name$_device_allocate_pinned(void **memory, size_t bytes);
    $NAME$_LOCAL aotc_status $name$_device_free_pinned(void *memory);)",
         {{"name", context.interface.prefix}, {"NAME", context.interface.macro}});
  w.Line();
}

namespace {

void EmitCapability(const EmitContext& context, CodeWriter& w) {
  w.Line();
  w.Emit(R"(
    // Of the current device, times ten.
    aotc_status $name$_device_capability(int32_t *capability) {
      int device = 0, major = 0, minor = 0;
      cudaError_t error = cudaGetDevice(&device);
      if (error == cudaSuccess) {
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      }
      if (error == cudaSuccess) {
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
      }
      *capability = 10 * major + minor;
      return aotc_cuda_status(error);
    })",
         {{"name", context.interface.prefix}});
}

}  // namespace

std::string EmitCudaDevice(const EmitContext& context) {
  CodeWriter w;
  w.Emit(R"(
    // $name$: all that its host program asks of the CUDA runtime.
    #include "aotc/cuda_host.h"

    #define $NAME$_LOCAL extern "C" __attribute__((visibility("hidden"))))",
         {{"name", context.interface.prefix}, {"NAME", context.interface.macro}});
  w.Line();
  DeclareCudaDevice(context, w);
  w.Emit(R"(
    aotc_status $name$_device_allocate(void **memory, size_t bytes) {
      *memory = nullptr;
      return bytes == 0 ? AOTC_OK : aotc_cuda_status(cudaMalloc(memory, bytes));
    }

    aotc_status $name$_device_free(void *memory) {
      return memory == nullptr ? AOTC_OK : aotc_cuda_status(cudaFree(memory));
    }

    aotc_status $name$_device_copy(void *to, const void *from, size_t bytes,
                                   struct CUstream_st *stream) {
      if (bytes == 0) return AOTC_OK;
      return aotc_cuda_status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    }

    aotc_status $name$_device_wait(struct CUstream_st *stream) {
      return aotc_cuda_status(cudaStreamSynchronize(stream));
    }

    // The stream does not wait for the default one.
    aotc_status $name$_device_stream_create(struct CUstream_st **stream) {
      return aotc_cuda_status(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    }

    aotc_status $name$_device_stream_destroy(struct CUstream_st *stream) {
      return aotc_cuda_status(cudaStreamDestroy(stream));
    })",
         {{"name", context.interface.prefix}});
  if (AsksForCapability(context.program)) EmitCapability(context, w);
  EmitDeviceEvents(context, w);
  if (LateChecks(context.program) == 0) return w.Take();
  w.Line();
  w.Emit(R"(
    // Host memory that copies need not wait for.
    aotc_status $name$_device_allocate_pinned(void **memory, size_t bytes) {
      *memory = nullptr;
      return aotc_cuda_status(cudaMallocHost(memory, bytes));
    }

    aotc_status $name$_device_free_pinned(void *memory) {
      return memory == nullptr ? AOTC_OK : aotc_cuda_status(cudaFreeHost(memory));
    })",
         {{"name", context.interface.prefix}});
  return w.Take();
}

}  // namespace aotc
