#include "compiler/support/shell.h"

#include "compiler/support/subprocess.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(Shell, WordsThatAreOnlyThemselvesStayAsTheyAre) {
  EXPECT_EQ(ShellCommand({"aotc", "net.onnx", "--dim", "n=1..8", "x:0"}),
            "aotc net.onnx --dim n=1..8 x:0");
}

TEST(Shell, AShellReadsBackEveryWord) {
  for (const std::string word : {"", " ", "a b", "it's", "''", "$HOME", "`ls`", "*", "~", "a\\b",
                                 "\"", "a\nb", "#a", "!", "x;y", "x|y", "(x)", "{a,b}", "é"}) {
    const absl::StatusOr<ProcessResult> said =
        RunProcess({.argv = {"sh", "-c", "printf %s. " + ShellWord(word)}});
    ASSERT_TRUE(said.ok()) << said.status();
    EXPECT_EQ(said->output, word + ".");
  }
}

}  // namespace
}  // namespace aotc
