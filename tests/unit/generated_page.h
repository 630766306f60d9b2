// Pages of docs/ that the compiler's own tables give; AOTC_UPDATE=1 rewrites them.
//
//   ExpectPageIsCurrent("docs/passes.md", "# Passes\n" + DescribePipeline());
#ifndef AOTC_TESTS_UNIT_GENERATED_PAGE_H_
#define AOTC_TESTS_UNIT_GENERATED_PAGE_H_

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace aotc {

// The whole text of a file; nothing where there is none.
inline std::string ReadPage(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Writes the page where AOTC_UPDATE is set; elsewhere it has to be there as it is.
inline void ExpectPageIsCurrent(const std::string& path, const std::string& expected) {
  if (std::getenv("AOTC_UPDATE") != nullptr) {
    std::ofstream(path) << expected;
    return;
  }
  EXPECT_EQ(ReadPage(path), expected) << "run with AOTC_UPDATE=1 to rewrite " << path;
}

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_GENERATED_PAGE_H_
