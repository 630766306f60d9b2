// Kernels for tests of the CUDA target: each with the realisation that its rules must choose, and
// the sizes that it is run at.
#ifndef AOTC_TESTS_UNIT_CUDA_KERNEL_CASES_H_
#define AOTC_TESTS_UNIT_CUDA_KERNEL_CASES_H_

#include <string>
#include <vector>

#include "compiler/eval/evaluate.h"

namespace aotc {

struct CudaKernelCase {
  const char* schedule;  // of the chosen one and its reason: "by row_groups(32, "
  const char* text;
  std::vector<SymbolValues> sizes = {{}};
};

inline std::vector<CudaKernelCase> RowCases() {
  return {
      {"by row_groups(32, 32)", R"(
kernel @softmax_row(in %x: f32[1, 10], out %y: f32[1, 10]) {
  temp %top: f32[1, 1]
  temp %e: f32[1, 10]
  temp %sum: f32[1, 1]
  %top[i<1, j<1] = reduce max(k<10) %x[0, k]
  %e[i<1, j<10] = exp(%x[0, j] - %top[0, 0])
  %sum[i<1, j<1] = reduce sum(k<10) %e[0, k]
  %y[i<1, j<10] = %e[0, j] / %sum[0, 0]
})"},
      {"by row_groups(32, 128)",
       R"(
kernel @softmax_rows(in %x: f32[m, 100], out %y: f32[m, 100]) {
  symbol m in 1..200
  temp %top: f32[m]
  temp %e: f32[m, 100]
  temp %sum: f32[m]
  %top[i<m] = reduce max(k<100) %x[i, k]
  %e[i<m, j<100] = exp(%x[i, j] - %top[i])
  %sum[i<m] = reduce sum(k<100) %e[i, k]
  %y[i<m, j<100] = %e[i, j] / %sum[i]
})",
       {{{"m", 1}}, {{"m", 7}}, {{"m", 200}}}},
      {"by row_groups(128, 128)", R"(
kernel @layer_norm(in %x: f32[5, 700], const %g: f32[700], out %y: f32[5, 700]) {
  temp %sum: f32[5]
  temp %d: f32[5, 700]
  temp %square: f32[5]
  %sum[i<5] = reduce sum(k<700) %x[i, k]
  %d[i<5, j<700] = %x[i, j] - %sum[i] / 700.0
  %square[i<5] = reduce sum(k<700) %d[i, k] * %d[i, k]
  %y[i<5, j<700] = %d[i, j] / sqrt(%square[i] / 700.0 + 0.001) * %g[j]
})"},
      // The temp of a row does not fit in shared memory.
      {"by row_groups(1024, 1024)", R"(
kernel @softmax_long(in %x: f32[2, 20000], out %y: f32[2, 20000]) {
  temp %top: f32[2]
  temp %e: f32[2, 20000]
  temp %sum: f32[2]
  %top[i<2] = reduce max(k<20000) %x[i, k]
  %e[i<2, j<20000] = exp(%x[i, j] - %top[i])
  %sum[i<2] = reduce sum(k<20000) %e[i, k]
  %y[i<2, j<20000] = %e[i, j] / %sum[i]
})"},
  };
}

