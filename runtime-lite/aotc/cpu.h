// What the processor says of itself where compilers differ in the names that they can ask for.
//
//   aotc_cpu_has(1, 0, 4)       // AVX-VNNI: CPUID leaf 7, subleaf 1, EAX, bit 4
//   aotc_system_allows_tiles()  // Linux keeps the registers of AMX for those who ask
//
// That the operating system saves the registers is another question: ask for a family of vectors
// first, and for tiles by a system call.
#ifndef AOTC_CPU_H_
#define AOTC_CPU_H_

#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>

// `word` 0 to 3 is EAX, EBX, ECX or EDX.
static inline bool aotc_cpu_has(uint32_t subleaf, int word, int bit) {
  uint32_t words[4] = {0, 0, 0, 0};
  uint32_t most = 0;  // subleaf
  if (__get_cpuid_count(7, 0, &most, &words[1], &words[2], &words[3]) == 0) return false;
  if (subleaf > most) return false;
  __get_cpuid_count(7, subleaf, &words[0], &words[1], &words[2], &words[3]);
  return ((words[word] >> bit) & 1) != 0;
}

// Asks for the tiles of AMX, for all threads of the process, by arch_prctl: false where the system
// does not know them or refuses.
static inline bool aotc_system_allows_tiles() {
#if defined(__linux__) && !defined(__ILP32__)
  const long arch_prctl = 158, ask_for_state = 0x1023, tile_data = 18;
  long result = arch_prctl;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(ask_for_state), "S"(tile_data)
                   : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}
#endif

#endif  // AOTC_CPU_H_
