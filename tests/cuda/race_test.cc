// The checking mode of the emulation finds races and misuse of shared memory, and only those.
#define AOTC_CUDA_EMULATE 1
#define AOTC_CUDA_CHECK_RACES 1
#include <gtest/gtest.h>

#include <string>

#include "aotc/cuda.h"
#include "tests/cuda/faults.h"

namespace {

template <typename... Parameters, typename... Arguments>
void ExpectFault(const char* part, aotc_launch_config config, void (*kernel)(Parameters...),
                 Arguments... arguments) {
  EXPECT_EQ(LaunchAndWait(config, kernel, arguments...), cudaErrorLaunchFailure);
  EXPECT_NE(last_fault.find(part), std::string::npos) << last_fault;
}

template <typename... Parameters, typename... Arguments>
void ExpectClean(aotc_launch_config config, void (*kernel)(Parameters...), Arguments... arguments) {
  EXPECT_EQ(LaunchAndWait(config, kernel, arguments...), cudaSuccess) << last_fault;
}

// Steps between what must be ordered, each of which can be left out.
struct Barriers {
  bool after_write, before_reuse;
};

static __global__ void Rotate(float* x, Barriers barriers) {
  AOTC_SHARED(float, tile, 64);
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = x[threadIdx.x];
    if (barriers.after_write) aotc_syncthreads();
    x[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
    if (barriers.before_reuse) aotc_syncthreads();
  }
}

TEST(Races, OfWriteAndRead) {
  float x[64] = {};
  ExpectClean(Line(3, 64, "fine"), Rotate, x, Barriers{true, true});
  x[0] = 1;
  ExpectFault("'tile' at byte 4: nobody in the block has written it", Line(1, 64, "planted"),
              Rotate, x, Barriers{false, true});
  ExpectFault(
      "thread (0,0,0) writes 'tile' at byte 0: race: since the last barrier it was read by "
      "thread (63,0,0)",
      Line(1, 64, "planted"), Rotate, x, Barriers{true, false});
}

static __global__ void ReadBack(float* x, bool barrier) {
  AOTC_SHARED(float, tile, 64);
  tile[63 - threadIdx.x] = x[threadIdx.x];
  if (barrier) aotc_syncthreads();
  if (threadIdx.x >= 32) x[threadIdx.x] = tile[threadIdx.x];
}

TEST(Races, OfReadAfterWriteByAnother) {
  float x[64] = {};
  ExpectClean(Line(1, 64, "fine"), ReadBack, x, true);
  ExpectFault(
      "reads 'tile' at byte 128: race: since the last barrier it was written by thread "
      "(31,0,0)",
      Line(1, 64, "planted"), ReadBack, x, false);
}

static __global__ void SameElement(int step) {
  AOTC_DYNAMIC_SHARED(int, tile);
  tile[static_cast<int>(threadIdx.x) / step] = static_cast<int>(threadIdx.x);
}

TEST(Races, OfTwoWrites) {
  ExpectClean(Line(1, 64, "fine", 256), SameElement, 1);
  ExpectFault(
      "'dynamic shared memory' at byte 0: race: since the last barrier it was written by "
      "thread (0,0,0)",
      Line(1, 64, "planted", 256), SameElement, 2);
}

static __global__ void WarpSum(float* y, bool synchronise) {
  AOTC_SHARED(float, partial, 64);
  const unsigned i = threadIdx.x;
  partial[i] = 1;
  for (unsigned half = 16; half > 0; half /= 2) {
    if (synchronise) aotc_syncwarp();
    float sum = 0;
    if (i % 32 < half) sum = partial[i] + partial[i + half];
    if (synchronise) aotc_syncwarp();
    if (i % 32 < half) partial[i] = sum;
  }
  if (i % 32 == 0) y[i / 32] = partial[i];
}

TEST(Races, AreOrderedByWarpBarriers) {
  float y[2] = {};
  ExpectClean(Line(1, 64, "fine"), WarpSum, y, true);
  EXPECT_EQ(y[1], 32);
  ExpectFault("'partial'", Line(1, 64, "planted"), WarpSum, y, false);
}

static __global__ void AcrossWarps(float* y) {
  AOTC_SHARED(float, tile, 64);
  tile[threadIdx.x] = 1;
  aotc_syncwarp();  // orders nothing between the two warps
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

TEST(Races, AreNotOrderedByAnotherWarpsBarrier) {
  float y[64] = {};
  ExpectFault("'tile'", Line(1, 64, "planted"), AcrossWarps, y);
}

static __global__ void Histogram(int* y, bool atomic) {
  AOTC_SHARED(int, counts, 4);
  if (threadIdx.x < 4) counts[threadIdx.x] = 0;
  aotc_syncthreads();
  if (atomic) {
    aotc_atomic_add(&counts[threadIdx.x % 4], 1);
  } else {
    counts[threadIdx.x % 4] += 1;
  }
  aotc_syncthreads();
  if (threadIdx.x < 4) y[threadIdx.x] = counts[threadIdx.x];
}

TEST(Races, AreNotBetweenAtomics) {
  int y[4] = {};
  ExpectClean(Line(1, 64, "fine"), Histogram, y, true);
  EXPECT_EQ(y[3], 16);
  ExpectFault("race", Line(1, 64, "planted"), Histogram, y, false);
}

static __global__ void Fetch(const float* x, float* y, bool wait, bool barrier) {
  AOTC_SHARED(float, tile, 128);
  aotc_cp_async_16(&tile[4 * threadIdx.x], x + 4 * threadIdx.x, 16);
  aotc_cp_async_commit();
  if (wait) aotc_cp_async_wait_group<0>();
  if (barrier) aotc_syncthreads();
  y[threadIdx.x] = tile[barrier ? 127 - threadIdx.x : threadIdx.x];
  aotc_cp_async_wait_all();
}

TEST(Races, AsynchronousCopiesNeedWaitAndBarrier) {
  alignas(16) float x[128] = {};
  float y[32];
  ExpectClean(Line(1, 32, "fine"), Fetch, x, y, true, true);
  ExpectFault("there was no wait for the asynchronous copy begun by thread (",
              Line(1, 32, "planted"), Fetch, x, y, false, true);
  ExpectFault("race: since the last barrier it was written by thread (0,0,0)",
              Line(1, 32, "planted"), Fetch, x, y, true, false);
}

static __global__ void Index(int index) {
  AOTC_SHARED(float, tile, 10);
  AOTC_SHARED_POINTER(float) middle = tile + 5;
  middle[index] = 1;
  const float4 zero = {0, 0, 0, 0};
  *aotc_shared_cast<float4>(&tile[4]) = zero;
}

TEST(Races, IndicesOutOfBoundsAreFoundAtTheAccess) {
  ExpectClean(Line(1, 1, "fine"), Index, -5);
  ExpectFault("writes 'tile' out of bounds: byte 40 of 40", Line(1, 1, "planted"), Index, 5);
  ExpectFault("writes 'tile' out of bounds: byte -4 of 40", Line(1, 1, "planted"), Index, -6);
  ExpectFault("writes 'tile' out of bounds: byte 400000020 of 40", Line(1, 1, "planted"), Index,
              100000000);
}

}  // namespace
