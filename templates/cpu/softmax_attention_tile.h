// softmax(scores) * values for a block of rows, key block after key block: the running maximum, sum
// and weighted row of each query, which are one associative combiner.
//
//   state = {-infinity, 0}, sums = 0, for each row
//   for each block of keys:
//     scores[MR][keys] by aotc_contract_tile                     // queries times keys
//     for each row m:
//       scale[m] = aotc_softmax_step(scores + m * stride, keys, &state[m]);   // scores -> weights
//     aotc_weighted_rows rows = {...sums, sums_stride, scale};
//     aotc_contract_tile<MR, NV>({scores}, {values}, aotc_nest_dense(keys, 32), rows);
//   then y = sums / state.sum: aotc_softmax_finish
//
// Numbers are those of the softmax over all keys at once, but for the order of sums. A row whose
// scores are all -infinity gives NaN, as 0 / 0 does in the plain form; NaN scores give NaN.
#ifndef AOTC_SOFTMAX_ATTENTION_TILE_H_
#define AOTC_SOFTMAX_ATTENTION_TILE_H_

#include "aotc/vector_math.h"
#include "epilogue.h"

// Of the keys seen so far: their largest score and the sum of exp(score - max).
struct aotc_softmax_state {
  float max, sum;
};

AOTC_INLINE aotc_softmax_state aotc_softmax_start() { return aotc_softmax_state{-INFINITY, 0.0f}; }

// What scores are compared with: the maximum, or 0 while there is none but -infinity.
AOTC_INLINE float aotc_softmax_base(float max) { return max == -INFINITY ? 0.0f : max; }

// Largest of `count` scores and `max`; NaN where there is one.
AOTC_INLINE float aotc_softmax_max(const float *scores, int64_t count, float max) {
  aotc_vf most = aotc_broadcast(max);
  int64_t i = 0;
  for (; i + AOTC_LANES <= count; i += AOTC_LANES) most = aotc_max(most, aotc_load(scores + i));
  if (i < count) {
    const aotc_vf tail = aotc_load_first(scores + i, count - i);
    most = aotc_max(most, aotc_select(aotc_mask_first(count - i), tail, most));
  }
  return aotc_max_lanes(most);
}

// Takes `count` more scores of a row into `state` and turns them into weights exp(score - max).
// Returns the factor for what was summed under the old maximum: the weighted row.
AOTC_INLINE float aotc_softmax_step(float *scores, int64_t count, aotc_softmax_state *state) {
  const float max = aotc_softmax_max(scores, count, state->max);
  const float base = aotc_softmax_base(max);
  aotc_vf sums = {};
  int64_t i = 0;
  for (; i + AOTC_LANES <= count; i += AOTC_LANES) {
    const aotc_vf weights = aotc_exp(aotc_load(scores + i) - base);
    aotc_store(scores + i, weights);
    sums += weights;
  }
  if (i < count) {
    const aotc_vf weights = aotc_exp(aotc_load_first(scores + i, count - i) - base);
    aotc_store_first(scores + i, weights, count - i);
    sums += aotc_select(aotc_mask_first(count - i), weights, aotc_vf{});
  }
  const float scale = state->max == -INFINITY ? 0.0f : aotc_exp(state->max - base);
  state->sum = state->sum * scale + aotc_sum_lanes(sums);
  state->max = max;
  return scale;
}

// Joins the states of two sets of keys; `scale_a`, `scale_b` are the factors of their weighted
// rows.
AOTC_INLINE aotc_softmax_state aotc_softmax_join(aotc_softmax_state a, aotc_softmax_state b,
                                                 float *scale_a, float *scale_b) {
  const float max = aotc_max(a.max, b.max), base = aotc_softmax_base(max);
  *scale_a = a.max == -INFINITY ? 0.0f : aotc_exp(a.max - base);
  *scale_b = b.max == -INFINITY ? 0.0f : aotc_exp(b.max - base);
  return aotc_softmax_state{max, a.sum * *scale_a + b.sum * *scale_b};
}

// Epilogue of aotc_contract_tile: sums[m, :] = sums[m, :] * scale[m] + weights * values.
struct aotc_weighted_rows : aotc_epilogue {
  float *sums;  // at the tile's first column; rows of whole vectors, `stride` apart
  int64_t stride;
  const float *scale;
  AOTC_MEMBER aotc_vf initial(int m, int v) const {
    return aotc_load(sums + m * stride + v * AOTC_LANES) * scale[m];
  }
  AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
    aotc_store(sums + m * stride + v * AOTC_LANES, acc);
  }
};

// Hands sums / state.sum, vector v of row m, to the epilogue.
template <class Epilogue>
AOTC_INLINE void aotc_softmax_finish(const float *sums, int64_t vectors, int m,
                                     const aotc_softmax_state &state, Epilogue &epilogue) {
  for (int64_t v = 0; v < vectors; ++v) {
    epilogue(m, (int)v, aotc_load(sums + v * AOTC_LANES) / state.sum);
  }
}

#endif  // AOTC_SOFTMAX_ATTENTION_TILE_H_
