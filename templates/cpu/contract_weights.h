// The weights of a contraction tile, in the types in which a model has them: a step converts what
// it reads, so that they take no more memory than the model.
//
//   const aotc_panel<aotc_f16> halves = {packed};                              // [k][32]
//   const aotc_panel<aotc_i4> nibbles = {packed};                              // two in a byte
//   // Scales for blocks of k, 32 columns each; zero points likewise.
//   const aotc_scaled_panel<aotc_i4, float> scaled = {nibbles, scales, {0, 0, 32}};
//   const aotc_shifted_panel<uint8_t, float, uint8_t> shifted = {
//       {bytes, scales, {0, 0, 32}}, zeros, {0, 0, 32}};
//
//   auto row = aotc_weights_at<2>(scaled, nest, i0, i1, i2);   // of the innermost loop's step 0
//   aotc_vf weights = row.load(1);                             // vector 1 of its columns
//   row.prefetch(1);                                           // and that of a later step
//   row.advance(nest.weight_stride[3]);                        // to the next step
//
// Scales and zero points are those of a step of the outer levels: (weight - zero) * scale.
#ifndef AOTC_CONTRACT_WEIGHTS_H_
#define AOTC_CONTRACT_WEIGHTS_H_

#include "aotc/vector.h"
#include "aotc/vector_convert.h"
#include "contract_nest.h"

// Elements of 4 bits, two in a byte, the first in its low half.
struct aotc_u4 {
  uint8_t pair;
};
struct aotc_i4 {
  uint8_t pair;
};
template <>
struct aotc_panel<aotc_u4> {
  const uint8_t *data;
};
template <>
struct aotc_panel<aotc_i4> {
  const uint8_t *data;
};

// ---- Vectors of stored elements ---

#if defined(AOTC_AVX)
typedef uint64_t aotc_vu64 __attribute__((vector_size(AOTC_LANES * 4)));
struct aotc_lane_pairs {
  uint8_t bytes[AOTC_LANES / 2];
};
// A byte of two elements for every two lanes.
AOTC_INLINE aotc_vu64 aotc_load_pairs(const uint8_t *from) {
  aotc_vu64 pairs;
  __asm__("vpmovzxbq %1, %0"
          : "=" AOTC_REGISTER(pairs)
          : "m"(*(const aotc_lane_pairs *)(const void *)from));
  return pairs;
}
#endif

#if defined(AOTC_ISA_X86_64_V4)
// The low four bits of each lane choose a number of the table.
AOTC_INLINE aotc_vf aotc_look_up(aotc_vi lanes, aotc_vf table) {
  aotc_vf numbers;
  __asm__("vpermps %2, %1, %0" : "=v"(numbers) : "v"(lanes), "v"(table));
  return numbers;
}
AOTC_INLINE aotc_vi aotc_spread_pairs(const uint8_t *from) {
  const aotc_vu64 pairs = aotc_load_pairs(from);
  return (aotc_vi)(pairs | pairs << 28);
}
AOTC_INLINE aotc_vf aotc_widen_u4(const uint8_t *from) {
  const aotc_vf table = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return aotc_look_up(aotc_spread_pairs(from), table);
}
AOTC_INLINE aotc_vf aotc_widen_i4(const uint8_t *from) {
  const aotc_vf table = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
  return aotc_look_up(aotc_spread_pairs(from), table);
}
#else
AOTC_INLINE aotc_vi aotc_load_nibbles(const uint8_t *from) {
#if defined(AOTC_AVX)
  const aotc_vu64 pairs = aotc_load_pairs(from);
  return (aotc_vi)(pairs | pairs << 28) & 15;
#else
  aotc_vi vector = {};
  for (int lane = 0; lane < AOTC_LANES; ++lane) vector[lane] = from[lane / 2] >> lane % 2 * 4 & 15;
  return vector;
#endif
}
AOTC_INLINE aotc_vf aotc_widen_u4(const uint8_t *from) {
  return aotc_to_f32(aotc_load_nibbles(from));
}
AOTC_INLINE aotc_vf aotc_widen_i4(const uint8_t *from) {
  return aotc_to_f32((aotc_load_nibbles(from) ^ 8) - 8);
}
#endif

// A NaN of bf16 need not be made quiet: arithmetic makes it so.
AOTC_INLINE aotc_vf aotc_load_weights(const aotc_bf16 *from) {
  const aotc_vu16 bits = aotc_copy_in<aotc_vu16>(from);
  return aotc_from_bits(__builtin_convertvector(bits, aotc_vi) << 16);
}
AOTC_INLINE aotc_vf aotc_load_weights(const float *from) { return aotc_load(from); }
AOTC_INLINE aotc_vf aotc_load_weights(const aotc_f16 *from) { return aotc_load(from); }
AOTC_INLINE aotc_vf aotc_load_weights(const uint8_t *from) { return aotc_to_f32(aotc_load(from)); }
AOTC_INLINE aotc_vf aotc_load_weights(const int8_t *from) { return aotc_to_f32(aotc_load(from)); }

