// Statistics of the rows of a tile (the largest of each, its sum), which an epilogue combines while
// it takes the results. Such an epilogue has `enum { statistics = N }`, and beside
// epilogue(m, n, acc, state), where state is an array of N floats for row m:
//
//   void identity(float *state) const;               // of no result
//   void combine(float *state, float *other) const;  // state takes in the other's results
//   void row(int64_t m, float *state) const;         // of all results of the row in the tile
//
// All other epilogues are called as epilogue(m, n, acc).
#ifndef AOTC_CUDA_ROW_STATISTICS_CUH_
#define AOTC_CUDA_ROW_STATISTICS_CUH_

#include <string.h>

#include "aotc/cuda.h"

template <class Epilogue, class = void>
struct aotc_statistics_of {
  enum { count = 0 };
};
template <class Epilogue>
struct aotc_statistics_of<Epilogue, decltype(static_cast<void>(Epilogue::statistics))> {
  enum { count = Epilogue::statistics };
};

// The state of one thread for one row; of no use where there are no statistics.
template <class Epilogue>
struct aotc_row_state {
  enum { count = aotc_statistics_of<Epilogue>::count };
  float values[count > 0 ? count : 1];

  AOTC_MEMBER explicit aotc_row_state(const Epilogue &epilogue) {
    if constexpr (count > 0) epilogue.identity(values);
    (void)epilogue;
  }

  template <class Index, class Sum>
  AOTC_MEMBER void take(const Epilogue &epilogue, Index m, Index n, Sum acc) {
    if constexpr (count > 0) {
      epilogue(m, n, acc, values);
    } else {
      epilogue(m, n, acc);
    }
  }

  // Combines over `Lanes` neighbouring lanes (a power of two), all of which get the result, in the
  // order of the lanes. All lanes of the warp take part.
  template <int Lanes>
  AOTC_MEMBER void combine(const Epilogue &epilogue) {
    if constexpr (count > 0) {
      static_assert(Lanes <= 32 && (Lanes & (Lanes - 1)) == 0, "a power of two up to 32");
      for (unsigned mask = 1; mask < Lanes; mask *= 2) {
        float other[count];
        for (int i = 0; i < count; ++i) other[i] = aotc_shuffle_xor(values[i], mask);
        if ((aotc_lane() & mask) == 0) {
          epilogue.combine(values, other);
        } else {
          epilogue.combine(other, values);
          memcpy(values, other, sizeof values);
        }
      }
    }
    (void)epilogue;
  }

  template <class Index>
  AOTC_MEMBER void finish(const Epilogue &epilogue, Index m) {
    if constexpr (count > 0) epilogue.row(m, values);
    (void)epilogue, (void)m;
  }
};

#endif  // AOTC_CUDA_ROW_STATISTICS_CUH_
