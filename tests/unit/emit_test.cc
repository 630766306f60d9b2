// What the output folder holds, without compiling it; emit_build_test.cc does that.
#include "absl/strings/match.h"
#include "compiler/emit/output.h"
#include "compiler/emit/parts.h"
#include "compiler/plan/plan.h"
#include "compiler/targets/cpu/host.h"
#include "compiler/targets/cpu/kernel_symbol.h"
#include "compiler/targets/cuda/host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/sample_program.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

Program Planned(Program program) {
  EXPECT_TRUE(PlanMemory(program).ok()) << PlanMemory(program);
  return program;
}

OutputFiles EmitProgram(const Program& program, EmitOptions options) {
  if (!options.host.sources) options.host = CpuHost();
  options.kernels = {options.host.has_device ? SampleCudaKernels() : SampleCpuKernels()};
  absl::StatusOr<OutputFiles> files = EmitOutput(Planned(program), options);
  EXPECT_TRUE(files.ok()) << files.status();
  return files.ok() ? *files : OutputFiles();
}

OutputFiles Emit(const EmitOptions& options) {
  return EmitProgram(SampleProgram(options.host.has_device), options);
}

std::vector<std::string> Names(const OutputFiles& files) {
  std::vector<std::string> names;
  for (const auto& [path, text] : files) names.push_back(path);
  return names;
}

std::string ErrorOf(const Program& program, EmitOptions options = {}) {
  options.host = CpuHost();
  return std::string(EmitOutput(program, options).status().message());
}

TEST(Emit, CpuFolderHoldsWhatIsNeededAndNoMore) {
  EXPECT_EQ(
      Names(Emit({.example = true})),
      (std::vector<std::string>{"CMakeLists.txt", "aotc/attributes.h", "aotc/check.h",
                                "aotc/model.h", "aotc/parallel.h", "aotc/pool.h", "aotc/status.h",
                                "aotc/weights.h", "example/main.cpp", "metadata.json", "sample.cpp",
                                "sample.h", "sample_kernels_0.cpp", "sample_pool.cpp",
                                "sample_weights.S", "sample_weights.bin"}));
}

TEST(Emit, WeightsFormsHaveFilesOfTheirOwn) {
  const std::vector<std::string> array = Names(Emit({.weights = WeightsForm::kArray}));
  EXPECT_THAT(array, testing::Contains("sample_weights.cpp"));
  EXPECT_THAT(array, Not(testing::Contains("sample_weights.bin")));
  const std::vector<std::string> file = Names(Emit({.weights = WeightsForm::kFile}));
  EXPECT_THAT(file, testing::Contains("sample_weights.bin"));
  EXPECT_THAT(file, Not(testing::Contains("sample_weights.S")));
}

TEST(Emit, CudaFolderHasTheEmulationAndNoPool) {
  const std::vector<std::string> names = Names(Emit({.host = CudaHost()}));
  EXPECT_THAT(names, IsSupersetOf({"aotc/cuda.h", "aotc/emulation/launch.h", "sample.cpp",
                                   "sample_device.cu", "sample_kernels_0.cu"}));
  EXPECT_THAT(names, Not(testing::Contains("sample_pool.cpp")));
  EXPECT_THAT(names, Not(testing::Contains("aotc/parallel.h")));
}

TEST(Emit, CudaHeaderNamesTheLeastDeviceThatArchAsksFor) {
  const auto header = [](int least_arch) {
    return Emit({.host = CudaHost({}, least_arch)}).at("sample.h");
  };
  EXPECT_THAT(header(80), HasSubstr("compute capability 8.0 or later, and toolkit 11.8 or later"));
  EXPECT_THAT(header(120), HasSubstr("compute capability 12.0 or later"));
}

TEST(Emit, MembersThatDifferInTheirCaseAloneHaveMacrosOfTheirOwn) {
  Program program = SampleProgram(/*cuda=*/false);
  program.buffers[program.outputs[0]].value = "a_b";
  program.buffers[program.outputs[1]].value = "A_b";
  const absl::StatusOr<OutputFiles> files =
      EmitOutput(Planned(std::move(program)), {.host = CpuHost(), .kernels = {SampleCpuKernels()}});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(files->at("sample.h"), HasSubstr("#define SAMPLE_OUTPUT_A_B_BYTES "));
  EXPECT_THAT(files->at("sample.h"), HasSubstr("#define SAMPLE_OUTPUT_A_B_2_BYTES "));
}

