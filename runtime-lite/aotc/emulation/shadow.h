// The checking mode, -DAOTC_CUDA_CHECK_RACES: shared memory is reached through objects that look at
// every access. They find races between barriers, reads of memory that was never written or whose
// asynchronous copy was not waited for, and indices out of bounds. Included by shared.h.
//
// Two accesses of one byte race when different threads make them between the same two barriers, at
// least one writes, not both are atomic, and no warp barrier of a common warp lies between them.
#ifndef AOTC_EMULATION_SHADOW_H_
#define AOTC_EMULATION_SHADOW_H_

#include "aotc/emulation/warp.h"

enum aotc_emulation_access { AOTC_EMULATION_READ, AOTC_EMULATION_WRITE, AOTC_EMULATION_ATOMIC };

enum aotc_emulation_reader_set {
  AOTC_EMULATION_ONE_READER,
  AOTC_EMULATION_ONE_WARP,  // several lanes of the warp of `reader`
  AOTC_EMULATION_MANY_WARPS,
};

static inline aotc_emulation_shadow_byte *aotc_emulation_shadow_of(const unsigned char *address) {
  aotc_emulation_engine *const engine = aotc_emulation_self.engine;
  if (engine->shadow == nullptr) {
    void *memory = calloc(AOTC_EMULATION_SHARED_BYTES, sizeof(aotc_emulation_shadow_byte));
    if (memory == nullptr)
      aotc_emulation_fail("has no memory to check races: %d bytes per byte",
                          static_cast<int>(sizeof(*engine->shadow)));
    engine->shadow = static_cast<aotc_emulation_shadow_byte *>(memory);
  }
  return engine->shadow + (address - engine->shared);
}

// Whether what thread `other` did at `order` comes before what the running thread does now.
static inline bool aotc_emulation_ordered(uint32_t other, uint32_t order) {
  const aotc_emulation_thread *thread = aotc_emulation_self.thread;
  if (other == thread->number) return true;
  return other / AOTC_EMULATION_WARP == thread->number / AOTC_EMULATION_WARP &&
         order < thread->warp_order;
}

static inline bool aotc_emulation_reads_ordered(const aotc_emulation_shadow_byte *byte) {
  const aotc_emulation_thread *thread = aotc_emulation_self.thread;
  if (byte->readers == AOTC_EMULATION_MANY_WARPS) return false;
  if (byte->readers == AOTC_EMULATION_ONE_READER) {
    return aotc_emulation_ordered(byte->reader, byte->read_order);
  }
  return byte->reader / AOTC_EMULATION_WARP == thread->number / AOTC_EMULATION_WARP &&
         byte->read_order < thread->warp_order;
}

// What is wrong with an access of the byte, or null; `other` becomes the thread it clashes with, if
// there is one.
static inline const char *aotc_emulation_clash(const aotc_emulation_shadow_byte *byte,
                                               aotc_emulation_access access, uint32_t *other) {
  const aotc_emulation_engine *engine = aotc_emulation_self.engine;
  const bool written = byte->write_epoch >= engine->first_epoch;
  *other = byte->writer;
  if (written && byte->pending) return "there was no wait for the asynchronous copy begun";
  if (!written && access != AOTC_EMULATION_WRITE) {
    *other = AOTC_EMULATION_MAX_THREADS;
    return "nobody in the block has written it";
  }
  const bool both_atomic = access == AOTC_EMULATION_ATOMIC && byte->atomic;
  if (byte->write_epoch == engine->epoch && !both_atomic &&
      !aotc_emulation_ordered(byte->writer, byte->write_order)) {
    return "race: since the last barrier it was written";
  }
  *other = byte->reader;
  if (access != AOTC_EMULATION_READ && byte->read_epoch == engine->epoch &&
      !aotc_emulation_reads_ordered(byte)) {
    return "race: since the last barrier it was read";
  }
  return nullptr;
}

