// Readings of chains, and the schedules that the CPU has for them.
#include "compiler/schedule/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "compiler/ir/kernel_text.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_schedules.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

// A depthwise convolution, whose result a second contraction reads, and what reads that.
Kernel KernelOf(std::string_view read, std::string_view last = "%s[n, k, i, j]") {
  const std::string text =
      StrCat(R"(
kernel @chain(
    in %x: f32[2, 16, 10, 10](0, 1/16, 2, 3, 1%16; halo 2:1+1 3:1+1 fill 0),
    const %f: f32[16, 1, 3, 3],
    const %g: f32[16, 16],
    out %y: f32[2, 16, 10, 10](0, 1/16, 2, 3, 1%16)) {
  temp %a: f32[2, 16, 10, 10]
  temp %v: f32[2, 16, 10, 10](0, 1/16, 2, 3, 1%16)
  temp %s: f32[2, 16, 10, 10]
  %a[n<2, c<16, i<10, j<10] = reduce sum(p<3, q<3) select(1 <= i + p && i + p < 11 &&
      1 <= j + q && j + q < 11, %x[n, c, i + p - 1, j + q - 1], 0.0) * %f[c, 0, p, q]
  %v[n<2, c<16, i<10, j<10] = max(%a[n, c, i, j], 0.0)
  %s[n<2, k<16, i<10, j<10] = reduce sum(d<16) )",
             read, " * %g[k, d]\n  %y[n<2, k<16, i<10, j<10] = max(", last, ", 0.0)\n}\n");
  const absl::StatusOr<Kernel> kernel = ParseKernel(text);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return kernel.ok() ? *kernel : Kernel();
}

const Isa& Widest() {
  static const std::vector<Isa> isas = *ParseCpuList("x86-64-v4");
  return isas.back();
}

TEST(ChainAnchor, SaysWhatAPointOfTheSecondNeeds) {
  const Kernel kernel = KernelOf("%v[n, d, i, j]");
  const std::optional<ChainAnchor> chain = ReadChain(kernel);
  ASSERT_TRUE(chain.has_value());
  EXPECT_EQ(chain->second, 2);
  EXPECT_EQ(kernel.tensors[chain->between].name, "v");
  EXPECT_THAT(chain->rows, ElementsAre(Optional(0), std::nullopt, Optional(2), Optional(3)));
}

TEST(ChainAnchor, APartIsTheKernelOfItsStages) {
  const Kernel kernel = KernelOf("%v[n, d, i, j]");
  const std::optional<ChainAnchor> chain = ReadChain(kernel);
  ASSERT_TRUE(chain.has_value());
  const auto names = [](const Kernel& part) {
    std::vector<std::string> params;
    for (const TensorId id : part.params) params.push_back(part.tensors[id].name);
    return params;
  };
  EXPECT_THAT(names(ChainHead(kernel, *chain)), ElementsAre("x", "f", "v"));
  EXPECT_THAT(names(ChainTail(kernel, *chain)), ElementsAre("v", "g", "y"));
}

// Rows of others, in another order, a part of the channels, no sum over them, or two readers.
TEST(ChainAnchor, OtherReadersAreNone) {
  for (const std::string_view read : {"%v[n, d, j, i]", "%v[n, d, 9 - i, j]", "%v[0, d, i, j]",
                                      "%v[n, floor_div(d, 2), i, j]", "%v[n, k, i, j]"}) {
    EXPECT_FALSE(ReadChain(KernelOf(read))) << read;
  }
  EXPECT_FALSE(ReadChain(KernelOf("%v[n, d, i, j]", "%s[n, k, i, j] + %v[n, k, i, j]")));
}

TEST(ChainSchedule, NoCandidateStoresWhatLiesBetween) {
  const Kernel kernel = KernelOf("%v[n, d, i, j]");
  const CpuReading reading(kernel);
  ASSERT_TRUE(reading.chain().ok()) << reading.chain().status();
  const CpuLimits limits = DefaultCpuLimits().For(Widest());
  const TensorId between = reading.chain()->anchor.between;
  const std::vector<Schedule> candidates = CpuCandidates(reading, Widest(), limits);
  EXPECT_GE(candidates.size(), 12);
  for (const Schedule& schedule : candidates) {
    const absl::StatusOr<LoopFunction> loops = ApplyOnCpu(reading, schedule, Widest());
    ASSERT_TRUE(loops.ok()) << PrintSchedule(schedule) << ": " << loops.status();
    EXPECT_EQ(loops->buffers[between].place, BufferPlace::kScratch);
    const int64_t rows = schedule.tasks.back().block;
    EXPECT_EQ(loops->scratch_bytes, rows * 10 * 16 * 4) << PrintSchedule(schedule);
  }
}

TEST(ChainSchedule, OthersAreRefusedWithTheReason) {
  const Kernel kernel = KernelOf("%v[n, d, i, j]");
  const CpuReading reading(kernel);
  for (const auto& [text, reason] : {
           std::pair("schedule { tasks %y(n:1, i:4)  %a, %v, %s, %y @ tasks in fragment by "
                     "contract_tile(10, 1, 1) }",
                     "two contractions are two parts"),
           std::pair("schedule { tasks %y(i:4)  %a, %v @ tasks in scratch by depthwise_tile(10, 1) "
                     " %s, %y @ tasks in fragment by contract_tile(10, 1, 1) }",
                     "it should be schedule { tasks %y(n:1, i:4)"),
           std::pair("schedule { tasks %y(n:1, i:4)  %a, %v @ tasks in scratch by "
                     "contract_tile(10, 1, 1)  %s, %y @ tasks in fragment by "
                     "contract_tile(10, 1, 1) }",
                     "by depthwise_tile"),
       }) {
    const absl::StatusOr<Schedule> schedule = ParseSchedule(text);
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    const absl::Status status = ApplyOnCpu(reading, *schedule, Widest()).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(reason));
  }
}

}  // namespace
}  // namespace aotc
