// Runs build/aotc-opt on every text of tests/golden and on what aotc dumps after each of its phases
// for real models: it prints them as they are.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>

#include "compiler/driver/compile.h"
#include "compiler/support/files.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/golden_runner/golden_case.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

class AotcOptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("aotc_opt_test");
    ASSERT_TRUE(folder.ok()) << folder.status();
    folder_.emplace(*std::move(folder));
  }

  // The program on a file of this text.
  ProcessResult Call(const std::string& text, const std::vector<std::string>& flags = {}) const {
    const std::string path = folder_->path() + "/case.air";
    EXPECT_TRUE(WriteFileIfChanged(path, text).ok());
    const char* build = std::getenv("AOTC_BUILD_DIR");
    std::vector<std::string> argv = {StrCat(build != nullptr ? build : "build", "/aotc-opt"), path};
    argv.insert(argv.end(), flags.begin(), flags.end());
    const absl::StatusOr<ProcessResult> result = RunProcess({.argv = argv});
    return result.ok() ? *result : ProcessResult{-1, std::string(result.status().message())};
  }

  // What it prints; comments and blank lines left out.
  std::string Print(const std::string& text) const {
    const ProcessResult result = Call(text);
    EXPECT_EQ(result.exit_code, 0);
    return WithoutComments(result.output);
  }

  // Dumps of all phases, as `aotc --dump-after` prints them.
  static std::map<std::string, std::string> Dumps(const std::string& model,
                                                  const std::string& target) {
    std::map<std::string, std::string> dumps;
    Diagnostics diagnostics;
    const PhaseHook hook = [&dumps](const PhaseEnd& end) { dumps[end.name] = end.dump(); };
    const auto result = Compile({.model_path = model, .target = target}, diagnostics, hook);
    EXPECT_TRUE(result.ok()) << result.status();
    return dumps;
  }

 private:
  std::optional<TemporaryFolder> folder_;
};

// `printed` with each constant that `source` draws from a seed drawn there as well: the elements
// themselves are what is printed.
std::string WithSeeds(const std::string& printed, const std::string& source) {
  static const std::regex kDrawn(R"((const %\w+: [^=]+ = )(random\(seed=\d+\)))");
  std::string result = printed;
  for (std::sregex_iterator drawn(source.begin(), source.end(), kDrawn), end; drawn != end;
       ++drawn) {
    const std::string declaration = (*drawn)[1], seed = (*drawn)[2];
    const size_t begin = result.find(declaration);
    if (begin == std::string::npos) continue;
    const size_t elements = begin + declaration.size();
    result.replace(elements, result.find('\n', elements) - elements, seed);
  }
  return result;
}

TEST_F(AotcOptTest, PrintsTheGoldenTextsAsTheyAre) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator("tests/golden")) {
    if (entry.path().extension() != ".air") continue;
    SCOPED_TRACE(entry.path().string());
    const absl::StatusOr<std::string> text = ReadFile(entry.path().string());
    ASSERT_TRUE(text.ok()) << text.status();
    const absl::StatusOr<GoldenCase> golden = ParseGoldenCase(entry.path().string(), *text);
    ASSERT_TRUE(golden.ok()) << golden.status();
    if (golden->subtests[0].name == "error") continue;
    const auto other = golden->expected.find("roundtrip");
    const std::string expected = other == golden->expected.end() ? golden->input : other->second;
    EXPECT_EQ(WithSeeds(Print(golden->input), expected), WithoutComments(expected));
    ++count;
  }
  EXPECT_GT(count, 20);
}

TEST_F(AotcOptTest, ReadsTheDumpsOfEveryPhase) {
  for (const char* name : {"tiny_kws_dscnn", "policy_quadruped"}) {
    const std::string model = StrCat("../shared/models/", name, ".onnx");
    if (!fs::exists(model)) GTEST_SKIP() << "no dumps are read: " << model << " is not here";
    for (const char* target : {"cpu", "cuda"}) {
      for (const auto& [phase, dump] : Dumps(model, target)) {
        SCOPED_TRACE(StrCat(name, " for ", target, " after ", phase));
        EXPECT_EQ(Print(dump), WithoutComments(dump));
      }
    }
  }
}

TEST_F(AotcOptTest, TellsWhatHappensAtEachPass) {
  const std::string graph =
      "graph @main(%x: f32[2]) -> (%z) {\n  %y: f32[2] = Identity(%x)\n"
      "  %z: f32[2] = Relu(%y)\n}\n";
  const ProcessResult result =
      Call(graph, {"--passes", "remove-identities,eliminate-dead", "--verify-each", "--time",
                   "--print-before", "remove-identities", "--print-after=remove-identities"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, ::testing::HasSubstr("// before remove-identities\ngraph @main"));
  EXPECT_THAT(result.output, ::testing::HasSubstr("// after remove-identities\ngraph @main"));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("eliminate-dead +[0-9.]+ s"));
  const ProcessResult unknown = Call(graph, {"--passes=eliminate-dead", "--print-before=all"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.output, ::testing::StartsWith("error: unknown pass 'all'"));
  EXPECT_EQ(Call(graph, {"--print-before"}).exit_code, 2);
}

}  // namespace
}  // namespace aotc
