// Reading and writing files, and the output folder that appears whole or not at all.
//
//   AOTC_ASSIGN_OR_RETURN(std::string model, ReadFile("model.onnx"));
//   OutputFolder folder("outdir");
//   folder.Add("model.h", text);
//   AOTC_RETURN_IF_ERROR(folder.Commit(/*previous=*/{"model.h", "old.cpp"}));
#ifndef AOTC_COMPILER_SUPPORT_FILES_H_
#define AOTC_COMPILER_SUPPORT_FILES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

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

// Files of one compile, held in memory until Commit.
class OutputFolder {
 public:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}

  // `name` is relative, with forward slashes; the later of two contents wins.
  void Add(std::string_view name, std::string content);
  const std::map<std::string, std::string, std::less<>>& files() const { return files_; }

  // Writes everything into a folder beside the place and renames it there. Where the place already
  // is a folder, changed files are renamed into it one by one, unchanged ones are not touched, and
  // those of `previous` (what an earlier compile wrote) that are no longer written are removed,
  // with the folders that become empty. Other files stay: one in the way of ours is an error. After
  // an error what was there is still there.
  absl::Status Commit(const std::vector<std::string>& previous = {});

 private:
  absl::Status CheckForeignFiles(const std::vector<std::string>& previous) const;

  std::string path_;
  std::map<std::string, std::string, std::less<>> files_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_FILES_H_
