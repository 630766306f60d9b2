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

  // What the program prints for a file of this text; comments and blank lines left out.
  std::string Print(const std::string& text) const {
    const std::string path = folder_->path() + "/case.air";
    EXPECT_TRUE(WriteFileIfChanged(path, text).ok());
    const char* build = std::getenv("AOTC_BUILD_DIR");
    const std::string program = StrCat(build != nullptr ? build : "build", "/aotc-opt");
    const absl::StatusOr<ProcessResult> result = RunProcess({.argv = {program, path}});
    if (!result.ok()) return std::string(result.status().message());
    EXPECT_EQ(result->exit_code, 0);
    return WithoutComments(result->output);
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

}  // namespace
}  // namespace aotc