inline std::vector<CudaKernelCase> ReductionCases() {
  return {
      // A temp that is read reversed needs a barrier.
      {"by row_groups(32, 128)", R"(
kernel @reversed(in %x: f32[6, 40], out %y: f32[6, 40]) {
  temp %e: f32[6, 40]
  temp %sum: f32[6]
  %e[i<6, j<40] = %x[i, j] * 2.0
  %sum[i<6] = reduce sum(k<40) %e[i, k]
  %y[i<6, j<40] = %e[i, 39 - j] + %sum[i]
})"},
      {"by row_groups(32, 128)", R"(
kernel @pool(in %x: f32[2, 9, 7, 7], out %y: f32[2, 9]) {
  temp %sum: f32[2, 9]
  %sum[n<2, c<9] = reduce sum(h<7, w<7) %x[n, c, h, w]
  %y[n<2, c<9] = %sum[n, c] / 49.0
})"},
      // Of a temp that only the row knows: neighbouring rows do not lie side by side.
      {"by row_groups(32, 128)", R"(
kernel @relu_pool(in %x: f32[1100, 7, 7], out %y: f32[1100]) {
  temp %r: f32[1100, 7, 7]
  %r[c<1100, h<7, w<7] = max(%x[c, h, w], 0.0)
  %y[c<1100] = reduce sum(h<7, w<7) %r[c, h, w]
})"},
      {"by threads(128)", R"(
kernel @columns(in %x: f32[40, 1100], out %y: f32[1100]) {
  %y[j<1100] = reduce sum(i<40) %x[i, j]
})"},
      {"by threads(128)", R"(
kernel @windows(in %x: f32[41, 41], out %y: f32[40, 40]) {
  %y[i<40, j<40] = reduce max(a<2, b<2) %x[i + a, j + b]
})"},
      {"by row_groups(256, 256)", R"(
kernel @whole(in %x: f32[50, 80], out %y: f32[1]) {
  %y[i<1] = reduce max(a<50, b<80) %x[a, b]
})"},
      {"by row_groups(8, 128)", R"(
kernel @argmax(in %x: f32[300, 8], out %y: i64[300]) {
  temp %best: f32[300]
  %best[i<300], %y[i<300] = reduce argmax(k<8) (%x[i, k], k) identity (-inf, 9223372036854775807)
    combine (max(a0, b0), select(a0 < b0 || a0 == b0 && b1 < a1, b1, a1))
})"},
      {"by row_groups(32, 128)", R"(
kernel @half_rows(in %x: f16[33, 64], out %y: f16[33, 64]) {
  temp %sum: f32[33]
  %sum[i<33] = reduce sum(k<64) f32(%x[i, k])
  %y[i<33, j<64] = f16(f32(%x[i, j]) - %sum[i])
})"},
  };
}

inline std::vector<CudaKernelCase> ElementwiseCases() {
  return {
      {"by packs(4, 128) }; neighbouring elements lie together;",
       R"(
kernel @add_relu(in %x: f32[m, 20], in %b: f32[20], out %y: f32[m, 20]) {
  symbol m in 1..70
  %y[i<m, j<20] = max(%x[i, j] + %b[j], 0.0)
})",
       {{{"m", 1}}, {{"m", 70}}}},
      {"by packs(8, 128) }; neighbouring elements lie together;", R"(
kernel @half_scale(in %x: f16[3, 64], in %s: f16[3], out %y: f16[3, 64]) {
  %y[i<3, j<64] = f16(f32(%x[i, j]) * f32(%s[i]))
})"},
      {"by packs(2, 128) }; neighbouring elements lie together;", R"(
kernel @two_outputs(in %x: f32[5, 6], out %p: f32[5, 6], out %q: i64[5, 6]) {
  %p[i<5, j<6], %q[i<5, j<6] = (%x[i, j] * 3.0, i64(%x[i, j] < 0.0))
})"},
      {"by packs(4, 128) }; neighbouring elements lie together, and threads stride over the grid",
       R"(
kernel @large(in %x: f32[m, 512], out %y: f32[m, 512]) {
  symbol m in 1..100000
  %y[i<m, j<512] = -%x[i, j]
})",
       {{{"m", 3}}, {{"m", 300}}}},
      // Parts begin at multiples of a pack; which one is read does not change within a pack.
      {"by packs(4, 128) }; neighbouring elements lie together;", R"(
kernel @concat(in %a: f32[2, 3, 8], in %b: f32[2, 4, 8], out %y: f32[2, 7, 8]) {
  %y[n<2, c<7, i<8] = select(c < 3, %a[n, c, i], %b[n, c - 3, i])
})"},
      {"by packs(4, 128) }; neighbouring elements lie together;", R"(
kernel @rows_at(in %x: f32[9, 12], out %y: f32[5, 12]) {
  %y[i<5, j<12] = %x[2 * i, j] + %x[8 - 2 * i, j]
})"},
      {"by packs(4, 128) }; neighbouring elements lie together;", R"(
kernel @column(in %x: f32[1, 16, 1], out %y: f32[1, 16, 1]) {
  %y[n<1, i<16, j<1] = exp(%x[0, i, 0])
})"},
      {"by threads(128)", R"(
kernel @odd(in %x: f32[3, 7], in %b: f32[3], out %y: f32[3, 7]) {
  %y[i<3, j<7] = %x[i, j] + %b[i]
})"},
      {"by threads(128)", R"(
kernel @shifted(in %x: f32[3, 9], out %y: f32[3, 8]) {
  %y[i<3, j<8] = %x[i, j + 1]
})"},
      {"by threads(128)", R"(
kernel @strided(in %x: f32[3, 16], out %y: f32[3, 8]) {
  %y[i<3, j<8] = %x[i, 2 * j]
})"},
  };
}

