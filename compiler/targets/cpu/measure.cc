// Measures this machine: chains of multiply-adds, loads in a row, two threads that meet.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "compiler/targets/cpu/limits.h"

namespace aotc {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The least seconds of calls over a tenth of a second: others may use the machine too, and leave a
// short call alone sooner than a long one.
template <typename Function>
double LeastSeconds(const Function& function) {
  constexpr int kLeastTimes = 5;
  constexpr double kSeconds = 0.1;
  double least = 1e9;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < kLeastTimes || SecondsSince(begin) < kSeconds; ++i) {
    const Clock::time_point start = Clock::now();
    function();
    least = std::min(least, SecondsSince(start));
  }
  return least;
}

// Keeps the compiler from knowing the value.
#define AOTC_OPAQUE(value) __asm__ volatile("" : "+m"(value))

// peak_NAME: `rounds` times kSums multiply-adds of vectors that do not wait for each other, each a
// variable of its own: an array of them would stay in memory.
// read_NAME: all of the memory, in whole runs of kSums vectors.
constexpr int kSums = 12;
#define AOTC_EACH_SUM(apply)                                                                \
  apply(0) apply(1) apply(2) apply(3) apply(4) apply(5) apply(6) apply(7) apply(8) apply(9) \
      apply(10) apply(11)
