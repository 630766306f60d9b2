// Faults planted in what the slice's CUDA kernel is made of: each must be caught, as a wrong number
// or as an error of the emulated device. And nvcc must take the kernel as it is.
#include <gtest/gtest.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"
#include "tests/slice/slice_data.h"

namespace aotc {
namespace {

SliceOptions OnCuda(SliceTypes types) {
  absl::StatusOr<Kernel> kernel = DenseKernel(types);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  SliceOptions options = DenseOptions(*kernel);
  options.target = "cuda";
  options.flags = {"-DAOTC_CUDA_CHECK_RACES"};
  return options;
}

struct Fault {
  std::string name;
  SliceTypes types;
  std::string header;  // of the tile function
  std::string from, to;
};

class Planted : public testing::TestWithParam<Fault> {};

TEST_P(Planted, IsCaught) {
  const Fault& fault = GetParam();
  SliceOptions options = OnCuda(fault.types);
  int planted = 0;
  options.edit = [&](OutputFiles& files) {
    for (auto& [path, text] : files) {
      if (!absl::EndsWith(path, fault.header)) continue;
      planted += absl::StrReplaceAll({{fault.from, fault.to}}, &text);
    }
  };
  const absl::StatusOr<SliceModel> model = SliceModel::Build(options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_GT(planted, 0) << "the tile function has no longer what the fault replaces";
  const std::string complaint = CheckDense(*model, options, 33);
  EXPECT_NE(complaint, "");
  RecordProperty("complaint", complaint);
}

const Fault kFaults[] = {
    {"NoWait", SliceTypes::kHalf, "mma_parts.cuh", "aotc_cp_async_wait_group<0>();", ""},
    {"WrongLane", SliceTypes::kHalf, "mma_parts.cuh", "aotc_mma_c_position(lane, element).column",
     "aotc_mma_c_position(lane ^ 1, element).column"},
    {"TensorCoreRace", SliceTypes::kHalf, "mma_parts.cuh",
     "aotc_cp_async_wait_group<0>();\n    aotc_syncthreads();", "aotc_cp_async_wait_group<0>();"},
    {"Race", SliceTypes::kFloat, "matmul_tile.cuh", "registers);\n    aotc_syncthreads();",
     "registers);"},
    {"DivergentBarrier", SliceTypes::kFloat, "matmul_tile.cuh",
     "aotc_syncthreads();  // an earlier call", "if (threadIdx.x > 0) aotc_syncthreads();  //"},
};

INSTANTIATE_TEST_SUITE_P(Slice, Planted, testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

std::string FindNvcc() {
  const char* usual = "/usr/local/cuda/bin/nvcc";
  if (access(usual, X_OK) == 0) return usual;
  const absl::StatusOr<ProcessResult> found = RunProcess({.argv = {"nvcc", "--version"}});
  return found.ok() && found->exit_code == 0 ? "nvcc" : "";
}

class Nvcc : public testing::TestWithParam<SliceTypes> {};

TEST_P(Nvcc, CompilesTheKernel) {
  const std::string nvcc = FindNvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc was not found";
  const absl::StatusOr<SliceModel> model = SliceModel::Build(OnCuda(GetParam()));
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const char* arch : {"-arch=sm_80", "-arch=sm_90"}) {
    const absl::StatusOr<ProcessResult> result =
        RunProcess({.argv = {nvcc, "-std=c++17", "--Werror", "all-warnings", arch, "-I",
                             model->folder(), "-c", StrCat(model->folder(), "/slice_kernels.cu"),
                             "-o", StrCat(model->folder(), "/nvcc.o")}});
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->exit_code, 0) << result->output;
  }
}

INSTANTIATE_TEST_SUITE_P(Slice, Nvcc, testing::Values(SliceTypes::kFloat, SliceTypes::kHalf),
                         [](const auto& info) {
                           return info.param == SliceTypes::kHalf ? "f16" : "f32";
                         });

}  // namespace
}  // namespace aotc
