#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "compiler/reduce/check.h"
#include "compiler/reduce/failure.h"
#include "compiler/support/subprocess.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

Diagnostic Error(const std::string& message) { return {.message = message}; }

TEST(Failure, IsTheSameWithOtherNumbersAndNames) {
  const Failure original = FailureOf({Error("node 'conv1' (Conv, opset 13): 3 dims, 4 needed"),
                                      Error("'/tmp/a7/cc' on /tmp/a7/b.cpp ended with code 1")});
  EXPECT_TRUE(
      FailureOf({Error("node 'b' (Conv, opset 9): 12 dims, -1 needed")}).IsSameAs(original));
  EXPECT_FALSE(
      FailureOf({Error("node 'b' (Gemm, opset 9): 12 dims, 1 needed")}).IsSameAs(original));
  EXPECT_EQ(original.example, "error: node 'conv1' (Conv, opset 13): 3 dims, 4 needed");
}

TEST(Failure, NeedsTheFirstErrorAndNothingNew) {
  const Failure original = FailureOf({Error("first"), Error("second")});
  EXPECT_TRUE(FailureOf({Error("second"), Error("first")}).IsSameAs(original));
  EXPECT_FALSE(FailureOf({Error("second")}).IsSameAs(original));
  EXPECT_FALSE(FailureOf({Error("first"), Error("third")}).IsSameAs(original));
  EXPECT_FALSE(Failure().IsSameAs(original));
  EXPECT_FALSE(FailureOf({Error("first")}).IsSameAs(Failure()));
}

TEST(Failure, ListsOfAnyLengthHaveOneText) {
  EXPECT_EQ(WithoutNumbers("the op If (25 nodes: 'if25', 'if24', 'if1' and 17 more)"),
            WithoutNumbers("the op If (1 node: 'if3')"));
  EXPECT_EQ(WithoutNumbers("%y is f32[2, 3], not f32[4]"),
            WithoutNumbers("%z_1 is f32[], not f32[]"));
}

TEST(RunForked, GivesTheEndOfTheCopy) {
  const absl::StatusOr<ProcessResult> ended = RunForked(
      [] {
        std::puts("text");
        std::fflush(stdout);
        return 7;
      },
      60);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->exit_code, 7);
  EXPECT_EQ(ended->output, "text\n");
  const absl::StatusOr<ProcessResult> crashed = RunForked([]() -> int { std::abort(); }, 60);
  ASSERT_TRUE(crashed.ok()) << crashed.status();
  EXPECT_EQ(crashed->exit_code, 128 + SIGABRT);
  const absl::StatusOr<ProcessResult> thrown =
      RunForked([]() -> int { throw std::bad_alloc(); }, 60);
  ASSERT_TRUE(thrown.ok()) << thrown.status();
  EXPECT_EQ(thrown->exit_code, 128 + SIGABRT);
  const auto forever = [] {
    while (true) sleep(1);
    return 0;
  };
  EXPECT_TRUE(absl::IsDeadlineExceeded(RunForked(forever, 1).status()));
}

TEST(Checks, ACommandSaysByItsExitCodeWhetherTheModelFails) {
  const auto fails = [](const std::string& command) {
    const absl::StatusOr<Failure> failure = CommandCheck(command, 60)("model with blanks.onnx");
    EXPECT_TRUE(failure.ok()) << failure.status();
    return failure.ok() && !failure->first.empty();
  };
  EXPECT_TRUE(fails("true"));
  EXPECT_FALSE(fails("false"));
  EXPECT_TRUE(fails("test 'model with blanks.onnx' ="));
  EXPECT_FALSE(fails("test other.onnx ="));
  EXPECT_FALSE(fails("no-such-program"));
}

TEST(Checks, ACompileFailsWithItsFirstError) {
  const absl::StatusOr<Failure> failure = CompileCheck({}, 60)("/nowhere/model.onnx");
  ASSERT_TRUE(failure.ok()) << failure.status();
  EXPECT_EQ(failure->first, "error: / cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace aotc
