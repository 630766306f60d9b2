#include "compiler/ir/program.h"

#include "compiler/ir/program_access.h"
#include "compiler/ir/program_text.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

KernelTensor Param(const std::string& name, Shape shape, TensorRole role) {
  KernelTensor tensor;
  tensor.name = name;
  tensor.shape = std::move(shape);
  tensor.role = role;
  return tensor;
}

Buffer MakeBuffer(const std::string& name, BufferKind kind, Shape shape, int64_t bytes) {
  Buffer buffer;
  buffer.name = buffer.value = name;
  buffer.kind = kind;
  buffer.shape = std::move(shape);
  buffer.bytes = bytes;
  return buffer;
}

// output[m, 4] = rows(input[m, 4]), written as two halves of two columns each, and copied.
Program Sample() {
  Program program;
  program.name = "sample";
  program.symbols = {{.name = "rows", .var = "m", .min = 1, .max = 8, .step = 2}};
  const Shape shape = {Var("m"), 4};
  const BufferId input = program.buffers.Add(MakeBuffer("input", BufferKind::kInput, shape, 128));
  const BufferId sum = program.buffers.Add(MakeBuffer("sum", BufferKind::kArena, shape, 128));
  const BufferId output =
      program.buffers.Add(MakeBuffer("output", BufferKind::kOutput, shape, 128));
  Buffer right = MakeBuffer("right", BufferKind::kView, {Var("m"), 2}, 64);
  right.base = sum;
  right.element_offset = 2;
  right.start = {0, 2};
  Buffer left = MakeBuffer("left", BufferKind::kView, {Var("m"), 2}, 64);
  left.base = sum;
  left.start = {0, 0};
  const BufferId second = program.buffers.Add(right), first = program.buffers.Add(left);
  program.inputs = {input};
  program.outputs = {output};

  ProgramKernel kernel;
  kernel.kernel.name = "half";
  const TensorId x = kernel.kernel.tensors.Add(Param("x", shape, TensorRole::kInput));
  KernelTensor target = Param("y", {Var("m"), 2}, TensorRole::kOutput);
  target.strides = {4, 1};
  kernel.kernel.params = {x, kernel.kernel.tensors.Add(target)};
  KernelVariant variant;
  variant.realisation = "loops";
  variant.reason = "the only one";
  variant.loops.name = "half";
  variant.loops.buffers.Add({.name = "x"});
  variant.loops.buffers.Add({.name = "y", .written = true});
  variant.loops.params = kernel.kernel.params;
  variant.loops.body = Comment("nothing");
  variant.loops.tasks = Var("m");
  kernel.variants = {variant};
  const KernelId half = program.kernels.Add(kernel);
  program.steps = {{.kernel = half, .args = {input, first}},
                   {.kernel = half, .args = {input, second}},
                   {.kind = StepKind::kCopy, .args = {sum, output}}};
  return program;
}

std::string MessageOf(const Program& program) {
  return std::string(VerifyProgram(program).message());
}

constexpr char kSampleText[] =
    R"(program @sample(%input) -> (%output) arena 0 align 64 bound 0 workers 16 weights 0 {
  symbol rows as m in 1..8 step 2
  input %input: f32[m, 4] bytes 128
  arena %sum: f32[m, 4] bytes 128 offset 0
  output %output: f32[m, 4] bytes 128
  view %right = %sum + 2 at [0, 2]: f32[m, 2] bytes 64
  view %left = %sum + 0 at [0, 0]: f32[m, 2] bytes 64
  kernel @half(in %x: f32[m, 4], out %y: f32[m, 2] strides [4, 1]) {
  }
  variant loops reason "the only one"
  loops @half(%x: f32, out %y: f32) tasks m {
    comment "nothing"
  }
  step launch @half(%input, %left)
  step launch @half(%input, %right)
  step copy(%sum, %output)
}
)";

TEST(Program, PrintsAsText) { EXPECT_EQ(PrintProgram(Sample()), kSampleText); }

TEST(Program, IsTheSameAfterParsing) {
  const absl::StatusOr<Program> parsed = ParseProgram(kSampleText);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(PrintProgram(*parsed), kSampleText);
  EXPECT_EQ(VerifyProgram(*parsed), absl::OkStatus());
}

