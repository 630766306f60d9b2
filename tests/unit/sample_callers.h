// Programs that call the compiled SampleProgram through its public header and its table. Each
// prints what it found.
#ifndef AOTC_TESTS_UNIT_SAMPLE_CALLERS_H_
#define AOTC_TESTS_UNIT_SAMPLE_CALLERS_H_

namespace aotc {

// A caller of the public header: results for all sizes and workers, and every status.
inline constexpr char kCpuCaller[] = R"(
#include "sample.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

static int wrong;
static void expect(bool holds, const char *what) {
  if (!holds) printf("WRONG: %s\n", what), ++wrong;
}

alignas(64) static unsigned char arena[SAMPLE_ARENA_BYTES + 64];
static float x[33], y[32], copy[32];

static float expected(int i, int m) {
  float sum = (float)m;
  for (int k = 0; k < 4; ++k) sum += x[i / 4 * 4 + k] * ((float)(k * 4 + i % 4) - 7.5f);
  return sum > 0 ? sum : 0;
}

int main() {
  for (int i = 0; i < 32; ++i) x[i] = (float)(i % 7) - 2.0f;
  sample_inputs in = {x, {16}};
  sample_outputs out = {y, copy};
  for (int workers = 0; workers <= 6; ++workers) {
    aotc_parallel pool = {};
    if (workers > 0) expect(sample_pool_create(workers, &pool) == AOTC_OK, "pool");
    for (int m = 1; m <= 8; ++m) {
      in.dims.rows = 2 * m;
      memset(arena, 0xff, sizeof arena);
      memset(y, 0xff, sizeof y);
      memset(copy, 0xff, sizeof copy);
      const aotc_status status = sample_run_mt(&in, &out, arena, workers > 0 ? &pool : nullptr);
      expect(status == AOTC_OK, "status of run_mt");
      for (int i = 0; i < 4 * m; ++i) {
        expect(y[i] == expected(i, m), "y");
        expect(copy[i] == expected(i, m), "copy");
      }
      for (int i = 4 * m; i < 32; ++i) expect(y[i] != y[i], "y beyond its size is touched");
    }
    if (workers > 0) sample_pool_destroy(&pool);
  }
  expect(arena[SAMPLE_ARENA_BYTES] == 0xff, "beyond the arena");

  expect(sample_run(nullptr, &out, arena) == AOTC_ERROR_POINTER, "no inputs");
  expect(sample_run(&in, nullptr, arena) == AOTC_ERROR_POINTER, "no outputs");
  expect(sample_run(&in, &out, nullptr) == AOTC_ERROR_POINTER, "no arena");
  expect(sample_run(&in, &out, arena + 4) == AOTC_ERROR_POINTER, "misaligned arena");
  in.x_0 = nullptr;
  expect(sample_run(&in, &out, arena) == AOTC_ERROR_POINTER, "no input");
  in.x_0 = (const float *)((const char *)x + 1);
  expect(sample_run(&in, &out, arena) == AOTC_ERROR_POINTER, "misaligned input");
  in.x_0 = x + 1;
  expect(sample_run(&in, &out, arena) == AOTC_OK, "natural alignment");
  for (int64_t rows : {INT64_MIN, (int64_t)0, (int64_t)3, (int64_t)18, INT64_MAX}) {
    in.dims.rows = rows;
    expect(sample_run(&in, &out, arena) == AOTC_ERROR_DIM, "a dim out of bounds");
  }
  in.dims.rows = 2;
  aotc_parallel none = {nullptr, 0, nullptr};
  expect(sample_run_mt(&in, &out, arena, &none) == AOTC_ERROR_THREADS, "no workers");

  const aotc_model *model = sample_model();
  alignas(64) static float ty[32], tc[32], tx[32];
  memcpy(tx, x, sizeof tx);
  aotc_value given = {}, results[2] = {};
  given.tensor = {tx, sizeof tx, {6, 2}, 2, 1};
  results[0].tensor.data = ty, results[0].tensor.capacity_bytes = 48;
  results[1].tensor.data = tc, results[1].tensor.capacity_bytes = 48;
  expect(model->run(nullptr, &given, results, arena, nullptr) == AOTC_OK, "table");
  expect(results[0].tensor.dims[0] == 3 && results[0].tensor.rank == 2, "dims of an output");
  expect(ty[0] == expected(0, 3), "value through the table");
  const auto status_of = [&] { return model->run(nullptr, &given, results, arena, nullptr); };
  given.tensor.dtype = 2, expect(status_of() == AOTC_ERROR_DTYPE, "dtype"), given.tensor.dtype = 1;
  given.tensor.rank = 3, expect(status_of() == AOTC_ERROR_RANK, "rank"), given.tensor.rank = 2;
  given.kind = AOTC_MAP, expect(status_of() == AOTC_ERROR_KIND, "kind"), given.kind = 0;
  given.tensor.dims[0] = 18, expect(status_of() == AOTC_ERROR_DIM, "a large dim");
  given.tensor.dims[0] = 5, expect(status_of() == AOTC_ERROR_DIM, "no multiple");
  given.tensor.dims[0] = 6;
  given.tensor.capacity_bytes = 47, expect(status_of() == AOTC_ERROR_CAPACITY, "input capacity");
  given.tensor.capacity_bytes = 48, expect(status_of() == AOTC_OK, "exact capacity");
  results[1].tensor.capacity_bytes = 47, expect(status_of() == AOTC_ERROR_CAPACITY, "capacity");
  expect(model->status_text(-77) != nullptr, "status text");
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
)";

// Pools of exactly the bytes that the header states, each a memory of its own; with LOADED, weights
// come from a file.
inline constexpr char kPoolCaller[] = R"(
#include "sample.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
static void expect(bool holds, const char *what) {
  if (!holds) printf("WRONG: %s\n", what), ++wrong;
}

#ifdef LOADED
#define WEIGHTS &weights,
#else
#define WEIGHTS
#endif

int main(int, char **argv) {
  alignas(64) static unsigned char blob[64 + 128];
  FILE *file = fopen(argv[1], "rb");
  expect(file != nullptr && fread(blob, 1, sizeof blob, file) == sizeof blob, "weights");
#ifdef LOADED
  sample_weights weights = {};
  expect(sample_load(&weights, blob, sizeof blob) == AOTC_OK, "load");
#endif
  float x[32], y[32], copy[32], first[32];
  for (int i = 0; i < 32; ++i) x[i] = (float)(i % 7) - 2.0f;
  sample_inputs in = {x, {16}};
  sample_outputs out = {first, copy};
  const size_t bytes[] = {SAMPLE_POOL_FAST_BYTES, SAMPLE_POOL_SLOW_BYTES, SAMPLE_POOL_SPARE_BYTES};
  expect(bytes[0] == 256 && bytes[1] == 128 && bytes[2] == 0, "bytes of pools");
  expect(bytes[0] + bytes[1] + bytes[2] == SAMPLE_ARENA_BYTES, "their sum");
  void *arena = aligned_alloc(SAMPLE_ARENA_ALIGN, SAMPLE_ARENA_BYTES);
  expect(sample_run(WEIGHTS &in, &out, arena) == AOTC_OK, "run");
  const sample_pools pools = {aligned_alloc(SAMPLE_ARENA_ALIGN, bytes[0]),
                              aligned_alloc(SAMPLE_ARENA_ALIGN, bytes[1]), nullptr};
  out.float_ = y;
  for (int workers = 0; workers <= 6; ++workers) {
    aotc_parallel threads = {};
    if (workers > 0) expect(sample_pool_create(workers, &threads) == AOTC_OK, "pool_create");
    memset(pools.fast, 0xff, bytes[0]);
    memset(pools.slow, 0xff, bytes[1]);
    memset(y, 0xff, sizeof y);
    const aotc_status status =
        workers == 0 ? sample_run_pools(WEIGHTS &in, &out, &pools)
                     : sample_run_pools_mt(WEIGHTS &in, &out, &pools, &threads);
    expect(status == AOTC_OK, "status");
    expect(memcmp(y, first, sizeof y) == 0, "the same numbers");
    if (workers > 0) sample_pool_destroy(&threads);
  }
  expect(sample_run_pools_mt(WEIGHTS &in, &out, &pools, nullptr) == AOTC_OK, "no threads");
  sample_pools bad = pools;
  bad.fast = nullptr;
  expect(sample_run_pools(WEIGHTS &in, &out, &bad) == AOTC_ERROR_POINTER, "no first pool");
  bad.fast = (char *)pools.fast + 32;
  expect(sample_run_pools(WEIGHTS &in, &out, &bad) == AOTC_ERROR_POINTER, "misaligned");
  bad = pools, bad.slow = nullptr;
  expect(sample_run_pools_mt(WEIGHTS &in, &out, &bad, nullptr) == AOTC_ERROR_POINTER, "no second");
  expect(sample_run_pools(WEIGHTS &in, &out, nullptr) == AOTC_ERROR_POINTER, "no pools");
  expect(sample_run(WEIGHTS &in, &out, nullptr) == AOTC_ERROR_POINTER, "no arena");
  free(arena), free(pools.fast), free(pools.slow);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
)";

// Two instances that share their weights, and what is refused.
inline constexpr char kCudaCaller[] = R"(
#include "sample.h"
#include <stdio.h>
static float x[32], y[32], copy[32];
int main() {
  for (int i = 0; i < 32; ++i) x[i] = (float)(i % 7) - 2.0f;
  sample_config config = {};
  config.own_arena = 1;
  config.inputs_on_host[0] = config.outputs_on_host[0] = config.outputs_on_host[1] = 1;
  sample_instance first, second;
  sample_inputs in = {x, {6}};
  sample_outputs out = {y, copy};
  first.ready = 0;
  printf("%d", sample_finish(&first));
  printf(" %d", sample_create(&first, &config));
  config.share_weights = &first;
  printf(" %d", sample_create(&second, &config));
  printf(" %d", sample_enqueue(&second, &in, &out, nullptr, nullptr));
  printf(" %d %g %g", sample_finish(&second), (double)y[0], (double)copy[11]);
  in.dims.rows = 5;
  printf(" %d", sample_enqueue(&second, &in, &out, nullptr, nullptr));
  printf(" %d %d\n", sample_destroy(&second), sample_destroy(&first));
}
)";

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_SAMPLE_CALLERS_H_
