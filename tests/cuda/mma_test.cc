// The mma shapes and ldmatrix against brute force, through the lane maps, in both realisations.
#if !defined(__CUDACC__)
#define AOTC_CUDA_EMULATE 1
#endif
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "aotc/cuda.h"
#include "tests/cuda/faults.h"

namespace {

#define AOTC_DEVICE_STATIC static AOTC_MEMBER

// What a test knows of a shape: A is 16 x k, B is k x 8, `packed` elements to a register.
struct F16Shape {
  using Value = float;
  static constexpr int kK = 16, kPacked = 2, kShiftA = 0, kShiftB = 0;
  AOTC_DEVICE_STATIC aotc_matrix_position MapA(int lane, int i) {
    return aotc_mma_m16n8k16_a_position(lane, i);
  }
  AOTC_DEVICE_STATIC aotc_matrix_position MapB(int lane, int i) {
    return aotc_mma_m16n8k16_b_position(lane, i);
  }
  using Dot = aotc_dot_f16;
  AOTC_DEVICE_STATIC uint32_t Bits(int value) {
    return aotc_f16_from_f32(static_cast<float>(value));
  }
  AOTC_DEVICE_STATIC void Mma(Value* d, const uint32_t* a, const uint32_t* b, const Value* c) {
    aotc_mma_m16n8k16_f16_f32(d, a, b, c);
  }
};
struct Tf32Shape {
  using Value = float;
  static constexpr int kK = 8, kPacked = 1, kShiftA = 0, kShiftB = 0;
  AOTC_DEVICE_STATIC aotc_matrix_position MapA(int lane, int i) {
    return aotc_mma_m16n8k8_a_position(lane, i);
  }
  AOTC_DEVICE_STATIC aotc_matrix_position MapB(int lane, int i) {
    return aotc_mma_m16n8k8_b_position(lane, i);
  }
  using Dot = aotc_dot_tf32;
  AOTC_DEVICE_STATIC uint32_t Bits(int value) {
    return aotc_f32_to_tf32(static_cast<float>(value));
  }
  AOTC_DEVICE_STATIC void Mma(Value* d, const uint32_t* a, const uint32_t* b, const Value* c) {
    aotc_mma_m16n8k8_tf32_f32(d, a, b, c);
  }
};
template <class TypeA, class TypeB>
struct BytesShape {
  using Value = int32_t;
  static constexpr int kK = 32, kPacked = 4;
  static constexpr int kShiftA = TypeA(-1) < TypeA(0) ? 0 : 180;
  static constexpr int kShiftB = TypeB(-1) < TypeB(0) ? 0 : 190;
  AOTC_DEVICE_STATIC aotc_matrix_position MapA(int lane, int i) {
    return aotc_mma_m16n8k32_a_position(lane, i);
  }
  AOTC_DEVICE_STATIC aotc_matrix_position MapB(int lane, int i) {
    return aotc_mma_m16n8k32_b_position(lane, i);
  }
  using Dot = aotc_dot_bytes<TypeA, TypeB>;
  AOTC_DEVICE_STATIC uint32_t Bits(int value) { return static_cast<uint8_t>(value); }
  AOTC_DEVICE_STATIC void Mma(Value* d, const uint32_t* a, const uint32_t* b, const Value* c) {
    aotc_mma_m16n8k32_s32<TypeA, TypeB>(d, a, b, c);
  }
};

// Of types without a sign, numbers that would be negative in one with it.
template <typename Shape>
AOTC_LANE_MAP int ElementA(int row, int k) {
  return (row * 7 + k * 3) % 19 - 9 + Shape::kShiftA;
}
template <typename Shape>
AOTC_LANE_MAP int ElementB(int k, int column) {
  return (k * 5 + column * 11) % 17 - 8 + Shape::kShiftB;
}

// `wrong` plants an error in the lane map of A.
template <typename Shape, bool kGeneric>
static __global__ void Multiply(typename Shape::Value* out, bool wrong) {
  constexpr int kPacked = Shape::kPacked, kBits = 32 / kPacked;
  const int lane = static_cast<int>(aotc_lane());
  uint32_t a[4] = {}, b[2] = {};
  for (int i = 0; i < 4 * kPacked; ++i) {
    const aotc_matrix_position at = Shape::MapA(wrong ? lane ^ 1 : lane, i);
    const uint32_t bits = Shape::Bits(ElementA<Shape>(at.row, at.column));
    a[i / kPacked] |= bits << (i % kPacked * kBits % 32);
  }
  for (int i = 0; i < 2 * kPacked; ++i) {
    const aotc_matrix_position at = Shape::MapB(lane, i);
    const uint32_t bits = Shape::Bits(ElementB<Shape>(at.row, at.column));
    b[i / kPacked] |= bits << (i % kPacked * kBits % 32);
  }
  typename Shape::Value c[4], d[4];
  for (int i = 0; i < 4; ++i) {
    const aotc_matrix_position at = aotc_mma_c_position(lane, i);
    c[i] = static_cast<typename Shape::Value>(at.row + 100 * at.column);
  }
  if (kGeneric) {
    aotc_mma_generic<typename Shape::Dot>(d, a, b, c);
  } else {
    Shape::Mma(d, a, b, c);
  }
  for (int i = 0; i < 4; ++i) {
    const aotc_matrix_position at = aotc_mma_c_position(lane, i);
    out[8 * at.row + at.column] = d[i];
  }
}

template <typename Shape>
Vector<typename Shape::Value> BruteForce() {
  Vector<typename Shape::Value> want(16 * 8);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      int sum = row + 100 * column;
      for (int k = 0; k < Shape::kK; ++k) {
        sum += ElementA<Shape>(row, k) * ElementB<Shape>(k, column);
      }
      want[8 * row + column] = static_cast<typename Shape::Value>(sum);
    }
  }
  return want;
}

