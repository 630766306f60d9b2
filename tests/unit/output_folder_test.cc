#include "compiler/support/output_folder.h"

#include <filesystem>
#include <set>

#include "compiler/support/files.h"
#include "compiler/support/sha256.h"
#include "compiler/support/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/folder_case.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Names = std::set<std::string>;

class OutputFolderTest : public FolderCase {
 protected:
  std::string Read(std::string_view name) const { return ReadFile(Path(name)).value_or("none"); }

  // Commits the files, text by name, into "out".
  absl::Status Commit(const std::map<std::string, std::string>& files,
                      const CommitOptions& options = {}) const {
    OutputFolder folder(Path("out"), "list");
    for (const auto& [name, text] : files) folder.Add(name, text);
    return folder.Commit(options);
  }
};

// What an earlier compile wrote, by its texts.
WrittenFiles Written(const std::map<std::string, std::string>& files) {
  WrittenFiles written;
  for (const auto& [name, text] : files) written[name].insert(Sha256Hex(text));
  return written;
}

TEST_F(OutputFolderTest, ANewFolderAppearsWhole) {
  OutputFolder folder(Path("deep/er/out/"), "list");
  folder.Add("m.h", "h");
  folder.Add("aotc/model.h", "model");
  ASSERT_TRUE(folder.Commit().ok());
  EXPECT_EQ(Listing(), (Names{"deep/er/out/aotc/model.h", "deep/er/out/m.h"}));
}

TEST_F(OutputFolderTest, AnOldFolderKeepsForeignFilesAndLosesStaleOnes) {
  const std::map<std::string, std::string> old = {
      {"m.h", "old"}, {"gone/m_kernels.cpp", "old"}, {"same.h", "same"}};
  for (const auto& [name, text] : old) Write("out/" + name, text);
  Write("out/notes.txt", "mine");
  Write("secret", "s");
  const auto old_time = fs::last_write_time(Path("out/same.h")) - std::chrono::hours(1);
  fs::last_write_time(Path("out/same.h"), old_time);
  WrittenFiles written = Written(old);
  written["../secret"] = {Sha256Hex("s")};
  written["absent"] = {};

  ASSERT_TRUE(Commit({{"m.h", "new"}, {"same.h", "same"}}, {.previous = written}).ok());
  EXPECT_EQ(Listing(), (Names{"out/m.h", "out/notes.txt", "out/same.h", "secret"}));
  EXPECT_FALSE(fs::exists(Path("out/gone")));
  EXPECT_EQ(Read("out/m.h"), "new");
  EXPECT_EQ(fs::last_write_time(Path("out/same.h")), old_time);
}

TEST_F(OutputFolderTest, AForeignFileInTheWayIsAnErrorAlsoByForce) {
  Write("out/CMakeLists.txt", "mine");
  for (const bool force : {false, true}) {
    const absl::Status status =
        Commit({{"CMakeLists.txt", "ours"}, {"a.h", "ours"}}, {.force = force});
    EXPECT_THAT(status.message(), HasSubstr("is in the way"));
  }
  EXPECT_EQ(Read("out/CMakeLists.txt"), "mine");
  EXPECT_EQ(Listing(), (Names{"out/CMakeLists.txt"}));
}

TEST_F(OutputFolderTest, AForeignFileWithOurContentIsNotInTheWay) {
  Write("out/a.h", "ours");
  EXPECT_TRUE(Commit({{"a.h", "ours"}}).ok());
}

