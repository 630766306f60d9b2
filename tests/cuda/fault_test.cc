// Errors planted in kernels are found by the emulation as it is in every build.
#define AOTC_CUDA_EMULATE 1
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "aotc/cuda.h"
#include "tests/cuda/faults.h"

namespace {

// Expects a launch to fail with a message that holds `part` after the kernel's name and block.
template <typename... Parameters, typename... Arguments>
void ExpectFault(const char* part, aotc_launch_config config, void (*kernel)(Parameters...),
                 Arguments... arguments) {
  EXPECT_EQ(LaunchAndWait(config, kernel, arguments...), cudaErrorLaunchFailure);
  EXPECT_NE(last_fault.find(part), std::string::npos) << last_fault;
  EXPECT_EQ(last_fault.find("kernel planted, block (0,0,0): "), 0u) << last_fault;
  EXPECT_EQ(last_fault.find('\n'), std::string::npos);
}

static __global__ void BarrierOfSome(int some) {
  if (static_cast<int>(threadIdx.x) < some) aotc_syncthreads();
}

TEST(Faults, BarrierThatExitedThreadsMiss) {
  ExpectFault("divergence: thread (0,0,0) waits at barrier fault_test.cc:", Line(1, 64, "planted"),
              BarrierOfSome, 33);
  EXPECT_NE(last_fault.find("but thread (33,0,0) has exited"), std::string::npos) << last_fault;
  EXPECT_EQ(LaunchAndWait(Line(1, 64, "fine"), BarrierOfSome, 64), cudaSuccess);
  EXPECT_EQ(LaunchAndWait(Line(1, 64, "fine"), BarrierOfSome, 0), cudaSuccess);
}

static __global__ void TwoBarriers() {
  if (threadIdx.x % 2 == 0) {
    aotc_syncthreads();
  } else {
    aotc_syncthreads();
  }
}

TEST(Faults, BarriersAtDifferentPlaces) {
  ExpectFault("thread (1,0,0) divergence: it waits at barrier", Line(1, 64, "planted"),
              TwoBarriers);
}

static __global__ void LoopsOfDifferentLength() {
  for (unsigned i = 0; i < 3 + threadIdx.x / 32; ++i) aotc_syncthreads();
}

TEST(Faults, BarriersInLoopsOfDifferentLength) {
  ExpectFault("thread (32,0,0) waits at barrier", Line(1, 64, "planted"), LoopsOfDifferentLength);
}

static __global__ void ShuffleOfSome(float* out) {
  float value = 1;
  if (threadIdx.x % 4 != 3) value = aotc_shuffle_down(value, 1);
  out[threadIdx.x] = value;
}

TEST(Faults, ShuffleThatSomeLanesMiss) {
  float out[32];
  ExpectFault("thread (0,0,0) waits at shuffle", Line(1, 32, "planted"), ShuffleOfSome, out);
  EXPECT_NE(last_fault.find("thread (3,0,0) has exited"), std::string::npos) << last_fault;
}

static __global__ void ShuffleAgainstBarrier() {
  if (threadIdx.x == 7) {
    aotc_syncthreads();
  } else {
    (void)aotc_vote_any(true);
    aotc_syncthreads();
  }
}

TEST(Faults, LaneAtABarrierWhileOthersVote) {
  ExpectFault("waits at vote", Line(1, 32, "planted"), ShuffleAgainstBarrier);
  EXPECT_NE(last_fault.find("thread (7,0,0) waits at barrier"), std::string::npos) << last_fault;
}

static __global__ void MmaOfHalfAWarp() {
  const uint32_t a[4] = {}, b[2] = {};
  float c[4] = {};
  aotc_mma_m16n8k16_f16_f32(c, a, b, c);
}

TEST(Faults, MmaInAPartialWarp) {
  ExpectFault("in a warp of fewer than 32 lanes", Line(1, 16, "planted"), MmaOfHalfAWarp);
}

static __global__ void CopyWithoutWait(const float* x, float* y, bool wait) {
  AOTC_SHARED(float, tile, 32 * 4);
  aotc_cp_async_16(&tile[4 * threadIdx.x], x + 4 * threadIdx.x, 16);
  aotc_cp_async_commit();
  if (wait) aotc_cp_async_wait_group<0>();
  aotc_syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];
}

TEST(Faults, AsynchronousCopyWithoutItsWait) {
  alignas(16) float x[128] = {};
  float y[32] = {};
  ExpectFault("exits with 1 asynchronous copies that it never waited for", Line(1, 32, "planted"),
              CopyWithoutWait, x, y, false);
  EXPECT_EQ(LaunchAndWait(Line(1, 32, "fine"), CopyWithoutWait, x, y, true), cudaSuccess);
  EXPECT_EQ(y[0], 0);
}