TEST(Emit, SameProgramSameBytes) {
  EXPECT_EQ(Emit({.example = true}), Emit({.example = true}));
  EXPECT_EQ(Emit({.host = CudaHost()}), Emit({.host = CudaHost()}));
}

// Two steps that read what a third has written: the second begins with the worker at which the
// tasks of the first have ended.
TEST(Emit, TasksOfStepsWithoutABarrierAreDealtOn) {
  Program program = SampleProgram();
  EXPECT_THAT(Emit({}).at("sample.cpp"), Not(HasSubstr("aotc_turn(")));
  program.steps[1].in_place.clear();
  program.steps[2].args[0] = program.steps[1].args[0];
  const OutputFiles files = EmitProgram(program, {});
  EXPECT_THAT(files.at("sample.cpp"),
              HasSubstr("const int32_t turn = aotc_turn(dims.m, worker, workers);\n"
                        "    const aotc_range range = aotc_task_range(dims.m, turn, workers);"));
}

TEST(Emit, HeaderNamesTensorsAndSizes) {
  const std::string header = Emit({}).at("sample.h");
  EXPECT_THAT(header, HasSubstr("#define SAMPLE_ARENA_BYTES 384u"));
  EXPECT_THAT(header, HasSubstr("#define SAMPLE_INPUT_X_0_BYTES 128u"));
  EXPECT_THAT(header, HasSubstr("const float *x_0; /* 'x:0', f32[rows, 2] */"));
  EXPECT_THAT(header, HasSubstr("int64_t rows; /* 2 to 16, a multiple of 2 */"));
  EXPECT_THAT(header, HasSubstr("float *float_;"));
  EXPECT_THAT(header, HasSubstr("'copy* /'"));  // no name ends a comment
}

TEST(Emit, MetadataHasTheKeysThatOthersRelyOn) {
  EmitOptions options;
  options.provenance = {.aotc_version = "1.2.3",
                        .model_name = "sample.onnx",
                        .model_sha256 = "abc",
                        .opsets = {{"", 17}, {"com.microsoft", 1}},
                        .flags = {"--target", "cpu"},
                        .passes = {"import", "fuse"}};
  const auto json = nlohmann::json::parse(Emit(options).at("metadata.json"));
  EXPECT_EQ(json["aotc"], "1.2.3");
  EXPECT_EQ(json["model"]["name"], "sample.onnx");
  EXPECT_EQ(json["model"]["opsets"]["ai.onnx"], 17);
  EXPECT_EQ(json["target"], "cpu");
  EXPECT_EQ(json["flags"], (std::vector<std::string>{"--target", "cpu"}));
  EXPECT_EQ(json["inputs"][0]["dims"][0], "rows");
  EXPECT_EQ(json["inputs"][0]["dims"][1], 2);
  EXPECT_EQ(json["arena"]["bytes"], 384);
  EXPECT_EQ(json["arena"]["lower_bound"], 384);
  EXPECT_EQ(json["arena"]["proof"], "lower_bound");
  EXPECT_EQ(json["arena"]["buffers"][0]["name"], "product");
  EXPECT_EQ(json["arena"]["buffers"][0]["last_step"], 1);
  EXPECT_EQ(json["weights"]["bytes"], 128);
  EXPECT_EQ(json["kernels"][0]["nodes"][0], "dense_node (Op)");
  EXPECT_EQ(json["kernels"][0]["hash"].get<std::string>().size(), 16u);
  EXPECT_EQ(json["passes"][1], "fuse");
  for (const auto& [path, text] : Emit(options)) {
    EXPECT_THAT(json["files"], testing::Contains(path));
  }
}

TEST(Emit, BlobHasItsHeader) {
  const std::string blob = Emit({}).at("sample_weights.bin");
  ASSERT_EQ(blob.size(), 64 + 128u);
  EXPECT_EQ(blob.substr(0, 8), "AOTCWGTS");
  EXPECT_EQ(blob.substr(8, 8), std::string("\x01\0\0\0\x04\x03\x02\x01", 8));
  EXPECT_EQ(static_cast<uint8_t>(blob[16]), 128);
}

TEST(Emit, RefusesWeightsThatDoNotFitTheirForm) {
  Program program = SampleProgram();
  program.weights.resize((16u << 20) + 1);
  EXPECT_THAT(ErrorOf(program, {.weights = WeightsForm::kArray}),
              HasSubstr("hint: --weights=incbin"));
  EXPECT_EQ(ErrorOf(Planned(program), {.kernels = {SampleCpuKernels()}}), "");
}