// ---- Rows: the columns of one step ---

template <class Element>
struct aotc_weights_row {
  const Element *data;
  AOTC_MEMBER aotc_vf load(int v) const { return aotc_load_weights(data + v * AOTC_LANES); }
  AOTC_MEMBER void prefetch(int v) const { aotc_prefetch_weights(data + v * AOTC_LANES); }
  AOTC_MEMBER void advance(int64_t elements) { data += elements; }
};

template <>
struct aotc_weights_row<aotc_u4> {
  const uint8_t *data;
  AOTC_MEMBER aotc_vf load(int v) const { return aotc_widen_u4(data + v * (AOTC_LANES / 2)); }
  AOTC_MEMBER void prefetch(int v) const { aotc_prefetch_weights(data + v * (AOTC_LANES / 2)); }
  AOTC_MEMBER void advance(int64_t elements) { data += elements / 2; }
};

template <>
struct aotc_weights_row<aotc_i4> {
  const uint8_t *data;
  AOTC_MEMBER aotc_vf load(int v) const { return aotc_widen_i4(data + v * (AOTC_LANES / 2)); }
  AOTC_MEMBER void prefetch(int v) const { aotc_prefetch_weights(data + v * (AOTC_LANES / 2)); }
  AOTC_MEMBER void advance(int64_t elements) { data += elements / 2; }
};

template <int NV, class Element>
struct aotc_scaled_row {
  aotc_weights_row<Element> weights;
  aotc_vf scales[NV];
  AOTC_MEMBER aotc_vf load(int v) const { return weights.load(v) * scales[v]; }
  AOTC_MEMBER void prefetch(int v) const { weights.prefetch(v); }
  AOTC_MEMBER void advance(int64_t elements) { weights.advance(elements); }
};

template <int NV, class Element>
struct aotc_shifted_row {
  aotc_weights_row<Element> weights;
  aotc_vf scales[NV], zeros[NV];
  AOTC_MEMBER aotc_vf load(int v) const { return (weights.load(v) - zeros[v]) * scales[v]; }
  AOTC_MEMBER void prefetch(int v) const { weights.prefetch(v); }
  AOTC_MEMBER void advance(int64_t elements) { weights.advance(elements); }
};

// ---- Panels at the tile's first column ---

template <class Element, class Scale>
struct aotc_scaled_panel {
  aotc_panel<Element> weights;
  const Scale *scales;
  int64_t stride[3];  // elements per step of the outer levels
};

template <class Element, class Scale, class Zero>
struct aotc_shifted_panel {
  aotc_scaled_panel<Element, Scale> scaled;
  const Zero *zeros;
  int64_t stride[3];
};

// Reads the NV vectors of a step of the outer levels.
template <int NV, class Element>
AOTC_INLINE void aotc_load_scales(const Element *first, const int64_t (&stride)[3], int64_t i0,
                                  int64_t i1, int64_t i2, aotc_vf (&vectors)[NV]) {
  const Element *from = first + i0 * stride[0] + i1 * stride[1] + i2 * stride[2];
  AOTC_UNROLL(16)
  for (int v = 0; v < NV; ++v) vectors[v] = aotc_load_weights(from + v * AOTC_LANES);
}

template <int NV, class Element>
AOTC_INLINE aotc_weights_row<Element> aotc_weights_at(const aotc_panel<Element> &panel,
                                                      const aotc_nest &nest, int64_t i0, int64_t i1,
                                                      int64_t i2) {
  aotc_weights_row<Element> row = {panel.data};
  row.advance(aotc_nest_weight(nest, i0, i1, i2));
  return row;
}

template <int NV, class Element, class Scale>
AOTC_INLINE aotc_scaled_row<NV, Element> aotc_weights_at(
    const aotc_scaled_panel<Element, Scale> &panel, const aotc_nest &nest, int64_t i0, int64_t i1,
    int64_t i2) {
  aotc_scaled_row<NV, Element> row = {aotc_weights_at<NV>(panel.weights, nest, i0, i1, i2), {}};
  aotc_load_scales<NV>(panel.scales, panel.stride, i0, i1, i2, row.scales);
  return row;
}

template <int NV, class Element, class Scale, class Zero>
AOTC_INLINE aotc_shifted_row<NV, Element> aotc_weights_at(
    const aotc_shifted_panel<Element, Scale, Zero> &panel, const aotc_nest &nest, int64_t i0,
    int64_t i1, int64_t i2) {
  aotc_shifted_row<NV, Element> row = {
      aotc_weights_at<NV>(panel.scaled.weights, nest, i0, i1, i2), {}, {}};
  aotc_load_scales<NV>(panel.scaled.scales, panel.scaled.stride, i0, i1, i2, row.scales);
  aotc_load_scales<NV>(panel.zeros, panel.stride, i0, i1, i2, row.zeros);
  return row;
}

#endif  // AOTC_CONTRACT_WEIGHTS_H_
