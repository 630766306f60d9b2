// Compiles and runs what EmitOutput writes: warnings, symbols, results, statuses, the table from
// outside.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "compiler/emit/output.h"
#include "compiler/plan/plan.h"
#include "compiler/support/files.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"
#include "compiler/targets/cpu/host.h"
#include "compiler/targets/cuda/host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/sample_callers.h"
#include "tests/unit/sample_program.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EmitBuildTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("aotc_emit_test");
    ASSERT_TRUE(folder.ok()) << folder.status();
    folder_.emplace(*std::move(folder));
  }

  std::string Path(const std::string& name) const { return StrCat(folder_->path(), "/", name); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  void EmitSample(EmitOptions options, const std::vector<Pool>& pools = {}) {
    if (!options.host.sources) options.host = CpuHost();
    const bool cuda = options.host.has_device;
    Program program = SampleProgram(cuda);
    for (const Pool& pool : pools) program.pools.Add(pool);
    ASSERT_TRUE(PlanMemory(program).ok());
    options.kernels = {cuda ? SampleCudaKernels() : SampleCpuKernels()};
    absl::StatusOr<OutputFiles> files = EmitOutput(program, options);
    ASSERT_TRUE(files.ok()) << files.status();
    for (const auto& [path, text] : *files) Write("out/" + path, text);
  }

  // Source files of the output with that ending.
  std::vector<std::string> Sources(const std::string& ending) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(Path("out"))) {
      if (absl::EndsWith(entry.path().string(), ending)) found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::string Run(std::vector<std::string> argv) {
    absl::StatusOr<ProcessResult> result =
        RunProcess({.argv = std::move(argv), .folder = folder_->path()});
    if (!result.ok()) return std::string(result.status().message());
    return result->exit_code == 0 ? result->output
                                  : StrCat("exit ", result->exit_code, ": ", result->output);
  }

  // Command line that compiles the output and more files into `target`.
  std::vector<std::string> BuildCommand(const std::string& compiler, bool cuda,
                                        std::vector<std::string> options) const {
    std::vector<std::string> argv = {compiler, "-std=c++17", "-I", Path("out")};
    argv.insert(argv.end(), options.begin(), options.end());
    for (const std::string& path : Sources(".S")) argv.push_back(path);
    argv.insert(argv.end(), {"-x", "c++"});
    if (cuda) argv.push_back("-DAOTC_CUDA_EMULATE");
    for (const char* ending : {".cpp", ".cu"}) {
      for (const std::string& path : Sources(ending)) argv.push_back(path);
    }
    return argv;
  }

  // Builds the output and `code`, which calls it, as "caller". What the compiler says.
  std::string BuildCaller(const std::string& code, std::vector<std::string> options,
                          bool cuda = false) {
    Write("caller.cpp", code);
    std::vector<std::string> argv = BuildCommand("g++", cuda, std::move(options));
    argv.insert(argv.end(), {Path("caller.cpp"), "-o", Path("caller")});
    return Run(argv);
  }

  std::optional<TemporaryFolder> folder_;
};

bool Exists(const std::string& program) {
  absl::StatusOr<ProcessResult> result = RunProcess({.argv = {program, "--version"}});
  return result.ok() && result->exit_code == 0;
}

TEST_F(EmitBuildTest, CpuModelsComputeAndCheck) {
  EmitSample({});
  ASSERT_EQ(BuildCaller(kCpuCaller, {"-O1", "-Wall", "-Wextra", "-Werror"}), "");
  EXPECT_EQ(Run({Path("caller")}), "0 wrong\n");
}