static __global__ void WaitForTooFew(const float* x, float* y) {
  AOTC_SHARED(float, tile, 32 * 4);
  aotc_cp_async_16(&tile[4 * threadIdx.x], x + 4 * threadIdx.x, 16);
  aotc_cp_async_commit();
  aotc_cp_async_wait_group<1>();  // allows the only group to be on its way
  aotc_syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];
  aotc_cp_async_wait_all();
}

TEST(Faults, AWaitThatIsTooWeakShowsPoison) {
  alignas(16) float x[128] = {};
  float y[32] = {};
  EXPECT_EQ(LaunchAndWait(Line(1, 32, "planted"), WaitForTooFew, x, y), cudaSuccess);
  float sum = 0;
  for (float value : y) sum += value;  // not all: some threads read after others have waited
  EXPECT_TRUE(std::isnan(sum));
}

static __global__ void CopyMisaligned(const float* x) {
  AOTC_SHARED(float, tile, 32);
  aotc_cp_async_16(&tile[1], x, 16);
  aotc_cp_async_wait_all();
}

static __global__ void CopyOutside(const float* x, float* y) {
  aotc_cp_async_16(y, x, 16);
  aotc_cp_async_wait_all();
}

TEST(Faults, AsynchronousCopiesToBadPlaces) {
  alignas(16) float x[8] = {}, y[8] = {};
  ExpectFault("at an address that is no multiple", Line(1, 1, "planted"), CopyMisaligned, x);
  ExpectFault("outside of shared memory", Line(1, 1, "planted"), CopyOutside, x, y);
}

static __global__ void ReadFreshMemory(float* y) {
  AOTC_SHARED(float, fixed, 4);
  AOTC_DYNAMIC_SHARED(uint16_t, dynamic);
  y[2 * blockIdx.x] = fixed[3];
  y[2 * blockIdx.x + 1] = aotc_f16_to_f32(dynamic[7]);
  fixed[3] = 1;
  dynamic[7] = 0;
}

TEST(Faults, SharedMemoryIsPoisonWhenABlockBegins) {
  float y[6] = {};
  EXPECT_EQ(LaunchAndWait(Line(3, 1, "fresh", 16), ReadFreshMemory, y), cudaSuccess);
  for (float value : y) EXPECT_TRUE(std::isnan(value));
}

static __global__ void ShuffleFromMissingLane(float* y) {
  y[threadIdx.x] = aotc_shuffle_down(1.0f, 16);
}

TEST(Faults, AMissingLaneGivesPoison) {
  float y[20] = {};
  EXPECT_EQ(LaunchAndWait(Line(1, 20, "partial"), ShuffleFromMissingLane, y), cudaSuccess);
  EXPECT_EQ(y[3], 1);
  EXPECT_TRUE(std::isnan(y[4]));
}

static __global__ void DeclareTooMuch() {
  AOTC_SHARED(float, half, 8192);
  AOTC_SHARED(float, more, 4097);
  half[0] = more[0];
}

TEST(Faults, MoreStaticSharedMemoryThanThereIs) {
  ExpectFault("declares 'more': more than 48 KiB", Line(1, 1, "planted"), DeclareTooMuch);
}

// Under AddressSanitizer these trap at the access itself; tests/cuda/check_emulation covers that.
#if !defined(AOTC_EMULATION_ASAN)

static __global__ void WriteOutside(int fixed_index, int dynamic_index) {
  AOTC_SHARED(float, fixed, 10);
  AOTC_DYNAMIC_SHARED(float, dynamic);
  fixed[fixed_index] = 1;
  dynamic[dynamic_index] = 1;
}

TEST(Faults, WritesOutsideSharedMemory) {
  const aotc_launch_config config = Line(1, 1, "planted", 80);
  EXPECT_EQ(LaunchAndWait(config, WriteOutside, 9, 19), cudaSuccess);
  ExpectFault("'fixed' (40 bytes) was written out of bounds, at byte 40", config, WriteOutside, 10,
              0);
  ExpectFault("'fixed' was written out of bounds, 4 bytes before it", config, WriteOutside, -1, 0);
  ExpectFault("'dynamic shared memory' (80 bytes) was written out of bounds, at byte 80", config,
              WriteOutside, 0, 20);
}

#endif

static __global__ void FailInBlock(int block) {
  if (static_cast<int>(blockIdx.x) == block && threadIdx.x == 0) return;
  aotc_syncthreads();
}

TEST(Faults, StayWithTheStream) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  aotc_emulation_on_fault = KeepFault;
  const aotc_launch_config config = {{100, 1, 1}, {64, 1, 1}, 0, stream, "planted"};
  EXPECT_EQ(aotc_launch(config, FailInBlock, 57), cudaSuccess) << "nobody has waited yet";
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_NE(last_fault.find("block (57,0,0)"), std::string::npos) << last_fault;
  EXPECT_EQ(aotc_launch(config, FailInBlock, -1), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  cudaStreamDestroy(stream);
  EXPECT_EQ(LaunchAndWait(Line(100, 64, "fine"), FailInBlock, -1), cudaSuccess);
}

}  // namespace
