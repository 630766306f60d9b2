#include "compiler/support/files.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".aotc-";  // between a name and our process

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

// What processes that are gone left beside `path`; folders of living ones stay.
void RemoveLeftovers(const fs::path& path) {
  const std::string prefix = path.filename().string() + std::string(kMark);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t process = 0;
    if (!absl::StartsWith(name, prefix)) continue;
    if (!absl::SimpleAtoi(name.substr(prefix.size()), &process) || process <= 0) continue;
    if (kill(process, 0) == -1 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
  }
}

// A path beside `path` that no other process uses; what a killed one left there is removed.
absl::StatusOr<fs::path> FreshNeighbour(const fs::path& path) {
  RemoveLeftovers(path);
  fs::path neighbour = path;
  neighbour += StrCat(kMark, getpid());
  std::error_code error;
  fs::remove_all(neighbour, error);
  if (error) return FileError("remove", neighbour, error);
  return neighbour;
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

bool HasContent(const std::string& path, std::string_view content) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) != content.size())
    return false;
  std::string_view rest = content;
  const absl::Status status = VisitFile(path, [&](std::string_view piece) {
    const bool same = rest.substr(0, piece.size()) == piece;
    if (same) rest.remove_prefix(piece.size());
    return same;
  });
  return status.ok() && rest.empty();
}

absl::StatusOr<bool> WriteFileIfChanged(const std::string& path, std::string_view content) {
  if (HasContent(path, content)) return false;
  AOTC_ASSIGN_OR_RETURN(const fs::path neighbour, FreshNeighbour(path));
  absl::Status status = WriteFile(neighbour, content);
  if (status.ok()) status = Rename(neighbour, path);
  if (!status.ok()) {
    std::error_code ignored;
    fs::remove(neighbour, ignored);
    return status;
  }
  return true;
}

bool StaysInside(std::string_view name) {
  const fs::path path(name);
  if (path.empty() || path.has_root_path()) return false;
  return std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create(const std::string& stem) {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  std::string path = StrCat(error ? "/tmp" : place.string(), "/", stem, "_XXXXXX");
  if (mkdtemp(path.data()) == nullptr) {
    return absl::InternalError(StrCat("no temporary folder ", path, ": ", LastError().message()));
  }
  return TemporaryFolder(path);
}

absl::StatusOr<TemporaryFolder> TemporaryFolder::Beside(const std::string& path) {
  AOTC_ASSIGN_OR_RETURN(const fs::path neighbour, FreshNeighbour(fs::absolute(path)));
  AOTC_RETURN_IF_ERROR(MakeFolders(neighbour));
  return TemporaryFolder(neighbour.string());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // it may have been renamed to its place
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

absl::Status TemporaryFolder::Write(std::string_view name, std::string_view content) const {
  const fs::path place = fs::path(path_) / name;
  AOTC_RETURN_IF_ERROR(MakeFolders(place.parent_path()));
  return WriteFile(place, content);
}

absl::Status Rename(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) return FileError("write", to, error);
  return absl::OkStatus();
}

absl::Status MakeFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return FileError("create the folder", path, error);
  return absl::OkStatus();
}

}  // namespace aotc
