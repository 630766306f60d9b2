// Attention of a block of rows, in one pass over the keys: scores never leave the block. What it
// keeps of a row is its largest score so far, the sum of the weights and the weighted values, which
// are scaled again whenever a block of keys has a larger score.
//
//   s[i, j] = score(i, j, sum over d of q(i, d) * k(j, d))
//   p[i, j] = exp(s[i, j] - max over j of s[i, j])
//   epilogue(i, e, sum over j of p[i, j] * v(j, e) / sum over j of p[i, j])
//
// Example, 64 rows by 32 keys at a time, of depth 64, by 128 threads:
//
//   struct scaled { enum { hides = 0 };                           // in an unnamed namespace
//     AOTC_MEMBER float operator()(int64_t, int64_t, float s) const { return 0.125f * s; } };
//   ...
//   const aotc_attention_range<int64_t> range = {64 * block, rows, 0, keys, columns};
//   aotc_attention_tile<64, 32, 64, 64, 4, 0, 0>(q, k, score, v, epilogue, range);
//
// q(i, d), k(j, d), v(j, e): elements as f32; 0 beyond their bounds (they are called up to the end
//   of the block, and of Depth or Columns).
// score(i, j, s), epilogue(i, e, y): called once for each score and each result that exists.
// score.counts(i, j, top), where score.hides is not 0: whether the score may have a weight in a row
//   whose largest so far is `top` (-inf: it has none). Blocks of keys none of which counts in any
//   row are left out, as a mask of elements may have them; keys and values are not read there.
// KByKey and VByKey tell which neighbours are fetched together: 1 for elements that lie together
//   from key to key, 0 along d or e.
// Threads: exactly BM / TM * 8, in one dimension: eight neighbours share TM rows. Every thread of
// the block must call it, with the same range. A row without any score above -inf gives NaN.
#ifndef AOTC_CUDA_ATTENTION_TILE_CUH_
#define AOTC_CUDA_ATTENTION_TILE_CUH_

#include "aotc/cuda.h"

// Rows [row_begin, row_end), of which a tile computes the first BM, over `keys` keys from key_begin
// on.
template <class Index>
struct aotc_attention_range {
  Index row_begin, row_end, key_begin, keys, columns;
  AOTC_MEMBER Index key_end() const { return key_begin + keys; }
};

// Sizes that follow from the template's.
template <int BM, int BN, int Depth, int Columns, int TM>
struct aotc_attention_shape {
  enum {
    block_rows = BM,
    block_keys = BN,
    depth = Depth,
    columns = Columns,
    lanes = 8,  // threads that share a row
    places = BM / TM,
    threads = places * lanes,
    thread_rows = TM,  // rows place, place + places, ...
    thread_keys = BN / lanes,
    thread_columns = Columns / lanes,
    chunk = thread_columns % 4 == 0 ? 4 : thread_columns,  // neighbouring columns of a thread
    depth_stride = Depth + 4,  // padded: neighbouring rows begin in other banks
    weight_stride = BN + 4,
    key_loads = BN * Depth / threads,  // of each thread and step
    value_loads = BN * Columns / threads,
    shared_floats = (BM + BN) * depth_stride + BN * Columns + BM * weight_stride,
  };
  static_assert(BM % TM == 0 && BN % lanes == 0 && BN % 4 == 0, "threads cover the scores");
  static_assert(Depth % 4 == 0 && Columns % lanes == 0, "threads cover the results");
  static_assert(BN * Depth % threads == 0 && BN * Columns % threads == 0, "threads share loads");
  static_assert(threads % 32 == 0 && threads <= 1024, "whole warps");
  static_assert(4 * shared_floats <= 48 * 1024, "the limit of a block");
};

// What a thread keeps of its rows: of the sum its own keys', of the values its columns.
template <class Shape>
struct aotc_attention_state {
  float top[Shape::thread_rows], sum[Shape::thread_rows];
  float values[Shape::thread_rows][Shape::thread_columns];
};

// The column of result `i` of a thread: chunks are dealt out in turn, so that neighbours read
// neighbouring banks.
template <class Shape>
AOTC_DEVICE int aotc_attention_column(int lane, int i) {
  return i / Shape::chunk * (Shape::lanes * Shape::chunk) + lane * Shape::chunk + i % Shape::chunk;
}

// Elements of BN x Width, dealt out to the threads: to registers, then to shared memory.
template <int BN, int Width, int Threads, int ByKey, class Matrix, class Index>
AOTC_DEVICE void aotc_attention_fetch(const Matrix &matrix, Index first,
                                      float (&registers)[BN * Width / Threads]) {
  AOTC_UNROLL(16)
  for (int i = 0; i < BN * Width / Threads; ++i) {
    const int number = static_cast<int>(threadIdx.x) + i * Threads;
    const int key = ByKey ? number % BN : number / Width;
    const int column = ByKey ? number / BN : number % Width;
    registers[i] = matrix(first + key, static_cast<Index>(column));
  }
}

