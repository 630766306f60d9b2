#include "compiler/targets/cpu/rank_rows.h"

#include <cstdint>
#include <string_view>

namespace aotc {
namespace {

constexpr int64_t kEitherWay[] = {0, 1};
constexpr TileParam kRankParams[] = {{"greatest_first", kEitherWay}};
constexpr std::string_view kRankExtents[] = {"count"};
constexpr DType kRankedIntegers[] = {DType::kI64, DType::kI32, DType::kI8, DType::kU8};
constexpr TileStorage kIntegersStored[] = {{"x", kRankedIntegers}};

// What comes before what: floats with NaN at the top, and integers.
#define AOTC_FLOATS_BEFORE                                                  \
  "reduce sum(r<count) select(greatest_first == 1,"                         \
  " select(%x[i] < %x[r] || is_nan(%x[r]) && !is_nan(%x[i]) ||"             \
  " !(%x[r] < %x[i]) && (!is_nan(%x[i]) || is_nan(%x[r])) && r < i, 1, 0)," \
  " select(%x[r] < %x[i] || is_nan(%x[i]) && !is_nan(%x[r]) ||"             \
  " !(%x[i] < %x[r]) && (!is_nan(%x[r]) || is_nan(%x[i])) && r < i, 1, 0))\n"
#define AOTC_INTEGERS_BEFORE                                   \
  "reduce sum(r<count) select(greatest_first == 1,"            \
  " select(%x[i] < %x[r] || !(%x[r] < %x[i]) && r < i, 1, 0)," \
  " select(%x[r] < %x[i] || !(%x[i] < %x[r]) && r < i, 1, 0))\n"

constexpr std::string_view kRankText =
    "kernel @rank_tile(in %x: f32[count], out %y: i64[count]) {\n"
    "  symbol greatest_first in 0..1\n"
    "  symbol count in 0..1048576\n"
    "  %y[i<count] = " AOTC_FLOATS_BEFORE "}";

constexpr std::string_view kRankIntegersText =
    "kernel @rank_tile_integers(in %x: i64[count], out %y: i64[count]) {\n"
    "  symbol greatest_first in 0..1\n"
    "  symbol count in 0..1048576\n"
    "  %y[i<count] = " AOTC_INTEGERS_BEFORE "}";

constexpr std::string_view kOrderText =
    "kernel @order_tile(in %x: f32[count], out %y: i64[count]) {\n"
    "  symbol greatest_first in 0..1\n"
    "  symbol count in 0..1048576\n"
    "  temp %place: i64[count]\n"
    "  %place[i<count] = " AOTC_FLOATS_BEFORE
    "  %y[j<count] = reduce max(r<count) select(%place[r] == j, r, 0)\n}";

constexpr std::string_view kOrderIntegersText =
    "kernel @order_tile_integers(in %x: i64[count], out %y: i64[count]) {\n"
    "  symbol greatest_first in 0..1\n"
    "  symbol count in 0..1048576\n"
    "  temp %place: i64[count]\n"
    "  %place[i<count] = " AOTC_INTEGERS_BEFORE
    "  %y[j<count] = reduce max(r<count) select(%place[r] == j, r, 0)\n}";

constexpr std::string_view kSelectExtents[] = {"count", "chosen"};

constexpr std::string_view kSelectText =
    "kernel @select_tile(in %x: f32[count], out %y: i64[chosen]) {\n"
    "  symbol greatest_first in 0..1\n"
    "  symbol count in 0..1048576\n"
    "  symbol chosen in 0..1048576\n"
    "  temp %place: i64[count]\n"
    "  %place[i<count] = " AOTC_FLOATS_BEFORE
    "  %y[j<chosen] = reduce max(r<count) select(%place[r] == j, r, 0)\n}";

constexpr std::string_view kSelectIntegersText =
    "kernel @select_tile_integers(in %x: i64[count], out %y: i64[chosen]) {\n"
    "  symbol greatest_first in 0..1\n"
    "  symbol count in 0..1048576\n"
    "  symbol chosen in 0..1048576\n"
    "  temp %place: i64[count]\n"
    "  %place[i<count] = " AOTC_INTEGERS_BEFORE
    "  %y[j<chosen] = reduce max(r<count) select(%place[r] == j, r, 0)\n}";

constexpr TileRow kRows[] = {
    {.name = "rank_tile",
     .header = "cpu/rank_tile.h",
     .text = kRankText,
     .params = kRankParams,
     .extents = kRankExtents,
     .result = Fragment::kMemory,
     .call = "aotc_rank_tile<$greatest_first>($count, $x, $x.0, $y)",
     .summary = "ranks along an axis, by sorting"},
    {.name = "rank_tile_integers",
     .header = "cpu/rank_tile.h",
     .text = kRankIntegersText,
     .params = kRankParams,
     .extents = kRankExtents,
     .result = Fragment::kMemory,
     .stored = kIntegersStored,
     .call = "aotc_rank_tile<$greatest_first>($count, $x, $x.0, $y)",
     .summary = "the same of integers"},
    {.name = "order_tile",
     .header = "cpu/rank_tile.h",
     .text = kOrderText,
     .params = kRankParams,
     .extents = kRankExtents,
     .result = Fragment::kMemory,
     .call = "aotc_order_tile<$greatest_first>($count, $x, $x.0, $y)",
     .summary = "the places along an axis in the order of what is there"},
    {.name = "order_tile_integers",
     .header = "cpu/rank_tile.h",
     .text = kOrderIntegersText,
     .params = kRankParams,
     .extents = kRankExtents,
     .result = Fragment::kMemory,
     .stored = kIntegersStored,
     .call = "aotc_order_tile<$greatest_first>($count, $x, $x.0, $y)",
     .summary = "the same of integers"},
    {.name = "select_tile",
     .header = "cpu/rank_tile.h",
     .text = kSelectText,
     .params = kRankParams,
     .extents = kSelectExtents,
     .result = Fragment::kMemory,
     .call = "aotc_select_tile<$greatest_first>($count, $chosen, $x, $x.0, $y)",
     .summary = "the places of what comes first along an axis, of few"},
    {.name = "select_tile_integers",
     .header = "cpu/rank_tile.h",
     .text = kSelectIntegersText,
     .params = kRankParams,
     .extents = kSelectExtents,
     .result = Fragment::kMemory,
     .stored = kIntegersStored,
     .call = "aotc_select_tile<$greatest_first>($count, $chosen, $x, $x.0, $y)",
     .summary = "the same of integers"},
};

}  // namespace

TileTable RankRows() { return kRows; }

}  // namespace aotc
