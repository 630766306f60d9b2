// The kernels of real models: a schedule is its text, and a kernel is what fusion made.
#include <gtest/gtest.h>
#include <unistd.h>

#include "compiler/ir/kernel_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_schedules.h"
#include "compiler/targets/cpu/tiles.h"
#include "tests/schedules/lowered_model.h"

namespace aotc {
namespace {

// MODEL[,NAME=RANGE...]
const char* const kModels[] = {
    "tiny_kws_dscnn",
    "tiny_kws_cnn",
    "tiny_kws_dscnn_f16",
    "tiny_ad_autoencoder",
    "tiny_ic_mobilenet,batch=1..4",
    "tiny_ic_resnet8_f16",
    "policy_quadruped",
    "det_face_yunet",
    "det_nanodet",
    "text_tinybert,batch=1..3,sequence=4..64",
    "text_t5_encoder,batch=1..3,tokens=4..64",
    "rnn_loop,sequence=1..8",
};

std::string NameOf(const testing::TestParamInfo<const char*>& info) {
  return NameOfModel(info.param);
}

class ModelKernels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = NameOfModel(GetParam());
    const std::string path = StrCat("../shared/models/", name, ".onnx");
    if (access(path.c_str(), R_OK) != 0) GTEST_SKIP() << path << " is not here";
    const std::string ranges = std::string(GetParam()).substr(name.size());
    absl::StatusOr<CompileResult> result =
        CompileToKernels(StrCat(path, ranges), {.target = target_name_});
    ASSERT_TRUE(result.ok()) << result.status();
    program_ = std::move(result->program);
    target_ = std::move(result->target);
  }

  const Isa& IsaOf(const KernelVariant& variant) const {
    for (const Isa& isa : all_) {
      if (isa.name == variant.feature) return isa;
    }
    ADD_FAILURE() << "no instruction set " << variant.feature;
    return all_.front();
  }

  std::string target_name_ = "cpu";
  Target target_;
  Program program_;
  const std::vector<std::string_view> used_ = {"vnni", "amx"};
  std::vector<Isa> all_ = IsasFor(*ParseCpuList(std::string(kDefaultCpuList)), used_);
};

// What a text says, applied to the kernel of the program, which is the one that was fused.
TEST_P(ModelKernels, HaveTheLoopsThatTheTextOfTheirScheduleGives) {
  for (const ProgramKernel& kernel : program_.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      const absl::StatusOr<Schedule> schedule = ParseSchedule(variant.schedule);
      ASSERT_TRUE(schedule.ok()) << variant.schedule << ": " << schedule.status();
      EXPECT_EQ(PrintSchedule(*schedule), variant.schedule);
      const CpuReading reading = ReadingOf(kernel.kernel, variant);
      absl::StatusOr<LoopFunction> loops = ApplyOnCpu(reading, *schedule, IsaOf(variant));
      ASSERT_TRUE(loops.ok()) << loops.status();
      loops->name = variant.loops.name;
      EXPECT_EQ(PrintLoops(*loops), PrintLoops(variant.loops)) << variant.schedule;
    }
  }
}

TEST_P(ModelKernels, AreValidAfterLowering) {
  KernelVerifier verifier;
  for (const ProgramKernel& kernel : program_.kernels) {
    const absl::Status status = verifier.Verify(kernel.kernel);
    EXPECT_TRUE(status.ok()) << kernel.kernel.name << ": " << status;
  }
}

// The test below looks at every one; under sanitizers, where that takes minutes a model, at some.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kStep = 16;
#else
constexpr size_t kStep = 1;
#endif

// Candidates are schedules of the kernel, and each can be applied.
TEST_P(ModelKernels, HaveCandidatesThatAreLegal) {
  for (const ProgramKernel& kernel : program_.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      const CpuReading reading = ReadingOf(kernel.kernel, variant);
      const Isa& isa = IsaOf(variant);
      const auto candidates = CpuCandidates(reading, isa, DefaultCpuLimits().For(isa));
      for (size_t i = 0; i < candidates.size(); i += kStep) {
        const Schedule& schedule = candidates[i];
        const absl::StatusOr<Schedule> parsed = ParseSchedule(PrintSchedule(schedule));
        ASSERT_TRUE(parsed.ok()) << parsed.status();
        EXPECT_EQ(*parsed, schedule);
        const absl::StatusOr<LoopFunction> loops = ApplyOnCpu(reading, schedule, isa);
        EXPECT_TRUE(loops.ok()) << PrintSchedule(schedule) << ": " << loops.status();
        EXPECT_GT(CpuCost(reading, schedule, isa, DefaultCpuLimits().For(isa)), 0);
      }
    }
  }
}

// The same on CUDA, by the target's record.
class ModelKernelsOnCuda : public ModelKernels {
 protected:
  ModelKernelsOnCuda() { target_name_ = "cuda"; }
};

TEST_P(ModelKernelsOnCuda, HaveTheLoopsThatTheTextOfTheirScheduleGives) {
  for (const ProgramKernel& kernel : program_.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      const absl::StatusOr<Schedule> schedule = ParseSchedule(variant.schedule);
      ASSERT_TRUE(schedule.ok()) << variant.schedule << ": " << schedule.status();
      EXPECT_EQ(PrintSchedule(*schedule), variant.schedule);
      const auto again = target_.realise(kernel.kernel, variant, variant.schedule);
      ASSERT_TRUE(again.ok()) << variant.schedule << ": " << again.status();
      EXPECT_EQ(PrintLoops(again->loops), PrintLoops(variant.loops)) << variant.schedule;
    }
  }
}

TEST_P(ModelKernelsOnCuda, HaveCandidatesAmongWhichTheirScheduleIs) {
  for (const ProgramKernel& kernel : program_.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      const auto candidates = target_.candidates(kernel.kernel, variant);
      EXPECT_EQ(std::ranges::count(candidates, variant.schedule, &ScheduleCandidate::schedule), 1)
          << variant.schedule;
      for (const ScheduleCandidate& candidate : candidates) EXPECT_GT(candidate.seconds, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, ModelKernelsOnCuda, testing::ValuesIn(kModels), NameOf);
INSTANTIATE_TEST_SUITE_P(Schedules, ModelKernels, testing::ValuesIn(kModels), NameOf);

}  // namespace
}  // namespace aotc
