// Shared memory of a block: regions with red zones between them, filled with poison when a block
// begins. Under AddressSanitizer the red zones trap; otherwise they are looked at after each block.
// Example: `AOTC_SHARED(float, tile, 32 * 33); tile[threadIdx.x] = 0;`.
#ifndef AOTC_EMULATION_SHARED_H_
#define AOTC_EMULATION_SHARED_H_

#include "aotc/emulation/block.h"

static inline void aotc_emulation_region_fill(aotc_emulation_engine *engine,
                                              const aotc_emulation_region *region) {
#if defined(AOTC_EMULATION_ASAN)
  aotc_emulation_poison(engine->shared + region->offset, region->bytes);
#else
  // With the red zones around it: they hold the same bytes.
  aotc_emulation_poison(engine->shared + region->offset - AOTC_EMULATION_RED_ZONE,
                        region->bytes + 2 * AOTC_EMULATION_RED_ZONE);
#endif
}

// Adds a region behind those that exist. Null when the block's shared memory is too large.
static inline aotc_emulation_region *aotc_emulation_region_add(aotc_emulation_engine *engine,
                                                               const void *key, const char *name,
                                                               size_t bytes) {
  const uint32_t offset = (engine->shared_used + AOTC_EMULATION_RED_ZONE + 127u) / 128u * 128u;
  if (engine->region_count == AOTC_EMULATION_MAX_REGIONS) return nullptr;
  if (bytes + offset + 2 * AOTC_EMULATION_RED_ZONE > AOTC_EMULATION_SHARED_BYTES) return nullptr;
  aotc_emulation_region *region = &engine->regions[engine->region_count++];
  region->key = key;
  region->name = name;
  region->offset = offset;
  region->bytes = static_cast<uint32_t>(bytes);
  engine->shared_used = offset + region->bytes + AOTC_EMULATION_RED_ZONE;
#if defined(AOTC_EMULATION_ASAN)
  __asan_poison_memory_region(engine->shared + offset - AOTC_EMULATION_RED_ZONE,
                              region->bytes + 2 * AOTC_EMULATION_RED_ZONE);
  __asan_unpoison_memory_region(engine->shared + offset, region->bytes);
#endif
  aotc_emulation_region_fill(engine, region);
  return region;
}

// Called when an engine begins and ends a launch. Region 0 is the dynamic part.
static inline void aotc_emulation_shared_open(aotc_emulation_engine *engine, size_t dynamic_bytes) {
  engine->shared_used = 0;
  engine->region_count = 0;
  aotc_emulation_region_add(engine, nullptr, "dynamic shared memory", dynamic_bytes);
}

static inline void aotc_emulation_shared_close(aotc_emulation_engine *engine) {
#if defined(AOTC_EMULATION_ASAN)
  __asan_unpoison_memory_region(engine->shared, AOTC_EMULATION_SHARED_BYTES);
#endif
  engine->region_count = 0;
}

// Called before each block.
static inline void aotc_emulation_shared_begin(aotc_emulation_engine *engine) {
  for (uint32_t i = 0; i < engine->region_count; ++i) {
    aotc_emulation_region_fill(engine, &engine->regions[i]);
  }
  engine->first_epoch = ++engine->epoch;
}

// The first byte in [begin, end) of shared memory that poison no longer fills, or `end`. Both lie
// in red zones; their position tells which half of the pattern to expect.
static inline uint32_t aotc_emulation_first_touched(const aotc_emulation_engine *engine,
                                                    uint32_t begin, uint32_t end) {
  const unsigned char *shared = engine->shared;
  while (begin < end && shared[begin] == (begin % 2 == 0 ? 0xB6 : 0x7F)) ++begin;
  return begin;
}

// Called after each block that ran to its end; false when a red zone was written to.
static inline bool aotc_emulation_shared_check(aotc_emulation_engine *engine) {
#if defined(AOTC_EMULATION_ASAN)
  return true;
#endif
  for (uint32_t i = 0; i < engine->region_count; ++i) {
    const aotc_emulation_region *region = &engine->regions[i];
    const uint32_t end = region->offset + region->bytes;
    const uint32_t after = aotc_emulation_first_touched(engine, end, end + AOTC_EMULATION_RED_ZONE);
    if (after < end + AOTC_EMULATION_RED_ZONE) {
      aotc_emulation_report(engine->grid, "'%s' (%u bytes) was written out of bounds, at byte %u",
                            region->name, region->bytes, after - region->offset);
      return false;
    }
    const uint32_t begin = region->offset - AOTC_EMULATION_RED_ZONE;
    const uint32_t before = aotc_emulation_first_touched(engine, begin, region->offset);
    if (before < region->offset) {
      aotc_emulation_report(engine->grid, "'%s' was written out of bounds, %u bytes before it",
                            region->name, region->offset - before);
      return false;
    }
  }
  return true;
}

