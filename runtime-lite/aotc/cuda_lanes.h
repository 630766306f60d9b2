// Which element of a matrix a lane holds in which register: the maps of the mma instructions (PTX
// ISA, "Matrix Fragments for mma"). Kernels, the emulation and tests all use these.
// Example: element i of lane l of A of m16n8k16 is A[p.row][p.column] with
//   const aotc_matrix_position p = aotc_mma_m16n8k16_a_position(l, i);
#ifndef AOTC_CUDA_LANES_H_
#define AOTC_CUDA_LANES_H_

#if defined(__CUDACC__)
#define AOTC_LANE_MAP static __host__ __device__ constexpr inline
#else
#define AOTC_LANE_MAP static constexpr inline
#endif

struct aotc_matrix_position {
  int row, column;
};

// A register holds `packed` neighbours of a row of A: lanes 4r .. 4r+3 hold row r (and r + 8).
AOTC_LANE_MAP aotc_matrix_position aotc_mma_a_position(int lane, int element, int packed) {
  return {lane / 4 + element / packed % 2 * 8,
          lane % 4 * packed + element % packed + element / (2 * packed) * 4 * packed};
}

// A register holds `packed` neighbours of a column of B: lanes 4c .. 4c+3 hold column c.
AOTC_LANE_MAP aotc_matrix_position aotc_mma_b_position(int lane, int element, int packed) {
  return {lane % 4 * packed + element % packed + element / packed * 4 * packed, lane / 4};
}

// Accumulators and results, 16x8, 4 elements a lane; the same for all three shapes.
AOTC_LANE_MAP aotc_matrix_position aotc_mma_c_position(int lane, int element) {
  return {lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2};
}

// f16: A is 16x16, 8 elements a lane; B is 16x8, 4 elements a lane.
AOTC_LANE_MAP aotc_matrix_position aotc_mma_m16n8k16_a_position(int lane, int element) {
  return aotc_mma_a_position(lane, element, 2);
}
AOTC_LANE_MAP aotc_matrix_position aotc_mma_m16n8k16_b_position(int lane, int element) {
  return aotc_mma_b_position(lane, element, 2);
}

// tf32: A is 16x8, 4 elements a lane; B is 8x8, 2 elements a lane.
AOTC_LANE_MAP aotc_matrix_position aotc_mma_m16n8k8_a_position(int lane, int element) {
  return aotc_mma_a_position(lane, element, 1);
}
AOTC_LANE_MAP aotc_matrix_position aotc_mma_m16n8k8_b_position(int lane, int element) {
  return aotc_mma_b_position(lane, element, 1);
}

// Bytes: A is 16x32, 16 elements a lane; B is 32x8, 8 elements a lane.
AOTC_LANE_MAP aotc_matrix_position aotc_mma_m16n8k32_a_position(int lane, int element) {
  return aotc_mma_a_position(lane, element, 4);
}
AOTC_LANE_MAP aotc_matrix_position aotc_mma_m16n8k32_b_position(int lane, int element) {
  return aotc_mma_b_position(lane, element, 4);
}

#endif  // AOTC_CUDA_LANES_H_
