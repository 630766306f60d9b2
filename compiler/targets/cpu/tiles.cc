#include "compiler/targets/cpu/tiles.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "compiler/targets/cpu/product_rows.h"
#include "compiler/targets/cpu/rank_rows.h"
#include "compiler/targets/cpu/winograd_rows.h"

namespace aotc {
namespace {

constexpr int64_t kUpTo16[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr int64_t kUpTo14[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
constexpr int64_t kUpTo8[] = {1, 2, 3, 4, 5, 6, 7, 8};
constexpr int64_t kUpTo3[] = {1, 2, 3};
constexpr int64_t kUpTo4[] = {1, 2, 3, 4};
constexpr DType kFloats[] = {DType::kF32, DType::kF16, DType::kBF16};
constexpr DType kNarrow[] = {DType::kF32, DType::kI8, DType::kU8, DType::kI4, DType::kU4};
constexpr DType kBytes[] = {DType::kF32, DType::kI8, DType::kU8};
constexpr TileStorage kBothStored[] = {{"a", kFloats}, {"b", kFloats}};
constexpr TileStorage kScaledStored[] = {{"a", kFloats}, {"b", kNarrow}, {"scale", kFloats}};
constexpr TileStorage kShiftedStored[] = {
    {"a", kFloats}, {"b", kNarrow}, {"scale", kFloats}, {"zero", kBytes}};

// --- Contractions with packed columns -----------------------------------------------------------

constexpr TileParam kContractParams[] = {{"rows", kUpTo14}, {"vectors", kUpTo8}, {"split", kUpTo8}};
constexpr TileParam kContractAmxParams[] = {{"rows", kUpTo16}, {"vectors", kUpTo3}};
constexpr std::string_view kLevels[] = {"s0", "s1", "s2", "s3"};

// Accumulators, a row of weights, and the input's element.
TileNeeds ContractNeeds(std::span<const int64_t> p, int) {
  return {.registers = p[0] * p[1] * p[2] + p[1] + 1};
}

// Sums lie in registers of tiles; the epilogue takes one vector at a time.
TileNeeds ContractAmxNeeds(std::span<const int64_t>, int lanes) {
  constexpr int kTileColumns = 16;
  return {.registers = 1, .conflict = lanes == kTileColumns ? "" : "tiles have 16 columns"};
}

constexpr std::string_view kContractText = R"(
kernel @contract_tile(in %a: f32[rows, s0, s1, s2, s3],
                      in %b: f32[s0, s1, s2, s3, vectors * lanes],
                      out %y: f32[rows, vectors * lanes]) {
  symbol rows in 1..14
  symbol vectors in 1..8
  symbol split in 1..8
  symbol lanes in 1..64
  symbol s0 in 0..65536
  symbol s1 in 0..65536
  symbol s2 in 0..65536
  symbol s3 in 0..65536
  %y[m<rows, n<vectors * lanes] = reduce sum(i<s0, j<s1, p<s2, q<s3)
      %a[m, i, j, p, q] * %b[i, j, p, q, n]
})";

constexpr TileStorage kWeightsStored[] = {{"b", kFloats}};
constexpr std::string_view kSteps[] = {"steps"};

constexpr std::string_view kContractGatheredText = R"(
kernel @contract_tile_gathered(in %a: f32[rows, steps], in %b: f32[steps, vectors * lanes],
                               out %y: f32[rows, vectors * lanes]) {
  symbol rows in 1..14
  symbol vectors in 1..8
  symbol split in 1..8
  symbol lanes in 1..64
  symbol steps in 0..65536
  %y[m<rows, n<vectors * lanes] = reduce sum(k<steps) %a[m, k] * %b[k, n]
})";

// Scales of weights are those of a step of the outer levels.
constexpr std::string_view kContractScaledText = R"(
kernel @contract_tile_scaled(in %a: f32[rows, s0, s1, s2, s3],
                             in %b: f32[s0, s1, s2, s3, vectors * lanes],
                             in %scale: f32[s0, s1, s2, vectors * lanes],
                             out %y: f32[rows, vectors * lanes]) {
  symbol rows in 1..14
  symbol vectors in 1..8
  symbol split in 1..8
  symbol lanes in 1..64
  symbol s0 in 0..65536
  symbol s1 in 0..65536
  symbol s2 in 0..65536
  symbol s3 in 0..65536
  %y[m<rows, n<vectors * lanes] = reduce sum(i<s0, j<s1, p<s2, q<s3)
      %a[m, i, j, p, q] * (%b[i, j, p, q, n] * %scale[i, j, p, n])
})";

constexpr std::string_view kContractShiftedText = R"(
kernel @contract_tile_shifted(in %a: f32[rows, s0, s1, s2, s3],
                              in %b: f32[s0, s1, s2, s3, vectors * lanes],
                              in %scale: f32[s0, s1, s2, vectors * lanes],
                              in %zero: f32[s0, s1, s2, vectors * lanes],
                              out %y: f32[rows, vectors * lanes]) {
  symbol rows in 1..14
  symbol vectors in 1..8
  symbol split in 1..8
  symbol lanes in 1..64
  symbol s0 in 0..65536
  symbol s1 in 0..65536
  symbol s2 in 0..65536
  symbol s3 in 0..65536
  %y[m<rows, n<vectors * lanes] = reduce sum(i<s0, j<s1, p<s2, q<s3)
      %a[m, i, j, p, q] * ((%b[i, j, p, q, n] - %zero[i, j, p, n]) * %scale[i, j, p, n])
})";

