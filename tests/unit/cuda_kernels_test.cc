// The kernels of cuda_kernel_cases.h as the CUDA target writes them: the rule that fires, warnings
// of nvcc, and numbers under the emulation, whose checking mode watches shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "absl/strings/match.h"
#include "compiler/emit/parts.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/files.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "tests/unit/cuda_kernel_cases.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

std::vector<CudaKernelCase> AllCases() {
  std::vector<CudaKernelCase> all;
  for (const auto& cases : {RowCases(), ReductionCases(), ElementwiseCases(), TransposeCases(),
                            ContractionCases(), MatmulCases(), GroupCases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

Kernel Parse(std::string_view text) {
  absl::StatusOr<Kernel> kernel = ParseKernel(text);
  EXPECT_TRUE(kernel.ok()) << text << ": " << kernel.status();
  EXPECT_TRUE(!kernel.ok() || VerifyKernel(*kernel).ok()) << VerifyKernel(*kernel);
  return kernel.ok() ? *std::move(kernel) : Kernel{};
}

TEST(CudaKernels, TheRulesFireWhereTheyPay) {
  for (const CudaKernelCase& test : AllCases()) {
    absl::StatusOr<ProgramKernel> kernel = ScheduleOnCuda(Parse(test.text), {});
    ASSERT_TRUE(kernel.ok()) << test.text << kernel.status();
    const KernelVariant& variant = kernel->variants.front();
    EXPECT_TRUE(absl::StartsWith(variant.schedule, test.schedule))
        << kernel->kernel.name << ": " << variant.schedule << "; " << variant.reason;
  }
}

TEST(CudaKernels, TensorCoresAreUsedWhereEveryGpuHasThem) {
  const Kernel dense = Parse(ContractionCases()[2].text);
  for (const auto& [arch, realisation] : {std::pair(75, "matmul_tile"), {80, "mma_tile"}}) {
    absl::StatusOr<ProgramKernel> kernel = ScheduleOnCuda(dense, {.least_arch = arch});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_EQ(kernel->variants.front().realisation, realisation);
  }
  EXPECT_EQ(*LeastArch({"90a", "80"}), 80);
  EXPECT_EQ(*LeastArch({"120"}), 120);
  for (const char* arch : {"", "a", "8x", "90ab", "-80"})
    EXPECT_FALSE(LeastArch({arch}).ok()) << arch;
}

// The values of a kernel's inputs and the outputs that are due, in one run.
struct Values {
  std::vector<Constant> inputs;
  std::vector<Constant> expected;
};

std::vector<int64_t> DimsAt(const Shape& shape, const SymbolValues& sizes) {
  std::vector<int64_t> dims;
  for (const Expr& dim : shape) dims.push_back(EvaluateInt(dim, sizes).value_or(-1));
  return dims;
}

Values ValuesOf(const Kernel& kernel, const SymbolValues& sizes) {
  Values run;
  uint64_t seed = 1;
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    if (tensor.role == TensorRole::kOutput) continue;
    run.inputs.push_back(Constant::Random(tensor.dtype, DimsAt(tensor.shape, sizes), ++seed));
  }
  absl::StatusOr<std::vector<Constant>> expected = EvaluateKernel(kernel, run.inputs, sizes);
  EXPECT_TRUE(expected.ok()) << kernel.name << ": " << expected.status();
  if (expected.ok()) run.expected = *std::move(expected);
  return run;
}

// One program with all kernels: reads inputs from one file, writes outputs to another.
class CudaKernelsRun : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("aotc_cuda_kernels");
    ASSERT_TRUE(folder.ok()) << folder.status();
    folder_.emplace(*std::move(folder));
    for (const CudaKernelCase& test : AllCases()) {
      absl::StatusOr<ProgramKernel> kernel = ScheduleOnCuda(Parse(test.text), {});
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      kernels_.push_back(*std::move(kernel));
    }
    std::vector<const ProgramKernel*> all;
    for (const ProgramKernel& kernel : kernels_) all.push_back(&kernel);
    Write("kernels.cu", EmitCudaKernels(all, "t"));
    absl::StatusOr<OutputFiles> headers =
        CollectHeaders({{"kernels.cu", *ReadFile(Path("kernels.cu"))}});
    ASSERT_TRUE(headers.ok()) << headers.status();
    for (const auto& [path, text] : *headers) Write(path, text);
  }

  std::string Path(const std::string& name) const { return StrCat(folder_->path(), "/", name); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  std::string Command(std::vector<std::string> argv) {
    absl::StatusOr<ProcessResult> result = RunProcess({.argv = argv, .folder = folder_->path()});
    if (!result.ok()) return std::string(result.status().message());
    return result->exit_code == 0 ? result->output
                                  : StrCat("exit ", result->exit_code, ": ", result->output);
  }

  // A call of one kernel at one size: "in(p0, 40); ... t_softmax((float*)p0, ...); out(p1, 40);"
  static std::string CallOf(const ProgramKernel& kernel, const SymbolValues& sizes,
                            const Values& run) {
    std::string reads, args, declarations, writes;
    size_t count = 0;
    for (TensorId id : kernel.kernel.params) {
      const KernelTensor& tensor = kernel.kernel.tensors[id];
      const bool output = tensor.role == TensorRole::kOutput;
      const Constant& value = output ? run.expected[count - run.inputs.size()] : run.inputs[count];
      const int64_t bytes = StorageBytes(tensor.dtype, value.element_count());
      const std::string memory = StrCat("memory[", count++, "]");
      StrAppend(output ? &writes : &reads, output ? "give(" : "take(", memory, ", ", bytes, ");\n");
      StrAppend(&declarations, "void *, ");
      StrAppend(&args, memory, ", ");
    }
    for (const Symbol& symbol : kernel.kernel.symbols) {
      StrAppend(&declarations, "int64_t, ");
      StrAppend(&args, sizes.at(symbol.var), ", ");
    }
    const std::string name = StrCat("t_", kernel.kernel.name);
    const int64_t tasks = EvaluateInt(kernel.variants[0].loops.tasks, sizes).value_or(-1);
    return StrCat("{\nextern \"C\" int ", name, "(", declarations, "int64_t, void *);\n", reads,
                  "status(\"", kernel.kernel.name, "\", ", name, "(", args, tasks, ", 0));\n",
                  writes, "}\n");
  }

  std::vector<ProgramKernel> kernels_;
  std::optional<TemporaryFolder> folder_;
};

constexpr char kMain[] = R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "aotc/cuda_host.h"
static char *memory[8];
static FILE *given, *results;
static int failures;
static void take(char *to, size_t bytes) { failures += fread(to, 1, bytes, given) != bytes; }
static void give(char *from, size_t bytes) { failures += fwrite(from, 1, bytes, results) != bytes; }
static void status(const char *name, int error) {
  if (error == 0) error = cudaDeviceSynchronize();
  if (error != 0) printf("%s: status %d\n", name, error), ++failures;
}
)";

