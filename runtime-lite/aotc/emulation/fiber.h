// Fibers: stacks of our own and a switch between them in a dozen instructions. swapcontext would
// save the signal mask with a system call on every switch; it serves only processors for which no
// switch is written here (or -DAOTC_EMULATION_UCONTEXT). Example:
//   aotc_emulation_fiber_start(fiber, entry); aotc_emulation_fiber_switch(&host, fiber);
#ifndef AOTC_EMULATION_FIBER_H_
#define AOTC_EMULATION_FIBER_H_

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aotc/emulation/types.h"

// The sanitizers' interface for fibers, declared here because their headers are often not
// installed.
#if defined(AOTC_EMULATION_ASAN)
extern "C" {
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *size);
void __asan_poison_memory_region(const volatile void *address, size_t size);
void __asan_unpoison_memory_region(const volatile void *address, size_t size);
}
#endif
#if defined(AOTC_EMULATION_TSAN)
extern "C" {
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
}
#endif
#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(AOTC_EMULATION_UCONTEXT)
#define AOTC_EMULATION_UCONTEXT 1
#endif
#if defined(AOTC_EMULATION_UCONTEXT)
#include <ucontext.h>
#endif

// Virtual size of a stack: only touched pages cost memory. Sanitizers and -O0 need large frames.
#if defined(AOTC_EMULATION_ASAN) || defined(AOTC_EMULATION_TSAN)
enum { AOTC_EMULATION_STACK_BYTES = 512 * 1024 };
#else
enum { AOTC_EMULATION_STACK_BYTES = 256 * 1024 };
#endif

struct aotc_emulation_fiber {
  void *stack_pointer;  // valid while the fiber does not run
  unsigned char *stack;
  size_t stack_bytes;
  unsigned color;  // staggers the tops of stacks over the cache sets
  bool parked;     // waits in its main loop and may be given new work
  void *fake_stack;
  void *tsan_fiber;
#if defined(AOTC_EMULATION_UCONTEXT)
  ucontext_t context;
#endif
};

#if !defined(AOTC_EMULATION_UCONTEXT)

// Saves the callee-saved state on the running stack, its top in *save, and continues where `load`
// was saved. Every register is declared clobbered, so the compiler itself keeps what it needs; only
// the frame pointer, which may not be declared, is kept by hand.
static AOTC_EMULATION_OPAQUE void aotc_emulation_switch(void **save, void *load) {
#if defined(__x86_64__)
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n\t"  // step over the red zone
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "movq %%rsi, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp\n\t"
      : "+D"(save), "+S"(load)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
#else
  register void **save_register __asm__("x0") = save;
  register void *load_register __asm__("x1") = load;
  __asm__ volatile(
      "str x29, [sp, #-16]!\n\t"
      "adr x9, 1f\n\t"
      "str x9, [sp, #8]\n\t"
      "mov x9, sp\n\t"
      "str x9, [x0]\n\t"
      "mov sp, x1\n\t"
      "ldr x9, [sp, #8]\n\t"
      "br x9\n"
      "1:\n\t"
      "hint #36\n\t"  // a landing pad where branch targets are checked
      "ldr x29, [sp], #16\n\t"
      : "+r"(save_register), "+r"(load_register)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",
        "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
        "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",
        "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#endif
}

#endif  // !AOTC_EMULATION_UCONTEXT

// Maps the stack of `fiber`, with a page below it that traps an overflow. False: no memory.
static inline bool aotc_emulation_fiber_map(aotc_emulation_fiber *fiber, unsigned number) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = AOTC_EMULATION_STACK_BYTES + page;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  if (mprotect(memory, page, PROT_NONE) != 0) {
    munmap(memory, bytes);
    return false;
  }
  fiber->stack = static_cast<unsigned char *>(memory) + page;
  fiber->stack_bytes = AOTC_EMULATION_STACK_BYTES;
  fiber->color = (number * 448u) % 16384u;  // not a power of two: L1 and L2 sets are
  fiber->parked = false;
  return true;
}

static inline void aotc_emulation_fiber_unmap(aotc_emulation_fiber *fiber) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
#if defined(AOTC_EMULATION_TSAN)
  if (fiber->tsan_fiber != nullptr) __tsan_destroy_fiber(fiber->tsan_fiber);
#endif
#if defined(AOTC_EMULATION_ASAN)
  __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes);
#endif
  munmap(fiber->stack - page, fiber->stack_bytes + page);
}

// Makes `fiber` start `entry`, which never returns, when it is next switched to. Whatever ran on
// its stack before is forgotten.
static inline void aotc_emulation_fiber_start(aotc_emulation_fiber *fiber, void (*entry)()) {
#if defined(AOTC_EMULATION_ASAN)
  __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes);
  fiber->fake_stack = nullptr;
#endif
#if defined(AOTC_EMULATION_TSAN)
  if (fiber->tsan_fiber != nullptr) __tsan_destroy_fiber(fiber->tsan_fiber);
  fiber->tsan_fiber = __tsan_create_fiber(0);
#endif
#if defined(AOTC_EMULATION_UCONTEXT)
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = fiber->stack_bytes - fiber->color;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, entry, 0);
#else
  void **top = reinterpret_cast<void **>(fiber->stack + fiber->stack_bytes - fiber->color - 64);
#if defined(__x86_64__)
  top[1] = nullptr;  // the return address of `entry`: ends a stack walk, and aligns as a call does
  top[0] = reinterpret_cast<void *>(entry);
#else
  top[0] = nullptr;
  top[1] = reinterpret_cast<void *>(entry);
#endif
  fiber->stack_pointer = top;
#endif
}

// Continues `to`; returns when somebody switches back to `from`.
static inline void aotc_emulation_fiber_switch(aotc_emulation_fiber *from,
                                               aotc_emulation_fiber *to) {
#if defined(AOTC_EMULATION_ASAN)
  // A parked fiber gives its fake stack up: it is started afresh.
  void **fake_stack = from->parked ? nullptr : &from->fake_stack;
  __sanitizer_start_switch_fiber(fake_stack, to->stack, to->stack_bytes);
#endif
#if defined(AOTC_EMULATION_TSAN)
  __tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
#if defined(AOTC_EMULATION_UCONTEXT)
  swapcontext(&from->context, &to->context);
#else
  aotc_emulation_switch(&from->stack_pointer, to->stack_pointer);
#endif
#if defined(AOTC_EMULATION_ASAN)
  __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

// Describes the host thread's own stack as the fiber `host`; called on that stack.
static inline void aotc_emulation_fiber_adopt(aotc_emulation_fiber *host) {
  host->parked = false;
#if defined(AOTC_EMULATION_TSAN)
  host->tsan_fiber = __tsan_get_current_fiber();
#endif
#if defined(AOTC_EMULATION_ASAN)
  pthread_attr_t attributes;
  void *bottom = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &bottom, &host->stack_bytes);
  pthread_attr_destroy(&attributes);
  host->stack = static_cast<unsigned char *>(bottom);
#endif
}

#endif  // AOTC_EMULATION_FIBER_H_
