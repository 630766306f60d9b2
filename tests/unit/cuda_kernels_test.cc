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
#include "compiler/schedule/schedule.h"
#include "compiler/support/files.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "compiler/targets/cuda/tiles.h"
#include "tests/unit/cuda_kernel_cases.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

std::vector<CudaKernelCase> AllCases() {
  std::vector<CudaKernelCase> all;
  for (const auto& cases :
       {RowCases(), ReductionCases(), ElementwiseCases(), TransposeCases(), ContractionCases(),
        MatmulCases(), GroupCases(), GroupStatisticCases()}) {
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
    const std::string chosen = StrCat(variant.schedule, "; ", variant.reason, ";");
    EXPECT_TRUE(absl::StrContains(chosen, test.schedule)) << kernel->kernel.name << ": " << chosen;
    const absl::StatusOr<Schedule> schedule = ParseSchedule(variant.schedule);
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    EXPECT_EQ(PrintSchedule(*schedule), variant.schedule);
    const absl::Status status = VerifySchedule(kernel->kernel, *schedule, CudaTiles());
    EXPECT_TRUE(status.ok()) << status;
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
  EXPECT_EQ(*MostArch({"90a", "80", "120"}), 120);
  EXPECT_EQ(*LeastArch({"120"}), 120);
  for (const char* arch : {"", "a", "8x", "90ab", "-80"})
    EXPECT_FALSE(LeastArch({arch}).ok()) << arch;
}

// Where only some have tensor cores, both ways are written, and the device decides.
TEST(CudaKernels, TensorCoresOfSomeGpusAreAVariant) {
  const Kernel dense = Parse(ContractionCases()[2].text);
  const absl::StatusOr<ProgramKernel> kernel =
      ScheduleOnCuda(dense, {.least_arch = 75, .most_arch = 80});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_EQ(kernel->variants.size(), 2u);
  EXPECT_EQ(kernel->variants[0].realisation, "mma_tile");
  EXPECT_EQ(kernel->variants[0].feature, "sm_80");
  EXPECT_EQ(kernel->variants[1].realisation, "matmul_tile");
  EXPECT_EQ(kernel->variants[1].feature, "");
  const std::string text = EmitCudaKernels({&*kernel}, "t");
  EXPECT_TRUE(absl::StrContains(text, StrCat("aotc_status t_", dense.name, "(")));
  EXPECT_TRUE(absl::StrContains(text, StrCat("aotc_status t_", dense.name, "_sm_80(")));
}

TEST(CudaKernels, ABlockHasNoMoreSharedMemoryThanAllGpusHave) {
  for (const CudaKernelCase& test : RowCases()) {
    const absl::StatusOr<ProgramKernel> kernel = ScheduleOnCuda(Parse(test.text), {});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const int64_t bytes = SharedBytes(kernel->variants[0].loops);
    if (bytes == 0) continue;
    CudaOptions small;
    small.limits.shared_per_block = bytes - 1;
    const absl::StatusOr<ProgramKernel> other = ScheduleOnCuda(Parse(test.text), small);
    EXPECT_TRUE(!other.ok() || SharedBytes(other->variants[0].loops) < bytes) << test.text;
  }
}

// More rows than a grid has blocks are left to the threads of fewer; beyond those there is no way.
TEST(CudaKernels, GridsHaveNoMoreBlocksThanDevicesTake) {
  const auto sums = [](int64_t rows) {
    const std::string text = StrCat("kernel @sums(in %x: f32[", rows, ", 300], out %y: f32[", rows,
                                    "]) {\n  %y[i<", rows, "] = reduce max(r<300) %x[i, r]\n}\n");
    return *ParseKernel(text);
  };
  const auto realisation = [&](int64_t rows) -> std::string {
    const absl::StatusOr<ProgramKernel> kernel = ScheduleOnCuda(sums(rows), {});
    if (!kernel.ok()) return std::string(kernel.status().message());
    const KernelVariant& variant = kernel->variants.front();
    return StrCat(variant.realisation, ": ", variant.reason);
  };
  EXPECT_EQ(realisation(2147483647),
            "row_groups: 2147483647 rows of up to 300; 64-bit indices: i*300 + r reaches "
            "644245094099");
  EXPECT_EQ(realisation(2147483648),
            "loops: kernel sums needs 2147483648 blocks, and a grid has at most 2147483647; "
            "64-bit indices: i*300 + r reaches 644245094399");
  EXPECT_EQ(realisation(int64_t{1} << 38),
            "kernel sums needs 2147483648 blocks, and a grid has at most 2147483647");
}

// The values of a kernel's inputs and the outputs that are due, in one run.
struct Values {
  std::string kernel;
  std::vector<Constant> inputs;
  std::vector<Constant> expected;
};

std::vector<int64_t> DimsAt(const Shape& shape, const SymbolValues& sizes) {
  std::vector<int64_t> dims;
  for (const Expr& dim : shape) dims.push_back(EvaluateInt(dim, sizes).value_or(-1));
  return dims;
}

Values ValuesOf(const Kernel& kernel, const SymbolValues& sizes) {
  Values run{.kernel = kernel.name, .inputs = {}, .expected = {}};
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

// What the program reads inputs with and writes outputs with; all memory is the device's too.
constexpr char kMain[] = R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "aotc/cuda_host.h"
static char *memory[8];
static FILE *given, *results;
static int failures;
static void begin(int shift) {
  given = fopen("inputs.bin", "rb");
  results = fopen("results.bin", "wb");
  for (char *&each : memory) {
    failures += cudaMallocManaged((void **)&each, 1 << 22) != cudaSuccess;
    memset(each, 255, 1 << 22);
    each += shift;
  }
}
static void take(char *to, size_t bytes) { failures += fread(to, 1, bytes, given) != bytes; }
static void give(char *from, size_t bytes) { failures += fwrite(from, 1, bytes, results) != bytes; }
static void status(const char *name, int error) {
  if (error == 0) error = cudaDeviceSynchronize();
  if (error != 0) printf("%s: status %d\n", name, error), ++failures;
}
static int end(void) { return fclose(results) != 0 || failures != 0; }
)";

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
      Change(kernel->variants[0].loops);
      kernels_.push_back(*std::move(kernel));
    }
    std::vector<const ProgramKernel*> all;
    for (const ProgramKernel& kernel : kernels_) all.push_back(&kernel);
    Write("kernels.cu", EmitCudaKernels(all, "t"));
    absl::StatusOr<OutputFiles> headers =
        CollectHeaders({{"kernels.cu", *ReadFile(Path("kernels.cu"))}});
    ASSERT_TRUE(headers.ok()) << headers.status();
    for (const auto& [path, text] : *headers) Write(path, text);
    WriteMain();
  }

  virtual void Change(LoopFunction& /*loops*/) {}

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

  struct Call {
    std::string declaration;
    std::string text;  // reads the inputs, calls, writes the outputs
  };

  static Call CallOf(const ProgramKernel& kernel, const SymbolValues& sizes, const Values& run) {
    std::string reads, args, params, writes;
    size_t count = 0;
    for (TensorId id : kernel.kernel.params) {
      const KernelTensor& tensor = kernel.kernel.tensors[id];
      const bool output = tensor.role == TensorRole::kOutput;
      const Constant& value = output ? run.expected[count - run.inputs.size()] : run.inputs[count];
      const int64_t bytes = StorageBytes(tensor.dtype, value.element_count());
      const std::string memory = StrCat("memory[", count++, "]");
      StrAppend(output ? &writes : &reads, output ? "give(" : "take(", memory, ", ", bytes, ");\n");
      StrAppend(&params, "void *, ");
      StrAppend(&args, memory, ", ");
    }
    for (const Symbol& symbol : kernel.kernel.symbols) {
      StrAppend(&params, "int64_t, ");
      StrAppend(&args, sizes.at(symbol.var), ", ");
    }
    const std::string name = StrCat("t_", kernel.kernel.name);
    const int64_t tasks = EvaluateInt(kernel.variants[0].loops.tasks, sizes).value_or(-1);
    return {StrCat("extern \"C\" int ", name, "(", params, "int64_t, void *);\n"),
            StrCat(reads, "status(\"", kernel.kernel.name, "\", ", name, "(", args, tasks,
                   ", 0));\n", writes)};
  }

  // main.cpp, which calls every kernel at every size, and what it reads.
  void WriteMain() {
    std::string inputs, calls, declarations;
    const std::vector<CudaKernelCase> cases = AllCases();
    for (size_t i = 0; i < cases.size(); ++i) {
      for (const SymbolValues& sizes : cases[i].sizes) {
        runs_.push_back(ValuesOf(kernels_[i].kernel, sizes));
        for (const Constant& value : runs_.back().inputs) {
          const Constant dense = value.Expanded();
          inputs.append(dense.bytes().begin(), dense.bytes().end());
        }
        const Call call = CallOf(kernels_[i], sizes, runs_.back());
        StrAppend(&declarations, call.declaration);
        StrAppend(&calls, call.text);
      }
    }
    Write("inputs.bin", inputs);
    Write("main.cpp", StrCat(kMain, declarations, "int main(int count, char **words) {\nbegin(",
                             "count > 1 ? atoi(words[1]) : 0);\n", calls, "return end();\n}\n"));
  }

  // Runs the program over memory that begins `shift` bytes behind an aligned address.
  void ExpectNumbers(const std::string& program, int shift) {
    ASSERT_EQ(Command({Path(program), StrCat(shift)}), "");
    const std::string results = *ReadFile(Path("results.bin"));
    size_t at = 0;
    for (const Values& run : runs_) {
      for (const Constant& expected : run.expected) {
        const size_t bytes = expected.Expanded().bytes().size();
        ASSERT_LE(at + bytes, results.size());
        const auto* from = reinterpret_cast<const uint8_t*>(results.data()) + at;
        const Constant actual =
            Constant::Dense(expected.dtype(), expected.dims(), {from, from + bytes});
        const double limit = expected.dtype() == DType::kF16 ? 2e-3 : 1e-5;
        EXPECT_LE(RelativeError(actual, expected), limit) << run.kernel;
        at += bytes;
      }
    }
    EXPECT_EQ(at, results.size());
  }

  // The compiler's path, "" where it is not installed.
  std::string Nvcc() {
    const std::string usual = "/usr/local/cuda/bin/nvcc";
    if (absl::StartsWith(Command({"nvcc", "--version"}), "nvcc")) return "nvcc";
    return fs::exists(usual) ? usual : "";
  }

  std::vector<ProgramKernel> kernels_;
  std::vector<Values> runs_;
  std::optional<TemporaryFolder> folder_;
};

