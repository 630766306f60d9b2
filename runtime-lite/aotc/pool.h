// A small thread pool behind aotc_parallel, for hosts that have no threads of their own to lend.
//
//   aotc_parallel pool;
//   if (aotc_pool_create(4, &pool) != AOTC_OK) ...     // three threads and the caller
//   model_run_mt(&in, &out, arena, &pool);
//   aotc_pool_destroy(&pool);
//
// Create and destroy allocate: only a file of their own includes this, none that `run` reaches.
// Idle threads spin for some microseconds, then sleep. One run at a time; a second caller waits.
#ifndef AOTC_POOL_H_
#define AOTC_POOL_H_

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "aotc/model.h"
#include "aotc/parallel.h"

struct aotc_pool;

struct aotc_pool_thread {
  aotc_pool *pool;
  int32_t worker;
  pthread_t thread;
};

struct aotc_pool {
  pthread_mutex_t one_run;  // held by the caller of a run
  pthread_mutex_t lock;     // of generation's changes and of sleep
  pthread_cond_t wake;
  void (*task)(void *argument, int32_t worker);  // null: threads end
  void *argument;
  int32_t threads;      // started, the caller not counted
  uint32_t generation;  // counts runs
  int32_t busy;         // threads that have not finished the run
  aotc_pool_thread *workers;
};

// Waits for a run after `seen`.
static inline void aotc_pool_await(aotc_pool *pool, uint32_t seen) {
  for (int spins = 0; spins < 2000; ++spins) {
    if (__atomic_load_n(&pool->generation, __ATOMIC_ACQUIRE) != seen) return;
    aotc_relax(spins);
  }
  pthread_mutex_lock(&pool->lock);
  while (__atomic_load_n(&pool->generation, __ATOMIC_ACQUIRE) == seen) {
    pthread_cond_wait(&pool->wake, &pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
}

static inline void *aotc_pool_main(void *of_thread) {
  const aotc_pool_thread *self = (const aotc_pool_thread *)of_thread;
  aotc_pool *pool = self->pool;
  for (uint32_t seen = 0;; ++seen) {
    aotc_pool_await(pool, seen);
    if (pool->task == nullptr) return nullptr;
    pool->task(pool->argument, self->worker);
    __atomic_sub_fetch(&pool->busy, 1, __ATOMIC_RELEASE);
  }
}

// Lets all threads go on with `task`; null ends them.
static inline void aotc_pool_start(aotc_pool *pool, void (*task)(void *, int32_t), void *argument) {
  pool->task = task;
  pool->argument = argument;
  __atomic_store_n(&pool->busy, pool->threads, __ATOMIC_RELAXED);
  pthread_mutex_lock(&pool->lock);
  __atomic_add_fetch(&pool->generation, 1u, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
}

static inline void aotc_pool_run(void *context, void (*task)(void *, int32_t), void *argument) {
  aotc_pool *pool = (aotc_pool *)context;
  pthread_mutex_lock(&pool->one_run);
  aotc_pool_start(pool, task, argument);
  task(argument, 0);
  for (int spins = 0; __atomic_load_n(&pool->busy, __ATOMIC_ACQUIRE) != 0;) {
    aotc_relax(spins);
    if (spins < 2000) ++spins;
  }
  pthread_mutex_unlock(&pool->one_run);
}

// Ends the threads and frees everything; null and a pool never made are fine.
static inline void aotc_pool_destroy(aotc_parallel *parallel) {
  if (parallel == nullptr || parallel->context == nullptr) return;
  aotc_pool *pool = (aotc_pool *)parallel->context;
  aotc_pool_start(pool, nullptr, nullptr);
  for (int32_t i = 0; i < pool->threads; ++i) pthread_join(pool->workers[i].thread, nullptr);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  pthread_mutex_destroy(&pool->one_run);
  free(pool->workers);
  free(pool);
  *parallel = aotc_parallel{};
}

// A pool of 1 to 1024 workers, the calling thread among them. On an error `*parallel` is empty.
static inline aotc_status aotc_pool_create(int32_t workers, aotc_parallel *parallel) {
  if (parallel == nullptr) return AOTC_ERROR_POINTER;
  *parallel = aotc_parallel{};
  if (workers < 1 || workers > 1024) return AOTC_ERROR_THREADS;
  aotc_pool *pool = (aotc_pool *)calloc(1, sizeof(aotc_pool));
  aotc_pool_thread *threads = (aotc_pool_thread *)calloc((size_t)workers, sizeof *threads);
  if (pool == nullptr || threads == nullptr) {
    free(pool);
    free(threads);
    return AOTC_ERROR_THREADS;
  }
  pool->workers = threads;
  pthread_mutex_init(&pool->one_run, nullptr);
  pthread_mutex_init(&pool->lock, nullptr);
  pthread_cond_init(&pool->wake, nullptr);
  *parallel = aotc_parallel{pool, workers, aotc_pool_run};
  for (int32_t worker = 1; worker < workers; ++worker) {
    aotc_pool_thread *thread = &threads[pool->threads];
    thread->pool = pool;
    thread->worker = worker;
    if (pthread_create(&thread->thread, nullptr, aotc_pool_main, thread) != 0) {
      aotc_pool_destroy(parallel);
      return AOTC_ERROR_THREADS;
    }
    ++pool->threads;
  }
  return AOTC_OK;
}

#endif  // AOTC_POOL_H_
