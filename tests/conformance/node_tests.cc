// Runs ONNX's own node tests through import, type inference and the reference evaluator.
//
// The data is that of the onnx Python package: the folder is found when the build is configured, or
// given in AOTC_ONNX_NODE_TESTS. Cases that we do not pass are lines of excluded.txt, with the
// reason.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"
#include "tests/conformance/node_model.h"

namespace aotc {
namespace {

std::filesystem::path Root() {
  const char* given = std::getenv("AOTC_ONNX_NODE_TESTS");
  return given != nullptr ? given : AOTC_ONNX_NODE_TESTS_DEFAULT;
}

// "name  text", one a line; # begins a comment.
std::map<std::string, std::string> ReadTable(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::string> table;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, text;
    words >> name;
    std::getline(words >> std::ws, text);
    EXPECT_FALSE(text.empty()) << path << ": nothing is said of " << name;
    EXPECT_TRUE(table.emplace(name, text).second) << path << ": " << name << " stands twice";
  }
  return table;
}

absl::Status RunCase(const std::filesystem::path& folder, const std::string* tolerance) {
  AOTC_ASSIGN_OR_RETURN(NodeModel model, ReadNodeModel(folder));
  if (tolerance != nullptr) model.absolute = std::stod(*tolerance);
  AOTC_RETURN_IF_ERROR(CheckValues(model));
  return CheckCompiled(model);
}

TEST(NodeTests, PassExceptThoseExcluded) {
  ASSERT_TRUE(std::filesystem::is_directory(Root()))
      << "set AOTC_ONNX_NODE_TESTS to onnx/backend/test/data/node of the onnx package";
  std::map<std::string, std::string> excluded = ReadTable("tests/conformance/excluded.txt");
  const std::map<std::string, std::string> tolerances =
      ReadTable("tests/conformance/tolerances.txt");
  int tests = 0;
  size_t excluded_tests = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Root())) {
    ++tests;
    std::string name = entry.path().filename().string();
    const auto own = tolerances.find(name);
    const absl::Status status =
        RunCase(entry.path(), own == tolerances.end() ? nullptr : &own->second);
    if (excluded.count(name) == 0) {
      EXPECT_TRUE(status.ok()) << name << ": " << status.message();
      continue;
    }
    EXPECT_FALSE(status.ok()) << name << " passes: take it out of excluded.txt";
    ++excluded_tests;
  }
  std::cout << "node tests: " << tests << ", of which " << excluded_tests << " are excluded\n";
  EXPECT_EQ(excluded_tests, excluded.size()) << "excluded.txt names cases that are not there";
  EXPECT_EQ(StrCat(tests), ReadTable("tests/conformance/counts.txt").at("node"));
}

}  // namespace
}  // namespace aotc
