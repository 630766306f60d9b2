// A folder of a test's own, removed at its end.
#ifndef AOTC_TESTS_UNIT_FOLDER_CASE_H_
#define AOTC_TESTS_UNIT_FOLDER_CASE_H_

#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "compiler/support/files.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"

namespace aotc {

class FolderCase : public ::testing::Test {
 protected:
  FolderCase()
      : root_(std::filesystem::temp_directory_path() / StrCat("aotc_folder_test_", getpid())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~FolderCase() override { std::filesystem::remove_all(root_); }

  std::string Path(std::string_view name) const { return (root_ / name).string(); }
  void Write(std::string_view name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    ASSERT_TRUE(WriteFileIfChanged(Path(name), text).ok());
  }
  // Everything below the root, as relative paths of files.
  std::set<std::string> Listing() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      if (entry.is_directory()) continue;
      names.insert(std::filesystem::relative(entry.path(), root_).string());
    }
    return names;
  }

  std::filesystem::path root_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_FOLDER_CASE_H_
