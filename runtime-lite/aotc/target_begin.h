// Opens the target region of a kernel file: what follows may use the instructions of one ISA,
// whatever flags the file is compiled with. Names the ISA for the other headers and sets
// AOTC_LANES, the number of f32 lanes of its vectors; AOTC_AVX where instructions have three
// operands.
//
//   #include <stdint.h>             // every C header first: they must stay outside the region
//   #include <string.h>
//   #include <math.h>
//   #define AOTC_ISA_X86_64_V4     // or _X86_64_V3, _X86_64 (SSE2), _GENERIC (any machine)
//   #include "aotc/target_begin.h"
//   #include "aotc/vector.h"
//   ... kernels ...
//   #include "aotc/target_end.h"
//
// AOTC_FEATURES, defined before, adds features to the region: "avx512vnni", or several with commas
// between. Each has a macro beside it that tells the code which uses it: AOTC_WITH_AVX512VNNI.
// No include guard: the region belongs to the file that opens it. Compilers do not always define
// __AVX512F__ and its like in such a region; ask for AOTC_ISA_... instead.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "aotc/attributes.h"

#if defined(AOTC_FEATURES)
#define AOTC_MORE_TARGETS "," AOTC_FEATURES
#else
#define AOTC_MORE_TARGETS ""
#endif

// Constraint of inline assembly for a register that holds a whole vector; not defined elsewhere.
#if defined(AOTC_ISA_X86_64_V4)
#define AOTC_REGISTER "v"
#elif defined(__x86_64__)
#define AOTC_REGISTER "x"
#elif defined(__aarch64__)
#define AOTC_REGISTER "w"
#endif

// Two regions, since one push takes one attribute; target_end.h closes both. The width keeps Clang
// from splitting 512-bit vectors on processors where it prefers 256.
#define AOTC_CLANG_TARGET(features, width)                                                         \
  AOTC_PRAGMA(clang attribute push(__attribute__((min_vector_width(width))), apply_to = function)) \
  AOTC_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
// GCC up to 13 reads the wrong elements where it makes vectors of loads with a stride that a
// condition guards (PR 114375), from -O3 on. Such loads stay branches; GCC 14 has it mended.
#if __GNUC__ < 14
#pragma GCC optimize("no-tree-loop-if-convert")
#endif
#endif

#if defined(AOTC_ISA_X86_64_V4)
#define AOTC_LANES 16
#define AOTC_AVX
#if defined(__clang__)
AOTC_CLANG_TARGET(
    "avx2,fma,f16c,bmi,bmi2,lzcnt,movbe,popcnt,"
    "avx512f,avx512bw,avx512cd,avx512dq,avx512vl" AOTC_MORE_TARGETS,
    512)
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,movbe,popcnt")
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")
#endif

#elif defined(AOTC_ISA_X86_64_V3)
#define AOTC_LANES 8
#define AOTC_AVX
#if defined(__clang__)
AOTC_CLANG_TARGET("avx2,fma,f16c,bmi,bmi2,lzcnt,movbe,popcnt" AOTC_MORE_TARGETS, 256)
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,movbe,popcnt")
#endif

#elif defined(AOTC_ISA_X86_64) || defined(AOTC_ISA_GENERIC)
#define AOTC_LANES 4
// For Helium, GCC 12 compares one lane of four where it joins two comparisons of vectors, as in
// (a != a) | (a > b). Its scalar unit computes the same, and right.
#if defined(__ARM_FEATURE_MVE) && defined(__GNUC__) && !defined(__clang__)
#if defined(__ARM_FP)
#pragma GCC target("arch=armv8.1-m.main+fp.dp")
#else
#pragma GCC target("arch=armv8.1-m.main")
#endif
#endif

#else
#error "define AOTC_ISA_X86_64_V4, AOTC_ISA_X86_64_V3, AOTC_ISA_X86_64 or AOTC_ISA_GENERIC"
#endif

// Within the options that the region has pushed.
#if defined(AOTC_FEATURES) && !defined(__clang__)
#define AOTC_GCC_TARGET(features) AOTC_PRAGMA(GCC target(features))
AOTC_GCC_TARGET(AOTC_FEATURES)
#endif
