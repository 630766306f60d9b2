#include "compiler/targets/cuda/tiles.h"

namespace aotc {
namespace {

constexpr int64_t kBlocks[] = {16, 32, 64, 128};
constexpr int64_t kSteps[] = {16, 32};
constexpr int64_t kByteSteps[] = {32, 64};
constexpr int64_t kThreadTiles[] = {2, 4, 8};
constexpr int64_t kFlag[] = {0, 1};
constexpr int64_t kWarpRows[] = {16, 32, 64};
constexpr int64_t kWarpColumns[] = {8, 16, 32, 64, 128};
constexpr int64_t kRuns[] = {1, 2, 4, 8};
constexpr int64_t kByteRuns[] = {1, 4, 8, 16};
constexpr int64_t kTaps[] = {1, 2, 3, 4, 5, 6, 7};
constexpr int64_t kAnyStride[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr int64_t kOutputs[] = {1, 2, 4, 8};
constexpr int64_t kThreadRows[] = {1, 2, 4, 8, 16, 32};
constexpr int64_t kPack[] = {1, 2, 4, 8, 16};
constexpr int64_t kWarpParts[] = {2, 4, 8, 16, 32};
constexpr int64_t kBlockThreads[] = {32, 64, 128, 256, 512, 1024};

// --- Contractions -------------------------------------------------------------------------------

constexpr std::string_view kRange[] = {"m_begin", "n_begin", "m_end", "n_end", "k_end"};

constexpr TileParam kMatmulParams[] = {{"block_m", kBlocks},       {"block_n", kBlocks},
                                       {"block_k", kSteps},        {"thread_m", kThreadTiles},
                                       {"thread_n", kThreadTiles}, {"a_by_k", kFlag},
                                       {"b_by_k", kFlag}};

// Two stages, whose rows are padded by four elements.
TileNeeds MatmulNeeds(std::span<const int64_t> p, int) {
  const int64_t threads = p[0] / p[3] * (p[1] / p[4]);
  const bool even = p[0] * p[2] % threads == 0 && p[1] * p[2] % threads == 0;
  return {.shared_bytes = 2 * p[2] * (p[0] + 4 + p[1] + 4) * 4,
          .threads = threads,
          .conflict = even ? "" : "threads do not share the loads evenly"};
}

constexpr std::string_view kMatmulText = R"(
kernel @matmul_tile(in %a: f32[m_end, k_end], in %b: f32[k_end, n_end],
                    out %y: f32[m_end, n_end]) {
  symbol block_m in 16..128
  symbol block_n in 16..128
  symbol m_begin in 0..1048576
  symbol n_begin in 0..1048576
  symbol m_end in 0..1048576
  symbol n_end in 0..1048576
  symbol k_end in 0..1048576
  %y[m<m_end, n<n_end] = reduce sum(k<k_end) %a[m, k] * %b[k, n]
})";

constexpr TileParam kMmaParams[] = {
    {"block_m", kBlocks},     {"block_n", kBlocks}, {"block_k", kSteps}, {"warp_m", kWarpRows},
    {"warp_n", kWarpColumns}, {"a_run", kRuns},     {"b_run", kRuns},    {"b_along_n", kFlag}};

constexpr TileRun kMmaRuns[] = {{"a", ""}, {"b", "b_along_n"}};

// Two stages, whose rows are padded by eight elements.
TileNeeds MmaNeeds(std::span<const int64_t> p, int) {
  const int64_t b_stage = p[7] != 0 ? p[2] * (p[1] + 8) : p[1] * (p[2] + 8);
  return {.shared_bytes = 2 * (p[0] * (p[2] + 8) + b_stage) * 2,
          .threads = 32 * (p[0] / p[3]) * (p[1] / p[4]),
          .conflict = p[3] <= p[0] && p[4] <= p[1] ? "" : "a warp's tile is larger than a block's"};
}

constexpr std::string_view kMmaText = R"(
kernel @mma_tile(in %a: f16[m_end, k_end], in %b: f16[k_end, n_end],
                 out %y: f32[m_end, n_end]) {
  symbol block_m in 16..128
  symbol block_n in 16..128
  symbol m_begin in 0..1048576
  symbol n_begin in 0..1048576
  symbol m_end in 0..1048576
  symbol n_end in 0..1048576
  symbol k_end in 0..1048576
  %y[m<m_end, n<n_end] = reduce sum(k<k_end) f32(%a[m, k]) * f32(%b[k, n])
})";

constexpr TileParam kMmaInt8Params[] = {
    {"block_m", kBlocks},     {"block_n", kBlocks}, {"block_k", kByteSteps}, {"warp_m", kWarpRows},
    {"warp_n", kWarpColumns}, {"a_run", kByteRuns}, {"b_run", kByteRuns},    {"b_along_n", kFlag}};
constexpr DType kBytes[] = {DType::kU8, DType::kI8};
constexpr TileStorage kBytesOfBoth[] = {{"a", kBytes}, {"b", kBytes}};

// Two stages, both along k, whose rows are padded by 16 elements.
TileNeeds MmaInt8Needs(std::span<const int64_t> p, int lanes) {
  TileNeeds needs = MmaNeeds(p, lanes);
  needs.shared_bytes = 2 * (p[0] + p[1]) * (p[2] + 16);
  return needs;
}

constexpr std::string_view kMmaInt8Text = R"(
kernel @mma_tile_int8(in %a: i32[m_end, k_end], in %b: i32[k_end, n_end],
                      out %y: i32[m_end, n_end]) {
  symbol block_m in 16..128
  symbol block_n in 16..128
  symbol m_begin in 0..1048576
  symbol n_begin in 0..1048576
  symbol m_end in 0..1048576
  symbol n_end in 0..1048576
  symbol k_end in 0..1048576
  %y[m<m_end, n<n_end] = reduce sum(k<k_end) %a[m, k] * %b[k, n]
})";

