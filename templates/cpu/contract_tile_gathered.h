// The contraction tile over one reduction whose steps lie anywhere in the input: shuffled channels,
// slices that begin within blocks. The input is a function object that finds an element; where it
// lies costs a few instructions a step, for all rows and columns of the tile.
//
//   acc[m, v, lane] = initial[m, v, lane] + sum over k of  a(m, k) * weights[k, v, lane]
//
//   struct a_elements {                                    // in an unnamed namespace
//     const float *x;
//     AOTC_MEMBER float operator()(int64_t m, int64_t k) const {
//       return x[m * 68 + k % 4 * 17 + k / 4];
//     }
//   };
//   aotc_contract_tile_gathered<8, 3>(a_elements{x}, aotc_panel<float>{w}, 68, 48, epilogue);
//
// Weights, epilogue and sizes: contract_tile.h.
#ifndef AOTC_CONTRACT_TILE_GATHERED_H_
#define AOTC_CONTRACT_TILE_GATHERED_H_

#include "contract_tile.h"

template <class Elements>
struct aotc_gathered_rows {
  const Elements &elements;
  AOTC_MEMBER aotc_vf load(int m, int64_t step) const { return aotc_broadcast(elements(m, step)); }
  AOTC_MEMBER void prefetch(int, int64_t) const {}
};

// `row`: elements from the weights of a step to those of the next.
template <int MR, int NV, int KU = 1, class Elements, class Weights, class Epilogue>
AOTC_INLINE void aotc_contract_tile_gathered(const Elements &elements, const Weights &weights,
                                             int64_t steps, int64_t row, Epilogue &epilogue) {
  const aotc_gathered_rows<Elements> rows = {elements};
  aotc_contract_tile<MR, NV, KU>(rows, weights, aotc_nest_dense(steps, row), epilogue);
}

#endif  // AOTC_CONTRACT_TILE_GATHERED_H_
