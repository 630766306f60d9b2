// Calls that were drawn from rows, built into a library and run.
//
//   RowLibrary library = *RowLibrary::Build(files, {"-DAOTC_CUDA_EMULATE"});
//   std::string complaint = RunRowCase(of, library.Find(of.loops.name), random);
#ifndef AOTC_TESTS_TILES_ROW_LIBRARY_H_
#define AOTC_TESTS_TILES_ROW_LIBRARY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/emit/output.h"
#include "tests/tiles/row_case.h"

namespace aotc {

inline constexpr const char* kRowSource = "rows.cpp";

// All tasks of a case, with its buffers and its symbols in order. "" or what went wrong.
using RowEntry = const char* (*)(void** buffers, const int64_t* symbols, int64_t tasks);

// "(const float *)b[0], ..., s[0], ..., ": arguments of the function that the emitter writes.
std::string RowArguments(const RowCase& of);

class RowLibrary {
 public:
  // `files` has kRowSource; the headers that it includes are added, then `edit` may change them.
  static absl::StatusOr<RowLibrary> Build(OutputFiles files, const std::vector<std::string>& flags,
                                          const std::function<void(OutputFiles&)>& edit);
  // Null where there is none of this name.
  RowEntry Find(const std::string& name) const;

 private:
  explicit RowLibrary(void* handle);
  std::shared_ptr<void> handle_;
};

// At sizes that it draws. "" where memory is then as the row's text says.
std::string RunRowCase(const RowCase& of, RowEntry entry, Random& random);

}  // namespace aotc

#endif  // AOTC_TESTS_TILES_ROW_LIBRARY_H_
