// The files of runtime-lite/ and templates/, carried inside the compiler.
//
//   const EmbeddedFile* file = FindEmbeddedFile("runtime-lite/aotc/model.h");
//   outdir.Add("aotc/model.h", file->content);
//
// The table is generated at build time by cmake/embed_files.cmake.
#ifndef AOTC_COMPILER_SUPPORT_EMBEDDED_FILES_H_
#define AOTC_COMPILER_SUPPORT_EMBEDDED_FILES_H_

#include <span>
#include <string_view>

namespace aotc {

struct EmbeddedFile {
  std::string_view name;  // relative to the root of the source tree, with forward slashes
  std::string_view content;
};

// All of them, sorted by name.
std::span<const EmbeddedFile> EmbeddedFiles();

// The file of that name, or null.
const EmbeddedFile* FindEmbeddedFile(std::string_view name);

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_EMBEDDED_FILES_H_
