// Runs two copies of sample.cu, built with different prefixes and perhaps by different compilers,
// in one program: on one stream, and on two streams from two threads. Exit code 0: all is right.
// With an argument, 0 or 1: reads outside of shared memory instead.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "aotc/cuda_host.h"

extern "C" {
int32_t first_launch(const float* x, float* y, struct CUstream_st* stream);
int32_t second_launch(const float* x, float* y, struct CUstream_st* stream);
int32_t first_read_outside(float* y, int kind, struct CUstream_st* stream);
}

typedef int32_t (*launch_function)(const float* x, float* y, struct CUstream_st* stream);

static float x[1024];

static int Count(const float* y) {
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const float want = 2.0f * x[i] + expf(x[i]);
    if (!(fabsf(y[i] - want) <= 1e-5f * want)) ++wrong;
  }
  for (int row = 0; row < 8; ++row) {
    float sum = 0;
    for (int i = 0; i < 100; ++i) sum += x[100 * row + i];
    if (!(fabsf(y[1000 + row] - sum) <= 1e-4f * sum)) ++wrong;
  }
  for (int i = 0; i < 250; i += 4) {
    if (y[1008 + i] != x[249 - i]) ++wrong;
  }
  return wrong;
}

// Two rounds of both models on one stream.
static int RunBoth() {
  static const launch_function functions[2] = {first_launch, second_launch};
  alignas(16) float y[2][1280];
  cudaStream_t stream;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
  int wrong = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) wrong += functions[i](x, y[i], stream) != 0;
    wrong += cudaStreamSynchronize(stream) != cudaSuccess;
    for (int i = 0; i < 2; ++i) wrong += Count(y[i]);
  }
  cudaStreamDestroy(stream);
  return wrong;
}

static void* RunBothInThread(void* wrong) {
  *static_cast<int*>(wrong) = RunBoth();
  return nullptr;
}

int main(int count, char** arguments) {
  for (int i = 0; i < 1024; ++i) x[i] = static_cast<float>(i % 7 + 1);
  if (count > 1) {
    float y = 0;
    return first_read_outside(&y, atoi(arguments[1]), nullptr);
  }
  int wrong[3] = {RunBoth(), 0, 0};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, RunBothInThread, &wrong[i + 1]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], nullptr);
  printf("%d %d %d numbers are wrong\n", wrong[0], wrong[1], wrong[2]);
  return wrong[0] + wrong[1] + wrong[2] == 0 ? 0 : 1;
}