template <typename Shape>
class Mma : public testing::Test {};
using Shapes =
    testing::Types<F16Shape, Tf32Shape, BytesShape<int8_t, int8_t>, BytesShape<uint8_t, int8_t>,
                   BytesShape<int8_t, uint8_t>, BytesShape<uint8_t, uint8_t>>;
TYPED_TEST_SUITE(Mma, Shapes);

TYPED_TEST(Mma, AgreesWithBruteForce) {
  Vector<typename TypeParam::Value> out(16 * 8);
  ASSERT_EQ(LaunchAndWait(Line(1, 32, "mma"), Multiply<TypeParam, false>, out.data(), false),
            cudaSuccess)
      << last_fault;
  EXPECT_EQ(out, BruteForce<TypeParam>());
}

TYPED_TEST(Mma, OfShufflesAgreesWithBruteForce) {
  Vector<typename TypeParam::Value> out(16 * 8);
  ASSERT_EQ(LaunchAndWait(Line(1, 32, "mma"), Multiply<TypeParam, true>, out.data(), false),
            cudaSuccess)
      << last_fault;
  EXPECT_EQ(out, BruteForce<TypeParam>());
}

TYPED_TEST(Mma, DiffersWithAWrongLaneMap) {
  Vector<typename TypeParam::Value> out(16 * 8);
  ASSERT_EQ(LaunchAndWait(Line(1, 32, "mma"), Multiply<TypeParam, false>, out.data(), true),
            cudaSuccess);
  EXPECT_NE(out, BruteForce<TypeParam>());
}

