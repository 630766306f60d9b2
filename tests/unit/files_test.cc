#include "compiler/support/files.h"

#include <filesystem>
#include <set>

#include "compiler/support/strings.h"
#include "gtest/gtest.h"
#include "tests/unit/folder_case.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

using FilesTest = FolderCase;

TEST_F(FilesTest, ReadsWhatWasWritten) {
  const std::string bytes("a\0b\n", 4);
  EXPECT_TRUE(*WriteFileIfChanged(Path("x"), bytes));
  EXPECT_EQ(*ReadFile(Path("x")), bytes);
  EXPECT_EQ(Listing(), (std::set<std::string>{"x"}));
}

TEST_F(FilesTest, PiecesOfLongFilesAreTheFile) {
  std::string bytes(300'001, 'a');
  EXPECT_TRUE(*WriteFileIfChanged(Path("x"), bytes));
  std::string joined;
  EXPECT_TRUE(VisitFile(Path("x"), [&](std::string_view piece) {
                joined += piece;
                return true;
              }).ok());
  EXPECT_EQ(joined, bytes);
  int pieces = 0;
  EXPECT_TRUE(VisitFile(Path("x"), [&](std::string_view) { return ++pieces < 2; }).ok());
  EXPECT_EQ(pieces, 2);
  EXPECT_FALSE(*WriteFileIfChanged(Path("x"), bytes));
  bytes.back() = 'b';
  EXPECT_TRUE(*WriteFileIfChanged(Path("x"), bytes));
  EXPECT_EQ(*ReadFile(Path("x")), bytes);
}

TEST_F(FilesTest, ErrorsNameThePath) {
  const absl::Status missing = ReadFile(Path("none")).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(missing.message(),
            StrCat("cannot read '", Path("none"), "': No such file or directory"));
  EXPECT_FALSE(ReadFile(root_.string()).ok());
  EXPECT_FALSE(WriteFileIfChanged(Path("no/folder"), "").ok());
}

TEST_F(FilesTest, SameContentKeepsTheTimeStamp) {
  Write("x", "one");
  const auto old_time = fs::last_write_time(Path("x")) - std::chrono::hours(1);
  fs::last_write_time(Path("x"), old_time);
  EXPECT_FALSE(*WriteFileIfChanged(Path("x"), "one"));
  EXPECT_EQ(fs::last_write_time(Path("x")), old_time);
  EXPECT_TRUE(*WriteFileIfChanged(Path("x"), "two"));
  EXPECT_NE(fs::last_write_time(Path("x")), old_time);
}

TEST_F(FilesTest, OnlyPathsBelowStayInside) {
  EXPECT_TRUE(StaysInside("a/b.h"));
  EXPECT_TRUE(StaysInside("..a"));
  EXPECT_FALSE(StaysInside(""));
  EXPECT_FALSE(StaysInside("/etc/passwd"));
  EXPECT_FALSE(StaysInside("a/../../b"));
}

}  // namespace
}  // namespace aotc
