// A kernel of every feature of the device layer, as emitted code would use it. Tests compile this
// file with nvcc and, emulated, with each host compiler.
#include "aotc/cuda.h"

namespace {
struct sample_params {
  const float* x;
  float* y;
  int64_t count;
};
}  // namespace

static __global__ void __launch_bounds__(256) sample_scale(const sample_params params) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < params.count) params.y[i] = 2.0f * params.x[i] + expf(params.x[i]);
}

// One block a row: y[row] = sum over x[row, :].
static __global__ void sample_row_sum(const float* x, float* y, int columns) {
  AOTC_SHARED(float, partial, 32);
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x)) {
    sum += x[static_cast<int64_t>(blockIdx.x) * columns + i];
  }
  for (unsigned delta = 16; delta > 0; delta /= 2) sum += aotc_shuffle_down(sum, delta);
  if (aotc_lane() == 0) partial[threadIdx.x / 32] = sum;
  aotc_syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (unsigned i = 0; i < blockDim.x / 32; ++i) total += partial[i];
    y[blockIdx.x] = total;
  }
}

static __global__ void sample_copy(const float* x, float* y, int count) {
  AOTC_DYNAMIC_SHARED(float, tile);
  const int i = static_cast<int>(threadIdx.x) * 4;
  const int left = (count - i) * 4;
  const int bytes = left < 0 ? 0 : (left > 16 ? 16 : left);
  aotc_cp_async_16(&tile[i], bytes > 0 ? x + i : x, bytes);
  aotc_cp_async_commit();
  aotc_cp_async_8(&tile[4 * blockDim.x + 2 * threadIdx.x], x, 8);
  aotc_cp_async_4(&tile[6 * blockDim.x + threadIdx.x], x, 0);
  aotc_cp_async_commit();
  aotc_cp_async_wait_group<1>();
  aotc_cp_async_wait_all();
  aotc_syncthreads();
  if (i < count) y[i] = tile[count - 1 - i];
}

static __global__ void sample_mma(const uint32_t* x, float* y, int32_t* z, uint32_t* error) {
  AOTC_SHARED(uint16_t, rows, 8 * 32);
  for (unsigned i = aotc_lane(); i < 8 * 32; i += 32) rows[i] = static_cast<uint16_t>(x[i % 32]);
  aotc_syncwarp();
  uint32_t a[4], b[2] = {x[0], x[1]};
  aotc_ldmatrix<4, false>(a, &rows[8 * aotc_lane()]);
  aotc_ldmatrix<2, true>(b, &rows[8 * aotc_lane()]);
  float c[4] = {0, 0, 0, 0};
  int32_t integers[4] = {0, 0, 0, 0};
  aotc_mma_m16n8k16_f16_f32(c, a, b, c);
  aotc_mma_m16n8k8_tf32_f32(c, a, b, c);
  aotc_mma_m16n8k32_s32<uint8_t, int8_t>(integers, a, b, integers);
  for (int i = 0; i < 4; ++i) {
    const aotc_matrix_position at = aotc_mma_c_position(static_cast<int>(aotc_lane()), i);
    y[at.row * 8 + at.column] = c[i];
    z[at.row * 8 + at.column] = integers[i];
  }
  const bool bad = aotc_vote_any(c[0] != c[0]) || !aotc_vote_all(c[1] == c[1]);
  if (bad || aotc_vote_ballot(c[2] != c[2]) != 0) aotc_atomic_or(error, 1u);
  aotc_atomic_add(y, aotc_shuffle(c[0], 3));
  aotc_atomic_max(z, aotc_shuffle_xor(integers[0], 1));
}

// Reads one element beyond the static (kind 0) or the dynamic (kind 1) shared memory.
static __global__ void sample_read_outside(float* y, int kind) {
  AOTC_SHARED(float, fixed, 3);
  AOTC_DYNAMIC_SHARED(float, dynamic);
  if (kind == 0) y[0] = fixed[3];
  if (kind == 1) y[0] = dynamic[5];
}

#define SAMPLE_PASTE(prefix, name) prefix##_##name
#define SAMPLE_NAME(prefix, name) SAMPLE_PASTE(prefix, name)
#if !defined(SAMPLE_PREFIX)
#define SAMPLE_PREFIX sample
#endif
#define SAMPLE_EXPORT extern "C" __attribute__((visibility("hidden"))) int32_t

SAMPLE_EXPORT SAMPLE_NAME(SAMPLE_PREFIX, launch)(const float* x, float* y,
                                                 struct CUstream_st* stream) {
  const sample_params params = {x, y, 1000};
  const aotc_launch_config scale = {{4, 1, 1}, {256, 1, 1}, 0, stream, "sample_scale"};
  int32_t status = aotc_cuda_status(aotc_launch(scale, sample_scale, params));
  const aotc_launch_config rows = {{8, 1, 1}, {128, 1, 1}, 0, stream, "sample_row_sum"};
  status |= aotc_cuda_status(aotc_launch(rows, sample_row_sum, x, y + 1000, 100));
  const aotc_launch_config copy = {{1, 1, 1}, {64, 1, 1}, 64 * 7 * 4, stream, "sample_copy"};
  return status | aotc_cuda_status(aotc_launch(copy, sample_copy, x, y + 1008, 250));
}

SAMPLE_EXPORT SAMPLE_NAME(SAMPLE_PREFIX, multiply)(const float* x, float* y, int32_t* z,
                                                   uint32_t* error, struct CUstream_st* stream) {
  const aotc_launch_config mma = {{1, 1, 1}, {32, 1, 1}, 0, stream, "sample_mma"};
  const uint32_t* const bits = reinterpret_cast<const uint32_t*>(x);
  return aotc_cuda_status(aotc_launch(mma, sample_mma, bits, y, z, error));
}

SAMPLE_EXPORT SAMPLE_NAME(SAMPLE_PREFIX, read_outside)(float* y, int kind,
                                                       struct CUstream_st* stream) {
  const aotc_launch_config one = {{1, 1, 1}, {1, 1, 1}, 20, stream, "sample_read_outside"};
  return aotc_cuda_status(aotc_launch(one, sample_read_outside, y, kind));
}
