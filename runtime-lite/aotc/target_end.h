// Closes the region that target_begin.h opened; last line of a kernel file.
#if !defined(__clang__)
#if defined(__GNUC__)
#pragma GCC pop_options
#endif
#elif defined(AOTC_ISA_X86_64_V4) || defined(AOTC_ISA_X86_64_V3)
#pragma clang attribute pop
#pragma clang attribute pop
#endif
