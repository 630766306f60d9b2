// Closes the region that target_begin.h opened; last line of a kernel file.
#if defined(AOTC_ISA_X86_64_V4) || defined(AOTC_ISA_X86_64_V3)
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