inline std::vector<CudaKernelCase> TransposeCases() {
  return {
      {"by transpose_tile(8)",
       R"(
kernel @turn(in %x: f32[m, 50], out %y: f32[50, m]) {
  symbol m in 1..70
  %y[i<50, j<m] = %x[j, i]
})",
       {{{"m", 1}}, {{"m", 32}}, {{"m", 70}}}},
      {"by transpose_tile(8)", R"(
kernel @channels_last(in %x: f16[2, 40, 5, 7], in %b: f16[40], out %y: f16[2, 5, 7, 40]) {
  %y[n<2, h<5, w<7, c<40] = f16(max(f32(%x[n, c, h, w]) + f32(%b[c]), 0.0))
})"},
      {"by transpose_tile(8)", R"(
kernel @shuffle(in %x: f32[2, 3, 17, 20], out %y: f32[2, 20, 3, 17]) {
  %y[n<2, i<20, g<3, c<17] = %x[n, g, c, i]
})"},
      {"by threads(128)", R"(
kernel @few(in %x: f32[64, 3], out %y: f32[3, 64]) {
  %y[c<3, i<64] = %x[i, c]
})"},
      {"by packs(", R"(
kernel @outer_axes(in %x: f32[3, 5, 64], out %y: f32[5, 3, 64]) {
  %y[i<5, j<3, k<64] = %x[j, i, k]
})"},
  };
}