TEST_F(CudaKernelsRun, NumbersAgreeWithTheEvaluator) {
  ASSERT_EQ(Command({"g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror",
                     "-DAOTC_CUDA_EMULATE", "-DAOTC_CUDA_CHECK_RACES", "-I", ".", "-x", "c++",
                     "main.cpp", "kernels.cu", "-o", "run", "-lpthread"}),
            "");
  ExpectNumbers("run", 0);
  ExpectNumbers("run", 8);  // callers' tensors have the alignment of their elements only
}

// The same kernels, with more shared memory than a kernel can declare.
class CudaKernelsInDynamicMemory : public CudaKernelsRun {
 protected:
  void Change(LoopFunction& loops) override {
    const int64_t bytes = SharedBytes(loops);
    for (LoopBuffer& buffer : loops.buffers) {
      if (buffer.place != BufferPlace::kShared || buffer.elements == 0) continue;
      buffer.elements += (kSharedOfEveryBlock - bytes) / ByteWidth(buffer.dtype) + kSharedAlign;
      ++changed_;
      break;
    }
  }

  int changed_ = 0;
};

TEST_F(CudaKernelsInDynamicMemory, NumbersAgreeWithTheEvaluator) {
  EXPECT_GT(changed_, 2);
  const std::string text = *ReadFile(Path("kernels.cu"));
  EXPECT_TRUE(absl::StrContains(text, "AOTC_DYNAMIC_SHARED(unsigned char, shared_memory);"));
  EXPECT_TRUE(absl::StrContains(text, "= aotc_shared_cast<float>(shared_memory + 0);"));
  ASSERT_EQ(Command({"g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror",
                     "-DAOTC_CUDA_EMULATE", "-DAOTC_CUDA_CHECK_RACES", "-I", ".", "-x", "c++",
                     "main.cpp", "kernels.cu", "-o", "run", "-lpthread"}),
            "");
  ExpectNumbers("run", 0);
}

