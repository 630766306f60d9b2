// A small hand-made program for tests of emission: two kernels with text of their own, a symbol,
// weights, an in-place step, scratch, variants and a copy.
//
//   y[m, 4] = relu(x[m, 4] * w[4, 4] + m)      m in 1..8, given as rows = 2 * m
//   copy[m, 4] = the same
#ifndef AOTC_TESTS_UNIT_SAMPLE_PROGRAM_H_
#define AOTC_TESTS_UNIT_SAMPLE_PROGRAM_H_

#include <cstring>

#include "compiler/emit/output.h"
#include "compiler/ir/program.h"

namespace aotc {

inline KernelTensor SampleTensor(const std::string& name, Shape shape, TensorRole role) {
  KernelTensor tensor;
  tensor.name = name;
  tensor.shape = std::move(shape);
  tensor.role = role;
  return tensor;
}

inline Buffer SampleBuffer(const std::string& name, const std::string& value, BufferKind kind,
                           Shape shape) {
  Buffer buffer;
  buffer.name = name;
  buffer.value = value;
  buffer.kind = kind;
  buffer.bytes = 8 * 4 * 4;
  buffer.shape = std::move(shape);
  return buffer;
}

// A kernel with one variant per feature.
inline ProgramKernel SampleKernel(const std::string& name, const std::vector<KernelTensor>& params,
                                  const std::vector<std::string>& features, const Symbol& symbol) {
  ProgramKernel kernel;
  kernel.kernel.name = name;
  kernel.kernel.symbols = {symbol};
  kernel.kernel.sources = {name + "_node (Op)"};
  for (const KernelTensor& tensor : params) {
    kernel.kernel.params.push_back(kernel.kernel.tensors.Add(tensor));
  }
  for (const std::string& feature : features) {
    KernelVariant variant;
    variant.feature = feature;
    variant.realisation = "loops";
    variant.reason = "hand-made";
    variant.loops.name = name;
    variant.loops.symbols = {symbol};
    variant.loops.tasks = feature == "x86-64-v3" ? CeilDiv(Var("m"), 2) : Var("m");
    for (TensorId id : kernel.kernel.params) {
      LoopBuffer buffer;
      buffer.name = kernel.kernel.tensors[id].name;
      buffer.written = kernel.kernel.tensors[id].role == TensorRole::kOutput;
      variant.loops.params.push_back(variant.loops.buffers.Add(buffer));
    }
    kernel.variants.push_back(std::move(variant));
  }
  return kernel;
}

inline Program SampleProgram(bool cuda = false) {
  Program program;
  program.name = "sample";
  program.max_workers = 4;
  const Symbol symbol = {.name = "rows", .var = "m", .min = 1, .max = 8, .step = 2};
  program.symbols = {symbol};
  const Shape shape = {Var("m"), 4};
  auto add = [&](const std::string& name, const std::string& value, BufferKind kind) {
    return program.buffers.Add(SampleBuffer(name, value, kind, shape));
  };
  const Shape given = {Var("m") * 2, 2};
  const BufferId x = add("x_0", "x:0", BufferKind::kInput);
  program.buffers[x].shape = given;
  const BufferId product = add("product", "product", BufferKind::kArena);
  const BufferId sum = add("sum", "sum", BufferKind::kArena);
  const BufferId y = add("y", "float", BufferKind::kOutput);
  const BufferId copy = add("copied", "copy*/", BufferKind::kOutput);
  Buffer weights = SampleBuffer("w", "w", BufferKind::kWeights, {4, 4});
  weights.bytes = 64;
  weights.offset = 64;
  const BufferId w = program.buffers.Add(weights);
  program.weights.assign(128, 0);
  for (int i = 0; i < 16; ++i) {
    const float value = static_cast<float>(i) - 7.5f;
    std::memcpy(program.weights.data() + 64 + 4 * i, &value, 4);
  }
  program.inputs = {x};
  program.outputs = {y, copy};
  const std::vector<std::string> features =
      cuda ? std::vector<std::string>{""} : std::vector<std::string>{"x86-64-v3", "x86-64"};
  const std::string base = cuda ? "" : "x86-64";
  const KernelId dense =
      program.kernels.Add(SampleKernel("dense",
                                       {SampleTensor("x", given, TensorRole::kInput),
                                        SampleTensor("w", {4, 4}, TensorRole::kConstant),
                                        SampleTensor("y", shape, TensorRole::kOutput)},
                                       features, symbol));
  const KernelId shift = program.kernels.Add(SampleKernel(
      "shift",
      {SampleTensor("x", shape, TensorRole::kInput), SampleTensor("y", shape, TensorRole::kOutput)},
      {base}, symbol));
  const KernelId relu = program.kernels.Add(SampleKernel(
      "relu",
      {SampleTensor("x", shape, TensorRole::kInput), SampleTensor("y", shape, TensorRole::kOutput)},
      {base}, symbol));
  if (!cuda) program.kernels[shift].variants[0].loops.scratch_bytes = 16;
  program.steps = {{.kernel = dense, .args = {x, w, product}},
                   {.kernel = shift, .args = {product, sum}, .in_place = {{1, 0}}},
                   {.kernel = relu, .args = {sum, y}},
                   {.kind = StepKind::kCopy, .args = {y, copy}}};
  return program;
}

// The kernels of SampleProgram for the CPU, as a target would write them.
inline KernelFile SampleCpuKernels() {
  return {"sample_kernels_0.cpp", R"(
// Kernels of sample.
#include <stdint.h>
#define LOCAL extern "C" __attribute__((visibility("hidden")))
LOCAL void sample_dense_v3(const float *x, const float *w, float *y, int64_t m, int64_t task_begin, int64_t task_end, void *scratch);
LOCAL void sample_dense_v1(const float *x, const float *w, float *y, int64_t m, int64_t task_begin, int64_t task_end, void *scratch);
LOCAL void sample_shift_v1(const float *x, float *y, int64_t m, int64_t task_begin, int64_t task_end, void *scratch);
LOCAL void sample_relu_v1(const float *x, float *y, int64_t m, int64_t task_begin, int64_t task_end, void *scratch);
void sample_dense_v1(const float *x, const float *w, float *y, int64_t m, int64_t task_begin, int64_t task_end, void *scratch) {
  (void)m; (void)scratch;
  for (int64_t i = task_begin; i < task_end; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < 4; ++k) sum += x[i * 4 + k] * w[k * 4 + j];
      y[i * 4 + j] = sum;
    }
}
void sample_dense_v3(const float *x, const float *w, float *y, int64_t m, int64_t task_begin, int64_t task_end, void *scratch) {
  const int64_t end = 2 * task_end < m ? 2 * task_end : m;
  sample_dense_v1(x, w, y, m, 2 * task_begin, end, scratch);
}
void sample_shift_v1(const float *x, float *y, int64_t m, int64_t task_begin, int64_t task_end, void *scratch) {
  float *row = (float *)scratch;
  for (int64_t i = task_begin; i < task_end; ++i) {
    for (int64_t j = 0; j < 4; ++j) row[j] = x[i * 4 + j] + (float)m;
    for (int64_t j = 0; j < 4; ++j) y[i * 4 + j] = row[j];
  }
}
void sample_relu_v1(const float *x, float *y, int64_t m, int64_t task_begin, int64_t task_end, void *scratch) {
  (void)m; (void)scratch;
  for (int64_t i = task_begin * 4; i < task_end * 4; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
)"};
}

// The same for CUDA: one thread per row.
inline KernelFile SampleCudaKernels() {
  return {"sample_kernels_0.cu", R"(
// Kernels of sample.
#include "aotc/cuda.h"
#define LOCAL extern "C" __attribute__((visibility("hidden")))
static __global__ void dense(const float *x, const float *w, float *y) {
  const int64_t i = blockIdx.x, j = threadIdx.x;
  float sum = 0;
  for (int64_t k = 0; k < 4; ++k) sum += x[i * 4 + k] * w[k * 4 + j];
  y[i * 4 + j] = sum;
}
static __global__ void shift(const float *x, float *y, int64_t m) {
  const int64_t i = blockIdx.x * 4 + threadIdx.x;
  y[i] = x[i] + (float)m;
}
static __global__ void relu(const float *x, float *y) {
  const int64_t i = blockIdx.x * 4 + threadIdx.x;
  y[i] = x[i] > 0 ? x[i] : 0;
}
LOCAL aotc_status sample_dense(const float *x, const float *w, float *y, int64_t m, int64_t tasks, struct CUstream_st *stream);
LOCAL aotc_status sample_shift(const float *x, float *y, int64_t m, int64_t tasks, struct CUstream_st *stream);
LOCAL aotc_status sample_relu(const float *x, float *y, int64_t m, int64_t tasks, struct CUstream_st *stream);
aotc_status sample_dense(const float *x, const float *w, float *y, int64_t, int64_t tasks, struct CUstream_st *stream) {
  const aotc_launch_config config = {{(uint32_t)tasks, 1, 1}, {4, 1, 1}, 0, stream, "dense"};
  return aotc_cuda_status(aotc_launch(config, dense, x, w, y));
}
aotc_status sample_shift(const float *x, float *y, int64_t m, int64_t tasks, struct CUstream_st *stream) {
  const aotc_launch_config config = {{(uint32_t)tasks, 1, 1}, {4, 1, 1}, 0, stream, "shift"};
  return aotc_cuda_status(aotc_launch(config, shift, x, y, m));
}
aotc_status sample_relu(const float *x, float *y, int64_t, int64_t tasks, struct CUstream_st *stream) {
  const aotc_launch_config config = {{(uint32_t)tasks, 1, 1}, {4, 1, 1}, 0, stream, "relu"};
  return aotc_cuda_status(aotc_launch(config, relu, x, y));
}
)"};
}

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_SAMPLE_PROGRAM_H_
