/* What a board asks of the debugger or emulator that runs it (semihosting, Arm's and RISC-V's): text, files, and
 * the end. Firmware of its own has a UART and a sensor in this place. */
#ifndef SEMIHOSTING_H_
#define SEMIHOSTING_H_

#include <stddef.h>
#include <stdint.h>

/* Operation `operation` with what `argument` points to. */
static inline intptr_t host_call(int operation, const void* argument) {
#if defined(__riscv)
  register intptr_t result __asm__("a0") = operation;
  register const void* given __asm__("a1") = argument;
  __asm__ volatile(
      ".option push\n"
      ".option norvc\n" /* three instructions of 32 bits are the sign */
      ".balign 16\n"    /* and all in one page */
      "slli x0, x0, 0x1f\n"
      "ebreak\n"
      "srai x0, x0, 7\n"
      ".option pop"
      : "+r"(result)
      : "r"(given)
      : "memory");
#else
  register intptr_t result __asm__("r0") = operation;
  register const void* given __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(result) : "r"(given) : "memory");
#endif
  return result;
}

static inline void host_print(const char* text) { (void)host_call(0x04, text); }

/* Ends the run; the emulator's exit code is `code`. */
static inline void host_exit(int code) {
  const uintptr_t reason[2] = {0x20026u, (uintptr_t)code}; /* the application's end */
  for (;;) (void)host_call(0x20, reason);
}

/* Whether all `bytes` came from, or went to, a file in the host's current folder. */
static inline int host_transfer(const char* name, int is_write, void* data, size_t bytes) {
  size_t length = 0;
  while (name[length] != '\0') ++length;
  const uintptr_t open[3] = {(uintptr_t)name, is_write ? 5u : 1u, length}; /* "wb", "rb" */
  const intptr_t handle = host_call(0x01, open);
  if (handle < 0) return 0;
  const uintptr_t part[3] = {(uintptr_t)handle, (uintptr_t)data, bytes};
  const intptr_t left = host_call(is_write ? 0x05 : 0x06, part);
  const uintptr_t close[1] = {(uintptr_t)handle};
  (void)host_call(0x02, close);
  return left == 0;
}

#endif /* SEMIHOSTING_H_ */
