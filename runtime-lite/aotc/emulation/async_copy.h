// cp.async, finished as late as a program allows: until the matching wait the destination holds
// poison, and the source is read by the wait. Example:
//   aotc_cp_async_16(&tile[4 * threadIdx.x], source, in_range ? 16 : 0);
//   aotc_cp_async_commit(); aotc_cp_async_wait_group<0>(); aotc_syncthreads();
#ifndef AOTC_EMULATION_ASYNC_COPY_H_
#define AOTC_EMULATION_ASYNC_COPY_H_

#include "aotc/emulation/shared.h"

static AOTC_EMULATION_OPAQUE void aotc_emulation_copies_grow(aotc_emulation_thread *thread) {
  const uint32_t capacity = thread->copy_capacity == 0 ? 16 : 2 * thread->copy_capacity;
  void *memory = realloc(thread->copies, capacity * sizeof(aotc_emulation_copy));
  if (memory == nullptr) aotc_emulation_fail("has %u copies, no memory for more", capacity / 2);
  thread->copies = static_cast<aotc_emulation_copy *>(memory);
  thread->copy_capacity = capacity;
}

static inline void aotc_emulation_copy_begin(unsigned char *destination, const void *source,
                                             uint32_t bytes, uint32_t source_bytes) {
  aotc_emulation_thread *const thread = aotc_emulation_self.thread;
  const uintptr_t to = reinterpret_cast<uintptr_t>(destination);
  const uintptr_t from = reinterpret_cast<uintptr_t>(source);
  if (to % bytes != 0 || (source_bytes != 0 && from % bytes != 0)) {
    aotc_emulation_fail("copies %u bytes asynchronously at an address that is no multiple of it",
                        bytes);
  }
  if (source_bytes > bytes) aotc_emulation_fail("copies more than %u bytes", bytes);
  if (aotc_emulation_region_of(destination, bytes) == nullptr) {
    aotc_emulation_fail("copies %u bytes asynchronously to outside of shared memory", bytes);
  }
  if (thread->copy_count == thread->copy_capacity) aotc_emulation_copies_grow(thread);
  aotc_emulation_copy *copy = &thread->copies[thread->copy_count++];
  copy->destination = destination;
  copy->source = source;
  copy->bytes = bytes;
  copy->source_bytes = source_bytes;
  copy->group = thread->commits;
  aotc_emulation_poison(destination, bytes);
  aotc_emulation_pending_begin(destination, bytes);
}

// Finishes the copies of all groups before `group`, and forgets them.
static inline void aotc_emulation_copies_finish(uint32_t group) {
  aotc_emulation_thread *const thread = aotc_emulation_self.thread;
  uint32_t done = 0;
  for (; done < thread->copy_count && thread->copies[done].group < group; ++done) {
    const aotc_emulation_copy *copy = &thread->copies[done];
    aotc_emulation_pending_end(copy->destination, copy->bytes);
    __builtin_memset(copy->destination, 0, copy->bytes);
    if (copy->source_bytes != 0) {
      __builtin_memcpy(copy->destination, copy->source, copy->source_bytes);
    }
  }
  if (done == 0) return;
  thread->copy_count -= done;
  __builtin_memmove(thread->copies, thread->copies + done,
                    thread->copy_count * sizeof(aotc_emulation_copy));
}

// Copies `source_bytes` bytes from global to shared memory and fills up to 16, 8 or 4 with zeros.
// Both addresses are multiples of that size; the source is not looked at when `source_bytes` is 0.
template <typename Shared>
static inline void aotc_cp_async_16(Shared destination, const void *source, int source_bytes) {
  aotc_emulation_copy_begin(aotc_emulation_shared_write(destination, 16), source, 16,
                            static_cast<uint32_t>(source_bytes));
}
template <typename Shared>
static inline void aotc_cp_async_8(Shared destination, const void *source, int source_bytes) {
  aotc_emulation_copy_begin(aotc_emulation_shared_write(destination, 8), source, 8,
                            static_cast<uint32_t>(source_bytes));
}
template <typename Shared>
static inline void aotc_cp_async_4(Shared destination, const void *source, int source_bytes) {
  aotc_emulation_copy_begin(aotc_emulation_shared_write(destination, 4), source, 4,
                            static_cast<uint32_t>(source_bytes));
}

// Closes the group of copies that the thread has begun since the last commit.
static inline void aotc_cp_async_commit() { ++aotc_emulation_self.thread->commits; }

// Waits for this thread's copies of all groups but the latest `Pending`.
template <int Pending>
static inline void aotc_cp_async_wait_group() {
  const uint32_t commits = aotc_emulation_self.thread->commits;
  const uint32_t pending = Pending;
  if (commits > pending) aotc_emulation_copies_finish(commits - pending);
}

// Waits for all copies of this thread, committed or not.
static inline void aotc_cp_async_wait_all() {
  aotc_emulation_copies_finish(aotc_emulation_self.thread->commits + 1);
}

#endif  // AOTC_EMULATION_ASYNC_COPY_H_