TEST_F(EmitBuildTest, CpuModelsHoldUnderSanitizers) {
  EmitSample({.weights = WeightsForm::kArray});
  ASSERT_EQ(
      BuildCaller(kCpuCaller, {"-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}),
      "");
  EXPECT_EQ(Run({Path("caller")}), "0 wrong\n");
}

// The scratch fits into the first pool, the rest does not, and nothing is left for the last.
std::vector<Pool> SamplePools() {
  return {{.name = "fast", .limit = 256}, {.name = "slow", .limit = 128}, {.name = "spare"}};
}

TEST_F(EmitBuildTest, ModelsWithPoolsComputeInOneArenaToo) {
  EmitSample({}, SamplePools());
  ASSERT_EQ(BuildCaller(kCpuCaller, {"-O1", "-Wall", "-Wextra", "-Werror"}), "");
  EXPECT_EQ(Run({Path("caller")}), "0 wrong\n");
}

TEST_F(EmitBuildTest, PoolsMayBeMemoriesOfTheirOwn) {
  for (const WeightsForm weights : {WeightsForm::kIncbin, WeightsForm::kFile}) {
    fs::remove_all(Path("out"));
    EmitSample({.weights = weights}, SamplePools());
    std::vector<std::string> options = {"-O1", "-fsanitize=address,undefined", "-Wall", "-Wextra",
                                        "-Werror"};
    if (weights == WeightsForm::kFile) options.push_back("-DLOADED");
    ASSERT_EQ(BuildCaller(kPoolCaller, options), "");
    EXPECT_EQ(Run({Path("caller"), Path("out/sample_weights.bin")}), "0 wrong\n");
  }
}

TEST_F(EmitBuildTest, EveryFileIsFreeOfWarnings) {
  for (const auto& [host, pools] : {std::pair(CpuHost(), std::vector<Pool>()),
                                    {CpuHost(), SamplePools()},
                                    {CudaHost(), std::vector<Pool>()}}) {
    fs::remove_all(Path("out"));
    EmitSample({.host = host, .example = true}, pools);
    const std::string cuda = host.has_device ? "-DAOTC_CUDA_EMULATE" : "-DAOTC_UNUSED";
    for (const char* compiler : {"g++", "clang++-14", "clang++-19"}) {
      if (!Exists(compiler)) {
        printf("not compiled with %s, which is not installed\n", compiler);
        continue;
      }
      std::vector<std::string> argv = {compiler,
                                       "-std=c++17",
                                       "-Wall",
                                       "-Wextra",
                                       "-Wpedantic",
                                       "-Werror",
                                       "-fsyntax-only",
                                       cuda,
                                       "-I",
                                       Path("out"),
                                       "-x",
                                       "c++",
                                       Path("out/example/main.cpp")};
      for (const char* ending : {".cpp", ".cu"}) {
        for (const std::string& path : Sources(ending)) argv.push_back(path);
      }
      EXPECT_EQ(Run(argv), "") << compiler;
    }
    EXPECT_EQ(Run({"gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                   "-I", Path("out"), "-x", "c", Path("out/sample.h")}),
              "");
  }
}

// Undefined and defined names of the objects of the output, as nm prints them: "U memcpy", "T
// sample_run".
std::set<std::string> Symbols(const std::string& text) {
  std::set<std::string> symbols;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() >= 2) symbols.insert(StrCat(words[words.size() - 2], " ", words.back()));
  }
  return symbols;
}

TEST_F(EmitBuildTest, ObjectsShareNothingWithOthers) {
  for (const HostWriter& host : {CpuHost(), CudaHost()}) {
    fs::remove_all(Path("out"));
    EmitSample({.host = host});
    const bool cuda = host.has_device;
    fs::create_directories(Path("objects"));
    std::vector<std::string> argv = BuildCommand("g++", cuda, {"-O0", "-c"});
    absl::StatusOr<ProcessResult> built = RunProcess({.argv = argv, .folder = Path("objects")});
    ASSERT_TRUE(built.ok() && built->exit_code == 0) << built->output;
    std::vector<std::string> nm = {"nm"};
    for (const auto& entry : fs::directory_iterator(Path("objects"))) nm.push_back(entry.path());
    for (const std::string& symbol : Symbols(Run(nm))) {
      const char kind = symbol[0];
      if (absl::ascii_islower(static_cast<unsigned char>(kind)) && kind != 'w' && kind != 'v')
        continue;
      EXPECT_TRUE(kind == 'U' || absl::StartsWith(symbol.substr(2), "sample_")) << symbol;
      EXPECT_TRUE(std::string("wWvVu").find(kind) == std::string::npos) << symbol;
    }
    fs::remove_all(Path("objects"));
  }
}

TEST_F(EmitBuildTest, WhatRunReachesCallsNoAllocatorAndNoIo) {
  EmitSample({});
  ASSERT_EQ(Run({"g++", "-std=c++17", "-O2", "-I", Path("out"), "-c", Path("out/sample.cpp"), "-o",
                 Path("host.o")}),
            "");
  std::set<std::string> foreign;
  for (const std::string& symbol : Symbols(Run({"nm", "-u", Path("host.o")}))) {
    if (!absl::StartsWith(symbol, "U sample_")) foreign.insert(symbol.substr(2));
  }
  const std::set<std::string> allowed = {"memcpy",          "memcmp",      "bcmp",
                                         "sched_yield",     "__cpu_model", "_GLOBAL_OFFSET_TABLE_",
                                         "__stack_chk_fail"};
  for (const std::string& symbol : foreign) EXPECT_TRUE(allowed.count(symbol)) << symbol;
}

TEST_F(EmitBuildTest, LoadedWeightsAreVerified) {
  EmitSample({.weights = WeightsForm::kFile});
  constexpr char kCaller[] = R"(
#include "sample.h"
#include <stdio.h>
alignas(64) static unsigned char arena[SAMPLE_ARENA_BYTES], blob[64 + 128];
int main(int, char **argv) {
  FILE *file = fopen(argv[1], "rb");
  if (file == nullptr || fread(blob, 1, sizeof blob, file) != sizeof blob) return 2;
  float x[4] = {1, 2, 3, 4}, y[4], copy[4];
  sample_inputs in = {x, {2}};
  sample_outputs out = {y, copy};
  sample_weights weights = {};
  printf("%d", sample_run(&weights, &in, &out, arena));
  printf(" %d", sample_load(&weights, blob, sizeof blob));
  printf(" %d", sample_run(&weights, &in, &out, arena));
  printf(" %d", sample_load(&weights, blob, sizeof blob - 1));
  printf(" %d", sample_load(&weights, blob + 8, sizeof blob));
  int caught = 0;
  for (unsigned char &byte : blob) {
    byte ^= 4;
    caught += sample_load(&weights, blob, sizeof blob) == AOTC_ERROR_WEIGHTS;
    byte ^= 4;
  }
  printf(" %d %d\n", caught, sample_run(&weights, &in, &out, arena));
})";
  ASSERT_EQ(BuildCaller(kCaller, {"-O1"}), "");
  // 32 bytes of the header are zero and stay unread.
  EXPECT_EQ(Run({Path("caller"), Path("out/sample_weights.bin")}), "8 0 0 8 1 160 8\n");
}

TEST_F(EmitBuildTest, CudaModelsComputeUnderEmulation) {
  EmitSample({.host = CudaHost()});
  ASSERT_EQ(
      BuildCaller(kCudaCaller,
                  {"-O1", "-fsanitize=address,undefined", "-Wall", "-Wextra", "-Werror"}, true),
      "");
  EXPECT_EQ(Run({Path("caller")}), "1 0 0 0 0 26 26 5 0 0\n");
}

// The first kernel in three ways: for newer devices, for two rows, and for all. What launches the
// first two fails, so that the status tells which was chosen.
TEST_F(EmitBuildTest, CudaVariantsAreChosenByDeviceAndSize) {
  Program program = SampleProgram(/*cuda=*/true);
  std::vector<KernelVariant>& variants = program.kernels[KernelId(0)].variants;
  variants.insert(variants.begin(), 2, variants[0]);
  variants[0].feature = "sm_90";
  variants[0].loops.name = "dense_sm_90";
  variants[1].guard = Eq(Var("m"), 1);
  variants[1].loops.name = "dense_one_row";
  ASSERT_TRUE(PlanMemory(program).ok());
  KernelFile kernels = SampleCudaKernels();
  for (const auto& [name, status] : {std::pair("dense_sm_90", "AOTC_ERROR_DEVICE"),
                                     std::pair("dense_one_row", "AOTC_ERROR_VALUE")}) {
    const std::string head =
        StrCat("aotc_status sample_", name,
               "(const float *, const float *, float *, int64_t, int64_t, struct CUstream_st *)");
    StrAppend(&kernels.text, "LOCAL ", head, ";\n", head, " { return ", status, "; }\n");
  }
  absl::StatusOr<OutputFiles> files =
      EmitOutput(program, {.host = CudaHost(), .kernels = {kernels}});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(files->at("sample.cpp"), HasSubstr("if (capability >= 90) {"));
  EXPECT_THAT(files->at("sample.cpp"), HasSubstr("else if ((dims.m == 1)) {"));
  for (const auto& [path, text] : *files) Write("out/" + path, text);
  constexpr char kCaller[] = R"(
#include "sample.h"
#include <stdio.h>
static float x[32], y[32], copy[32];
int main() {
  sample_config config = {};
  config.own_arena = 1;
  config.inputs_on_host[0] = config.outputs_on_host[0] = config.outputs_on_host[1] = 1;
  sample_instance self;
  sample_outputs out = {y, copy};
  printf("%d", sample_create(&self, &config));
  for (int64_t rows = 2; rows <= 6; rows += 4) {
    sample_inputs in = {x, {rows}};
    printf(" %d", sample_enqueue(&self, &in, &out, nullptr, nullptr) & 255);
  }
  printf(" %d", sample_finish(&self));
  printf(" %d\n", sample_destroy(&self));
}
)";
  const auto run = [&](const std::string& capability) {
    const std::string built = BuildCaller(
        kCaller,
        {"-O1", "-Wall", "-Wextra", "-Werror", "-DAOTC_CUDA_EMULATE_CAPABILITY=" + capability},
        true);
    return built.empty() ? Run({Path("caller")}) : built;
  };
  EXPECT_EQ(run("75"), "0 7 0 0 0\n");
  EXPECT_EQ(run("90"), "0 10 10 0 0\n");
}