TEST_F(CudaKernelsInDynamicMemory, NvccHasNoWarnings) {
  const std::string nvcc = Nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "not compiled by nvcc, which is not installed";
  EXPECT_EQ(Command({nvcc, "-std=c++17", "--Werror", "all-warnings", "-arch", "sm_80", "-I", ".",
                     "-c", "kernels.cu", "-o", "kernels.o"}),
            "");
}

TEST_F(CudaKernelsRun, NvccHasNoWarnings) {
  const std::string nvcc = Nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "not compiled by nvcc, which is not installed";
  EXPECT_EQ(Command({nvcc, "-std=c++17", "--Werror", "all-warnings", "-arch", "sm_80", "-I", ".",
                     "-c", "kernels.cu", "-o", "kernels.o"}),
            "");
}

TEST_F(CudaKernelsRun, NumbersOfAGpuAgreeWithTheEvaluator) {
  const std::string nvcc = Nvcc();
  if (nvcc.empty() || !fs::exists("/dev/nvidia0")) {
    GTEST_SKIP() << "not run on a GPU: this machine has none, or no nvcc";
  }
  ASSERT_EQ(Command({nvcc, "-std=c++17", "-arch", "native", "-I", ".", "-x", "cu", "main.cpp",
                     "kernels.cu", "-o", "run"}),
            "");
  ExpectNumbers("run", 0);
  ExpectNumbers("run", 8);
}

}  // namespace
}  // namespace aotc
