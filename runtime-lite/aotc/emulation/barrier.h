// Barriers and the meeting of a warp's lanes: whoever arrives last lets the others go and runs on.
// Example: `aotc_syncthreads();`. The default arguments record the place for messages.
#ifndef AOTC_EMULATION_BARRIER_H_
#define AOTC_EMULATION_BARRIER_H_

#include "aotc/emulation/block.h"

static inline void aotc_emulation_check_site(const aotc_emulation_site &first,
                                             const aotc_emulation_site &mine) {
  if (aotc_emulation_same_site(first, mine)) return;
  aotc_emulation_fail("divergence: it waits at %s %s:%d while others wait at %s %s:%d", mine.what,
                      aotc_emulation_base_name(mine.file), mine.line, first.what,
                      aotc_emulation_base_name(first.file), first.line);
}

// Waits until all threads of the block are at the site; orders their memory accesses.
static inline void aotc_emulation_wait_for_block(const aotc_emulation_site &site) {
  aotc_emulation_engine *const engine = aotc_emulation_self.engine;
  aotc_emulation_thread *const thread = aotc_emulation_self.thread;
  if (engine->barrier_count == 0) engine->barrier_site = site;
  aotc_emulation_check_site(engine->barrier_site, site);
  if (engine->barrier_count + 1 < engine->thread_count) {
    engine->barrier[engine->barrier_count++] = thread;
    thread->phase = AOTC_EMULATION_AT_BARRIER;
    thread->site = site;
    aotc_emulation_wait(engine, thread);
    return;
  }
  for (uint32_t i = 0; i < engine->barrier_count; ++i) {
    aotc_emulation_make_ready(engine, engine->barrier[i]);
  }
  engine->barrier_count = 0;
  engine->barrier_result = engine->barrier_vote;
  engine->barrier_vote = false;
  ++engine->epoch;
}

static inline void aotc_syncthreads(const char *file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
  aotc_emulation_wait_for_block({file, line, "barrier"});
}

// The same; whether any thread of the block says so.
static inline bool aotc_syncthreads_any(bool says, const char *file = __builtin_FILE(),
                                        int line = __builtin_LINE()) {
  aotc_emulation_engine *const engine = aotc_emulation_self.engine;
  engine->barrier_vote = engine->barrier_vote || says;
  aotc_emulation_wait_for_block({file, line, "barrier"});
  return engine->barrier_result;
}

// Lanes of the warp of `thread`: 32, or what is left in the last warp of the block.
static inline uint32_t aotc_emulation_lane_count(const aotc_emulation_engine *engine,
                                                 const aotc_emulation_thread *thread) {
  const uint32_t first = thread->number / AOTC_EMULATION_WARP * AOTC_EMULATION_WARP;
  const uint32_t left = engine->thread_count - first, all = AOTC_EMULATION_WARP;
  return left < all ? left : all;
}

// The exchange that the running lane uses in its next collective: its inputs go there.
static inline aotc_emulation_exchange *aotc_emulation_exchange_begin() {
  aotc_emulation_thread *const thread = aotc_emulation_self.thread;
  aotc_emulation_warp *const warp =
      &aotc_emulation_self.engine->warps[thread->number / AOTC_EMULATION_WARP];
  return &warp->exchange[thread->collectives++ % 2];
}

// Waits until all lanes of the warp are here. The last runs `complete` (may be null) on what all
// have put into the exchange; afterwards every lane may read it.
static inline void aotc_emulation_meet(aotc_emulation_exchange *exchange,
                                       void (*complete)(aotc_emulation_exchange *exchange),
                                       const aotc_emulation_site &site) {
  aotc_emulation_engine *const engine = aotc_emulation_self.engine;
  aotc_emulation_thread *const thread = aotc_emulation_self.thread;
  aotc_emulation_warp *const warp = &engine->warps[thread->number / AOTC_EMULATION_WARP];
  const uint32_t lanes = aotc_emulation_lane_count(engine, thread);
  if (warp->arrived == 0) warp->site = site;
  aotc_emulation_check_site(warp->site, site);
  if (++warp->arrived < lanes) {
    thread->phase = AOTC_EMULATION_AT_COLLECTIVE;
    thread->site = site;
    aotc_emulation_wait(engine, thread);
    return;
  }
  warp->arrived = 0;
  if (complete != nullptr) complete(exchange);
  aotc_emulation_thread *const first = thread - thread->number % AOTC_EMULATION_WARP;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (first + lane != thread) aotc_emulation_make_ready(engine, first + lane);
  }
}

static inline unsigned aotc_lane() {
  return aotc_emulation_self.thread->number % AOTC_EMULATION_WARP;
}

// Orders the memory accesses of a warp's lanes.
static inline void aotc_syncwarp(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  const aotc_emulation_site site = {file, line, "warp barrier"};
  aotc_emulation_meet(aotc_emulation_exchange_begin(), nullptr, site);
  aotc_emulation_self.thread->warp_order = aotc_emulation_self.thread->collectives;
}

#endif  // AOTC_EMULATION_BARRIER_H_
