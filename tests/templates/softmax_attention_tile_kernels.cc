// Attention over blocks of keys as emitted code writes it, a few rows at a time, built once per
// ISA.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/templates/isa.h"
#include "tests/templates/softmax_attention_tile_cases.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "templates/cpu/contract_tile.h"
#include "templates/cpu/softmax_attention_tile.h"

namespace {

enum { kRows = 4, kVectors = 2, kTileColumns = kVectors * AOTC_LANES };

// Scores of a tile with the mask added.
struct score_epilogue : aotc_epilogue {
  const float* mask;
  float* scores;
  int64_t mask_stride, score_stride;
  AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
    const aotc_vf sum = acc + aotc_load(mask + m * mask_stride + v * AOTC_LANES);
    aotc_store(scores + m * score_stride + v * AOTC_LANES, sum);
  }
};

struct store_epilogue : aotc_epilogue {
  float* y;
  int64_t n;
  AOTC_MEMBER void operator()(int m, int v, aotc_vf value) const {
    const int64_t left = n - v * AOTC_LANES;
    if (left > 0) {
      aotc_store_first(y + m * n + v * AOTC_LANES, value, left < AOTC_LANES ? left : AOTC_LANES);
    }
  }
};

static int64_t padded(int64_t n) { return (n + 31) / 32 * 32; }

// Scratch of one group of rows: scores [rows, key_block], then sums [rows, padded n], twice.
struct Keys {
  int64_t begin, end;
};

// Takes the keys of one block into the states and sums of `Rows` rows.
template <int Rows>
static void take_block(const AttentionArguments& of, int64_t m0, Keys keys,
                       aotc_softmax_state* states, float* sums) {
  const int64_t count = keys.end - keys.begin, columns = padded(of.n);
  for (int64_t j = 0; j < count; j += kTileColumns) {
    const int64_t key = keys.begin + j;
    score_epilogue epilogue;
    epilogue.mask = of.mask + m0 * padded(of.keys) + key;
    epilogue.mask_stride = padded(of.keys);
    epilogue.scores = of.scratch + j;
    epilogue.score_stride = of.key_block;
    const aotc_rows_strided<float> rows = {of.q + m0 * of.d, of.d};
    const aotc_panel<float> panel = {of.k + key / 32 * 32 * of.d + key % 32};
    aotc_contract_tile<Rows, kVectors>(rows, panel, aotc_nest_dense(of.d, 32), epilogue);
  }
  float scale[Rows];
  for (int m = 0; m < Rows; ++m) {
    scale[m] = aotc_softmax_step(of.scratch + m * of.key_block, count, &states[m]);
  }
  for (int64_t n0 = 0; n0 < columns; n0 += kTileColumns) {
    aotc_weighted_rows epilogue;
    epilogue.sums = sums + n0, epilogue.stride = columns, epilogue.scale = scale;
    const aotc_rows_strided<float> rows = {of.scratch, of.key_block};
    const aotc_panel<float> panel = {of.values + n0 / 32 * 32 * of.keys + keys.begin * 32 +
                                     n0 % 32};
    aotc_contract_tile<Rows, kVectors>(rows, panel, aotc_nest_dense(count, 32), epilogue);
  }
}

template <int Rows>
static void take_keys(const AttentionArguments& of, int64_t m0, Keys keys,
                      aotc_softmax_state* states, float* sums) {
  for (int m = 0; m < Rows; ++m) states[m] = aotc_softmax_start();
  for (int64_t i = 0; i < Rows * padded(of.n); ++i) sums[i] = 0.0f;
  for (int64_t at = keys.begin; at < keys.end; at += of.key_block) {
    const int64_t end = at + of.key_block < keys.end ? at + of.key_block : keys.end;
    take_block<Rows>(of, m0, {at, end}, states, sums);
  }
}

template <int Rows>
static void run_rows(const AttentionArguments& of, int64_t m0, bool join) {
  const int64_t columns = padded(of.n);
  float *sums = of.scratch + Rows * of.key_block, *others = sums + Rows * columns;
  aotc_softmax_state states[Rows], later[Rows];
  const int64_t cut = join ? of.keys / of.key_block / 2 * of.key_block : of.keys;
  take_keys<Rows>(of, m0, {0, cut}, states, sums);
  if (join) take_keys<Rows>(of, m0, {cut, of.keys}, later, others);
  for (int m = 0; m < Rows; ++m) {
    if (join) {
      float scale_a, scale_b;
      states[m] = aotc_softmax_join(states[m], later[m], &scale_a, &scale_b);
      for (int64_t i = m * columns; i < (m + 1) * columns; ++i) {
        sums[i] = sums[i] * scale_a + others[i] * scale_b;
      }
    }
    store_epilogue epilogue;
    epilogue.y = of.y + m0 * of.n, epilogue.n = of.n;
    aotc_softmax_finish(sums + m * columns, columns / AOTC_LANES, m, states[m], epilogue);
  }
}

static void run_all(const AttentionArguments& of, bool join) {
  int64_t m0 = 0;
  for (; m0 + kRows <= of.m; m0 += kRows) run_rows<kRows>(of, m0, join);
  for (; m0 < of.m; ++m0) run_rows<1>(of, m0, join);
}

static void attention(const AttentionArguments* of) { run_all(*of, false); }
static void joined(const AttentionArguments* of) { run_all(*of, true); }

const AttentionKernels kernels = {AOTC_LANES, attention, joined};

}  // namespace

extern "C" const AttentionKernels* AOTC_TEST_EXPORT(attention)() { return &kernels; }

#include "aotc/target_end.h"