TEST_F(CudaKernelsRun, NumbersAgreeWithTheEvaluator) {
  std::string inputs, calls, declarations;
  std::vector<Values> runs;
  const std::vector<CudaKernelCase> cases = AllCases();
  for (size_t i = 0; i < cases.size(); ++i) {
    for (const SymbolValues& sizes : cases[i].sizes) {
      runs.push_back(ValuesOf(kernels_[i].kernel, sizes));
      for (const Constant& value : runs.back().inputs) {
        const Constant dense = value.Expanded();
        inputs.append(dense.bytes().begin(), dense.bytes().end());
      }
      std::string call = CallOf(kernels_[i], sizes, runs.back());
      const size_t end = call.find(";\n") + 2;
      StrAppend(&declarations, call.substr(2, end - 2));
      call.erase(2, end - 2);
      StrAppend(&calls, call);
    }
  }
  Write("inputs.bin", inputs);
  Write("main.cpp", StrCat(kMain, declarations, R"(
int main() {
  given = fopen("inputs.bin", "rb");
  results = fopen("results.bin", "wb");
  for (char *&each : memory) each = (char *)aligned_alloc(64, 1 << 22), memset(each, 255, 1 << 22);
)",
                           calls, "fclose(results);\nreturn failures != 0;\n}\n"));
  ASSERT_EQ(Command({"g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror",
                     "-DAOTC_CUDA_EMULATE", "-DAOTC_CUDA_CHECK_RACES", "-I", ".", "-x", "c++",
                     "main.cpp", "kernels.cu", "-o", "run", "-lpthread"}),
            "");
  ASSERT_EQ(Command({Path("run")}), "");
  const std::string results = *ReadFile(Path("results.bin"));
  size_t at = 0, next = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    for (size_t size = 0; size < cases[i].sizes.size(); ++size) {
      for (const Constant& expected : runs[next++].expected) {
        const size_t bytes = expected.Expanded().bytes().size();
        ASSERT_LE(at + bytes, results.size());
        const auto* from = reinterpret_cast<const uint8_t*>(results.data()) + at;
        const Constant actual =
            Constant::Dense(expected.dtype(), expected.dims(), {from, from + bytes});
        const double limit = expected.dtype() == DType::kF16 ? 2e-3 : 1e-5;
        EXPECT_LE(RelativeError(actual, expected), limit) << kernels_[i].kernel.name;
        at += bytes;
      }
    }
  }
  EXPECT_EQ(at, results.size());
}

TEST_F(CudaKernelsRun, NvccHasNoWarnings) {
  const std::string usual = "/usr/local/cuda/bin/nvcc";
  const bool in_path = absl::StartsWith(Command({"nvcc", "--version"}), "nvcc");
  if (!in_path && !fs::exists(usual)) {
    GTEST_SKIP() << "not compiled by nvcc, which is not installed";
  }
  EXPECT_EQ(Command({in_path ? "nvcc" : usual, "-std=c++17", "--Werror", "all-warnings", "-arch",
                     "sm_80", "-I", ".", "-c", "kernels.cu", "-o", "kernels.o"}),
            "");
}

}  // namespace
}  // namespace aotc