constexpr std::string_view kContractInt8Text = R"(
kernel @contract_tile_int8(in %a: u8[rows, s0, s1, s2, s3, 4],
                           in %b: i8[s0, s1, s2, s3, vectors * lanes, 4],
                           out %y: i32[rows, vectors * lanes]) {
  symbol rows in 1..14
  symbol vectors in 1..8
  symbol split in 1..8
  symbol lanes in 1..64
  symbol s0 in 0..65536
  symbol s1 in 0..65536
  symbol s2 in 0..65536
  symbol s3 in 0..65536
  %y[m<rows, n<vectors * lanes] = reduce sum(i<s0, j<s1, p<s2, q<s3, r<4)
      i32(%a[m, i, j, p, q, r]) * i32(%b[i, j, p, q, n, r])
})";

constexpr std::string_view kContractAmxText = R"(
kernel @contract_tile_amx(in %a: u8[rows, s0, s1, s2, s3, 4],
                          in %b: i8[s0, s1, s2, s3, vectors * lanes, 4],
                          out %y: i32[rows, vectors * lanes]) {
  symbol rows in 1..16
  symbol vectors in 1..3
  symbol lanes in 1..64
  symbol s0 in 0..65536
  symbol s1 in 0..65536
  symbol s2 in 0..65536
  symbol s3 in 0..65536
  %y[m<rows, n<vectors * lanes] = reduce sum(i<s0, j<s1, p<s2, q<s3, r<4)
      i32(%a[m, i, j, p, q, r]) * i32(%b[i, j, p, q, n, r])
})";

// --- Windows of channels ------------------------------------------------------------------------

constexpr TileParam kDepthwiseParams[] = {{"pixels", kUpTo14}, {"vectors", kUpTo4}};
constexpr std::string_view kWindow[] = {"h", "w"};

constexpr std::string_view kDepthwiseText = R"(
kernel @depthwise_tile(in %a: f32[pixels, h, w, vectors * lanes],
                       in %b: f32[h, w, vectors * lanes],
                       out %y: f32[pixels, vectors * lanes]) {
  symbol pixels in 1..14
  symbol vectors in 1..4
  symbol lanes in 1..64
  symbol h in 0..65536
  symbol w in 0..65536
  %y[m<pixels, n<vectors * lanes] = reduce sum(i<h, j<w) %a[m, i, j, n] * %b[i, j, n]
})";

// Neighbouring taps lie together in groups of four.
constexpr std::string_view kDepthwiseInt8Text = R"(
kernel @depthwise_tile_int8(in %a: u8[pixels, h, w, vectors * lanes],
                            in %b: i8[h, floor_div(w + 3, 4), vectors * lanes, 4],
                            out %y: i32[pixels, vectors * lanes]) {
  symbol pixels in 1..14
  symbol vectors in 1..4
  symbol lanes in 1..64
  symbol h in 0..65536
  symbol w in 0..65536
  %y[m<pixels, n<vectors * lanes] = reduce sum(i<h, j<w)
      i32(%a[m, i, j, n]) * i32(%b[i, floor_div(j, 4), n, mod(j, 4)])
})";

