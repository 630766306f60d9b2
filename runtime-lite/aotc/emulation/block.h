// The scheduler of one block. Threads start one after another on one stack; only a thread that has
// to wait keeps its stack and the next thread starts on another. A kernel without barriers thus
// costs a call per thread; a barrier costs a switch of stacks per thread.
//
// Order: threads that may continue go before threads that have not begun, so that a warp finishes
// its exchange before the next warp begins. It is the same in every run.
#ifndef AOTC_EMULATION_BLOCK_H_
#define AOTC_EMULATION_BLOCK_H_

#include "aotc/emulation/engine.h"

static inline void aotc_emulation_make_ready(aotc_emulation_engine *engine,
                                             aotc_emulation_thread *thread) {
  const uint32_t slot = (engine->ready_head + engine->ready_count) % AOTC_EMULATION_MAX_THREADS;
  engine->ready[slot] = thread;
  ++engine->ready_count;
}

// Gives up the block: nothing of it runs any more. Does not return.
static AOTC_EMULATION_OPAQUE void aotc_emulation_abort(aotc_emulation_engine *engine) {
  engine->aborted = true;
  aotc_emulation_fiber_switch(aotc_emulation_self.thread->fiber, &engine->host);
  __builtin_trap();  // an aborted fiber is never continued
}

#define AOTC_EMULATION_THREAD_FORMAT "thread (%u,%u,%u)"
#define AOTC_EMULATION_THREAD_ARGUMENTS(index) (index).x, (index).y, (index).z

// Reports a fault of the running thread and gives up its block. Usable wherever a kernel runs.
#define aotc_emulation_fail(format, ...)                                            \
  do {                                                                              \
    aotc_emulation_engine *const failing_ = aotc_emulation_self.engine;             \
    aotc_emulation_report(failing_->grid, AOTC_EMULATION_THREAD_FORMAT " " format,  \
                          AOTC_EMULATION_THREAD_ARGUMENTS(threadIdx), __VA_ARGS__); \
    aotc_emulation_abort(failing_);                                                 \
  } while (0)

static void aotc_emulation_fiber_main();

// Takes a fiber on which a thread can start. Null when there is no memory for another stack.
static inline aotc_emulation_fiber *aotc_emulation_take_fiber(aotc_emulation_engine *engine) {
  if (engine->idle_count > 0) {
    aotc_emulation_fiber *fiber = engine->idle[--engine->idle_count];
#if defined(AOTC_EMULATION_ASAN)
    aotc_emulation_fiber_start(fiber, aotc_emulation_fiber_main);
    engine->starting = fiber;
#endif
    fiber->parked = false;
    return fiber;
  }
  const uint32_t number = engine->fresh_fiber;
  aotc_emulation_fiber *fiber = &engine->fibers[number];
  if (number == engine->fiber_count) {
    if (!aotc_emulation_fiber_map(fiber, number)) return nullptr;
    ++engine->fiber_count;
  }
  ++engine->fresh_fiber;
  fiber->parked = false;
  aotc_emulation_fiber_start(fiber, aotc_emulation_fiber_main);
  engine->starting = fiber;
  return fiber;
}

// Whoever runs next: a thread that may continue, a thread that has not begun, or the host.
static inline aotc_emulation_fiber *aotc_emulation_next_fiber(aotc_emulation_engine *engine) {
  if (engine->ready_count > 0) {
    aotc_emulation_thread *thread = engine->ready[engine->ready_head];
    engine->ready_head = (engine->ready_head + 1) % AOTC_EMULATION_MAX_THREADS;
    --engine->ready_count;
    return thread->fiber;
  }
  if (engine->next_thread < engine->thread_count) {
    aotc_emulation_fiber *fiber = aotc_emulation_take_fiber(engine);
    if (fiber != nullptr) return fiber;
    aotc_emulation_report(engine->grid, "no memory for the stacks of its threads");
    engine->aborted = true;
  }
  return &engine->host;
}

// Suspends the running thread until somebody makes it ready.
static AOTC_EMULATION_OPAQUE void aotc_emulation_wait(aotc_emulation_engine *engine,
                                                      aotc_emulation_thread *thread) {
  aotc_emulation_fiber_switch(thread->fiber, aotc_emulation_next_fiber(engine));
  aotc_emulation_self.thread_index = thread->index;
  aotc_emulation_self.thread = thread;
  thread->phase = AOTC_EMULATION_RUNNING;
}

static inline uint3 aotc_emulation_step_index(uint3 index, uint3 extent) {
  if (++index.x < extent.x) return index;
  index.x = 0;
  if (++index.y < extent.y) return index;
  index.y = 0;
  ++index.z;
  return index;
}