// --- Attention ----------------------------------------------------------------------------------

constexpr int64_t kWidths[] = {16, 32, 64, 96, 128};
constexpr int64_t kBlockRows[] = {16, 32, 64};
constexpr int64_t kThreadRowsOfBlock[] = {1, 2, 4};

constexpr TileParam kAttentionParams[] = {
    {"block_rows", kBlockRows}, {"block_keys", kBlockRows},          {"most_depth", kWidths},
    {"most_columns", kWidths},  {"thread_rows", kThreadRowsOfBlock}, {"keys_by_key", kFlag},
    {"values_by_key", kFlag}};
constexpr std::string_view kAttentionExtents[] = {"row_begin", "rows",  "key_begin",
                                                  "keys",      "depth", "columns"};
constexpr TileBound kAttentionBounds[] = {{"depth", "most_depth"}, {"columns", "most_columns"}};

// Queries and keys, whose rows are padded by four elements, values, and weights, padded too.
TileNeeds AttentionNeeds(std::span<const int64_t> p, int) {
  const int64_t floats = (p[0] + p[1]) * (p[2] + 4) + p[1] * p[3] + p[0] * (p[1] + 4);
  const int64_t threads = p[0] / p[4] * 8;
  const bool even = p[1] * p[2] % threads == 0 && p[1] * p[3] % threads == 0;
  return {.shared_bytes = floats * 4,
          .threads = threads,
          .conflict = even ? "" : "threads do not share the loads evenly"};
}

constexpr std::string_view kAttentionText = R"(
kernel @attention_tile(in %q: f32[rows, depth], in %k: f32[key_begin + keys, depth],
                       in %score: f32[rows, key_begin + keys],
                       in %v: f32[key_begin + keys, columns],
                       out %y: f32[rows, columns]) {
  symbol block_rows in 16..64
  symbol most_depth in 16..128
  symbol most_columns in 16..128
  symbol row_begin in 0..1048576
  symbol rows in 0..1048576
  symbol key_begin in 0..1048576
  symbol keys in 1..1048576
  symbol depth in 1..128
  symbol columns in 1..128
  temp %s: f32[rows, keys]
  temp %z: f32[rows, keys]
  temp %top: f32[rows]
  temp %t: f32[rows, keys]
  temp %sum: f32[rows]
  temp %p: f32[rows, keys]
  %s[i<rows, j<keys] = reduce sum(d<depth) %q[i, d] * %k[key_begin + j, d]
  %z[i<rows, j<keys] = %s[i, j] + %score[i, key_begin + j]
  %top[i<rows] = reduce max(j<keys) %z[i, j]
  %t[i<rows, j<keys] = exp(%z[i, j] - %top[i])
  %sum[i<rows] = reduce sum(j<keys) %t[i, j]
  %p[i<rows, j<keys] = %t[i, j] / %sum[i]
  %y[i<rows, e<columns] = reduce sum(j<keys) %p[i, j] * %v[key_begin + j, e]
})";