TEST(LaneMaps, CoverEachElementOnce) {
  using Map = aotc_matrix_position (*)(int, int);
  const auto covers = [](Map map, int elements, int rows, int columns) {
    Vector<int> seen(static_cast<size_t>(rows * columns), 0);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < elements; ++i) {
        const aotc_matrix_position at = map(lane, i);
        ++seen.at(static_cast<size_t>(at.row * columns + at.column));
      }
    }
    return seen == Vector<int>(seen.size(), 1);
  };
  EXPECT_TRUE(covers(aotc_mma_m16n8k16_a_position, 8, 16, 16));
  EXPECT_TRUE(covers(aotc_mma_m16n8k16_b_position, 4, 16, 8));
  EXPECT_TRUE(covers(aotc_mma_m16n8k8_a_position, 4, 16, 8));
  EXPECT_TRUE(covers(aotc_mma_m16n8k8_b_position, 2, 8, 8));
  EXPECT_TRUE(covers(aotc_mma_m16n8k32_a_position, 16, 16, 32));
  EXPECT_TRUE(covers(aotc_mma_m16n8k32_b_position, 8, 32, 8));
  EXPECT_TRUE(covers(aotc_mma_c_position, 4, 16, 8));
}

// The formulas of the PTX ISA, written out for single cases.
static_assert(aotc_mma_m16n8k16_a_position(5, 3).row == 9);
static_assert(aotc_mma_m16n8k16_a_position(5, 3).column == 3);
static_assert(aotc_mma_m16n8k16_a_position(5, 4).row == 1);
static_assert(aotc_mma_m16n8k16_a_position(5, 4).column == 10);
static_assert(aotc_mma_m16n8k16_b_position(6, 3).row == 13);
static_assert(aotc_mma_m16n8k16_b_position(6, 3).column == 1);
static_assert(aotc_mma_m16n8k8_a_position(6, 2).row == 1);
static_assert(aotc_mma_m16n8k8_a_position(6, 2).column == 6);
static_assert(aotc_mma_m16n8k32_a_position(6, 9).row == 1);
static_assert(aotc_mma_m16n8k32_a_position(6, 9).column == 25);

static __global__ void LoadMatrices(uint32_t* plain, uint32_t* transposed) {
  AOTC_SHARED(uint16_t, rows, 32 * 8);
  const unsigned lane = aotc_lane();
  for (unsigned i = 0; i < 8; ++i) rows[8 * lane + i] = static_cast<uint16_t>(100 * lane + i);
  aotc_syncwarp();
  aotc_ldmatrix<4, false>(plain + 4 * lane, &rows[8 * lane]);
  aotc_ldmatrix<4, true>(transposed + 4 * lane, &rows[8 * lane]);
}

TEST(MatrixLoads, ArePlainAndTransposed) {
  Vector<uint32_t> plain(128), transposed(128);
  ASSERT_EQ(LaunchAndWait(Line(1, 32, "ldmatrix"), LoadMatrices, plain.data(), transposed.data()),
            cudaSuccess)
      << last_fault;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t row = 8 * j + lane / 4, column = lane % 4 * 2;
      EXPECT_EQ(plain[4 * lane + j], (100 * row + column) | (100 * row + column + 1) << 16);
      const uint32_t low = 100 * (8 * j + column) + lane / 4;
      EXPECT_EQ(transposed[4 * lane + j], low | (low + 100) << 16);
    }
  }
}

#if defined(AOTC_CUDA_EMULATE)  // nvcc makes these conversions functions of the device

TEST(HalfFloats, ConvertBothWaysForAllPatterns) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = aotc_f16_to_f32(static_cast<uint16_t>(bits));
    _Float16 native;
    const uint16_t narrow = static_cast<uint16_t>(bits);
    std::memcpy(&native, &narrow, sizeof native);
    if (value != value) {
      EXPECT_NE(native, native);
      continue;
    }
    ASSERT_EQ(value, static_cast<float>(native)) << bits;
    ASSERT_EQ(aotc_f16_from_f32(value), bits);
    for (const float factor :
         {1.0f + 0x1p-11f, 1.0f - 0x1p-11f, 1.0f + 0x1p-12f, 1.0f + 0x3p-11f}) {
      const _Float16 rounded = static_cast<_Float16>(value * factor);
      uint16_t want;
      std::memcpy(&want, &rounded, sizeof want);
      ASSERT_EQ(aotc_f16_from_f32(value * factor), want) << value * factor;
    }
  }
}

#endif

}  // namespace