// --- Copies along other axes --------------------------------------------------------------------

constexpr int64_t kTransposeBlocks[] = {8, 16, 32};
constexpr TileParam kTransposeParams[] = {{"block", kTransposeBlocks}};
constexpr std::string_view kTransposeExtents[] = {"rows", "columns"};
constexpr DType kMovedTypes[] = {DType::kU8, DType::kF16, DType::kBF16, DType::kF32, DType::kF64};
constexpr TileSpan kTransposed = {.types = kMovedTypes};

constexpr std::string_view kTransposeText = R"(
kernel @transpose_tile(in %x: f32[rows, columns], out %y: f32[columns, rows]) {
  symbol rows in 0..1048576
  symbol columns in 0..1048576
  %y[c<columns, r<rows] = %x[r, c]
})";

constexpr TileRow kTiles[] = {
    {.name = "contract_tile",
     .header = "cpu/contract_tile.h",
     .text = kContractText,
     .params = kContractParams,
     .extents = kLevels,
     .stored = kBothStored,
     .epilogue_base = "aotc_epilogue",
     .needs = ContractNeeds,
     .call = "aotc_contract_tile<$rows, $vectors[split?, $split|]>("
             "[a.0?aotc_rows<$a:T, $a.0>{$a}|aotc_rows_strided<$a:T>{$a, $a.0}], "
             "aotc_panel<$b:T>{$b}, aotc_nest{{$s0, $s1, $s2, $s3}, "
             "{$a.1, $a.2, $a.3, $a.4}, {$b.0, $b.1, $b.2, $b.3}}, @y)",
     .summary = "matrix products and convolutions with packed weights"},
    {.name = "contract_tile_gathered",
     .header = "cpu/contract_tile_gathered.h",
     .text = kContractGatheredText,
     .params = kContractParams,
     .extents = kSteps,
     .stored = kWeightsStored,
     .epilogue_base = "aotc_epilogue",
     .needs = ContractNeeds,
     .call = "aotc_contract_tile_gathered<$rows, $vectors[split?, $split|]>(@a, "
             "aotc_panel<$b:T>{$b}, $steps, $b.0, @y)",
     .summary = "the same where steps of the reduction lie anywhere in the input"},
    {.name = "contract_tile_scaled",
     .header = "cpu/contract_tile.h",
     .text = kContractScaledText,
     .params = kContractParams,
     .extents = kLevels,
     .stored = kScaledStored,
     .epilogue_base = "aotc_epilogue",
     .needs = ContractNeeds,
     .call = "aotc_contract_tile<$rows, $vectors[split?, $split|]>("
             "[a.0?aotc_rows<$a:T, $a.0>{$a}|aotc_rows_strided<$a:T>{$a, $a.0}], "
             "aotc_scaled_panel<$b:T, $scale:T>{{$b}, $scale, {$scale.0, $scale.1, $scale.2}}, "
             "aotc_nest{{$s0, $s1, $s2, $s3}, "
             "{$a.1, $a.2, $a.3, $a.4}, {$b.0, $b.1, $b.2, $b.3}}, @y)",
     .summary = "the same with weights of 8 or 4 bits that have scales"},
    {.name = "contract_tile_shifted",
     .header = "cpu/contract_tile.h",
     .text = kContractShiftedText,
     .params = kContractParams,
     .extents = kLevels,
     .stored = kShiftedStored,
     .epilogue_base = "aotc_epilogue",
     .needs = ContractNeeds,
     .call = "aotc_contract_tile<$rows, $vectors[split?, $split|]>("
             "[a.0?aotc_rows<$a:T, $a.0>{$a}|aotc_rows_strided<$a:T>{$a, $a.0}], "
             "aotc_shifted_panel<$b:T, $scale:T, $zero:T>{"
             "{{$b}, $scale, {$scale.0, $scale.1, $scale.2}}, "
             "$zero, {$zero.0, $zero.1, $zero.2}}, "
             "aotc_nest{{$s0, $s1, $s2, $s3}, "
             "{$a.1, $a.2, $a.3, $a.4}, {$b.0, $b.1, $b.2, $b.3}}, @y)",
     .summary = "the same with scales and zero points"},
    {.name = "contract_tile_int8",
     .header = "cpu/contract_tile_int8.h",
     .text = kContractInt8Text,
     .params = kContractParams,
     .extents = kLevels,
     .epilogue_base = "aotc_epilogue_int8",
     .needs = ContractNeeds,
     .call = "aotc_contract_tile_int8<$rows, $vectors[split?, $split|]>("
             "[a.0?aotc_rows_u8<$a.0>{$a}|aotc_rows_u8_strided{$a, $a.0}], "
             "aotc_panel<$b:T>{$b}, aotc_nest{{$s0, $s1, $s2, $s3}, "
             "{$a.1, $a.2, $a.3, $a.4}, {$b.0, $b.1, $b.2, $b.3}}, @y)",
     .summary = "contractions of 8-bit integers with packed weights"},
    {.name = "contract_tile_amx",
     .header = "cpu/contract_tile_amx.h",
     .text = kContractAmxText,
     .params = kContractAmxParams,
     .extents = kLevels,
     .epilogue_base = "aotc_epilogue_int8",
     .feature = "amx",
     .enter = "aotc_amx_begin($rows, $s3)",
     .leave = "aotc_amx_end()",
     .needs = ContractAmxNeeds,
     .call = "aotc_contract_tile_amx<$rows, $vectors>("
             "[a.0?aotc_rows_u8<$a.0>{$a}|aotc_rows_u8_strided{$a, $a.0}], "
             "aotc_panel<$b:T>{$b}, aotc_nest{{$s0, $s1, $s2, $s3}, "
             "{$a.1, $a.2, $a.3, 4}, {$b.0, $b.1, $b.2, $b.3}}, @y)",
     .summary = "the same on AMX"},
    {.name = "depthwise_tile",
     .header = "cpu/depthwise_tile.h",
     .text = kDepthwiseText,
     .params = kDepthwiseParams,
     .extents = kWindow,
     .stored = kBothStored,
     .epilogue_base = "aotc_epilogue",
     .needs = BlockNeeds,
     .call = "aotc_depthwise_tile<$pixels, $vectors, #h, #w, $a.0>("
             "aotc_window<$a:T>{$a, $h, $w, $a.1, $a.2}, aotc_taps<$b:T>{$b, $b.0, $b.1}, @y)",
     .summary = "convolutions with a filter for each channel"},
    {.name = "depthwise_tile_int8",
     .header = "cpu/depthwise_tile_int8.h",
     .text = kDepthwiseInt8Text,
     .params = kDepthwiseParams,
     .extents = kWindow,
     .zero_where_unread = "b",
     .epilogue_base = "aotc_epilogue_int8",
     .needs = BlockNeeds,
     .call = "aotc_depthwise_tile_int8<$pixels, $vectors, #h, #w, $a.0>("
             "aotc_window<$a:T>{$a, $h, $w, $a.1, $a.2}, aotc_taps<$b:T>{$b, $b.0, $b.1}, @y)",
     .summary = "the same on 8-bit integers"},
    {.name = "transpose_tile",
     .header = "cpu/transpose_tile.h",
     .text = kTransposeText,
     .params = kTransposeParams,
     .extents = kTransposeExtents,
     .result = Fragment::kMemory,
     .moved = kTransposed,
     .call = "aotc_transpose_tile<$block>($rows, $columns, $x, $x.0, $y, $y.0)",
     .summary = "copies that read along another axis than they write"},
};

}  // namespace

TileNeeds BlockNeeds(std::span<const int64_t> p, int) {
  return {.registers = p[0] * p[1] + p[1] + 1};
}

TileTable CpuTiles() {
  static const std::vector<TileRow> kAll = [] {
    std::vector<TileRow> all(std::begin(kTiles), std::end(kTiles));
    for (const TileRow& row : WinogradRows()) all.push_back(row);
    for (const TileRow& row : ProductRows()) all.push_back(row);
    for (const TileRow& row : RankRows()) all.push_back(row);
    return all;
  }();
  return kAll;
}

}  // namespace aotc
