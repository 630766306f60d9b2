// Runs every case of tests/golden (format: golden_runner/golden_case.h), each as a test named after
// its file. With --update, or AOTC_UPDATE=1 in the environment, expectations are rewritten.
//
//   build/tests/golden_test --gtest_filter='*kernel*' --update
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "absl/strings/ascii.h"
#include "compiler/support/files.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"
#include "tests/golden_runner/golden_case.h"
#include "tests/golden_runner/subtest.h"

namespace aotc {
namespace {

constexpr char kFolder[] = "tests/golden";

class GoldenTest : public ::testing::Test {
 public:
  GoldenTest(std::string path, std::string place, bool update)
      : path_(std::move(path)), place_(std::move(place)), update_(update) {}

  void TestBody() override {
    const absl::StatusOr<std::string> text = ReadFile(path_);
    ASSERT_TRUE(text.ok()) << text.status();
    const absl::StatusOr<GoldenCase> golden = ParseGoldenCase(place_, *text);
    ASSERT_TRUE(golden.ok()) << golden.status();
    std::map<std::string, std::string> actual;
    for (const SubtestLine& line : golden->subtests) RunOne(*golden, line, actual);
    for (const auto& [name, section] : golden->expected) {
      EXPECT_TRUE(update_ || actual.contains(name)) << "nothing gives the section '" << name << "'";
    }
    if (update_ && !HasFailure()) {
      const auto written = WriteFileIfChanged(path_, PrintGoldenCase(*golden, actual));
      EXPECT_TRUE(written.ok()) << written.status();
    }
  }

 private:
  void RunOne(const GoldenCase& golden, const SubtestLine& line,
              std::map<std::string, std::string>& actual) {
    SCOPED_TRACE(StrCat(path_, ": test ", line.text));
    const Subtest* subtest = FindSubtest(line.name);
    ASSERT_NE(subtest, nullptr) << "there is no sub-test of that name";
    const SubtestResult result = subtest->run(golden, line);
    ASSERT_TRUE(result.ok()) << result.status();
    if (!result->has_value()) return;
    actual[line.text] = **result;
    if (update_) return;
    const auto expected = golden.expected.find(line.text);
    ASSERT_NE(expected, golden.expected.end())
        << "no section with this (run with --update to add it):\n"
        << **result;
    EXPECT_EQ(**result, expected->second);
  }

  std::string path_;
  std::string place_;
  bool update_;
};

// "kernel/dense_relu.air" -> "kernel_dense_relu"
std::string TestName(std::string place) {
  for (char& c : place) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return place.substr(0, place.size() - 4);
}

void RegisterCases(bool update) {
  namespace fs = std::filesystem;
  std::map<std::string, fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() != ".air") continue;
    cases[fs::relative(entry.path(), kFolder).generic_string()] = entry.path();
  }
  for (const auto& [place, path] : cases) {
    ::testing::RegisterTest("Golden", TestName(place).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [path = path.string(), place = place, update]() -> ::testing::Test* {
                              return new GoldenTest(path, place, update);
                            });
  }
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const char* variable = std::getenv("AOTC_UPDATE");
  bool update = variable != nullptr && std::string_view(variable) == "1";
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--update") {
      std::cerr << "unknown argument " << argv[i] << "\n";
      return 2;
    }
    update = true;
  }
  if (!std::filesystem::is_directory(aotc::kFolder)) {
    std::cerr << "run from the root of the source tree\n";
    return 2;
  }
  aotc::RegisterCases(update);
  return RUN_ALL_TESTS();
}