inline std::vector<CudaKernelCase> ContractionCases() {
  return {
      // A convolution as weights x pixels: both operands in runs of eight.
      {"by mma_tile(64, 64, 32, 32, 32, 8, 8, 1)", R"(
kernel @half_pointwise(in %x: f16[1, 32, 8, 9], const %w: f16[40, 32, 1, 1], in %b: f16[40],
                       out %y: f16[1, 40, 8, 9]) {
  temp %acc: f32[1, 40, 8, 9]
  %acc[n<1, o<40, h<8, w<9] = reduce sum(c<32, p<1, q<1)
    f32(%x[n, c, h, w]) * f32(%w[o, c, 0, 0])
  %y[n<1, o<40, h<8, w<9] = f16(max(%acc[n, o, h, w] + f32(%b[o]), 0.0))
})"},
      // Padding comes and goes within a row: elements one by one.
      {"by mma_tile(32, 64, 32, 16, 32, 2, 1, 1)", R"(
kernel @half_conv(in %x: f16[2, 6, 7, 7], const %w: f16[20, 6, 3, 3], out %y: f16[2, 20, 7, 7]) {
  temp %acc: f32[2, 20, 7, 7]
  %acc[n<2, o<20, h<7, w<7] = reduce sum(c<6, p<3, q<3)
    select(1 <= h + p && h + p < 8 && 1 <= w + q && w + q < 8,
           f32(%x[n, c, h + p - 1, w + q - 1]), 0.0) * f32(%w[o, c, p, q])
  %y[n<2, o<20, h<7, w<7] = f16(%acc[n, o, h, w])
})"},
      {"by mma_tile(64, 32, 32, 32, 16, 8, 8, 1)",
       R"(
kernel @half_dense(in %x: f16[m, 48], const %w: f16[48, 24], in %r: f16[m, 24],
                   out %y: f16[m, 24]) {
  symbol m in 1..70
  temp %acc: f32[m, 24]
  %acc[i<m, j<24] = reduce sum(k<48) f32(%x[i, k]) * f32(%w[k, j])
  %y[i<m, j<24] = f16(max(%acc[i, j], 0.0) + f32(%r[i, j]))
})",
       {{{"m", 1}}, {{"m", 33}}, {{"m", 70}}}},
      {"by mma_tile(32, 32, 32, 16, 16, 8, 8, 0)", R"(
kernel @half_heads(in %q: f16[2, 3, 20, 40], in %k: f16[2, 3, 20, 40], out %s: f32[2, 3, 20, 20]) {
  %s[b<2, h<3, i<20, j<20] = reduce sum(k<40) f32(%q[b, h, i, k]) * f32(%k[b, h, j, k])
})"},
      // Bytes whose padding is a zero point, requantised.
      {"by mma_tile_int8(16, 64, 64, 16, 16, 4, 1, 1)", R"(
kernel @quantised_conv(in %x: u8[1, 12, 9, 11], const %w: i8[13, 12, 3, 3], const %b: i32[13],
                       out %y: u8[1, 13, 9, 11]) {
  temp %acc: i32[1, 13, 9, 11]
  %acc[n<1, c<13, h<9, w<11] = reduce sum(k<12, p<3, q<3)
    select(1 <= h + p && h + p < 10 && 1 <= w + q && w + q < 12,
           i32(%x[0, k, h + p - 1, w + q - 1]), i32:131) * i32(%w[c, k, p, q])
  %y[n<1, c<13, h<9, w<11] = u8(round(f32(%acc[0, c, h, w] + %b[c]) * 0.0021) + 7.0)
})"},
      // Rows of one operand lie along k, those of the other along n, which is turned.
      {"by mma_tile_int8(64, 64, 64, 32, 32, 16, 16, 1)",
       R"(
kernel @byte_product(in %a: i8[m, 96], in %b: u8[96, 80], out %y: i32[m, 80]) {
  symbol m in 33..70
  %y[i<m, j<80] = reduce sum(k<96) i32(%a[i, k]) * i32(%b[k, j])
})",
       {{{"m", 33}}, {{"m", 70}}}},
  };
}

inline std::vector<CudaKernelCase> MatmulCases() {
  return {
      // Too few results for tensor cores.
      {"by matmul_tile(16, 16, 16, ", R"(
kernel @half_few(in %x: f16[6, 40], const %w: f16[40, 7], out %y: f16[6, 7]) {
  temp %acc: f32[6, 7]
  %acc[i<6, j<7] = reduce sum(k<40) f32(%x[i, k]) * f32(%w[k, j])
  %y[i<6, j<7] = f16(%acc[i, j])
})"},
      {"by matmul_tile(64, 64, 16, 4, 4, 1, 0)",
       R"(
kernel @dense(in %x: f32[m, 50], const %w: f32[50, 40], out %y: f32[m, 40]) {
  symbol m in 1..130
  temp %acc: f32[m, 40]
  %acc[i<m, j<40] = reduce sum(k<50) %x[i, k] * %w[k, j]
  %y[i<m, j<40] = max(%acc[i, j], 0.0)
})",
       {{{"m", 1}}, {{"m", 65}}, {{"m", 130}}}},
      {"by matmul_tile(64, 64, 16, 4, 4, 0, 1)", R"(
kernel @conv(in %x: f32[1, 5, 9, 9], const %w: f32[24, 5, 3, 3], out %y: f32[1, 24, 9, 9]) {
  %y[n<1, o<24, h<9, w<9] = reduce sum(c<5, p<3, q<3)
    select(1 <= h + p && h + p < 10 && 1 <= w + q && w + q < 10,
           %x[n, c, h + p - 1, w + q - 1], 0.0) * %w[o, c, p, q]
})"},
      {"by row_groups(32, 128)", R"(
kernel @vector(in %x: f32[1, 200], const %w: f32[30, 200], in %b: f32[30], out %y: f32[1, 30]) {
  temp %acc: f32[1, 30]
  %acc[i<1, j<30] = reduce sum(k<200) %x[0, k] * %w[j, k]
  %y[i<1, j<30] = %acc[0, j] + %b[j]
})"},
  };
}