TEST_F(EmitBuildTest, CudaVariantsThatTheHostCannotAskForAreRefused) {
  Program program = SampleProgram(/*cuda=*/true);
  std::vector<KernelVariant>& variants = program.kernels[KernelId(0)].variants;
  variants.insert(variants.begin(), variants[0]);
  variants[0].feature = "gfx90";
  ASSERT_TRUE(PlanMemory(program).ok());
  EXPECT_EQ(EmitOutput(program, {.host = CudaHost()}).status().message(),
            "kernel dense needs 'gfx90', which the host cannot ask for");
}

TEST_F(EmitBuildTest, TheTableReadsFromOutside) {
  const std::string reader = "../shared/conformance/table_check.py";
  if (!fs::exists(reader) || !Exists("python3")) {
    GTEST_SKIP() << "the table is not read from outside: " << reader << " is not here";
  }
  for (const HostWriter& host : {CpuHost(), CudaHost()}) {
    fs::remove_all(Path("out"));
    EmitSample({.host = host});
    std::vector<std::string> argv =
        BuildCommand("g++", host.has_device, {"-O1", "-shared", "-fPIC", "-o", Path("sample.so")});
    ASSERT_EQ(Run(argv), "");
    for (const char* dims : {"min", "max"}) {
      EXPECT_THAT(Run({"python3", fs::absolute(reader).string(), Path("sample.so"), "sample",
                       "--dims", dims}),
                  HasSubstr("all holds"));
    }
  }
}

