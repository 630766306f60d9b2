// Runs the blocks of one launch over host threads: each takes blocks from a counter until none is
// left. Threads live for one launch; what is costly to make (stacks) stays with the stream.
#ifndef AOTC_EMULATION_GRID_H_
#define AOTC_EMULATION_GRID_H_

#include <pthread.h>

#include "aotc/emulation/shared.h"

enum {
  AOTC_EMULATION_MAX_ENGINES = 16,
  AOTC_EMULATION_THREADS_PER_ENGINE = 1024,  // emulated threads that are worth a host thread
};

// Host threads per launch at most; 0: as many as there are processors.
#if !defined(AOTC_CUDA_EMULATE_WORKERS)
#define AOTC_CUDA_EMULATE_WORKERS 0
#endif

static inline uint3 aotc_emulation_block_at(uint64_t number, uint3 grid) {
  const uint64_t row = number / grid.x;
  return uint3{static_cast<unsigned>(number % grid.x), static_cast<unsigned>(row % grid.y),
               static_cast<unsigned>(row / grid.y)};
}

static inline void aotc_emulation_run_blocks(aotc_emulation_engine *engine,
                                             aotc_emulation_grid *grid) {
  while (__atomic_load_n(&grid->fault, __ATOMIC_RELAXED) == 0) {
    const uint64_t number = __atomic_fetch_add(&grid->next_block, 1, __ATOMIC_RELAXED);
    if (number >= grid->block_count) return;
    aotc_emulation_self.block_index = aotc_emulation_block_at(number, grid->grid_dim);
    aotc_emulation_shared_begin(engine);
    if (!aotc_emulation_run_block(engine)) return;
    if (!aotc_emulation_shared_check(engine)) return;
  }
}

// What each host thread does for a launch. It belongs to the file of the kernel, whose thread-local
// index variables it sets.
static AOTC_EMULATION_OPAQUE void aotc_emulation_work(aotc_emulation_engine *engine,
                                                      aotc_emulation_grid *grid) {
  aotc_emulation_self = aotc_emulation_self_state{};
  aotc_emulation_self.block_dim = grid->block_dim;
  aotc_emulation_self.grid_dim = grid->grid_dim;
  aotc_emulation_self.engine = engine;
  engine->grid = grid;
  engine->thread_count = grid->block_dim.x * grid->block_dim.y * grid->block_dim.z;
  engine->idle_count = 0;  // fibers start afresh: the last launch may have run other code
  engine->fresh_fiber = 0;
  aotc_emulation_fiber_adopt(&engine->host);
  aotc_emulation_shared_open(engine, grid->dynamic_bytes);
  aotc_emulation_run_blocks(engine, grid);
  aotc_emulation_shared_close(engine);
}

namespace {
struct aotc_emulation_worker {
  pthread_t thread;
  aotc_emulation_engine *engine;
  aotc_emulation_grid *grid;
};
}  // namespace

static inline void *aotc_emulation_worker_main(void *argument) {
  aotc_emulation_worker *worker = static_cast<aotc_emulation_worker *>(argument);
  worker->grid->work(worker->engine, worker->grid);
  return nullptr;
}

static inline uint64_t aotc_emulation_engine_count(const aotc_emulation_grid *grid) {
  const uint64_t threads =
      grid->block_count * grid->block_dim.x * grid->block_dim.y * grid->block_dim.z;
  uint64_t count = threads / AOTC_EMULATION_THREADS_PER_ENGINE + 1;
  if (count > grid->block_count) count = grid->block_count;
  if (count == 1) return 1;  // sysconf reads a file
  long processors = AOTC_CUDA_EMULATE_WORKERS;
  if (processors <= 0) processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (processors < 1) processors = 1;
  if (processors > AOTC_EMULATION_MAX_ENGINES) processors = AOTC_EMULATION_MAX_ENGINES;
  return count < static_cast<uint64_t>(processors) ? count : static_cast<uint64_t>(processors);
}

// Runs `grid` to its end on `engines` (room for MAX_ENGINES, made as needed). False: no memory.
static inline bool aotc_emulation_run_grid(aotc_emulation_engine **engines,
                                           aotc_emulation_grid *grid) {
  const uint64_t wanted = aotc_emulation_engine_count(grid);
  aotc_emulation_worker workers[AOTC_EMULATION_MAX_ENGINES];
  unsigned started = 0;
  for (unsigned i = 0; i < wanted; ++i) {
    if (engines[i] == nullptr) engines[i] = aotc_emulation_engine_create();
    if (engines[i] == nullptr) break;
    if (i == 0) continue;  // the calling thread's own
    aotc_emulation_worker *worker = &workers[i];
    worker->engine = engines[i];
    worker->grid = grid;
    if (pthread_create(&worker->thread, nullptr, aotc_emulation_worker_main, worker) != 0) break;
    started = i;
  }
  if (engines[0] == nullptr) return false;
  grid->work(engines[0], grid);
  for (unsigned i = 1; i <= started; ++i) pthread_join(workers[i].thread, nullptr);
  return true;
}

#endif  // AOTC_EMULATION_GRID_H_