template <int BN, int Width, int Threads, int ByKey>
AOTC_DEVICE void aotc_attention_keep(AOTC_SHARED_POINTER(float) rows, int stride,
                                     const float (&registers)[BN * Width / Threads]) {
  AOTC_UNROLL(16)
  for (int i = 0; i < BN * Width / Threads; ++i) {
    const int number = static_cast<int>(threadIdx.x) + i * Threads;
    const int key = ByKey ? number % BN : number / Width;
    const int column = ByKey ? number / BN : number % Width;
    rows[key * stride + column] = registers[i];
  }
}

// products[i][j] = the thread's row i times its key j.
template <class Shape>
AOTC_DEVICE void aotc_attention_multiply(
    AOTC_SHARED_POINTER(const float) q, AOTC_SHARED_POINTER(const float) k, int place, int lane,
    float (&products)[Shape::thread_rows][Shape::thread_keys]) {
  AOTC_UNROLL(4)
  for (int d = 0; d < Shape::depth; d += 4) {
    float a[Shape::thread_rows][4], b[Shape::thread_keys][4];
    AOTC_UNROLL(16)
    for (int i = 0; i < 4 * Shape::thread_rows; ++i) {
      a[i / 4][i % 4] = q[(place + i / 4 * Shape::places) * Shape::depth_stride + d + i % 4];
    }
    AOTC_UNROLL(32)
    for (int j = 0; j < 4 * Shape::thread_keys; ++j) {
      b[j / 4][j % 4] = k[(lane + j / 4 * Shape::lanes) * Shape::depth_stride + d + j % 4];
    }
    AOTC_UNROLL(4)
    for (int x = 0; x < 4; ++x) {
      AOTC_UNROLL(16)
      for (int i = 0; i < Shape::thread_rows; ++i) {
        AOTC_UNROLL(16)
        for (int j = 0; j < Shape::thread_keys; ++j) products[i][j] += a[i][x] * b[j][x];
      }
    }
  }
}

// The first block of keys from `key` on of which a score counts; the end where there is none.
template <class Shape, class Score, class Index>
AOTC_DEVICE Index aotc_attention_next(const Score &score, const aotc_attention_range<Index> &range,
                                      Index key, int place, int lane,
                                      const aotc_attention_state<Shape> &state) {
  if constexpr (Score::hides != 0) {
    for (; key < range.key_end(); key += Shape::block_keys) {
      bool counts = false;
      for (int i = 0; i < Shape::thread_rows; ++i) {
        const Index row = range.row_begin + place + i * Shape::places;
        for (int j = 0; j < Shape::thread_keys && !counts; ++j) {
          const Index other = key + lane + j * Shape::lanes;
          const bool exists = row < range.row_end && other < range.key_end();
          counts = exists && score.counts(row, other, state.top[i]);
        }
      }
      if (aotc_syncthreads_any(counts)) break;
    }
  }
  return key;
}

// Weights of the block's keys against the largest score so far, and the state against it too.
template <class Shape, class Score, class Index>
AOTC_DEVICE void aotc_attention_weigh(const Score &score, const aotc_attention_range<Index> &range,
                                      Index key, int place, int lane,
                                      float (&s)[Shape::thread_rows][Shape::thread_keys],
                                      aotc_attention_state<Shape> &state,
                                      AOTC_SHARED_POINTER(float) weights) {
  AOTC_UNROLL(16)
  for (int i = 0; i < Shape::thread_rows; ++i) {
    const int row = place + i * Shape::places;
    const Index at = range.row_begin + row;
    float top = state.top[i];
    AOTC_UNROLL(16)
    for (int j = 0; j < Shape::thread_keys; ++j) {
      const Index other = key + lane + j * Shape::lanes;
      const bool exists = at < range.row_end && other < range.key_end();
      s[i][j] = exists ? score(at, other, s[i][j]) : -INFINITY;
      top = fmaxf(top, s[i][j]);
    }
    AOTC_UNROLL(3)
    for (unsigned mask = 1; mask < Shape::lanes; mask *= 2) {
      top = fmaxf(top, aotc_shuffle_xor(top, mask));
    }
    // Without a key so far, exp(-inf - -inf) would be NaN.
    const float shrink = state.top[i] == -INFINITY ? 0.0f : expf(state.top[i] - top);
    state.top[i] = top;
    state.sum[i] *= shrink;
    AOTC_UNROLL(16)
    for (int j = 0; j < Shape::thread_keys; ++j) {
      const float weight = s[i][j] == -INFINITY ? 0.0f : expf(s[i][j] - top);
      state.sum[i] += weight;
      weights[row * Shape::weight_stride + lane + j * Shape::lanes] = weight;
    }
    AOTC_UNROLL(16)
    for (int e = 0; e < Shape::thread_columns; ++e) state.values[i][e] *= shrink;
  }
}

