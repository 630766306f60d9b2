// The rows of the tables of tile functions: which calls they allow, and that each says of its tile
// what follows from a row elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/ir/kernel_text.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/tiles.h"
#include "compiler/targets/cuda/tiles.h"

namespace aotc {
namespace {

using testing::HasSubstr;

std::vector<const TileRow*> AllRows() {
  std::vector<const TileRow*> rows;
  for (const TileTable table : {CpuTiles(), CudaTiles()}) {
    for (const TileRow& row : table) rows.push_back(&row);
  }
  return rows;
}

TEST(TileRows, TextsAreKernelsOverParametersExtentsAndLanes) {
  for (const TileRow* row : AllRows()) {
    const Kernel kernel = KernelOfTile(*row);
    EXPECT_TRUE(VerifyKernel(kernel).ok()) << row->name << ": " << VerifyKernel(kernel);
    std::set<std::string_view> known = {"lanes"};
    for (const TileParam& param : row->params) known.insert(param.name);
    for (const std::string_view extent : row->extents) known.insert(extent);
    for (const Symbol& symbol : kernel.symbols) {
      EXPECT_TRUE(known.contains(symbol.var)) << row->name << ": " << symbol.var;
    }
  }
}

// Whether integers of `narrow` are integers of `wide`, of fewer bits.
bool IsNarrower(DType narrow, DType wide) {
  if (!IsInteger(narrow) || !IsInteger(wide) || BitWidth(narrow) >= BitWidth(wide)) return false;
  const auto [least, most] = IntegerRange(wide);
  return IntegerRange(narrow).first >= least && IntegerRange(narrow).second <= most;
}

// Operands are stored as the text has them, too, or the text only widens integers.
TEST(TileRows, StoredTypesAreThatOfTheTextOrNarrower) {
  for (const TileRow* row : AllRows()) {
    const Kernel kernel = KernelOfTile(*row);
    for (const TileStorage& stored : row->stored) {
      const auto found = std::ranges::find(kernel.tensors, stored.operand, &KernelTensor::name);
      ASSERT_NE(found, kernel.tensors.end()) << row->name << ": " << stored.operand;
      if (std::ranges::find(stored.types, found->dtype) != stored.types.end()) continue;
      for (const DType type : stored.types) {
        EXPECT_TRUE(IsNarrower(type, found->dtype))
            << row->name << ": " << DTypeName(type) << " as " << DTypeName(found->dtype);
      }
    }
  }
}

const TileRow& RowOf(TileTable tiles, std::string_view name) { return *FindTile(tiles, name); }

std::string Refusal(const TileRow& row, std::vector<int64_t> params, const TileLimits& limits) {
  return std::string(LegalParams(row, params, 8, limits).message());
}

TEST(LegalParams, RegistersOfAnInstructionSet) {
  const TileRow& tile = RowOf(CpuTiles(), "contract_tile");
  EXPECT_EQ(Refusal(tile, {14, 2, 1}, {.registers = 32}), "");
  EXPECT_EQ(Refusal(tile, {14, 2, 1}, {.registers = 16}),
            "tile contract_tile: takes 31 registers of 16");
  EXPECT_EQ(Refusal(tile, {6, 2, 2}, {.registers = 16}),
            "tile contract_tile: takes 27 registers of 16");
}

TEST(LegalParams, SharedMemoryAndThreadsOfABlock) {
  const TileRow& tile = RowOf(CudaTiles(), "matmul_tile");
  const std::vector<int64_t> params = {64, 64, 16, 4, 4, 1, 0};
  const TileLimits limits{.shared_bytes = 48 * 1024, .threads = 1024};
  EXPECT_EQ(Refusal(tile, params, limits), "");
  EXPECT_EQ(Refusal(tile, params, {.shared_bytes = 17407}),
            "tile matmul_tile: takes 17408 shared bytes of 17407");
  EXPECT_EQ(Refusal(tile, {128, 128, 16, 2, 4, 1, 0}, limits),
            "tile matmul_tile: takes 2048 threads of 1024");
}

TEST(LegalParams, ParametersThatDoNotGoTogether) {
  EXPECT_THAT(Refusal(RowOf(CudaTiles(), "mma_tile"), {16, 64, 32, 32, 32, 8, 8, 1}, {}),
              HasSubstr("a warp's tile is larger than a block's"));
  EXPECT_THAT(Refusal(RowOf(CudaTiles(), "matmul_tile"), {16, 128, 16, 2, 2, 1, 0}, {}),
              HasSubstr("threads do not share the loads evenly"));
}

TEST(LegalParams, ValuesAndNumbersOfParameters) {
  const TileRow& tile = RowOf(CpuTiles(), "contract_tile");
  EXPECT_EQ(Refusal(tile, {15, 2, 1}, {}), "tile contract_tile: rows is 15");
  EXPECT_EQ(Refusal(tile, {14, 2, 9}, {}), "tile contract_tile: split is 9");
  EXPECT_EQ(Refusal(tile, {14, 2}, {}), "tile contract_tile: 2 parameters, not 3");
}

// row_products asks for rows of %b and %y that lie dense.
TEST(CheckTileCall, AxesWhoseStrideIsNotNamedLieDense) {
  const TileRow& row = RowOf(CpuTiles(), "row_products");
  TileCall call{.tile = "row_products", .params = {4, 2}, .lanes = 8, .extents = {3, 40, 17}};
  const auto check = [&](std::vector<Expr> b, std::vector<Expr> y) {
    call.operands = {TileView{TensorId(0), 0, {20, 3}}, TileView{TensorId(1), 0, std::move(b)},
                     TileView{TensorId(2), 0, std::move(y)}};
    return std::string(CheckTileCall(row, call).message());
  };
  EXPECT_EQ(check({Var("n"), 1}, {40, 1}), "");
  EXPECT_EQ(check({40, IntConst(1, DType::kI32)}, {40, 1}), "") << "indices of 32 bits";
  EXPECT_EQ(check({1, 17}, {40, 1}), "tile row_products: %b has stride 17, not 1 along axis 1");
  EXPECT_EQ(check({40, 1}, {40, 2}), "tile row_products: %y has stride 2, not 1 along axis 1");
}

// The groups of four of an integer contraction lie together, column after column.
TEST(CheckTileCall, DenseAxesLieAsTheOnesBehindThemAreLong) {
  const TileRow& row = RowOf(CpuTiles(), "contract_tile_int8");
  TileCall call{.tile = "contract_tile_int8",
                .params = {2, 1, 1},
                .lanes = 8,
                .extents = {1, 1, 1, Var("k")}};
  const auto check = [&](int64_t column, int64_t element) {
    call.operands = {TileView{TensorId(0), 0, {64, 0, 0, 0, 4, 1}},
                     TileView{TensorId(1), 0, {0, 0, 0, 32, column, element}},
                     TileObject{.name = "epilogue"}};
    return CheckTileCall(row, call).ok();
  };
  EXPECT_TRUE(check(4, 1));
  EXPECT_FALSE(check(8, 1));
  EXPECT_FALSE(check(4, 2));
}

}  // namespace
}  // namespace aotc
