#include "compiler/support/code_writer.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(CodeWriter, SnippetsLoseTheirFrameAndKeepTheirShape) {
  CodeWriter w;
  w.Emit(R"(
      static void $name$(float *y) {
        $body$

        return;  // 5 $$
      }
  )",
         {{"name", "relu"}, {"body", "a();\nif (b) {\n  c();\n}\n"}});
  EXPECT_EQ(w.text(),
            "static void relu(float *y) {\n"
            "  a();\n"
            "  if (b) {\n"
            "    c();\n"
            "  }\n"
            "\n"
            "  return;  // 5 $\n"
            "}\n");
}

TEST(CodeWriter, LinesOfEmptyValuesAreDropped) {
  CodeWriter w;
  w.Emit("a\n$nothing$\n  $nothing$$nothing$\nb $nothing$;", {{"nothing", ""}});
  EXPECT_EQ(w.text(), "a\nb ;\n");
}

TEST(CodeWriter, ValuesAreNotSubstitutedAgain) {
  CodeWriter w;
  w.Emit("$a$", {{"a", "$b$"}});
  EXPECT_EQ(w.text(), "$b$\n");
}

TEST(CodeWriter, BlocksNestAndClose) {
  CodeWriter w;
  {
    auto outer = w.Block("for (;;) {");
    {
      auto inner = w.Block("do {", "} while (x);");
      w.Emit("y;\n  z;");
    }
    w.Line();
    w.Comment("end");
  }
  EXPECT_EQ(w.text(), "for (;;) {\n  do {\n    y;\n      z;\n  } while (x);\n\n  // end\n}\n");
}

TEST(CodeWriter, CommentsCannotBeLeft) {
  EXPECT_EQ(CommentText("a*/b"), "a* /b");
  EXPECT_EQ(CommentText("a/*/b"), "a/ * /b");
  EXPECT_EQ(CommentText("name\\"), "name");
  EXPECT_EQ(CommentText("name\\ \\ "), "name");
  EXPECT_EQ(CommentText("what?"
                        "?/"),
            "what? ?/");
  EXPECT_EQ(CommentText("a\nint x;\r"), "a int x;");
  EXPECT_EQ(CommentText("d\u202e/\u2069!\u200f\u00e9"), "d?/?!?\u00e9");
  CodeWriter w;
  w.Comment("one\\\n\ntwo*/");
  EXPECT_EQ(w.text(), "// one\n//\n// two* /\n");
}

TEST(CodeWriterDeathTest, AMissingValueIsOurMistake) {
  CodeWriter w;
  EXPECT_DEATH(w.Emit("$missing$"), "no value for \\$missing\\$");
}

}  // namespace
}  // namespace aotc