// Declares `key` on its first use in a launch.
static AOTC_EMULATION_OPAQUE const aotc_emulation_region *aotc_emulation_declare(const void *key,
                                                                                 const char *name,
                                                                                 size_t bytes) {
  aotc_emulation_engine *const engine = aotc_emulation_self.engine;
  size_t total = bytes;
  for (uint32_t i = 1; i < engine->region_count; ++i) total += engine->regions[i].bytes;
  if (total > AOTC_EMULATION_STATIC_BYTES) {
    aotc_emulation_fail("declares '%s': more than 48 KiB of static shared memory", name);
  }
  aotc_emulation_region *region = aotc_emulation_region_add(engine, key, name, bytes);
  if (region == nullptr) {
    aotc_emulation_fail("declares '%s': too many declarations of shared memory", name);
  }
  return region;
}

// The memory of the static declaration `key`; the same for all threads of a block.
static inline const aotc_emulation_region *aotc_emulation_static_shared(const void *key,
                                                                        const char *name,
                                                                        size_t bytes) {
  const aotc_emulation_engine *const engine = aotc_emulation_self.engine;
  for (uint32_t i = 1; i < engine->region_count; ++i) {
    if (engine->regions[i].key == key) return &engine->regions[i];
  }
  return aotc_emulation_declare(key, name, bytes);
}

static inline const aotc_emulation_region *aotc_emulation_dynamic_shared() {
  return &aotc_emulation_self.engine->regions[0];
}

static inline unsigned char *aotc_emulation_region_begin(const aotc_emulation_region *region) {
  return aotc_emulation_self.engine->shared + region->offset;
}

// The region that holds all of [address, address + bytes), or null.
static inline const aotc_emulation_region *aotc_emulation_region_of(const void *address,
                                                                    size_t bytes) {
  const aotc_emulation_engine *engine = aotc_emulation_self.engine;
  const uintptr_t base = reinterpret_cast<uintptr_t>(engine->shared);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address) - base;
  for (uint32_t i = 0; i < engine->region_count; ++i) {
    const aotc_emulation_region *region = &engine->regions[i];
    if (begin >= region->offset && begin + bytes <= region->offset + region->bytes) return region;
  }
  return nullptr;
}

#if defined(AOTC_CUDA_CHECK_RACES)
#include "aotc/emulation/shadow.h"
#else

#define AOTC_SHARED_POINTER(type) type *

#define AOTC_SHARED(type, name, size)                                                    \
  static char aotc_shared_key_##name;                                                    \
  type *const name =                                                                     \
      reinterpret_cast<type *>(aotc_emulation_region_begin(aotc_emulation_static_shared( \
          &aotc_shared_key_##name, #name, sizeof(type) * static_cast<size_t>(size))))

#define AOTC_DYNAMIC_SHARED(type, name) \
  type *const name =                    \
      reinterpret_cast<type *>(aotc_emulation_region_begin(aotc_emulation_dynamic_shared()))

// The same memory as elements of another type.
template <typename To, typename From>
static inline To *aotc_shared_cast(From *pointer) {
  return reinterpret_cast<To *>(pointer);
}

// What the checking mode watches: shared memory that is read or written by other means than `[]`.
template <typename T>
static inline unsigned char *aotc_emulation_shared_write(T *pointer, size_t) {
  return reinterpret_cast<unsigned char *>(pointer);
}
template <typename T>
static inline const unsigned char *aotc_emulation_shared_read(const T *pointer, size_t) {
  return reinterpret_cast<const unsigned char *>(pointer);
}
static inline void aotc_emulation_pending_begin(unsigned char *, size_t) {}
static inline void aotc_emulation_pending_end(unsigned char *, size_t) {}

#endif  // AOTC_CUDA_CHECK_RACES

#endif  // AOTC_EMULATION_SHARED_H_
