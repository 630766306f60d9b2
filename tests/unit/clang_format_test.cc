#include "compiler/format/clang_format.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

std::string Format(std::string_view text, SourceKind kind = SourceKind::kCpp) {
  auto result = FormatSource(text, kind);
  return result.ok() ? *result : std::string(result.status().message());
}

TEST(ClangFormat, LaysOutFunctions) {
  EXPECT_EQ(Format("static void f(float* y,int n){for(int i=0;i<n;++i){y[i]=0.0f;}}"),
            "static void f(float *y, int n) {\n"
            "  for (int i = 0; i < n; ++i) {\n"
            "    y[i] = 0.0f;\n"
            "  }\n"
            "}\n");
}

TEST(ClangFormat, KeepsIncludesAndComments) {
  const std::string text =
      "// y = max(x, 0)  a line that is longer than a hundred columns stays as it is, since it may "
      "be a kernel's text\n"
      "#include <stdint.h>\n"
      "#include \"a.h\"\n"
      "#include <math.h>\n";
  EXPECT_EQ(Format(text), text);
}

TEST(ClangFormat, KnowsCudaLaunchesAndAttributes) {
  EXPECT_EQ(Format("__global__ void k(float*x){}\nvoid f(){k<<<1,2>>>(x);}", SourceKind::kCuda),
            "__global__ void k(float *x) {}\nvoid f() { k<<<1, 2>>>(x); }\n");
}

// The search for line breaks would take all memory.
TEST(ClangFormat, LeavesLinesThatAreNestedWithoutEnd) {
  std::string sum = "x";
  for (int i = 0; i < 5000; ++i) sum = "(" + sum + " + f(a, b))";
  const std::string text = "static float f() {\n    return " + sum + ";\n}\n";
  EXPECT_EQ(Format(text), text);
}

// A line that clang-format gives up on is no reason to refuse a model.
TEST(ClangFormat, LeavesLinesThatNestDeep) {
  std::string choice = "0";
  for (int i = 0; i < 80; ++i) choice = "(i<" + std::to_string(i) + "?x:" + choice + ")";
  const std::string line = "return " + choice + ";";
  const std::string formatted = Format("float f(){\n" + line + "\n}\nint  g( ){return 1;}");
  EXPECT_NE(formatted.find(line), std::string::npos);
  EXPECT_NE(formatted.find("int g() { return 1; }"), std::string::npos);
}

TEST(ClangFormat, SecondRunChangesNothing) {
  const std::string once = Format(
      "extern \"C\" {typedef struct{const float*image;}net_inputs; int32_t net_run(const "
      "net_inputs*in,void*arena);}\n#define NET_BYTES 64u\n",
      SourceKind::kC);
  EXPECT_EQ(Format(once, SourceKind::kC), once);
}

TEST(ClangFormat, RefusesUnbalancedText) {
  EXPECT_FALSE(FormatSource("void f() { g((; }", SourceKind::kCpp).ok());
}

}  // namespace
}  // namespace aotc