TEST(Emit, RefusesRanksAboveEight) {
  Program program = SampleProgram();
  program.buffers[program.inputs[0]].shape = Shape(9, 1);
  EXPECT_EQ(ErrorOf(program),
            "'x:0' has rank 9, an input or output at most 8; hint: reshape it inside the "
            "model");
}

TEST(Emit, RefusesSymbolsThatNoInputStates) {
  Program program = SampleProgram();
  program.buffers[program.inputs[0]].shape = {FloorDiv(Var("m"), 3) + 1, 4};
  EXPECT_EQ(ErrorOf(program),
            "no input has the symbol 'rows' as a dim of its own; hint: pin it with --dim rows=N");
}

// "rows" is no dim by itself here, but an element of an input of integers.
TEST(Emit, SizesAreReadFromElementsOnceTheyAreKnownToBeInTheirRange) {
  Program program = SampleProgram();
  program.buffers[program.inputs[0]].shape = {FloorDiv(Var("m"), 3) + 1, 4};
  Buffer sizes = SampleBuffer("sizes", "sizes", BufferKind::kInput, {2});
  sizes.dtype = DType::kI32;
  sizes.elements = {Var("m") * 2, 7};
  program.inputs.push_back(program.buffers.Add(sizes));
  const OutputFiles files = EmitProgram(program, {});
  EXPECT_THAT(files.at("sample.h"),
              HasSubstr("/* In host memory, as sizes depend on it: sizes[0] 2 to 16, a multiple of "
                        "2, sizes[1] 7. */"));
  EXPECT_THAT(files.at("sample.cpp"),
              HasSubstr("  sizes->m = in->sizes[0];\n"
                        "  if (sizes->m < 2 || sizes->m > 16 || sizes->m % 2 != 0) return "
                        "aotc_failed(AOTC_ERROR_VALUE, 0);\n"
                        "  sizes->m /= 2;\n"));
  EXPECT_THAT(files.at("sample.cpp"), HasSubstr("if (in->sizes[1] != 7) return AOTC_ERROR_VALUE;"));
}

// What a check computes is computed before it is asked whether that passed 64 bits.
TEST(Emit, ChecksThatMayOverflowLookAtThatLast) {
  Program program = SampleProgram();
  const Expr m = Var("m");
  program.symbols[0].max = int64_t{1} << 30;
  program.symbols[0].checks = {{Ne(m * m * m, 24), "the cube of rows is 24"}};
  const std::string host = EmitProgram(program, {}).at("sample.cpp");
  const size_t check = host.find("if ((aotc_times(");
  ASSERT_NE(check, std::string::npos) << host;
  EXPECT_THAT(host.substr(check, host.find(';', check) - check),
              HasSubstr(" == 24) || too_large)\n    return aotc_failed(AOTC_ERROR_DIM, 0)"));
}

TEST(Emit, RefusesFeaturesThatTheHostCannotAskFor) {
  Program program = SampleProgram();
  program.kernels[KernelId(0)].variants[0].feature = "sparc";
  EXPECT_EQ(ErrorOf(program), "kernel dense needs 'sparc', which the host cannot ask for");
}

TEST(Emit, ModelsWithoutInputsHaveAMember) {
  Program program;
  program.name = "empty";
  absl::StatusOr<OutputFiles> files = EmitOutput(program, {.host = CpuHost()});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(files->at("empty.h"), HasSubstr("char unused_;"));
  EXPECT_FALSE(files->count("empty_weights.bin"));
}

TEST(CollectHeaders, FollowsIncludesAndNamesWhatIsMissing) {
  const OutputFiles found = *CollectHeaders({{"m.cpp", "#include \"aotc/pool.h\"\n"}});
  EXPECT_EQ(Names(found), (std::vector<std::string>{"aotc/attributes.h", "aotc/model.h",
                                                    "aotc/parallel.h", "aotc/pool.h"}));
  EXPECT_EQ(CollectHeaders({{"m.cpp", " # include \"aotc/nothing.h\"\n"}}).status().message(),
            "m.cpp includes aotc/nothing.h, which does not exist");
}

TEST(KernelSymbol, CarriesTheInstructionSet) {
  KernelVariant variant;
  variant.loops.name = "conv1";
  EXPECT_EQ(KernelSymbol("m", variant), "m_conv1");
  variant.feature = "x86-64-v4";
  EXPECT_EQ(KernelSymbol("m", variant), "m_conv1_v4");
}

}  // namespace
}  // namespace aotc