// --- Windows ------------------------------------------------------------------------------------

constexpr TileParam kDepthwiseParams[] = {{"rows", kTaps},
                                          {"columns", kTaps},
                                          {"stride", kAnyStride},
                                          {"dilation", kAnyStride},
                                          {"outputs", kOutputs}};
constexpr std::string_view kRun[] = {"w_begin", "w_end"};

constexpr std::string_view kDepthwiseText = R"(
kernel @depthwise_tile(in %x: f32[rows, w_end * stride + columns * dilation],
                       in %filter: f32[rows, columns], out %y: f32[w_end]) {
  symbol rows in 1..7
  symbol columns in 1..7
  symbol stride in 1..16
  symbol dilation in 1..16
  symbol outputs in 1..8
  symbol w_begin in 0..1048576
  symbol w_end in 1..1048576
  %y[w<w_end] = reduce sum(i<rows, j<columns) %x[i, w * stride + j * dilation] * %filter[i, j]
})";

// --- Moves --------------------------------------------------------------------------------------

constexpr TileParam kTransposeParams[] = {{"thread_rows", kThreadRows}};
constexpr std::string_view kTransposeExtents[] = {"r_begin", "c_begin", "r_end", "c_end"};

TileNeeds TransposeNeeds(std::span<const int64_t> p, int) {
  constexpr int64_t kTile = 32, kMostBytes = 8;
  return {.shared_bytes = kTile * (kTile + 1) * kMostBytes, .threads = kTile * p[0]};
}

constexpr std::string_view kTransposeText = R"(
kernel @transpose_tile(in %x: f32[r_end, c_end], out %y: f32[r_end, c_end]) {
  symbol r_begin in 0..1048576
  symbol c_begin in 0..1048576
  symbol r_end in 0..1048576
  symbol c_end in 0..1048576
  %y[r<r_end, c<c_end] = %x[r, c]
})";

constexpr TileParam kPackParams[] = {{"count", kPack}};

constexpr DType kMovedTypes[] = {DType::kU8, DType::kF16, DType::kBF16, DType::kF32, DType::kF64};
// One access moves them.
constexpr TileSpan kPackSpan = {.least = 2, .most = 16, .types = kMovedTypes};

constexpr std::string_view kPackText = R"(
kernel @move_pack(in %x: f32[count], out %y: f32[count]) {
  symbol count in 1..16
  %y[i<count] = %x[i]
})";

// --- Reductions among threads -------------------------------------------------------------------

constexpr TileParam kWarpParams[] = {{"group", kWarpParts}};
constexpr TileParam kBlockParams[] = {{"group", kBlockThreads}};

TileNeeds BlockNeeds(std::span<const int64_t> p, int) { return {.threads = p[0]}; }

constexpr std::string_view kReduceText = R"(
kernel @reduce(in %x: f32[group], out %y: f32[]) {
  symbol group in 2..1024
  %y[] = reduce sum(i<group) %x[i]
})";

