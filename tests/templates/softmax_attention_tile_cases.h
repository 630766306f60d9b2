// What softmax_attention_tile_kernels.cc computes for softmax_attention_tile_test.cc.
#ifndef AOTC_TESTS_TEMPLATES_SOFTMAX_ATTENTION_TILE_CASES_H_
#define AOTC_TESTS_TEMPLATES_SOFTMAX_ATTENTION_TILE_CASES_H_

#include <stdint.h>

// y[m, n] = sum over j of softmax over j (q[m, :] * k[j, :] + mask[m, j]) * v[j, n]
struct AttentionArguments {
  const float* q;                    // [m, d]
  const float* k;                    // packed [ceil(keys / 32), d, 32]
  const float* mask;                 // [m, ceil(keys / 32) * 32]
  const float* values;               // packed [ceil(n / 32), keys, 32]
  float* y;                          // [m, n]
  float* scratch;                    // see the kernel
  int64_t m, d, keys, n, key_block;  // key_block is a multiple of 32
};

struct AttentionKernels {
  int lanes;
  void (*attention)(const AttentionArguments*);
  // The same with the keys cut in two at a multiple of key_block, joined at the end.
  void (*joined)(const AttentionArguments*);
};

#endif  // AOTC_TESTS_TEMPLATES_SOFTMAX_ATTENTION_TILE_CASES_H_