#define AOTC_STEP_X86(i)           \
  sum##i = sum##i * factor + term; \
  __asm__ volatile("" : "+v"(sum##i));
#define AOTC_STEP(i)               \
  sum##i = sum##i * factor + term; \
  __asm__ volatile("" : "+w"(sum##i));
#define AOTC_MEASURED(name, bytes, attributes, reg, step)                                         \
  typedef float vector_##name __attribute__((vector_size(bytes)));                                \
  attributes void peak_##name(int64_t rounds, float* sink) {                                      \
    const vector_##name zero = {};                                                                \
    vector_##name factor = zero + 0.5F, term = zero + 1.0F;                                       \
    vector_##name sum0 = zero, sum1 = zero, sum2 = zero, sum3 = zero, sum4 = zero, sum5 = zero,   \
                  sum6 = zero, sum7 = zero, sum8 = zero, sum9 = zero, sum10 = zero, sum11 = zero; \
    __asm__ volatile("" : "+" reg(factor), "+" reg(term));                                        \
    for (int64_t round = 0; round < rounds; ++round) {                                            \
      AOTC_EACH_SUM(step)                                                                         \
    }                                                                                             \
    sum0 += sum1 + sum2 + sum3 + sum4 + sum5 + sum6 + sum7 + sum8 + sum9 + sum10 + sum11;         \
    memcpy(sink, &sum0, sizeof(float));                                                           \
  }                                                                                               \
  attributes void read_##name(const char* memory, int64_t size) {                                 \
    const int64_t run = kSums * (bytes);                                                          \
    for (int64_t at = 0; at + run <= size; at += run) {                                           \
      _Pragma("GCC unroll 12") for (int i = 0; i < kSums; ++i) {                                  \
        vector_##name part;                                                                       \
        memcpy(&part, memory + at + i * (bytes), sizeof part);                                    \
        __asm__ volatile("" : : reg(part));                                                       \
      }                                                                                           \
    }                                                                                             \
  }

#if defined(__x86_64__)
#if defined(__clang__)
#define AOTC_TARGET_V4 __attribute__((target("avx2,fma,avx512f"), min_vector_width(512)))
#else
#define AOTC_TARGET_V4 __attribute__((target("avx2,fma,avx512f")))
#endif
AOTC_MEASURED(v1, 16, , "x", AOTC_STEP_X86)
AOTC_MEASURED(v3, 32, __attribute__((target("avx2,fma"))), "x", AOTC_STEP_X86)
AOTC_MEASURED(v4, 64, AOTC_TARGET_V4, "v", AOTC_STEP_X86)
#else
AOTC_MEASURED(generic, 16, , "w", AOTC_STEP)
#endif

struct Measured {
  std::string_view family;
  void (*peak)(int64_t rounds, float* sink);
  void (*read)(const char* memory, int64_t size);
};
constexpr Measured kMeasured[] = {
#if defined(__x86_64__)
    {"portable", peak_v1, read_v1},
    {"x86-64", peak_v1, read_v1},
    {"x86-64-v3", peak_v3, read_v3},
    {"x86-64-v4", peak_v4, read_v4},
#else
    {"portable", peak_generic, read_generic},
#endif
};

double FmaPerSecond(const Measured& of, int lanes) {
  constexpr int64_t kRounds = 20000;
  float sink = 0;
  const double seconds = LeastSeconds([&] { of.peak(kRounds, &sink); });
  AOTC_OPAQUE(sink);
  return static_cast<double>(kRounds * kSums * lanes) / seconds;
}

// Bytes per second of loads from that many bytes, again and again.
double Bandwidth(const Measured& of, const std::vector<char>& memory, int64_t size) {
  constexpr int64_t kBytesInAll = 4 << 20;
  const int64_t times = std::max<int64_t>(1, kBytesInAll / size);
  const double seconds = LeastSeconds([&] {
    for (int64_t i = 0; i < times; ++i) of.read(memory.data(), size);
  });
  return static_cast<double>(times * size) / seconds;
}

// Sums that wait for each other take a clock each.
double ClockHz() {
  constexpr int64_t kSteps = 400000;
  const double seconds = LeastSeconds([&] {
    uint64_t value = 1;  // which wraps
    for (int64_t i = 0; i < kSteps; i += 8) {
#pragma GCC unroll 8
      for (int step = 0; step < 8; ++step) {
        value += value;
        __asm__ volatile("" : "+r"(value));
      }
    }
  });
  return static_cast<double>(kSteps) / seconds;
}

// Two threads that meet again and again.
double BarrierSeconds() {
  constexpr int kRounds = 20000;
  std::atomic<int> arrived = 0;
  const auto meet = [&] {
    for (int round = 1; round <= kRounds; ++round) {
      ++arrived;
      for (int spins = 0; arrived.load() < 2 * round; ++spins) {
        if (spins > 1000) std::this_thread::yield();
      }
    }
  };
  const Clock::time_point start = Clock::now();
  std::thread other(meet);
  meet();
  other.join();
  return SecondsSince(start) / kRounds;
}

// As much of a cache that others share as reads nearly as fast as its first part does.
int64_t SharedBytes(const Measured& of, const std::vector<char>& memory, int64_t first,
                    int64_t most) {
  constexpr double kNearly = 0.7;
  const double rate = Bandwidth(of, memory, first);
  int64_t size = first;
  most = std::min(most, static_cast<int64_t>(memory.size()));
  while (2 * size <= most && Bandwidth(of, memory, 2 * size) >= kNearly * rate) size *= 2;
  return size;
}

int64_t CacheBytes(int name, int64_t otherwise) {
  const int64_t bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

// Three digits: more would say more than is known.
double Rounded(double value) {
  double unit = 1;
  while (value / unit >= 1000) unit *= 10;
  while (value / unit < 100) unit /= 10;
  return std::round(value / unit) * unit;
}

}  // namespace

LimitsJson MeasureCpu() {
  const Isa native = NativeIsa();
  const CpuLimits fallback = DefaultCpuLimits().For(native);
  const int64_t l1 = CacheBytes(_SC_LEVEL1_DCACHE_SIZE, fallback.l1_bytes);
  const int64_t l2 = CacheBytes(_SC_LEVEL2_CACHE_SIZE, fallback.l2_bytes);
  const int64_t most_l3 = CacheBytes(_SC_LEVEL3_CACHE_SIZE, fallback.l3_bytes);
  // Beyond a cache by enough that it does not help, within limits of what one waits for.
  constexpr int64_t kMostOfMemory = 256 << 20;
  const std::vector<char> memory(
      static_cast<size_t>(std::clamp(4 * most_l3, 4 * l2, kMostOfMemory)), 1);
  LimitsJson peaks = LimitsJson::object();
  const Measured* widest = kMeasured;
  for (const Measured& measured : kMeasured) {
    const Isa isa = *ParseIsa(measured.family);
    if (isa.family > native.family) break;
    widest = &measured;
    peaks[std::string(measured.family)] = Rounded(FmaPerSecond(measured, isa.lanes));
  }
  const int64_t l3 = SharedBytes(*widest, memory, 2 * l2, most_l3);
  const auto bandwidth = [&](int64_t size) { return Rounded(Bandwidth(*widest, memory, size)); };
  LimitsJson cpu = {{"clock_hz", Rounded(ClockHz())},
                    {"cores", std::max(1U, std::thread::hardware_concurrency())},
                    {"l1_bytes", l1},
                    {"l2_bytes", l2},
                    {"l3_bytes", l3}};
  cpu["l1_bandwidth"] = bandwidth(l1 / 2);
  cpu["l2_bandwidth"] = bandwidth(l2 / 2);
  cpu["l3_bandwidth"] = bandwidth(std::max(l3 / 2, 2 * l2));
  cpu["memory_bandwidth"] = bandwidth(static_cast<int64_t>(memory.size()));
  cpu["barrier_seconds"] = Rounded(BarrierSeconds() * 1e9) / 1e9;
  cpu["fma_per_second"] = std::move(peaks);
  return {{"cpu", std::move(cpu)}};
}

}  // namespace aotc
