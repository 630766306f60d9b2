// One kernel text, realised in every way there is: each through the compiler's phases, compiled as
// its user would, run, and compared with the evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
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

INSTANTIATE_TEST_SUITE_P(Slice, Loops,
                         testing::Values(SliceTypes::kFloat, SliceTypes::kHalf,
                                         SliceTypes::kQuantized));

}  // namespace
}  // namespace aotc
