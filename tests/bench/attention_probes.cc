// What attention is measured against, and its runs: built by attention_speed.py for this machine.
//
//   g++ -O3 -march=native -shared -fPIC attention_probes.cc
//
// Seconds are those of the thread: a machine that also does other things does not count.
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "aotc/model.h"

namespace {

typedef float Vector __attribute__((vector_size(64)));

double Now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

volatile float sink;

void Keep(const Vector& vector) {
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += vector[i];
  sink = sum;
}

}  // namespace

extern "C" {

// Seconds of a loop that sums the elements, a multiple of 128.
double sum_seconds(const float* data, int64_t count) {
  const double start = Now();
  Vector sums[8] = {};
  for (int64_t i = 0; i < count; i += 128) {
    for (int j = 0; j < 8; ++j) {
      Vector next;
      memcpy(&next, data + i + 16 * j, sizeof next);
      sums[j] += next;
    }
  }
  for (int j = 1; j < 8; ++j) sums[0] += sums[j];
  Keep(sums[0]);
  return Now() - start;
}

// Multiply-adds a second of the core, from independent sums.
double multiply_adds_per_second(int64_t rounds) {
  constexpr int kSums = 12;
  Vector sums[kSums];
  for (int j = 0; j < kSums; ++j) sums[j] = Vector{} + 0.001f * static_cast<float>(j);
  const Vector factor = Vector{} + 0.999f, term = Vector{} + 1e-6f;
  const double start = Now();
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kSums; ++j) sums[j] = sums[j] * factor + term;
  }
  const double seconds = Now() - start;
  for (int j = 1; j < kSums; ++j) sums[0] += sums[j];
  Keep(sums[0]);
  return static_cast<double>(rounds) * kSums * 16 / seconds;
}

// Seconds of one run with one worker; -1 where it gives an error.
double run_seconds(const aotc_model* model, void* instance, const aotc_value* inputs,
                   aotc_value* outputs, void* arena) {
  const double start = Now();
  if (model->run(instance, inputs, outputs, arena, nullptr) != 0) return -1;
  return Now() - start;
}

}  // extern "C"
