// The CPU's tile functions compute what their rows say: calls drawn from the table, for each
// instruction set. And the test sees what it is to see: faults planted in copies of the headers.
#include "tests/tiles/cpu_rows.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/tiles.h"

namespace aotc {
namespace {

// All instruction sets, those with dot products too.
std::vector<Isa> AllIsas() {
  return *ParseCpuList("portable,x86-64,x86-64-v3,x86-64-v3+avxvnni,x86-64-v4");
}

class CpuRows : public testing::TestWithParam<Isa> {};

TEST_P(CpuRows, ComputeWhatTheySay) {
  const Isa& isa = GetParam();
  if (!RunsHere(isa)) GTEST_SKIP() << "this machine has no " << isa.name;
  const absl::StatusOr<std::string> complaint = CheckCpuRows({.isa = isa});
  ASSERT_TRUE(complaint.ok()) << complaint.status().message();
  EXPECT_EQ(*complaint, "");
}

INSTANTIATE_TEST_SUITE_P(Tiles, CpuRows, testing::ValuesIn(AllIsas()),
                         [](const auto& info) { return std::string(info.param.suffix); });

struct Fault {
  std::string name;
  std::string tile;
  std::string header;
  std::string from, to;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class Planted : public testing::TestWithParam<Fault> {};

TEST_P(Planted, IsCaught) {
  const Fault& fault = GetParam();
  int planted = 0;
  const auto plant = [&](OutputFiles& files) {
    for (auto& [path, text] : files) {
      if (!absl::EndsWith(path, fault.header)) continue;
      planted += absl::StrReplaceAll({{fault.from, fault.to}}, &text);
    }
  };
  const absl::StatusOr<std::string> complaint =
      CheckCpuRows({.isa = ParseCpuList("portable")->front(), .tile = fault.tile, .edit = plant});
  ASSERT_TRUE(complaint.ok()) << complaint.status().message();
  ASSERT_GT(planted, 0) << "the tile function has no longer what the fault replaces";
  EXPECT_NE(*complaint, "");
  RecordProperty("complaint", *complaint);
}

const Fault kFaults[] = {
    {"WrongLane", "contract_tile", "contract_tile.h", "weights[v] = row.load(v);",
     "weights[v] = row.load(v ^ (NV > 1));"},
    {"NibblesSwapped", "contract_tile_scaled", "contract_weights.h",
     "from[lane / 2] >> lane % 2 * 4 & 15", "from[lane / 2] >> (4 - lane % 2 * 4) & 15"},
    {"SignLost", "contract_tile_scaled", "contract_weights.h", "^ 8) - 8)", "^ 8) - 0)"},
    {"ScaleOfAnotherBlock", "contract_tile_scaled", "contract_weights.h", "+ i2 * stride[2]",
     "+ i2 * stride[2] / 2"},
    {"ZeroPointAfterTheScale", "contract_tile_shifted", "contract_weights.h",
     "(weights.load(v) - zeros[v]) * scales[v]", "weights.load(v) * scales[v] - zeros[v]"},
    {"MissingTail", "row_products", "row_products.h", "for (; n < columns; n += AOTC_LANES) {",
     "for (; n + AOTC_LANES <= columns; n += AOTC_LANES) {"},
    {"LostPartOfASum", "contract_tile", "contract_tile.h",
     "acc[0][i / NV % MR][i % NV] += acc[i / (MR * NV)][i / NV % MR][i % NV];",
     "if (i < MR * NV) acc[0][i / NV % MR][i % NV] += acc[i / (MR * NV)][i / NV % MR][i % NV];"},
    {"LostPartOfASumOfBytes", "contract_tile_int8", "contract_tile_int8.h",
     "acc[0][i / NV % MR][i % NV] += acc[i / (MR * NV)][i / NV % MR][i % NV];",
     "if (i < MR * NV) acc[0][i / NV % MR][i % NV] += acc[i / (MR * NV)][i / NV % MR][i % NV];"},
    {"SumWithoutItsTail", "row_dots", "row_products.h", "if (k < depth) {", "if (k + 1 < depth) {"},
    {"LastTermOfAnOddNumber", "row_products_int8", "row_products_int8.h", "if (k < depth) step<",
     "if (k > depth) step<"},
    {"SecondHalfOfATail", "row_dots_int8", "row_products_int8.h",
     "aotc_load_first(from + AOTC_LANES, width - AOTC_LANES)", "aotc_vi{}"},
    {"TailOfRowsLeftOut", "transpose_tile", "transpose_tile.h", "? whole_rows : 0", "? rows : 0"},
    {"TapLeftOut", "depthwise_tile", "depthwise_tile.h", "if (at >= 0 && at % Stride == 0",
     "if (at > 0 && at % Stride == 0"},
};

INSTANTIATE_TEST_SUITE_P(Tiles, Planted, testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace aotc