// The channels of a group share its input channels only.
// Statistics over channels: each group, or channel, has a part of them only.
inline std::vector<CudaKernelCase> GroupStatisticCases() {
  return {
      {"by threads(128)", R"(
kernel @grouped_sum(in %x: f32[2, 9, 6], const %w: f32[18, 1, 1], out %y: f32[2, 18, 6],
                    out %s: f32[2, 6]) {
  %y[n<2, o<18, w<6] = reduce sum(c<1, q<1) %x[n, floor_div(o, 2), w] * %w[o, 0, 0]
  %s[n<2, w<6] = reduce sum(o<18) min(%y[n, o, w], 0.75)
})"},
      {"by threads(128)", R"(
kernel @depthwise_sum(in %x: f32[2, 6, 30], const %w: f32[6, 1, 5], out %y: f32[2, 6, 26],
                      out %s: f32[2, 26]) {
  %y[n<2, o<6, w<26] = reduce sum(c<1, q<5) %x[n, o, w + q] * %w[o, 0, q]
  %s[n<2, w<26] = reduce sum(o<6) %y[n, o, w]
})"},
      {"by threads(128)", R"(
kernel @depthwise_top(in %x: f32[2, 6, 30], const %w: f32[6, 1, 5], out %y: f32[2, 6, 26],
                      out %s: f32[2, 6]) {
  %y[n<2, o<6, w<26] = reduce sum(c<1, q<5) %x[n, o, w + q] * %w[o, 0, q]
  %s[n<2, o<6] = reduce max(w<26) %y[n, o, w]
})"},
  };
}

inline std::vector<CudaKernelCase> GroupCases() {
  return {
      {"by matmul_tile(64, 64, 16, ", R"(
kernel @groups(in %x: f32[2, 12, 6, 6], const %w: f32[60, 4, 1, 1], out %y: f32[2, 60, 6, 6]) {
  %y[n<2, o<60, h<6, w<6] = reduce sum(c<4, p<1, q<1)
    %x[n, floor_div(o, 20)*4 + c, h, w] * %w[o, c, 0, 0]
})"},
      {"by mma_tile(32, 32, 32, 16, 16, 8, 1, 1)", R"(
kernel @half_groups(in %x: f16[1, 48, 6, 8], const %w: f16[48, 24, 3, 3],
                    out %y: f16[1, 48, 4, 6]) {
  temp %acc: f32[1, 48, 4, 6]
  %acc[n<1, o<48, h<4, w<6] = reduce sum(c<24, p<3, q<3)
    f32(%x[n, floor_div(o, 24)*24 + c, h + p, w + q]) * f32(%w[o, c, p, q])
  %y[n<1, o<48, h<4, w<6] = f16(%acc[n, o, h, w])
})"},
      {"by depthwise_tile(3, 3, ", R"(
kernel @depthwise(in %x: f32[1, 6, 8, 9], const %w: f32[6, 1, 3, 3], out %y: f32[1, 6, 6, 7]) {
  temp %acc: f32[1, 6, 6, 7]
  %acc[n<1, o<6, h<6, w<7] = reduce sum(c<1, p<3, q<3) %x[n, o, h + p, w + q] * %w[o, 0, p, q]
  %y[a<1, b<6, i<6, j<7] = max(%acc[a, b, i, j], 0.0)
})"},
      {"by depthwise_tile(1, 5, ", R"(
kernel @depthwise_line(in %x: f32[2, 6, 30], const %w: f32[6, 1, 5], out %y: f32[2, 6, 26]) {
  %y[n<2, o<6, w<26] = reduce sum(c<1, q<5) %x[n, o, w + q] * %w[o, 0, q]
})"},
      {"by row_groups(32, ", R"(
kernel @depthwise_wide(in %x: f32[1, 3, 20, 20], const %w: f32[3, 1, 9, 9],
                       out %y: f32[1, 3, 12, 12]) {
  %y[n<1, o<3, h<12, w<12] = reduce sum(c<1, p<9, q<9) %x[n, o, h + p, w + q] * %w[o, 0, p, q]
})"},
  };
}

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_CUDA_KERNEL_CASES_H_
