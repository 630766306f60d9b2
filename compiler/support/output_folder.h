// The folder that a compile writes: it appears whole or not at all, and keeps what others wrote.
//
//   OutputFolder folder("outdir", "metadata.json");
//   folder.Add("model.h", text);
//   folder.Add("metadata.json", list);
//   AOTC_RETURN_IF_ERROR(folder.Commit({.files = {{"model.h", {"ba7816bf...15ad"}}}}));
#ifndef AOTC_COMPILER_SUPPORT_OUTPUT_FOLDER_H_
#define AOTC_COMPILER_SUPPORT_OUTPUT_FOLDER_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace aotc {

// What earlier compiles wrote into a folder: by name the SHA-256 of each content that the file may
// have, as a compile that was cut short leaves some files old and some new. A file with another
// content was changed by somebody.
using WrittenFiles = std::map<std::string, std::set<std::string>, std::less<>>;

struct CommitOptions {
  WrittenFiles previous = {};
  bool force = false;  // writes over files of ours that somebody changed
};

// Where the list of a folder's files stands while they are replaced: "metadata.next.json".
std::string NextName(std::string_view list);

// Files of one compile, held in memory until Commit.
class OutputFolder {
 public:
  // `list` is the file that says what the others are, as the next compile reads it.
  OutputFolder(std::string path, std::string list)
      : path_(std::move(path)), list_(std::move(list)) {}

  // `name` is relative, with forward slashes; the later of two contents wins.
  void Add(std::string_view name, std::string content);

  // Writes everything into a folder beside the place and renames it there. Where the place already
  // is a folder, the new list is put beside the old one under NextName, changed files are renamed
  // into it one by one, unchanged ones are not touched, those of `previous` that are no longer
  // written are removed, with the folders that become empty, and at last the list takes its own
  // name: at any time each file of ours is as one of the two lists says.
  //
  // Errors, after which what was there is still there: a file in the way that was never ours, one
  // of ours that somebody changed (unless `force`), a link in place of a folder of ours.
  absl::Status Commit(const CommitOptions& options = {});

 private:
  // The files that are not there as they are to be, once nothing stands in the way.
  absl::StatusOr<std::vector<std::string>> CheckPlace(const CommitOptions& options) const;
  absl::Status Replace(const std::string& place, const std::vector<std::string>& names,
                       const WrittenFiles& previous) const;

  std::string path_;
  std::string list_;
  std::map<std::string, std::string, std::less<>> files_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_OUTPUT_FOLDER_H_
