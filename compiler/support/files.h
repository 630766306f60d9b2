// Reading and writing files, each whole or not at all.
//
//   AOTC_ASSIGN_OR_RETURN(std::string model, ReadFile("model.onnx"));
//   AOTC_RETURN_IF_ERROR(WriteFileIfChanged("page.html", text).status());
#ifndef AOTC_COMPILER_SUPPORT_FILES_H_
#define AOTC_COMPILER_SUPPORT_FILES_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace aotc {

// The bytes of a regular file. Errors name the path: NotFound, or InvalidArgument for folders and
// the like.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// The same bytes in pieces, until `visit` returns false: for files that need not be in memory.
absl::Status VisitFile(const std::string& path,
                       absl::FunctionRef<bool(std::string_view piece)> visit);

// Replaces a file by way of a neighbour and a rename; one that already has this content keeps its
// time stamp. Its folder must exist. True where the file changed.
absl::StatusOr<bool> WriteFileIfChanged(const std::string& path, std::string_view content);

// Whether `name` is a relative path that stays below the folder it is applied to.
bool StaysInside(std::string_view name);

// Whether the regular file has exactly this content.
bool HasContent(const std::string& path, std::string_view content);

// A folder that is removed with all that is in it at the end, unless it was renamed.
class TemporaryFolder {
 public:
  // In the system's place for temporary files.
  static absl::StatusOr<TemporaryFolder> Create(const std::string& stem);
  // Beside `path`, whose place its content is to take: with our process behind the name. What
  // processes that are gone left there is removed.
  static absl::StatusOr<TemporaryFolder> Beside(const std::string& path);

  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  // Writes the file `name`, and the folders above it.
  absl::Status Write(std::string_view name, std::string_view content) const;

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Moves a file or folder; one that is there is replaced at once.
absl::Status Rename(const std::string& from, const std::string& to);

// Makes a folder and those above it.
absl::Status MakeFolders(const std::string& path);

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_FILES_H_
