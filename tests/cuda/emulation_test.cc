// Kernels under the emulation give the numbers that CUDA promises.
#define AOTC_CUDA_EMULATE 1
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "aotc/cuda.h"
#include "tests/cuda/faults.h"

namespace {

static __global__ void WriteIndices(uint32_t* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  uint32_t* mine = out + 6 * (block * threads + aotc_thread_number());
  mine[0] = threadIdx.x;
  mine[1] = threadIdx.y;
  mine[2] = threadIdx.z;
  mine[3] = blockIdx.x;
  mine[4] = blockIdx.y;
  mine[5] = blockIdx.z;
}

TEST(Emulation, IndexesGridsAndBlocks) {
  std::vector<uint32_t> out(6 * 2 * 3 * 4 * 5 * 6 * 7, 0xFFFFFFFF);
  const aotc_launch_config config = {{2, 3, 4}, {5, 6, 7}, 0, nullptr, "WriteIndices"};
  ASSERT_EQ(LaunchAndWait(config, WriteIndices, out.data()), cudaSuccess);
  size_t at = 0;
  for (uint32_t b = 0; b < 24; ++b) {
    for (uint32_t t = 0; t < 210; ++t, at += 6) {
      const std::vector<uint32_t> got(&out[at], &out[at] + 6);
      const std::vector<uint32_t> want = {t % 5, t / 5 % 6, t / 30, b % 2, b / 2 % 3, b / 6};
      ASSERT_EQ(got, want) << "block " << b << " thread " << t;
    }
  }
}

template <bool kDynamic>
static __global__ void TreeSum(const float* x, float* y) {
  AOTC_SHARED(float, fixed, 256);
  AOTC_DYNAMIC_SHARED(float, dynamic);
  float* const partial = kDynamic ? dynamic : fixed;
  partial[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    aotc_syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

TEST(Emulation, ReducesInStaticAndDynamicSharedMemory) {
  std::vector<float> x(256 * 50), y(50), z(50);
  std::iota(x.begin(), x.end(), 0.0f);
  ASSERT_EQ(LaunchAndWait(Line(50, 256, "static"), TreeSum<false>, x.data(), y.data()),
            cudaSuccess);
  ASSERT_EQ(LaunchAndWait(Line(50, 256, "dynamic", 1024), TreeSum<true>, x.data(), z.data()),
            cudaSuccess);
  for (int b = 0; b < 50; ++b) {
    const float want = 256.0f * 256.0f * static_cast<float>(b) + 255.0f * 128.0f;
    EXPECT_EQ(y[b], want);
    EXPECT_EQ(z[b], want);
  }
}

static __global__ void Exchange(int* out) {
  const int lane = static_cast<int>(aotc_lane());
  int* mine = out + 8 * aotc_thread_number();
  mine[0] = aotc_shuffle_down(lane, 5);
  mine[1] = aotc_shuffle_xor(lane, 9);
  mine[2] = aotc_shuffle(lane * 10, 7);
  mine[3] = static_cast<int>(aotc_shuffle(lane * 1e10, 3) / 1e10);
  mine[4] = aotc_vote_any(lane == 31);
  mine[5] = aotc_vote_all(lane < 31);
  mine[6] = static_cast<int>(aotc_vote_ballot(lane % 3 == 0));
  aotc_syncwarp();
  mine[7] = static_cast<int>(aotc_thread_number());
}

TEST(Emulation, ExchangesWithinWarps) {
  std::vector<int> out(8 * 128, -1);
  const aotc_launch_config config = {{1, 1, 1}, {16, 8, 1}, 0, nullptr, "Exchange"};
  ASSERT_EQ(LaunchAndWait(config, Exchange, out.data()), cudaSuccess);
  for (int t = 0; t < 128; ++t) {
    const int lane = t % 32;
    const std::vector<int> got(&out[8 * t], &out[8 * t] + 8);
    const std::vector<int> want = {lane + 5 < 32 ? lane + 5 : lane, lane ^ 9, 70, 3, 1, 0,
                                   static_cast<int>(0x49249249u),   t};
    EXPECT_EQ(got, want) << "thread " << t;
  }
}

struct AtomicTotals {
  float sum;
  int32_t signed_sum, largest, smallest;
  uint64_t wide;
  uint32_t bits, tickets, exchanged;
};

static __global__ void CountAtomically(AtomicTotals* totals, int32_t* winner) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  aotc_atomic_add(&totals->sum, 0.5f);
  aotc_atomic_add(&totals->signed_sum, i % 2 == 0 ? i : -i);
  aotc_atomic_max(&totals->largest, i);
  aotc_atomic_min(&totals->smallest, -i);
  aotc_atomic_add(&totals->wide, uint64_t{1} << 32);
  aotc_atomic_or(&totals->bits, 1u << (i % 20));
  if (aotc_atomic_cas(&totals->tickets, 0u, 1u) == 0) aotc_atomic_add(winner, 1);
  aotc_atomic_exchange(&totals->exchanged, 7u);
}

TEST(Emulation, AddsAtomicallyOverBlocks) {
  AtomicTotals totals = {};
  int32_t winners = 0;
  ASSERT_EQ(LaunchAndWait(Line(40, 100, "atomics"), CountAtomically, &totals, &winners),
            cudaSuccess);
  EXPECT_EQ(totals.sum, 2000.0f);
  EXPECT_EQ(totals.signed_sum, -2000);
  EXPECT_EQ(totals.largest, 3999);
  EXPECT_EQ(totals.smallest, -3999);
  EXPECT_EQ(totals.wide, uint64_t{4000} << 32);
  EXPECT_EQ(totals.bits, (1u << 20) - 1);
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(totals.exchanged, 7u);
}

// y[block] = sum of x over `steps` chunks of 4 * 32 floats, each fetched one step ahead.
static __global__ void PipelinedSum(const float* x, float* y, int steps, int count) {
  AOTC_SHARED(float, stages, 2 * 128);
  const int lane = static_cast<int>(threadIdx.x);
  const auto fetch = [&](int step) {
    const int begin = 128 * step + 4 * lane;
    const int left = 4 * (count - begin);
    const int bytes = step >= steps || left <= 0 ? 0 : (left < 16 ? left : 16);
    aotc_cp_async_16(&stages[step % 2 * 128 + 4 * lane], bytes > 0 ? x + begin : nullptr, bytes);
    aotc_cp_async_commit();
  };
  float sum = 0;
  fetch(0);
  for (int step = 0; step < steps; ++step) {
    fetch(step + 1);
    aotc_cp_async_wait_group<1>();
    aotc_syncthreads();
    for (int i = 0; i < 4; ++i) sum += stages[step % 2 * 128 + (4 * lane + 37 * i) % 128];
    aotc_syncthreads();
  }
  aotc_cp_async_wait_all();
  aotc_atomic_add(y, sum);
}

TEST(Emulation, CopiesAsynchronouslyInTwoStages) {
  // 37 is odd: the four reads of all lanes cover each element of a stage once, when 4 divides 128.
  alignas(16) float x[500];
  float want = 0, got = 0;
  std::vector<int> seen(128, 0);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) ++seen[(4 * lane + 37 * i) % 128];
  }
  for (int i = 0; i < 500; ++i) {
    x[i] = static_cast<float>(i % 17);
    want += x[i] * static_cast<float>(seen[i % 128]);
  }
  ASSERT_EQ(LaunchAndWait(Line(1, 32, "pipeline"), PipelinedSum, x, &got, 4, 500), cudaSuccess)
      << last_fault;
  EXPECT_EQ(got, want);
}

