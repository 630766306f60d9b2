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

// Whether a compile has to know an input of a case that passes; Unimplemented where it is none of
// ours.
absl::StatusOr<bool> RunCase(const std::filesystem::path& folder) {
  absl::StatusOr<NodeModel> model = ReadNodeModel(folder);
  if (!model.ok()) return model.status();
  const absl::StatusOr<std::vector<size_t>> known = InputsToKnow(*model);
  absl::Status status = CheckValues(*model);
  status.Update(known.status());
  if (known.ok()) status.Update(CheckCompiled(*model, *known));
  if (!status.ok()) return absl::InternalError(status.message());
  return !known->empty();
}

struct Counts {
  int passed = 0;
  int known = 0;  // of those, with inputs that a compile has to know
  int excluded = 0;
  int unsupported = 0;  // an op without a definition, or values that are no tensors
};

TEST(NodeTests, PassExceptThoseExcluded) {
  ASSERT_TRUE(std::filesystem::is_directory(Root()))
      << "set AOTC_ONNX_NODE_TESTS to onnx/backend/test/data/node of the onnx package";
  std::map<std::string, std::string> excluded = ReadTable("tests/conformance/excluded.txt");
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator(Root())) {
    std::string name = entry.path().filename().string();
    const absl::StatusOr<bool> knows = RunCase(entry.path());
    const absl::Status& status = knows.status();
    if (excluded.count(name) != 0) {
      EXPECT_FALSE(status.ok()) << name << " passes: take it out of excluded.txt";
      counts.excluded += 1;
    } else if (status.ok()) {
      counts.passed += 1;
      counts.known += *knows ? 1 : 0;
    } else if (absl::IsUnimplemented(status)) {
      counts.unsupported += 1;
    } else {
      ADD_FAILURE() << name << ": " << status.message();
    }
  }
  std::cout << "node tests: " << counts.passed << " passed, " << counts.excluded << " excluded, "
            << counts.unsupported << " of ops not supported\n";
  EXPECT_EQ(counts.excluded, static_cast<int>(excluded.size()))
      << "excluded.txt names cases that are not there";
  const std::map<std::string, std::string> expected = ReadTable("tests/conformance/counts.txt");
  EXPECT_EQ(StrCat(counts.passed), expected.at("passed"));
  EXPECT_EQ(StrCat(counts.known), expected.at("known"));
  EXPECT_EQ(StrCat(counts.excluded), expected.at("excluded"));
}

}  // namespace
}  // namespace aotc