static inline void aotc_emulation_note_read(aotc_emulation_shadow_byte *byte) {
  const aotc_emulation_thread *thread = aotc_emulation_self.thread;
  const uint32_t epoch = aotc_emulation_self.engine->epoch;
  const uint16_t number = static_cast<uint16_t>(thread->number);
  if (byte->read_epoch != epoch) {
    byte->readers = AOTC_EMULATION_ONE_READER;
  } else if (byte->reader / AOTC_EMULATION_WARP != number / AOTC_EMULATION_WARP) {
    byte->readers = AOTC_EMULATION_MANY_WARPS;
  } else if (byte->reader != number && byte->readers == AOTC_EMULATION_ONE_READER) {
    byte->readers = AOTC_EMULATION_ONE_WARP;
  }
  byte->read_epoch = epoch;
  byte->read_order = thread->warp_order;
  byte->reader = number;
}

static inline void aotc_emulation_note_write(aotc_emulation_shadow_byte *byte,
                                             aotc_emulation_access access, bool pending) {
  const aotc_emulation_thread *thread = aotc_emulation_self.thread;
  byte->write_epoch = aotc_emulation_self.engine->epoch;
  byte->write_order = thread->warp_order;
  byte->writer = static_cast<uint16_t>(thread->number);
  byte->atomic = access == AOTC_EMULATION_ATOMIC;
  byte->pending = pending;
}

static inline void aotc_emulation_fail_access(const aotc_emulation_region *region, int64_t offset,
                                              const char *verb, const char *clash, uint32_t other) {
  char thread[64] = "";
  if (other < AOTC_EMULATION_MAX_THREADS) {
    const uint3 index = aotc_emulation_self.engine->threads[other].index;
    snprintf(thread, sizeof thread, " by " AOTC_EMULATION_THREAD_FORMAT,
             AOTC_EMULATION_THREAD_ARGUMENTS(index));
  }
  aotc_emulation_fail("%s '%s' at byte %lld: %s%s", verb, region->name,
                      static_cast<long long>(offset), clash, thread);
}

// Checks and notes an access of `size` bytes of a region.
static inline unsigned char *aotc_emulation_touch(const aotc_emulation_region *region,
                                                  int64_t offset, size_t size,
                                                  aotc_emulation_access access) {
  const char *verb = access == AOTC_EMULATION_READ ? "reads" : "writes";
  if (offset < 0 || offset + static_cast<int64_t>(size) > static_cast<int64_t>(region->bytes)) {
    aotc_emulation_fail("%s '%s' out of bounds: byte %lld of %u", verb, region->name,
                        static_cast<long long>(offset), region->bytes);
  }
  unsigned char *const address = aotc_emulation_region_begin(region) + offset;
  aotc_emulation_shadow_byte *const shadow = aotc_emulation_shadow_of(address);
  for (size_t i = 0; i < size; ++i) {
    uint32_t other = 0;
    const char *clash = aotc_emulation_clash(&shadow[i], access, &other);
    if (clash != nullptr) aotc_emulation_fail_access(region, offset, verb, clash, other);
    if (access != AOTC_EMULATION_READ) aotc_emulation_note_write(&shadow[i], access, false);
    if (access == AOTC_EMULATION_READ) aotc_emulation_note_read(&shadow[i]);
  }
  return address;
}

static inline void aotc_emulation_pending_mark(unsigned char *address, size_t bytes, bool pending) {
  aotc_emulation_shadow_byte *const shadow = aotc_emulation_shadow_of(address);
  for (size_t i = 0; i < bytes; ++i) {
    aotc_emulation_note_write(&shadow[i], AOTC_EMULATION_WRITE, pending);
  }
}
static inline void aotc_emulation_pending_begin(unsigned char *address, size_t bytes) {
  aotc_emulation_pending_mark(address, bytes, true);
}
static inline void aotc_emulation_pending_end(unsigned char *address, size_t bytes) {
  aotc_emulation_pending_mark(address, bytes, false);
}

#include "aotc/emulation/shadow_pointer.h"

#endif  // AOTC_EMULATION_SHADOW_H_
