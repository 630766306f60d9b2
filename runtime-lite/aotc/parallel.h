// Workers of one run: which tasks each takes, and the barrier where they meet.
//
// A model forks once per run; its workers then go through the same steps, each with its range of
// every kernel's tasks, and meet at barriers:
//
//   void steps(run_state *self, int32_t worker, int32_t workers) {
//     const aotc_range range = aotc_task_range(56, worker, workers);
//     conv1(x, weights, y, range.begin, range.end, scratch);
//     aotc_barrier_wait(&self->barrier, workers);
//     ...
//   }
#ifndef AOTC_PARALLEL_H_
#define AOTC_PARALLEL_H_

#include <stdint.h>

#include "aotc/attributes.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#endif

// Tasks begin .. end - 1.
struct aotc_range {
  int64_t begin, end;
};

// Contiguous ranges that differ by one task at most. They depend on the counts alone, so that a
// worker finds in its cache the rows that it wrote in the step before.
AOTC_INLINE aotc_range aotc_task_range(int64_t tasks, int32_t worker, int32_t workers) {
  const int64_t each = tasks / workers, left = tasks % workers;
  const int64_t begin = worker * each + (worker < left ? worker : left);
  return aotc_range{begin, begin + each + (worker < left ? 1 : 0)};
}

// The same where only the first `most` workers have tasks: others find no scratch.
AOTC_INLINE aotc_range aotc_task_range_of(int32_t most, int64_t tasks, int32_t worker,
                                          int32_t workers) {
  if (worker >= most) return aotc_range{0, 0};
  return aotc_task_range(tasks, worker, workers < most ? workers : most);
}

// The worker's place in the row of those that deal out a step's tasks, which goes on where `before`
// tasks of steps that others may still be at have left off: two steps of one task each keep two
// workers busy.
AOTC_INLINE int32_t aotc_turn(int64_t before, int32_t worker, int32_t workers) {
  const int32_t turn = worker - (int32_t)(before % workers);
  return turn < 0 ? turn + workers : turn;
}

// One cache line for each word: spinning readers leave the counter alone. All zero to begin with.
struct aotc_barrier {
  uint32_t arrived;
  uint32_t padding0[15];
  uint32_t generation;
  uint32_t padding1[15];
};

AOTC_INLINE void aotc_barrier_init(aotc_barrier *barrier) {
  __atomic_store_n(&barrier->arrived, 0u, __ATOMIC_RELAXED);
  __atomic_store_n(&barrier->generation, 0u, __ATOMIC_RELEASE);
}

// Tells the processor that this is a wait, the system too after some microseconds: threads beyond
// the number of cores still make progress.
AOTC_INLINE void aotc_relax(int spins) {
#if defined(__unix__) || defined(__APPLE__)
  if (spins >= 2000) {
    sched_yield();
    return;
  }
#endif
  (void)spins;
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

// Returns when all `workers` have called it; what they wrote before is then seen by all.
AOTC_INLINE void aotc_barrier_wait(aotc_barrier *barrier, int32_t workers) {
  if (workers <= 1) return;
  const uint32_t generation = __atomic_load_n(&barrier->generation, __ATOMIC_RELAXED);
  if (__atomic_add_fetch(&barrier->arrived, 1u, __ATOMIC_ACQ_REL) == (uint32_t)workers) {
    __atomic_store_n(&barrier->arrived, 0u, __ATOMIC_RELAXED);
    __atomic_store_n(&barrier->generation, generation + 1u, __ATOMIC_RELEASE);
    return;
  }
  for (int spins = 0; __atomic_load_n(&barrier->generation, __ATOMIC_ACQUIRE) == generation;) {
    aotc_relax(spins);
    if (spins < 2000) ++spins;
  }
}

#endif  // AOTC_PARALLEL_H_
