// The state of one host thread that runs emulated blocks, one block at a time: its fibers, the
// threads and warps of the block, the shared memory. Each stream owns its engines (workers.h), so
// nothing here is shared between files or models.
#ifndef AOTC_EMULATION_ENGINE_H_
#define AOTC_EMULATION_ENGINE_H_

#include <stdio.h>
#include <stdlib.h>

#include "aotc/emulation/fault.h"
#include "aotc/emulation/fiber.h"
#include "aotc/emulation/types.h"

// A copy that cp.async has begun and no wait has finished. `group` counts commits of its thread.
struct aotc_emulation_copy {
  unsigned char *destination;
  const void *source;
  uint32_t bytes, source_bytes, group;
};

enum aotc_emulation_thread_phase {
  AOTC_EMULATION_RUNNING,
  AOTC_EMULATION_AT_BARRIER,
  AOTC_EMULATION_AT_COLLECTIVE,
  AOTC_EMULATION_EXITED,
};

struct aotc_emulation_thread {
  aotc_emulation_fiber *fiber;  // while it has begun and not exited
  uint3 index;
  uint32_t number;  // linear index in the block
  aotc_emulation_thread_phase phase;
  aotc_emulation_site site;  // where it waits
  uint32_t collectives;      // warp collectives so far
  uint32_t warp_order;       // `collectives` at its last warp barrier
  uint32_t commits;          // commits of asynchronous copies so far
  uint32_t copy_count, copy_capacity;
  aotc_emulation_copy *copies;  // oldest first; the memory is kept for later blocks
};

// What the lanes of a warp hand to each other. There are two of these per warp, used in turn: no
// lane can enter collective k + 2 before all lanes have read the results of collective k.
struct aotc_emulation_exchange {
  uint32_t input[AOTC_EMULATION_WARP][6];
  uint32_t output[AOTC_EMULATION_WARP][4];
};

struct aotc_emulation_warp {
  uint32_t arrived;
  aotc_emulation_site site;  // of the first lane that arrived
  aotc_emulation_exchange exchange[2];
};

// One declaration of shared memory; `key` identifies the declaration, null for the dynamic part.
struct aotc_emulation_region {
  const void *key;
  const char *name;
  uint32_t offset, bytes;
};

enum {
  AOTC_EMULATION_MAX_REGIONS = 64,
  AOTC_EMULATION_RED_ZONE = 256,            // bytes before and after each region
  AOTC_EMULATION_STATIC_BYTES = 48 * 1024,  // limits of the hardware
  AOTC_EMULATION_DYNAMIC_BYTES = 227 * 1024,
  AOTC_EMULATION_SHARED_BYTES = 512 * 1024,  // room for regions and red zones
};

// Who touched a byte of shared memory, for the checking mode (shadow.h). Epochs count barriers;
// orders are the `warp_order` of the thread at that time.
struct aotc_emulation_shadow_byte {
  uint32_t write_epoch, read_epoch;
  uint32_t write_order, read_order;
  uint16_t writer, reader;  // thread numbers
  uint8_t readers;          // in read_epoch: see aotc_emulation_reader_set
  bool atomic;              // the write was one
  bool pending;             // an asynchronous copy of `writer` is on its way
};

// A launch as the engines see it. Written before they start, except for `next_block` and `fault`.
struct aotc_emulation_grid {
  const char *name;
  uint3 grid_dim, block_dim;
  uint32_t dynamic_bytes;
  void (*invoke)(const void *arguments);  // runs the kernel's body for the current thread
  const void *arguments;
  void (*work)(aotc_emulation_engine *engine, aotc_emulation_grid *grid);  // of the kernel's file
  uint64_t block_count;
  uint64_t next_block;  // atomic: the first block that nobody has taken
  int fault;            // atomic: nonzero once any block is faulty
};

struct aotc_emulation_engine {
  aotc_emulation_grid *grid;
  aotc_emulation_fiber host;
  aotc_emulation_fiber *starting;  // the fiber that is about to run for the first time
  aotc_emulation_fiber fibers[AOTC_EMULATION_MAX_THREADS];
  uint32_t fiber_count;  // fibers with a stack
  uint32_t fresh_fiber;  // fibers from this one on have not run in this launch
  uint32_t idle_count;
  aotc_emulation_fiber *idle[AOTC_EMULATION_MAX_THREADS];

  uint32_t thread_count, next_thread, exited_count, barrier_count;
  uint3 next_index;
  aotc_emulation_site barrier_site;
  bool barrier_vote, barrier_result;  // what has been said at this barrier; at the last one
  uint32_t ready_head, ready_count;
  aotc_emulation_thread *ready[AOTC_EMULATION_MAX_THREADS];    // ring, oldest first
  aotc_emulation_thread *barrier[AOTC_EMULATION_MAX_THREADS];  // in order of arrival
  aotc_emulation_thread threads[AOTC_EMULATION_MAX_THREADS];
  aotc_emulation_warp warps[AOTC_EMULATION_MAX_THREADS / AOTC_EMULATION_WARP];
  bool aborted;

  unsigned char *shared;
  uint32_t shared_used, region_count;
  aotc_emulation_region regions[AOTC_EMULATION_MAX_REGIONS];
  aotc_emulation_shadow_byte *shadow;  // one per byte of `shared`, only when races are checked
  uint32_t epoch;                      // counts barriers over all blocks
  uint32_t first_epoch;                // of this block
};

static inline aotc_emulation_engine *aotc_emulation_engine_create() {
  void *memory = calloc(1, sizeof(aotc_emulation_engine));
  if (memory == nullptr) return nullptr;
  aotc_emulation_engine *engine = static_cast<aotc_emulation_engine *>(memory);
  void *shared = mmap(nullptr, AOTC_EMULATION_SHARED_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    free(memory);
    return nullptr;
  }
  engine->shared = static_cast<unsigned char *>(shared);
  return engine;
}

static inline void aotc_emulation_engine_destroy(aotc_emulation_engine *engine) {
  if (engine == nullptr) return;
  for (uint32_t i = 0; i < engine->fiber_count; ++i) {
    aotc_emulation_fiber_unmap(&engine->fibers[i]);
  }
  for (uint32_t i = 0; i < AOTC_EMULATION_MAX_THREADS; ++i) free(engine->threads[i].copies);
  munmap(engine->shared, AOTC_EMULATION_SHARED_BYTES);
  free(engine->shadow);
  free(engine);
}

// Reports the first fault of a launch, with the kernel and the block, and marks the launch faulty.
__attribute__((format(printf, 2, 3))) static inline void aotc_emulation_report(
    aotc_emulation_grid *grid, const char *format, ...) {
  if (__atomic_exchange_n(&grid->fault, 1, __ATOMIC_ACQ_REL) != 0) return;
  char message[512];
  const uint3 block = aotc_emulation_self.block_index;
  int used =
      snprintf(message, sizeof message, "kernel %s, block (%u,%u,%u): ",
               grid->name != nullptr ? grid->name : "without a name", block.x, block.y, block.z);
  if (used < 0 || used >= static_cast<int>(sizeof message)) used = 0;
  va_list list;
  va_start(list, format);
  vsnprintf(message + used, sizeof message - static_cast<size_t>(used), format, list);
  va_end(list);
  aotc_emulation_on_fault(message);
}

#endif  // AOTC_EMULATION_ENGINE_H_
