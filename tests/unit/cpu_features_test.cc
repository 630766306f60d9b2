// Instruction sets as sets of features: names, order, what machines hold, and what a run asks.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "compiler/support/files.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cpu/isa_tests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> NamesOf(const std::vector<Isa>& isas) {
  std::vector<std::string> names;
  for (const Isa& isa : isas) names.push_back(isa.name);
  return names;
}

std::vector<std::string> Listed(std::string_view list) { return NamesOf(*ParseCpuList(list)); }

std::string ErrorOf(std::string_view list) {
  return std::string(ParseCpuList(list).status().message());
}

TEST(CpuFeatures, AListIsSortedAndABareFamilyBringsItsFeatures) {
  EXPECT_THAT(Listed("x86-64-v4,x86-64,x86-64-v3"),
              ElementsAre("x86-64", "x86-64-v3", "x86-64-v4", "x86-64-v4+avx512vnni",
                          "x86-64-v4+avx512vnni+amx-int8"));
  EXPECT_THAT(Listed("x86-64-v3+avxvnni,x86-64-v3,x86-64-v3"),
              ElementsAre("x86-64-v3", "x86-64-v3+avxvnni"));
  EXPECT_THAT(Listed("x86-64-v4+avx512vnni+avx512vnni"), ElementsAre("x86-64-v4+avx512vnni"));
  EXPECT_THAT(Listed("portable"), ElementsAre("portable"));
}

TEST(CpuFeatures, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_EQ(ErrorOf("sparc"),
            "unknown instruction set 'sparc'; there are native, portable, x86-64, x86-64-v3, "
            "x86-64-v4; hint: x86-64-v3 has AVX2, x86-64-v4 AVX-512; features come behind, as in "
            "x86-64-v4+avx512vnni");
  EXPECT_EQ(ErrorOf("x86-64-v3+avx512vnni"),
            "instruction set x86-64-v3 has no feature 'avx512vnni'; known: avxvnni");
  EXPECT_EQ(ErrorOf("portable+avxvnni"),
            "instruction set portable has no feature 'avxvnni'; known: none");
  EXPECT_THAT(ErrorOf("x86-64-v3+"), HasSubstr("no feature ''"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("unknown instruction set ''"));
}

TEST(CpuFeatures, NativeIsWhatThisMachineHas) {
  const std::vector<Isa> native = *ParseCpuList("native");
  ASSERT_EQ(native.size(), 1u);
  EXPECT_EQ(native[0], NativeIsa());
  EXPECT_EQ(*ParseIsa(native[0].name), native[0]);
}

TEST(CpuFeatures, EachFamilyHoldsTheOneBefore) {
  const Isa v3 = *ParseIsa("x86-64-v3"), v4 = *ParseIsa("x86-64-v4");
  const Isa v3vnni = *ParseIsa("x86-64-v3+avxvnni"), v4vnni = *ParseIsa("x86-64-v4+avx512vnni");
  EXPECT_TRUE(Holds(v4, v3) && Holds(v4vnni, v4) && Holds(v3, v3) && Holds(v3vnni, v3));
  EXPECT_FALSE(Holds(v3, v4) || Holds(v4, v4vnni) || Holds(v4vnni, v3vnni));
  EXPECT_TRUE(ComesBefore(v3, v3vnni) && ComesBefore(v3vnni, v4) && ComesBefore(v4, v4vnni));
}

TEST(CpuFeatures, CodeIsWrittenForTheFeaturesThatItUses) {
  const std::vector<Isa> isas = *ParseCpuList("x86-64,x86-64-v3+avxvnni,x86-64-v4");
  const std::string_view used[] = {"vnni"};
  EXPECT_THAT(NamesOf(IsasFor(isas, {})), ElementsAre("x86-64", "x86-64-v3", "x86-64-v4"));
  EXPECT_THAT(NamesOf(IsasFor(isas, used)),
              ElementsAre("x86-64", "x86-64-v3+avxvnni", "x86-64-v4", "x86-64-v4+avx512vnni"));
}

// A kernel for each list of features, best first.
Program ProgramFor(const std::vector<std::vector<std::string>>& kernels) {
  Program program;
  for (const std::vector<std::string>& features : kernels) {
    ProgramKernel kernel;
    for (const std::string& feature : features) kernel.variants.push_back({.feature = feature});
    program.kernels.Add(std::move(kernel));
  }
  return program;
}

std::string FinderOf(const IsaTests& isas) {
  CodeWriter w;
  isas.EmitFinder(w);
  return w.Take();
}

TEST(IsaTests, OnlyWhatMayBeMissingIsAskedFor) {
  const IsaTests none = *IsaTests::Of(ProgramFor({{"portable"}, {""}}));
  EXPECT_FALSE(none.HasNeeds() || none.HasChoice());
  EXPECT_EQ(FinderOf(none), "");
  const IsaTests one = *IsaTests::Of(ProgramFor({{"x86-64-v3"}, {"x86-64"}}));
  EXPECT_TRUE(one.HasNeeds());
  EXPECT_FALSE(one.HasChoice());
  EXPECT_EQ(one.Missing("found"), "(found & isa_v3) == 0");
  EXPECT_EQ(one.Condition({.feature = "x86-64"}, "found"), "");
}

TEST(IsaTests, VariantsAreTakenWhereTheMachineHasTheirFeatures) {
  const IsaTests isas = *IsaTests::Of(
      ProgramFor({{"x86-64-v4+avx512vnni", "x86-64-v3+avxvnni", "x86-64-v3"}, {"x86-64-v3"}}));
  EXPECT_TRUE(isas.HasNeeds() && isas.HasChoice());
  EXPECT_EQ(isas.header(), "#include \"aotc/cpu.h\"\n");
  EXPECT_EQ(isas.Condition({.feature = "x86-64-v3"}, "f"), "");
  EXPECT_EQ(isas.Condition({.feature = "x86-64-v3+avxvnni"}, "f"), "(f & isa_v3vnni) != 0");
  const std::string finder = FinderOf(isas);
  EXPECT_THAT(finder, HasSubstr("constexpr uint32_t isa_v3vnni = 2;\n"));
  EXPECT_THAT(finder, HasSubstr("const bool v4 = v3 && __builtin_cpu_supports(\"avx512f\") && "));
  EXPECT_THAT(finder, HasSubstr("(v3 && aotc_cpu_has(1, 0, 4) ? isa_v3vnni : 0)"));
  EXPECT_THAT(finder, HasSubstr("(v4 && aotc_cpu_has(0, 2, 11) ? isa_v4vnni : 0)"));
}

TEST(IsaTests, WhatSeveralKernelsNeedIsAskedForTogether) {
  const IsaTests isas = *IsaTests::Of(ProgramFor({{"x86-64-v3+avxvnni"}, {"x86-64-v4"}}));
  EXPECT_EQ(isas.Missing("f"), "(f & (isa_v3vnni | isa_v4)) != (isa_v3vnni | isa_v4)");
}

constexpr const char* kCompilers[] = {"g++", "clang++-14", "clang++-19"};

// What the shell says of a command; "" where it ends well.
std::string Shell(const std::string& command, const std::string& folder) {
  const absl::StatusOr<ProcessResult> result =
      RunProcess({.argv = {"sh", "-c", command}, .folder = folder});
  if (!result.ok()) return std::string(result.status().message());
  return result->exit_code == 0 ? "" : StrCat("exit ", result->exit_code, ": ", result->output);
}

// All rows of the tables, as names of instruction sets; each feature beside those before it.
std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const VectorFamily& family : VectorFamilies()) {
    if (!family.is_x86) continue;
    std::string name(family.name);
    names.push_back(name);
    for (const CpuFeature& feature : CpuFeatures()) {
      if (feature.family != family.name) continue;
      StrAppend(&name, "+", feature.name);
      names.push_back(name);
    }
  }
  return names;
}

