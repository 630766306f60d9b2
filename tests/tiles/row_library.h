// Calls that were drawn from rows, built into a library and run.
//
//   HostLibrary library = *BuildRows(files, {"-DAOTC_CUDA_EMULATE"}, {});
//   std::string complaint = RunRowCase(of, library.Find<RowEntry>(of.loops.name), random);
#ifndef AOTC_TESTS_TILES_ROW_LIBRARY_H_
#define AOTC_TESTS_TILES_ROW_LIBRARY_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/emit/output.h"
#include "tests/host_library/host_library.h"
#include "tests/tiles/row_case.h"

namespace aotc {

inline constexpr const char* kRowSource = "rows.cpp";

// All tasks of a case, with its buffers and its symbols in order. "" or what went wrong.
using RowEntry = const char* (*)(void** buffers, const int64_t* symbols, int64_t tasks);

// "(const float *)b[0], ..., s[0], ..., ": arguments of the function that the emitter writes.
std::string RowArguments(const RowCase& of);

// `files` has kRowSource; the headers that it includes are added, then `edit` may change them.
absl::StatusOr<HostLibrary> BuildRows(OutputFiles files, const std::vector<std::string>& flags,
                                      const std::function<void(OutputFiles&)>& edit);

// At sizes that it draws. "" where memory is then as the row's text says.
std::string RunRowCase(const RowCase& of, RowEntry entry, Random& random);

}  // namespace aotc

#endif  // AOTC_TESTS_TILES_ROW_LIBRARY_H_
