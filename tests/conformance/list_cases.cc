// Lists the node tests that use only what we support, and which inputs a compile has to know.
//
//   build/tests/list_node_cases FOLDER    # test_tile:1: input 1 of test_tile has to be constant
//
// check_targets.py reads it.
#include <filesystem>
#include <iostream>
#include <set>

#include "compiler/support/strings.h"
#include "tests/conformance/node_model.h"

namespace aotc {
namespace {

// The line of a case; empty where it is none of ours.
std::string DescribeCase(const std::filesystem::path& folder) {
  absl::StatusOr<NodeModel> model = ReadNodeModel(folder);
  if (!model.ok()) return "";
  absl::StatusOr<std::vector<size_t>> known = InputsToKnow(*model);
  if (!known.ok()) return "";
  std::string name = folder.filename().string();
  return StrCat(name, known->empty() ? "" : ":", StrJoin(*known, ","), "\n");
}

}  // namespace
}  // namespace aotc

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::cerr << "usage: list_node_cases FOLDER\n";
    return 2;
  }
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    folders.insert(entry.path());
  }
  for (const std::filesystem::path& folder : folders) std::cout << aotc::DescribeCase(folder);
}
