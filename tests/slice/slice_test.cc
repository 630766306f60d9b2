// One kernel text, realised in every way there is: each through the compiler's phases, compiled as
// its user would, run, and compared with the evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "tests/slice/slice_data.h"
#include "tests/slice/slice_model.h"

namespace aotc {
namespace {

constexpr int64_t kRows[] = {1, 2, 7, 16, 33, 200};

// A global symbol that the linker may merge with another file's.
bool HasWeakSymbol(const std::string& symbols) {
  for (const char* kind : {" W ", " w ", " V ", " v ", " u "}) {
    if (absl::StrContains(symbols, kind)) return true;
  }
  return false;
}

// Builds, runs at all sizes with 1 and 2 workers; the realisation must be the one that is named.
void ExpectRealised(const SliceOptions& options, const std::string& realisation) {
  const absl::StatusOr<SliceModel> model = SliceModel::Build(options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const KernelVariant& variant : model->program().kernels[KernelId(0)].variants) {
    EXPECT_EQ(variant.realisation, realisation) << variant.reason;
  }
  EXPECT_FALSE(HasWeakSymbol(model->symbols())) << model->symbols();
  for (const int64_t rows : kRows) {
    EXPECT_EQ(CheckDense(*model, options, rows), "");
    if (options.target == "cuda") continue;
    EXPECT_EQ(CheckDense(*model, options, rows, 2), "") << "with 2 workers";
  }
}

SliceOptions Dense(SliceTypes types, const std::string& cpu) {
  absl::StatusOr<Kernel> kernel = DenseKernel(types);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  SliceOptions options = DenseOptions(*kernel);
  options.cpu = cpu;
  return options;
}

class Loops : public testing::TestWithParam<SliceTypes> {};

TEST_P(Loops, OnCpu) {
  SliceOptions options = Dense(GetParam(), "native");
  options.templates = false;
  ExpectRealised(options, "vector_loops");
}

TEST_P(Loops, OnCuda) {
  SliceOptions options = Dense(GetParam(), "native");
  options.target = "cuda";
  options.templates = false;
  ExpectRealised(options, "loops");
}

class CudaTile : public testing::TestWithParam<SliceTypes> {};

TEST_P(CudaTile, Shared) {
  SliceOptions options = Dense(GetParam(), "native");
  options.target = "cuda";
  options.flags = {"-DAOTC_CUDA_CHECK_RACES"};
  ExpectRealised(options, "matmul_tile");
}

TEST(CudaTensorCores, Half) {
  SliceOptions options = Dense(SliceTypes::kHalf, "native");
  options.target = "cuda";
  options.flags = {"-DAOTC_CUDA_CHECK_RACES"};
  ExpectRealised(options, "mma_tile");
}

struct TileCase {
  SliceTypes types;
  std::string cpu;
};

class CpuTile : public testing::TestWithParam<TileCase> {};

// The machine must have the instruction set itself: else the model would say so at run time.
bool MachineHas(const std::string& cpu) {
  if (cpu == "x86-64-v3") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (cpu == "x86-64-v4") {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  }
  return true;
}

TEST_P(CpuTile, AllRows) {
  if (!MachineHas(GetParam().cpu)) GTEST_SKIP() << "this machine has no " << GetParam().cpu;
  const bool is_integer = GetParam().types == SliceTypes::kQuantized;
  ExpectRealised(Dense(GetParam().types, GetParam().cpu),
                 is_integer ? "contract_tile_int8" : "contract_tile");
}

// Makes a kernel of the CPU target return at once: what still works does not call it.
void Disable(OutputFiles& files, const std::string& symbol) {
  int edits = 0;
  for (auto& [path, text] : files) {
    if (!absl::StrContains(path, "kernels")) continue;
    const size_t start = text.rfind(symbol + "(");
    const size_t body = start == std::string::npos ? start : text.find("{", start);
    if (body == std::string::npos) continue;
    text.insert(body + 1, "if (task_begin >= 0) return;");
    ++edits;
  }
  EXPECT_EQ(edits, 1);
}

TEST(CpuTileGuard, OneRowHasAKernelOfItsOwn) {
  SliceOptions options = Dense(SliceTypes::kFloat, "x86-64");
  options.edit = [](OutputFiles& files) { Disable(files, "slice_dense_v1"); };
  const absl::StatusOr<SliceModel> any_off = SliceModel::Build(options);
  ASSERT_TRUE(any_off.ok()) << any_off.status().message();
  EXPECT_EQ(CheckDense(*any_off, options, 1), "");
  EXPECT_NE(CheckDense(*any_off, options, 2), "");
  options.edit = [](OutputFiles& files) { Disable(files, "slice_dense_one_row_v1"); };
  const absl::StatusOr<SliceModel> one_off = SliceModel::Build(options);
  ASSERT_TRUE(one_off.ok()) << one_off.status().message();
  EXPECT_NE(CheckDense(*one_off, options, 1), "");
  EXPECT_EQ(CheckDense(*one_off, options, 2), "");
}

std::vector<TileCase> TileCases() {
  std::vector<TileCase> cases;
  for (const char* cpu : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    for (const SliceTypes types : {SliceTypes::kFloat, SliceTypes::kHalf, SliceTypes::kQuantized}) {
      cases.push_back({types, cpu});
    }
  }
  return cases;
}

std::string NameOf(SliceTypes types) {
  return types == SliceTypes::kFloat ? "f32" : types == SliceTypes::kHalf ? "f16" : "u8";
}

INSTANTIATE_TEST_SUITE_P(Slice, CudaTile, testing::Values(SliceTypes::kFloat),
                         [](const auto& info) { return NameOf(info.param); });

INSTANTIATE_TEST_SUITE_P(Slice, CpuTile, testing::ValuesIn(TileCases()), [](const auto& info) {
  return absl::StrReplaceAll(info.param.cpu, {{"-", "_"}}) + "_" + NameOf(info.param.types);
});

INSTANTIATE_TEST_SUITE_P(Slice, Loops,
                         testing::Values(SliceTypes::kFloat, SliceTypes::kHalf,
                                         SliceTypes::kQuantized),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace aotc
