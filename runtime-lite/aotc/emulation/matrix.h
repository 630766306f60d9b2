// mma and ldmatrix as collectives of a warp. The last lane to arrive gathers both operands by the
// lane maps, multiplies, and scatters the result.
#ifndef AOTC_EMULATION_MATRIX_H_
#define AOTC_EMULATION_MATRIX_H_

#include "aotc/cuda_lanes.h"
#include "aotc/emulation/shared.h"
#include "aotc/emulation/warp.h"
#include "aotc/half.h"

namespace {
struct aotc_emulation_f16_operand {
  static const int packed = 2;  // elements in a register
  typedef float value;
  static value get(const uint32_t *registers, int element) {
    const uint32_t word = registers[element / 2];
    return aotc_f16_to_f32(static_cast<uint16_t>(element % 2 == 0 ? word : word >> 16));
  }
};
struct aotc_emulation_tf32_operand {
  static const int packed = 1;
  typedef float value;
  static value get(const uint32_t *registers, int element) {
    return __uint_as_float(registers[element] & 0xFFFFE000u);  // the unit ignores these bits
  }
};
template <class Byte>
struct aotc_emulation_byte_operand {
  static const int packed = 4;
  typedef int32_t value;
  static value get(const uint32_t *registers, int element) {
    return static_cast<Byte>(registers[element / 4] >> (element % 4 * 8));
  }
};
}  // namespace

// input[lane] holds registers of A in 0..3 and of B in 4..5; output[lane] gets A·B of the lane.
template <typename OperandA, typename OperandB, int K, aotc_matrix_position (*MapA)(int, int),
          aotc_matrix_position (*MapB)(int, int)>
static inline void aotc_emulation_multiply(aotc_emulation_exchange *exchange) {
  typedef typename OperandA::value value;
  value a[16][K], b[K][8];
  for (int lane = 0; lane < AOTC_EMULATION_WARP; ++lane) {
    for (int i = 0; i < 4 * OperandA::packed; ++i) {
      const aotc_matrix_position at = MapA(lane, i);
      a[at.row][at.column] = OperandA::get(exchange->input[lane], i);
    }
    for (int i = 0; i < 2 * OperandB::packed; ++i) {
      const aotc_matrix_position at = MapB(lane, i);
      b[at.row][at.column] = OperandB::get(exchange->input[lane] + 4, i);
    }
  }
  value product[16][8] = {};
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < K; ++k) {
      for (int column = 0; column < 8; ++column) product[row][column] += a[row][k] * b[k][column];
    }
  }
  for (int lane = 0; lane < AOTC_EMULATION_WARP; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const aotc_matrix_position at = aotc_mma_c_position(lane, i);
      __builtin_memcpy(&exchange->output[lane][i], &product[at.row][at.column], sizeof(value));
    }
  }
}

template <typename T>
static inline void aotc_emulation_mma(T *d, const uint32_t *a, const uint32_t *b, const T *c,
                                      void (*multiply)(aotc_emulation_exchange *),
                                      const aotc_emulation_site &site) {
  if (aotc_emulation_lane_count(aotc_emulation_self.engine, aotc_emulation_self.thread) !=
      AOTC_EMULATION_WARP) {
    aotc_emulation_fail("calls %s %s:%d in a warp of fewer than 32 lanes", site.what,
                        aotc_emulation_base_name(site.file), site.line);
  }
  aotc_emulation_exchange *const exchange = aotc_emulation_exchange_begin();
  uint32_t *input = exchange->input[aotc_lane()];
  for (int i = 0; i < 4; ++i) input[i] = a[i];
  for (int i = 0; i < 2; ++i) input[4 + i] = b[i];
  aotc_emulation_meet(exchange, multiply, site);
  for (int i = 0; i < 4; ++i) {
    T product;
    __builtin_memcpy(&product, &exchange->output[aotc_lane()][i], sizeof product);
    d[i] = c[i] + product;
  }
}