constexpr TileRow kTiles[] = {
    {.name = "matmul_tile",
     .header = "cuda/matmul_tile.cuh",
     .text = kMatmulText,
     .params = kMatmulParams,
     .extents = kRange,
     .box = "m_begin:block_m, n_begin:block_n",
     .result = Fragment::kElement,
     .needs = MatmulNeeds,
     .call = "aotc_matmul_tile<$block_m, $block_n, $block_k, $thread_m, $thread_n, $a_by_k, "
             "$b_by_k>(@a, @b, @y, "
             "aotc_tile_range<$I>{$m_begin, $n_begin, $m_end, $n_end, 0, $k_end})",
     .summary = "contractions in shared memory"},
    {.name = "mma_tile",
     .header = "cuda/mma_tile.cuh",
     .text = kMmaText,
     .params = kMmaParams,
     .extents = kRange,
     .box = "m_begin:block_m, n_begin:block_n",
     .runs = kMmaRuns,
     .result = Fragment::kElement,
     .needs = MmaNeeds,
     .call = "aotc_mma_tile<$block_m, $block_n, $block_k, $warp_m, $warp_n, $a_run, $b_run, "
             "$b_along_n>(@a, @b, @y, "
             "aotc_tile_range<$I>{$m_begin, $n_begin, $m_end, $n_end, 0, $k_end})",
     .summary = "contractions of f16 on tensor cores"},
    {.name = "mma_tile_int8",
     .header = "cuda/mma_tile_int8.cuh",
     .text = kMmaInt8Text,
     .params = kMmaInt8Params,
     .extents = kRange,
     .box = "m_begin:block_m, n_begin:block_n",
     .runs = kMmaRuns,
     .result = Fragment::kElement,
     .stored = kBytesOfBoth,
     .needs = MmaInt8Needs,
     .call = "aotc_mma_tile_int8<$block_m, $block_n, $block_k, $warp_m, $warp_n, $a_run, $b_run, "
             "$b_along_n>(@a, @b, @y, "
             "aotc_tile_range<$I>{$m_begin, $n_begin, $m_end, $n_end, 0, $k_end})",
     .summary = "contractions of bytes on tensor cores"},
    {.name = "attention_tile",
     .header = "cuda/attention_tile.cuh",
     .text = kAttentionText,
     .params = kAttentionParams,
     .extents = kAttentionExtents,
     .at_most = kAttentionBounds,
     .box = "row_begin:block_rows",
     .through = "score",
     .result = Fragment::kElement,
     .needs = AttentionNeeds,
     .call = "aotc_attention_tile<$block_rows, $block_keys, $most_depth, $most_columns, "
             "$thread_rows, $keys_by_key, $values_by_key>(@q, @k, @score, @v, @y, "
             "aotc_attention_range<$I>{$row_begin, $rows, $key_begin, $keys, $columns})",
     .summary = "rows that attend to keys, in one pass over them"},
    {.name = "depthwise_tile",
     .header = "cuda/depthwise_tile.cuh",
     .text = kDepthwiseText,
     .params = kDepthwiseParams,
     .extents = kRun,
     .box = "w_begin:outputs",
     .result = Fragment::kElement,
     .call = "aotc_depthwise_tile<$rows, $columns, $stride, $dilation, $outputs>(@x, @filter, @y, "
             "$w_begin, $w_end)",
     .summary = "convolutions with a filter for each channel"},
    {.name = "transpose_tile",
     .header = "cuda/transpose_tile.cuh",
     .text = kTransposeText,
     .params = kTransposeParams,
     .extents = kTransposeExtents,
     .box = "r_begin:32, c_begin:32",
     .result = Fragment::kElement,
     .needs = TransposeNeeds,
     .call = "aotc_transpose_tile<$thread_rows>(@x, @y, "
             "aotc_transpose_range<$I>{$r_begin, $c_begin, $r_end, $c_end})",
     .summary = "copies that read along another axis than they write"},
    {.name = "load_pack",
     .header = "cuda/pack.cuh",
     .text = kPackText,
     .params = kPackParams,
     .result = Fragment::kMemory,
     .moved = kPackSpan,
     .call = "aotc_load_pack<$count>($y, $x)",
     .summary = "neighbours into registers, 16 bytes at a time"},
    {.name = "store_pack",
     .header = "cuda/pack.cuh",
     .text = kPackText,
     .params = kPackParams,
     .result = Fragment::kMemory,
     .moved = kPackSpan,
     .call = "aotc_store_pack<$count>($y, $x)",
     .summary = "neighbours out of registers, 16 bytes at a time"},
    {.name = "warp_reduce",
     .header = "cuda/block_reduce.cuh",
     .text = kReduceText,
     .params = kWarpParams,
     .call = "aotc_warp_reduce<$group>($state, @combiner)",
     .summary = "combines what neighbouring threads of a warp have"},
    {.name = "block_reduce",
     .header = "cuda/block_reduce.cuh",
     .text = kReduceText,
     .params = kBlockParams,
     .needs = BlockNeeds,
     .call = "aotc_block_reduce<$group>($state, @combiner)",
     .summary = "combines what the threads of a block have"},
};

}  // namespace

TileTable CudaTiles() { return kTiles; }

}  // namespace aotc