// Runs the next thread of the block that has not begun on `fiber`, up to its exit.
static AOTC_EMULATION_OPAQUE void aotc_emulation_run_thread(aotc_emulation_engine *engine,
                                                            aotc_emulation_fiber *fiber) {
  aotc_emulation_thread *thread = &engine->threads[engine->next_thread];
  thread->number = engine->next_thread++;
  thread->fiber = fiber;
  thread->index = engine->next_index;
  thread->phase = AOTC_EMULATION_RUNNING;
  thread->collectives = 0;
  thread->warp_order = 0;
  thread->commits = 0;
  thread->copy_count = 0;
  engine->next_index = aotc_emulation_step_index(thread->index, engine->grid->block_dim);
  aotc_emulation_self.thread_index = thread->index;
  aotc_emulation_self.thread = thread;
  engine->grid->invoke(engine->grid->arguments);
  if (thread->copy_count > 0) {
    aotc_emulation_fail("exits with %u asynchronous copies that it never waited for",
                        thread->copy_count);
  }
  thread->phase = AOTC_EMULATION_EXITED;
  ++engine->exited_count;
}

// What every fiber runs: threads, as long as none that has begun may continue. It holds no
// thread-local address across a switch (run_thread is opaque).
static void aotc_emulation_fiber_main() {
  aotc_emulation_engine *const engine = aotc_emulation_self.engine;
  aotc_emulation_fiber *const fiber = engine->starting;
#if defined(AOTC_EMULATION_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  for (;;) {
    while (engine->ready_count == 0 && engine->next_thread < engine->thread_count) {
      aotc_emulation_run_thread(engine, fiber);
    }
    aotc_emulation_fiber *next = aotc_emulation_next_fiber(engine);
    fiber->parked = true;
    engine->idle[engine->idle_count++] = fiber;
    aotc_emulation_fiber_switch(fiber, next);
  }
}

// Names one thread that waits and one that keeps it waiting, after nothing could run any more.
static inline void aotc_emulation_report_deadlock(aotc_emulation_engine *engine) {
  const aotc_emulation_thread *waiting = nullptr;
  for (uint32_t i = 0; i < engine->thread_count && waiting == nullptr; ++i) {
    if (engine->threads[i].phase != AOTC_EMULATION_EXITED) waiting = &engine->threads[i];
  }
  if (waiting == nullptr) return;
  const bool at_barrier = waiting->phase == AOTC_EMULATION_AT_BARRIER;
  const uint32_t warp = waiting->number / AOTC_EMULATION_WARP;
  const aotc_emulation_thread *other = nullptr;
  for (uint32_t i = 0; i < engine->thread_count && other == nullptr; ++i) {
    if (!at_barrier && i / AOTC_EMULATION_WARP != warp) continue;
    if (engine->threads[i].phase != waiting->phase) other = &engine->threads[i];
  }
  char reason[160] = "another thread does not come";
  if (other != nullptr && other->phase == AOTC_EMULATION_EXITED) {
    snprintf(reason, sizeof reason, AOTC_EMULATION_THREAD_FORMAT " has exited",
             AOTC_EMULATION_THREAD_ARGUMENTS(other->index));
  } else if (other != nullptr) {
    snprintf(reason, sizeof reason, AOTC_EMULATION_THREAD_FORMAT " waits at %s %s:%d",
             AOTC_EMULATION_THREAD_ARGUMENTS(other->index), other->site.what,
             aotc_emulation_base_name(other->site.file), other->site.line);
  }
  aotc_emulation_report(engine->grid,
                        "divergence: " AOTC_EMULATION_THREAD_FORMAT " waits at %s %s:%d, but %s",
                        AOTC_EMULATION_THREAD_ARGUMENTS(waiting->index), waiting->site.what,
                        aotc_emulation_base_name(waiting->site.file), waiting->site.line, reason);
}

// Runs all threads of the block `aotc_emulation_self.block_index`; false when the block is faulty.
static inline bool aotc_emulation_run_block(aotc_emulation_engine *engine) {
  engine->next_thread = 0;
  engine->exited_count = 0;
  engine->barrier_count = 0;
  engine->barrier_vote = false;
  engine->ready_count = 0;
  engine->next_index = uint3{0, 0, 0};
  engine->aborted = false;
  const uint32_t warps = (engine->thread_count + AOTC_EMULATION_WARP - 1) / AOTC_EMULATION_WARP;
  for (uint32_t i = 0; i < warps; ++i) engine->warps[i].arrived = 0;
  aotc_emulation_fiber *first = aotc_emulation_next_fiber(engine);
  if (first != &engine->host) aotc_emulation_fiber_switch(&engine->host, first);
  if (!engine->aborted && engine->exited_count < engine->thread_count) {
    aotc_emulation_report_deadlock(engine);
    engine->aborted = true;
  }
  if (!engine->aborted) return true;
  engine->idle_count = 0;  // the stacks of an abandoned block are started afresh
  engine->fresh_fiber = 0;
  return false;
}

#endif  // AOTC_EMULATION_BLOCK_H_
