#include "compiler/support/files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

absl::Status FileError(std::string_view action, const fs::path& path, std::error_code error) {
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("cannot ", action, " '", path.string(), "': ", error.message()));
}

std::error_code LastError() { return {errno, std::generic_category()}; }

absl::Status WriteFile(const fs::path& path, std::string_view content) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) return FileError("write", path, LastError());
  return absl::OkStatus();
}

absl::Status MakeFolders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return FileError("create the folder", path, error);
  return absl::OkStatus();
}

absl::Status Rename(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) return FileError("write", to, error);
  return absl::OkStatus();
}

bool HasContent(const fs::path& path, std::string_view content) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) != content.size())
    return false;
  std::string_view rest = content;
  const absl::Status status = VisitFile(path.string(), [&](std::string_view piece) {
    const bool same = rest.substr(0, piece.size()) == piece;
    if (same) rest.remove_prefix(piece.size());
    return same;
  });
  return status.ok() && rest.empty();
}

// A path beside `path` that no other process uses; what a killed one left there is removed.
absl::StatusOr<fs::path> FreshNeighbour(const fs::path& path) {
  fs::path neighbour = path;
  neighbour += StrCat(".aotc-", getpid());
  std::error_code error;
  fs::remove_all(neighbour, error);
  if (error) return FileError("remove", neighbour, error);
  return neighbour;
}

// A folder that goes away with its content at the end, wherever the function is left.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;  // it may have been renamed to its place
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Removes the file and the folders above it, below `root`, that it leaves empty.
void RemoveStale(const fs::path& root, const std::string& name) {
  std::error_code ignored;
  fs::path path = root / name;
  if (!fs::is_regular_file(fs::symlink_status(path, ignored))) return;
  fs::remove(path, ignored);
  for (path = path.parent_path(); path != root && fs::is_empty(path, ignored);
       path = path.parent_path()) {
    fs::remove(path, ignored);
  }
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::Status VisitFile(const std::string& path,
                       absl::FunctionRef<bool(std::string_view piece)> visit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return FileError("read", path, std::make_error_code(std::errc::no_such_file_or_directory));
  if (fs::is_directory(status))
    return FileError("read", path, std::make_error_code(std::errc::is_a_directory));
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return FileError("read", path, LastError());
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof(buffer)) || stream.gcount() > 0) {
    if (!visit({buffer, static_cast<size_t>(stream.gcount())})) return absl::OkStatus();
  }
  if (stream.bad()) return FileError("read", path, LastError());
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::string content;
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (!error) content.reserve(size);
  AOTC_RETURN_IF_ERROR(VisitFile(path, [&](std::string_view piece) {
    content.append(piece);
    return true;
  }));
  return content;
}

absl::StatusOr<bool> WriteFileIfChanged(const std::string& path, std::string_view content) {
  if (HasContent(path, content)) return false;
  AOTC_ASSIGN_OR_RETURN(fs::path neighbour, FreshNeighbour(path));
  const TemporaryFolder cleanup(neighbour);
  AOTC_RETURN_IF_ERROR(WriteFile(neighbour, content));
  AOTC_RETURN_IF_ERROR(Rename(neighbour, path));
  return true;
}

bool StaysInside(std::string_view name) {
  const fs::path path(name);
  if (path.empty() || path.has_root_path()) return false;
  return std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

void OutputFolder::Add(std::string_view name, std::string content) {
  AOTC_CHECK(StaysInside(name)) << name;
  files_.insert_or_assign(std::string(name), std::move(content));
}

absl::Status OutputFolder::CheckForeignFiles(const std::vector<std::string>& previous) const {
  for (const auto& [name, content] : files_) {
    const fs::path path = fs::path(path_) / name;
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(path, ignored))) continue;
    if (Contains(previous, name) && !fs::is_directory(path, ignored)) continue;
    if (HasContent(path, content)) continue;
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat("'", path.string(), "' is in the way and was not written by an earlier compile",
               "; hint: remove it, or give another output folder"));
  }
  return absl::OkStatus();
}

absl::Status OutputFolder::Commit(const std::vector<std::string>& previous) {
  fs::path place = fs::path(path_).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // "outdir/"
  std::error_code ignored;
  const bool present = fs::exists(place, ignored);
  if (present && !fs::is_directory(place, ignored))
    return AOTC_REFUSAL(InvalidArgument, StrCat("'", path_, "' is not a folder"));
  AOTC_RETURN_IF_ERROR(CheckForeignFiles(previous));
  if (place.has_parent_path()) AOTC_RETURN_IF_ERROR(MakeFolders(place.parent_path()));

  AOTC_ASSIGN_OR_RETURN(fs::path neighbour, FreshNeighbour(fs::absolute(place)));
  const TemporaryFolder fresh(neighbour);
  AOTC_RETURN_IF_ERROR(MakeFolders(fresh.path()));
  std::vector<std::string> changed;
  for (const auto& [name, content] : files_) {
    if (HasContent(place / name, content)) continue;
    AOTC_RETURN_IF_ERROR(MakeFolders((fresh.path() / name).parent_path()));
    AOTC_RETURN_IF_ERROR(WriteFile(fresh.path() / name, content));
    changed.push_back(name);
  }
  if (!present) return Rename(fresh.path(), place);

  for (const std::string& name : changed) {
    AOTC_RETURN_IF_ERROR(MakeFolders((place / name).parent_path()));
    AOTC_RETURN_IF_ERROR(Rename(fresh.path() / name, place / name));
  }
  for (const std::string& name : previous) {
    if (StaysInside(name) && !files_.contains(name)) RemoveStale(place, name);
  }
  return absl::OkStatus();
}

}  // namespace aotc