TEST_F(OutputFolderTest, ChangedFilesAreNamedAndStayUnlessForced) {
  const std::map<std::string, std::string> old = {{"m.h", "old"}, {"stale.h", "old"}};
  Write("out/m.h", "edited");
  Write("out/stale.h", "edited too");
  const absl::Status status = Commit({{"m.h", "new"}}, {.previous = Written(old)});
  EXPECT_THAT(status.message(),
              HasSubstr(StrCat("changed since aotc wrote them: '", Path("out/m.h"), "', '",
                               Path("out/stale.h"), "'")));
  EXPECT_EQ(Read("out/m.h"), "edited");
  EXPECT_EQ(Read("out/stale.h"), "edited too");

  EXPECT_TRUE(Commit({{"m.h", "new"}}, {.previous = Written(old), .force = true}).ok());
  EXPECT_EQ(Read("out/m.h"), "new");
  EXPECT_EQ(Listing(), (Names{"out/m.h"}));
}

TEST_F(OutputFolderTest, AFileThatWasTakenAwayIsWrittenAgain) {
  Write("out/other", "mine");
  EXPECT_TRUE(Commit({{"m.h", "new"}}, {.previous = Written({{"m.h", "old"}})}).ok());
  EXPECT_EQ(Read("out/m.h"), "new");
}

TEST_F(OutputFolderTest, EitherListOfAnInterruptedCompileIsOurs) {
  Write("out/a", "first");
  Write("out/b", "second");
  Write("out/list", "first list");
  Write("out/list.next", "second list");
  WrittenFiles written = Written({{"a", "first"}, {"b", "first"}, {"list", "first list"}});
  for (const auto& [name, text] : {std::pair("a", "second"), std::pair("b", "second"),
                                   std::pair("list.next", "second list")}) {
    written[name].insert(Sha256Hex(text));
  }
  ASSERT_TRUE(Commit({{"a", "third"}, {"list", "third list"}}, {.previous = written}).ok());
  EXPECT_EQ(Listing(), (Names{"out/a", "out/list"}));
  EXPECT_EQ(Read("out/list"), "third list");
}

TEST_F(OutputFolderTest, SomebodyElsesNextListIsInTheWay) {
  Write("out/list.next", "mine");
  EXPECT_THAT(Commit({{"list", "ours"}}).message(), HasSubstr("is in the way"));
  EXPECT_EQ(Read("out/list.next"), "mine");
}

TEST_F(OutputFolderTest, NothingIsWrittenThroughLinks) {
  Write("elsewhere/model.h", "mine");
  fs::create_directories(Path("out"));
  fs::create_directory_symlink(Path("elsewhere"), Path("out/aotc"));
  const absl::Status status = Commit({{"aotc/model.h", "ours"}}, {.force = true});
  EXPECT_THAT(status.message(), HasSubstr("is a link"));
  fs::remove(Path("out/aotc"));

  fs::create_symlink(Path("elsewhere/model.h"), Path("out/m.h"));
  const WrittenFiles written = Written({{"m.h", "mine"}});
  EXPECT_THAT(Commit({{"m.h", "ours"}}, {.previous = written}).message(),
              HasSubstr("changed since"));
  EXPECT_TRUE(Commit({{"m.h", "ours"}}, {.previous = written, .force = true}).ok());
  EXPECT_EQ(Read("out/m.h"), "ours");
  EXPECT_EQ(Read("elsewhere/model.h"), "mine");
}

TEST_F(OutputFolderTest, WhatAKilledCompileLeftBesideThePlaceIsRemoved) {
  constexpr int kNoProcess = 0x7ffffffe;  // above the most that Linux gives
  Write(StrCat("out.aotc-", kNoProcess, "/m.h"), "half");
  Write("out.aotc-mine", "mine");
  ASSERT_TRUE(Commit({{"m.h", "new"}}).ok());
  EXPECT_EQ(Listing(), (Names{"out.aotc-mine", "out/m.h"}));
}

TEST_F(OutputFolderTest, APlaceThatCannotBeAFolderIsAnError) {
  Write("file", "x");
  for (const char* place : {"file", "file/out"}) {
    OutputFolder folder(Path(place), "list");
    folder.Add("a", "");
    EXPECT_FALSE(folder.Commit().ok()) << place;
  }
  EXPECT_EQ(Listing(), (Names{"file"}));
}

}  // namespace
}  // namespace aotc