TEST_F(EmitBuildTest, TwoModelsShareOneProgram) {
  EmitSample({});
  fs::rename(Path("out"), Path("first"));
  Program program;
  program.name = "sample_2";
  absl::StatusOr<OutputFiles> files = EmitOutput(program, {.host = CpuHost()});
  ASSERT_TRUE(files.ok());
  for (const auto& [path, text] : *files) Write("out/" + path, text);
  Write("caller.cpp",
        "#include \"first/sample.h\"\n#include \"out/sample_2.h\"\n"
        "int main() { return sample_model() == sample_2_model(); }\n");
  std::vector<std::string> argv =
      BuildCommand("g++", false, {"-I", Path("first"), "-I", folder_->path()});
  for (const char* name :
       {"first/sample.cpp", "first/sample_kernels_0.cpp", "first/sample_pool.cpp", "caller.cpp"}) {
    argv.push_back(Path(name));
  }
  argv.insert(argv.end(),
              {"-x", "assembler-with-cpp", Path("first/sample_weights.S"), "-o", Path("both")});
  ASSERT_EQ(Run(argv), "");
  EXPECT_EQ(Run({Path("both")}), "");
}

TEST_F(EmitBuildTest, TheBuildFileBuilds) {
  if (!Exists("cmake")) GTEST_SKIP() << "cmake is not installed";
  EmitSample({.example = true});
  EXPECT_THAT(Run({"cmake", "-G", "Ninja", "-S", Path("out"), "-B", Path("build")}),
              HasSubstr("Generating done"));
  EXPECT_THAT(Run({"cmake", "--build", Path("build")}), HasSubstr("sample_example"));
  EXPECT_THAT(Run({Path("build/sample_example")}), HasSubstr("output_1.npy: copy"));
  Write("ints.npy", std::string("\x93NUMPY\x01\0\x3a\0", 10) +
                        "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }\n" +
                        std::string(16, '\0'));
  const absl::StatusOr<ProcessResult> refused =
      RunProcess({.argv = {Path("build/sample_example"), Path("ints.npy")}});
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_EQ(refused->exit_code, 1);
  EXPECT_THAT(refused->output, HasSubstr("holds elements of type <i4, not <f4"));
}

}  // namespace
}  // namespace aotc