static __global__ void AddOne(float* x, int count) {
  for (int i = 0; i < count; ++i) x[i] += 1;
}

TEST(Emulation, KeepsTheOrderOfAStreamAndDoesItsWorkLate) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  float host[4] = {1, 2, 3, 4}, back[4] = {};
  float* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, sizeof host), cudaSuccess);
  EXPECT_NE(device[0], device[0]) << "fresh device memory is poison";
  cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream);
  aotc_launch({{1, 1, 1}, {1, 1, 1}, 0, stream, "AddOne"}, AddOne, device, 4);
  cudaMemcpyAsync(back, device, sizeof host, cudaMemcpyDeviceToHost, stream);
  EXPECT_EQ(back[0], 0) << "nothing may be done before somebody waits";
  host[0] = 10;  // too early: the copy has not been waited for
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(std::vector<float>(back, back + 4), (std::vector<float>{11, 3, 4, 5}));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST(Emulation, OrdersStreamsByEvents) {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreate(&first), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&second), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  float value = 1, copy = 0;
  aotc_launch({{1, 1, 1}, {1, 1, 1}, 0, first, "AddOne"}, AddOne, &value, 1);
  cudaEventRecord(event, first);
  aotc_launch({{1, 1, 1}, {1, 1, 1}, 0, first, "AddOne"}, AddOne, &value, 1);
  cudaStreamWaitEvent(second, event);
  cudaMemcpyAsync(&copy, &value, sizeof value, cudaMemcpyDefault, second);
  ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(copy, 2) << "what follows the event is not waited for";
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(value, 3);
  cudaEventDestroy(event);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}

TEST(Emulation, CapturesAStreamAndReplaysIt) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  float value = 0;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  aotc_launch({{1, 1, 1}, {1, 1, 1}, 0, stream, "AddOne"}, AddOne, &value, 1);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(cudaGraphExecDestroy(ready), cudaSuccess);
  cudaStreamDestroy(stream);
}

TEST(Emulation, RefusesImpossibleLaunches) {
  float x = 0;
  const auto launch = [&](aotc_extent grid, aotc_extent block, uint32_t bytes) {
    return aotc_launch({grid, block, bytes, nullptr, "AddOne"}, AddOne, &x, 1);
  };
  EXPECT_EQ(launch({0, 1, 1}, {1, 1, 1}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1, 65536, 1}, {1, 1, 1}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1, 1, 1}, {1025, 1, 1}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1, 1, 1}, {32, 33, 1}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1, 1, 1}, {1, 1, 65}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1, 1, 1}, {1, 1, 1}, 228 * 1024), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(x, 0);
}

}  // namespace
