/* From reset to main() on a Cortex-M, without CMSIS: vectors, floating point, .data and .bss. */
#include <stdint.h>

#include "semihosting.h"

extern uint64_t data_begin[], data_end[], bss_begin[], bss_end[], stack_top[]; /* of board.ld */
extern const uint64_t data_initial[];

int main(void);

/* Bits 20 to 23 let all code use the floating point unit, and Helium where there is one. */
static void enable_floating_point(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  volatile uint32_t* const coprocessor_access = (volatile uint32_t*)0xE000ED88u;
  *coprocessor_access |= 0xFu << 20;
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
}

void reset(void) {
  enable_floating_point();
  for (uint64_t* to = data_begin; to < data_end; ++to) *to = data_initial[to - data_begin];
  for (uint64_t* to = bss_begin; to < bss_end; ++to) *to = 0;
  host_exit(main());
}

static void fault(void) {
  host_print("fault\n");
  host_exit(1);
}

/* What the processor reads at address 0: the first stack pointer, and 15 handlers. */
__attribute__((section(".vectors"), used)) static const void* const vectors[16] = {
    stack_top,    (void*)reset, (void*)fault, (void*)fault, (void*)fault, (void*)fault,
    (void*)fault, (void*)fault, (void*)fault, (void*)fault, (void*)fault, (void*)fault,
    (void*)fault, (void*)fault, (void*)fault, (void*)fault,
};
