/* From reset to main() on a RISC-V processor: stack, floating point, .bss. */
#include <stdint.h>

#include "semihosting.h"

extern uint64_t bss_begin[], bss_end[]; /* of board.ld */

int main(void);

static void __attribute__((aligned(4))) fault(void) {
  host_print("fault\n");
  host_exit(1);
}

static void __attribute__((used)) start(void) {
  __asm__ volatile("csrw mtvec, %0" ::"r"(fault));
#if defined(__riscv_flen)
  __asm__ volatile("csrs mstatus, %0" ::"r"(1u << 13)); /* the floating point unit is on */
#endif
  for (uint64_t* to = bss_begin; to < bss_end; ++to) *to = 0;
  host_exit(main());
}

/* Where the processor begins: C code wants its registers first. */
void __attribute__((naked, section(".reset"))) reset(void) {
  __asm__ volatile(
      ".option push\n"
      ".option norelax\n"
      "la gp, small_data\n"
      ".option pop\n"
      "la sp, stack_top\n"
      "j start");
}