static inline void aotc_mma_m16n8k16_f16_f32(float d[4], const uint32_t a[4], const uint32_t b[2],
                                             const float c[4], const char *file = __builtin_FILE(),
                                             int line = __builtin_LINE()) {
  aotc_emulation_mma(
      d, a, b, c,
      aotc_emulation_multiply<aotc_emulation_f16_operand, aotc_emulation_f16_operand, 16,
                              aotc_mma_m16n8k16_a_position, aotc_mma_m16n8k16_b_position>,
      aotc_emulation_site{file, line, "mma"});
}

static inline void aotc_mma_m16n8k8_tf32_f32(float d[4], const uint32_t a[4], const uint32_t b[2],
                                             const float c[4], const char *file = __builtin_FILE(),
                                             int line = __builtin_LINE()) {
  aotc_emulation_mma(
      d, a, b, c,
      aotc_emulation_multiply<aotc_emulation_tf32_operand, aotc_emulation_tf32_operand, 8,
                              aotc_mma_m16n8k8_a_position, aotc_mma_m16n8k8_b_position>,
      aotc_emulation_site{file, line, "mma"});
}

template <class TypeA, class TypeB>
static inline void aotc_mma_m16n8k32_s32(int32_t d[4], const uint32_t a[4], const uint32_t b[2],
                                         const int32_t c[4], const char *file = __builtin_FILE(),
                                         int line = __builtin_LINE()) {
  aotc_emulation_mma(
      d, a, b, c,
      aotc_emulation_multiply<aotc_emulation_byte_operand<TypeA>,
                              aotc_emulation_byte_operand<TypeB>, 32, aotc_mma_m16n8k32_a_position,
                              aotc_mma_m16n8k32_b_position>,
      aotc_emulation_site{file, line, "mma"});
}

// Rounds to the 10 bits of mantissa that tf32 has: to nearest, ties away from zero.
static inline uint32_t aotc_f32_to_tf32(float value) {
  const uint32_t bits = __float_as_uint(value);
  const bool finite = (bits & 0x7F800000u) != 0x7F800000u;
  return finite ? (bits + 0x1000u) & 0xFFFFE000u : bits;
}

// Loads `Count` 8x8 matrices of 16-bit elements: lane i names row i % 8 of matrix i / 8 (16 bytes,
// aligned); word j of the result is this lane's pair of matrix j, transposed if asked.
template <int Count, bool Transposed, typename Shared>
static inline void aotc_ldmatrix(uint32_t result[Count], Shared row,
                                 const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  static_assert(Count == 1 || Count == 2 || Count == 4, "ldmatrix loads 1, 2 or 4 matrices");
  aotc_emulation_exchange *const exchange = aotc_emulation_exchange_begin();
  const unsigned lane = aotc_lane();
  if (lane < 8 * Count) {
    const unsigned char *bytes = aotc_emulation_shared_read(row, 16);
    if (reinterpret_cast<uintptr_t>(bytes) % 16 != 0 ||
        aotc_emulation_region_of(bytes, 16) == nullptr) {
      aotc_emulation_fail("%s %s:%d: its row is not 16 aligned bytes of shared memory", "ldmatrix",
                          aotc_emulation_base_name(file), line);
    }
    __builtin_memcpy(exchange->input[lane], bytes, 16);
  }
  aotc_emulation_meet(exchange, nullptr, aotc_emulation_site{file, line, "ldmatrix"});
  for (unsigned j = 0; j < Count; ++j) {
    if (!Transposed) {
      result[j] = exchange->input[8 * j + lane / 4][lane % 4];
      continue;
    }
    const unsigned first = 8 * j + lane % 4 * 2, shift = lane / 4 % 2 * 16;
    const uint32_t low = exchange->input[first][lane / 8] >> shift & 0xFFFFu;
    const uint32_t high = exchange->input[first + 1][lane / 8] >> shift & 0xFFFFu;
    result[j] = low | high << 16;
  }
}

#endif  // AOTC_EMULATION_MATRIX_H_
