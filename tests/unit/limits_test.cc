// Limits of machines: tables by name, files, and what is measured.
#include "compiler/targets/cpu/limits.h"

#include "compiler/driver/compile.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/limits.h"
#include "compiler/targets/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;

std::string CpuError(const std::string& file) {
  return std::string(CpuLimitsFrom(file).status().message());
}

TEST(Limits, EveryFamilyHasARowThatGrowsWithItsVectors) {
  const CpuLimitsTable table = DefaultCpuLimits();
  ASSERT_EQ(table.rows.size(), VectorFamilies().size());
  double before = 0;
  for (const VectorFamily& family : VectorFamilies()) {
    const CpuLimits& row = table.For(MakeIsa(family));
    EXPECT_EQ(row.family, family.name);
    EXPECT_GE(row.fma_per_second, before);
    EXPECT_GT(row.l1_bandwidth, row.l2_bandwidth);
    EXPECT_GT(row.l2_bandwidth, row.l3_bandwidth);
    EXPECT_GT(row.l3_bandwidth, row.memory_bandwidth);
    before = row.fma_per_second;
  }
}

TEST(Limits, AFileTakesThePlaceOfWhatItNames) {
  const CpuLimitsTable table = *CpuLimitsFrom(
      R"({"cpu": {"cores": 2, "l2_bytes": 2097152, "fma_per_second": {"x86-64-v3": 5e10}}})");
  const CpuLimits& v3 = table.For(*ParseIsa("x86-64-v3+avxvnni"));
  EXPECT_EQ(v3.cores, 2);
  EXPECT_EQ(v3.l2_bytes, 2097152);
  EXPECT_EQ(v3.fma_per_second, 5e10);
  EXPECT_EQ(v3.l1_bytes, DefaultCpuLimits().For(*ParseIsa("x86-64-v3")).l1_bytes);
  const CpuLimits& v4 = table.For(*ParseIsa("x86-64-v4"));
  EXPECT_EQ(v4.cores, 2);
  EXPECT_EQ(v4.fma_per_second, DefaultCpuLimits().For(*ParseIsa("x86-64-v4")).fma_per_second);
}

TEST(Limits, WhatAFileMayNotSayIsRefusedWithAHint) {
  EXPECT_THAT(CpuError("nonsense"), HasSubstr("--limits: the file is no JSON object; hint: `aotc"));
  EXPECT_THAT(CpuError("[1]"), HasSubstr("no JSON object"));
  EXPECT_THAT(CpuError(R"({"cpu": 3})"), HasSubstr("cpu is no JSON object"));
  EXPECT_THAT(CpuError(R"({"cpu": {"l1_byte": 1}})"),
              HasSubstr("--limits: unknown key 'cpu.l1_byte'; hint: known are clock_hz, cores, "));
  EXPECT_EQ(CpuError(R"({"cpu": {"cores": "two"}})"),
            "--limits: cpu.cores is \"two\"; hint: write a whole number from 1.0 to 65536.0");
  EXPECT_THAT(CpuError(R"({"cpu": {"cores": 0}})"), HasSubstr("cpu.cores is 0; hint: write "));
  EXPECT_THAT(CpuError(R"({"cpu": {"cores": 1.5}})"), HasSubstr("cpu.cores is 1.5"));
  EXPECT_THAT(CpuError(R"({"cpu": {"l1_bandwidth": null}})"), HasSubstr("is null; hint: write a "));
  EXPECT_THAT(CpuError(R"({"cpu": {"fma_per_second": {"mmx": 1e9}}})"),
              HasSubstr("unknown key 'cpu.fma_per_second.mmx'"));
}

TEST(Limits, AFileIsForKnownTargetsAndForTheOneAskedFor) {
  const auto error = [](const std::string& file) {
    return std::string(MakeTarget("cpu", {.limits = file}).status().message());
  };
  EXPECT_EQ(error(R"({"cpu": {"cores": 2}})"), "");
  EXPECT_THAT(error(R"({"npu": {}})"), HasSubstr("unknown key 'npu'; hint: known are cpu, cuda"));
  EXPECT_THAT(error(R"({"cuda": {}})"), HasSubstr("the file says nothing of target cpu; hint: "));
  EXPECT_THAT(error(R"({"cpu": {}, "cuda": {"sm_1": {}}})"), HasSubstr("unknown key 'cuda.sm_1'"));
  EXPECT_EQ(MakeTarget("cpu", {.limits = R"({"cpu": {"cores": 2}})"})->limits, R"({"cores":2})");
  EXPECT_EQ(MakeTarget("cpu")->limits, "");
}

TEST(Limits, GpusOfAListHaveWhatAllOfThemHave) {
  EXPECT_EQ(DefaultCudaLimits({"80"}).sms, 108);
  EXPECT_EQ(DefaultCudaLimits({"90a"}).sms, 132);
  EXPECT_EQ(DefaultCudaLimits({"87"}).arch, "sm_86");
  EXPECT_EQ(DefaultCudaLimits({"75"}).arch, "sm_80");
  const CudaLimits both = DefaultCudaLimits({"90", "89"});
  EXPECT_EQ(both.sms, 58);
  EXPECT_EQ(both.shared_per_block, 101376);
  EXPECT_EQ(both.f16_mma_fma_per_clock, 512);
  const CudaLimits given = *CudaLimitsFrom(R"({"cuda": {"sm_90": {"sms": 114}}})", {"90a"});
  EXPECT_EQ(given.sms, 114);
  EXPECT_EQ(given.l2_bytes, 50 << 20);
  EXPECT_THAT(CudaLimitsFrom(R"({"cuda": {"sm_90": {"sms": 1e9}}})", {"80"}).status().message(),
              HasSubstr("cuda.sm_90.sms is 1000000000.0; hint: write a whole number from 1"));
}

TEST(Limits, WhatIsMeasuredIsAFileThatIsTaken) {
  const std::string file = MeasureLimits();
  const absl::StatusOr<CpuLimitsTable> table = CpuLimitsFrom(file);
  ASSERT_TRUE(table.ok()) << table.status() << file;
  const CpuLimits& row = table->For(NativeIsa());
  EXPECT_GT(row.fma_per_second, 1e8) << file;
  EXPECT_GT(row.memory_bandwidth, 1e8) << file;
  EXPECT_TRUE(MakeTarget("cpu", {.limits = file}).ok());
}

}  // namespace
}  // namespace aotc