// values += weights times the block's rows of v.
template <class Shape>
AOTC_DEVICE void aotc_attention_add(AOTC_SHARED_POINTER(const float) weights,
                                    AOTC_SHARED_POINTER(const float) v, int place, int lane,
                                    aotc_attention_state<Shape> &state) {
  AOTC_UNROLL(2)
  for (int key = 0; key < Shape::block_keys; key += 4) {
    float p[Shape::thread_rows][4];
    AOTC_UNROLL(16)
    for (int i = 0; i < 4 * Shape::thread_rows; ++i) {
      p[i / 4][i % 4] =
          weights[(place + i / 4 * Shape::places) * Shape::weight_stride + key + i % 4];
    }
    AOTC_UNROLL(4)
    for (int x = 0; x < 4; ++x) {
      float b[Shape::thread_columns];
      AOTC_UNROLL(16)
      for (int e = 0; e < Shape::thread_columns; ++e) {
        b[e] = v[(key + x) * Shape::columns + aotc_attention_column<Shape>(lane, e)];
      }
      AOTC_UNROLL(16)
      for (int i = 0; i < Shape::thread_rows; ++i) {
        AOTC_UNROLL(16)
        for (int e = 0; e < Shape::thread_columns; ++e) state.values[i][e] += p[i][x] * b[e];
      }
    }
  }
}

template <class Shape, class Epilogue, class Index>
AOTC_DEVICE void aotc_attention_finish(const Epilogue &epilogue,
                                       const aotc_attention_range<Index> &range, int place,
                                       int lane, const aotc_attention_state<Shape> &state) {
  AOTC_UNROLL(16)
  for (int i = 0; i < Shape::thread_rows; ++i) {
    const Index row = range.row_begin + place + i * Shape::places;
    float sum = state.sum[i];
    AOTC_UNROLL(3)
    for (unsigned mask = 1; mask < Shape::lanes; mask *= 2) sum += aotc_shuffle_xor(sum, mask);
    AOTC_UNROLL(16)
    for (int e = 0; e < Shape::thread_columns; ++e) {
      const Index column = static_cast<Index>(aotc_attention_column<Shape>(lane, e));
      const bool exists = row < range.row_end && column < range.columns;
      if (exists) epilogue(row, column, state.values[i][e] / sum);
    }
  }
}

// While one of keys and values is multiplied, the other's elements are on their way to registers;
// two barriers a step.
template <int BM, int BN, int Depth, int Columns, int TM, int KByKey, int VByKey, class Q, class K,
          class Score, class V, class Epilogue, class Index>
AOTC_DEVICE void aotc_attention_tile(const Q &q, const K &k, const Score &score, const V &v,
                                     const Epilogue &epilogue,
                                     const aotc_attention_range<Index> &range) {
  typedef aotc_attention_shape<BM, BN, Depth, Columns, TM> shape;
  AOTC_SHARED(float, queries, BM *shape::depth_stride);
  AOTC_SHARED(float, keys, BN *shape::depth_stride);
  AOTC_SHARED(float, values, BN *Columns);
  AOTC_SHARED(float, weights, BM *shape::weight_stride);
  const int place = static_cast<int>(threadIdx.x) / shape::lanes;
  const int lane = static_cast<int>(threadIdx.x) % shape::lanes;
  aotc_attention_state<shape> state = {};
  AOTC_UNROLL(16)
  for (int i = 0; i < TM; ++i) state.top[i] = -INFINITY;
  float key_part[shape::key_loads], value_part[shape::value_loads];
  aotc_syncthreads();  // an earlier call may still read
  for (int i = static_cast<int>(threadIdx.x); i < BM * Depth; i += shape::threads) {
    const float element = q(range.row_begin + i / Depth, static_cast<Index>(i % Depth));
    queries[i / Depth * shape::depth_stride + i % Depth] = element;
  }
  Index key = aotc_attention_next(score, range, range.key_begin, place, lane, state);
  if (key < range.key_end()) {
    aotc_attention_fetch<BN, Depth, shape::threads, KByKey>(k, key, key_part);
    aotc_attention_keep<BN, Depth, shape::threads, KByKey>(keys + 0, shape::depth_stride, key_part);
  }
  while (key < range.key_end()) {
    aotc_syncthreads();
    aotc_attention_fetch<BN, Columns, shape::threads, VByKey>(v, key, value_part);
    float scores[TM][shape::thread_keys] = {};
    aotc_attention_multiply<shape>(queries + 0, keys + 0, place, lane, scores);
    aotc_attention_weigh<shape>(score, range, key, place, lane, scores, state, weights + 0);
    aotc_attention_keep<BN, Columns, shape::threads, VByKey>(values + 0, Columns, value_part);
    aotc_syncthreads();
    key = aotc_attention_next<shape, Score, Index>(score, range, key + BN, place, lane, state);
    const bool more = key < range.key_end();
    if (more) aotc_attention_fetch<BN, Depth, shape::threads, KByKey>(k, key, key_part);
    aotc_attention_add<shape>(weights + 0, values + 0, place, lane, state);
    if (!more) break;
    aotc_attention_keep<BN, Depth, shape::threads, KByKey>(keys + 0, shape::depth_stride, key_part);
  }
  aotc_attention_finish<shape>(epilogue, range, place, lane, state);
}

#endif  // AOTC_CUDA_ATTENTION_TILE_CUH_