TEST(Program, ElementsThatSizesDependOnAreTheSameAfterParsing) {
  Program program = Sample();
  Buffer sizes = MakeBuffer("sizes", BufferKind::kInput, {2}, 16);
  sizes.dtype = DType::kI64;
  sizes.value = "sizes:0";
  sizes.elements = {Var("m") * 2, 7};
  program.inputs.push_back(program.buffers.Add(sizes));
  const std::string text = PrintProgram(program);
  EXPECT_NE(text.find("input %sizes: i64[2] bytes 16 of \"sizes:0\" elements(m*2, 7)\n"),
            std::string::npos)
      << text;
  const absl::StatusOr<Program> parsed = ParseProgram(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(PrintProgram(*parsed), text);
}

TEST(VerifyProgram, AcceptsASoundProgram) { EXPECT_EQ(MessageOf(Sample()), ""); }

TEST(VerifyProgram, ViewsStayWithinTheBase) {
  Program program = Sample();
  Buffer& view = program.buffers[BufferId(3)];
  view.start.clear();
  view.element_offset = 17;
  EXPECT_EQ(MessageOf(program), "program: %right ends at byte 132 of %sum, which has 128");
  view.element_offset = Var("m") - 2;
  EXPECT_EQ(MessageOf(program), "program: %right starts before its base");
}

TEST(VerifyProgram, BoxesStayWithinTheBase) {
  Program program = Sample();
  Buffer& box = program.buffers[BufferId(3)];
  box.element_offset = 3;
  EXPECT_EQ(MessageOf(program), "program: box %right begins elsewhere than its offset says");
  box.start = {0, 3};
  EXPECT_EQ(MessageOf(program), "program: box %right may leave %sum");
  box.start = {2};
  EXPECT_EQ(MessageOf(program), "program: box %right has other axes than %sum");
}

// The halves as even and odd columns.
Program TakingTurns() {
  Program program = Sample();
  Buffer& odd = program.buffers[BufferId(3)];
  odd.element_offset = 1;
  odd.start = {0, 1};
  odd.step = program.buffers[BufferId(4)].step = {1, 2};
  program.kernels[KernelId(0)].kernel.tensors[TensorId(1)].strides = {4, 2};
  return program;
}

TEST(Program, BoxesThatStepAreTheSameAfterParsing) {
  const std::string text = PrintProgram(TakingTurns());
  EXPECT_NE(text.find("view %right = %sum + 1 at [0, 1] step [1, 2]: f32[m, 2]"),
            std::string::npos);
  const absl::StatusOr<Program> parsed = ParseProgram(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(PrintProgram(*parsed), text);
  EXPECT_EQ(VerifyProgram(*parsed), absl::OkStatus());
}

TEST(VerifyProgram, BoxesThatStepStayWithinTheBase) {
  Program program = TakingTurns();
  Buffer& odd = program.buffers[BufferId(3)];
  odd.start = {0, 2};
  odd.element_offset = 2;
  EXPECT_EQ(MessageOf(program), "program: box %right may leave %sum");
  odd.step = {1, 0};
  EXPECT_EQ(MessageOf(program), "program: box %right steps backwards");
  odd.step = {2};
  EXPECT_EQ(MessageOf(program), "program: box %right has other axes than %sum");
}

TEST(VerifyProgram, KernelsStepAsBoxesDo) {
  Program program = TakingTurns();
  program.kernels[KernelId(0)].kernel.tensors[TensorId(1)].strides = {4, 1};
  EXPECT_EQ(MessageOf(program),
            "program: step 0: %left has other strides than parameter %y of @half");
}

TEST(VerifyProgram, KernelsStepAsTheirBuffersLie) {
  Program program = Sample();
  program.steps[0].args[1] = BufferId(1);
  EXPECT_EQ(MessageOf(program),
            "program: step 0: %sum has other strides than parameter %y of @half");
  program = Sample();
  program.kernels[KernelId(0)].kernel.tensors[TensorId(1)].strides.clear();
  EXPECT_EQ(MessageOf(program),
            "program: step 0: %left has other strides than parameter %y of @half");
}

TEST(VerifyProgram, BuffersHaveNamesAndRoom) {
  Program program = Sample();
  program.buffers[BufferId(1)].name = "input";
  EXPECT_EQ(MessageOf(program), "program: two buffers 'input'");
  program.buffers[BufferId(1)].name = "a b";
  EXPECT_EQ(MessageOf(program), "program: 'a b' is no identifier");
  program = Sample();
  program.buffers[BufferId(1)].bytes = 100;
  EXPECT_EQ(MessageOf(program), "program: %sum needs 128 bytes and has 100");
  program = Sample();
  program.buffers[BufferId(0)].kind = BufferKind::kWeights;
  EXPECT_EQ(MessageOf(program), "program: weights %input lie outside the blob");
}

TEST(VerifyProgram, StepsReadWhatIsWritten) {
  Program program = Sample();
  program.steps.erase(program.steps.begin(), program.steps.begin() + 2);
  EXPECT_EQ(MessageOf(program), "program: step 0 reads %sum before any writes it");
  program = Sample();
  program.steps.pop_back();
  EXPECT_EQ(MessageOf(program), "program: output %output is never written");
  program = Sample();
  program.kernels[KernelId(0)].kernel.tensors[TensorId(1)].strides.clear();
  program.steps[0].args[1] = program.inputs[0];
  EXPECT_EQ(MessageOf(program), "program: step 0 writes %input, which is constant");
}

TEST(VerifyProgram, StepsMatchTheirKernels) {
  Program program = Sample();
  program.steps[0].args.pop_back();
  EXPECT_EQ(MessageOf(program), "program: step 0: 1 arguments for the 2 of @half");
  program = Sample();
  program.buffers[BufferId(0)].dtype = DType::kI32;
  EXPECT_EQ(MessageOf(program),
            "program: step 0: %input is not of the type of parameter %x of @half");
  program = Sample();
  program.steps[0].in_place = {{0, 1}};
  EXPECT_EQ(MessageOf(program), "program: step 0: in_place 0 <- 1 names no such pair");
  program = Sample();
  program.kernels[KernelId(0)].variants[0].guard = Eq(Var("m"), 1);
  EXPECT_EQ(MessageOf(program), "program: the last variant of @half does not apply to all sizes");
}

}  // namespace
}  // namespace aotc