class RowsBuilt : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!Shell(StrCat("command -v ", GetParam()), ".").empty()) {
      GTEST_SKIP() << GetParam() << " is not installed";
    }
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("aotc_features");
    ASSERT_TRUE(folder.ok()) << folder.status();
    folder_.emplace(*std::move(folder));
  }

  // Builds a program from its text; "" or what is wrong.
  std::string Build(const std::string& text) {
    std::ofstream(folder_->path() + "/main.cpp") << text;
    return Shell(StrCat(GetParam(), " -std=c++17 -Wall -Wextra -Wpedantic -Werror -I '",
                        std::filesystem::absolute("runtime-lite").string(), "' main.cpp -o main"),
                 folder_->path());
  }

  std::optional<TemporaryFolder> folder_;
};

TEST_P(RowsBuilt, WhatARunFindsIsWhatTheMachineHas) {
  std::vector<std::string> features = AllNames();
  std::ranges::reverse(features);
  features.push_back("portable");
  const IsaTests isas = *IsaTests::Of(ProgramFor({features}));
  const Isa native = NativeIsa();
  const std::string wanted = native.family->is_x86 ? "isa_" + native.suffix : "0";
  ASSERT_EQ(
      Build(StrCat("#include <stdint.h>\n", isas.header(), "namespace {\n", FinderOf(isas),
                   "}\nint main() { return (find_isas() & ", wanted, ") != ", wanted, "; }\n")),
      "");
  EXPECT_EQ(Shell("./main", folder_->path()), "");
}

TEST_P(RowsBuilt, TheTargetOfEachIsKnown) {
  for (const std::string& name : AllNames()) {
    const Isa isa = *ParseIsa(name);
    const std::string text = EmitCpuKernels({}, isa, "m") + "int main() { return 0; }\n";
    EXPECT_EQ(Build(text), "") << text;
  }
}

INSTANTIATE_TEST_SUITE_P(CpuFeatures, RowsBuilt, testing::ValuesIn(kCompilers));

}  // namespace
}  // namespace aotc
