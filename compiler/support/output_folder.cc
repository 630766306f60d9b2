#include "compiler/support/output_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "compiler/support/files.h"
#include "compiler/support/refusal.h"
#include "compiler/support/sha256.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

// How a file stands to what is to be written.
enum class Standing : uint8_t {
  kFree,     // nothing is there, or what an earlier compile wrote
  kChanged,  // an earlier compile wrote it, and somebody has changed it since
  kForeign,  // aotc never wrote it
};

std::string HashOf(const std::string& path) {
  Sha256 hash;
  const absl::Status status = VisitFile(path, [&](std::string_view piece) {
    hash.Update(piece);
    return true;
  });
  return status.ok() ? hash.HexDigest() : "";
}

// `written` has the contents that it may have; nullptr where it was never ours.
Standing StandingOf(const fs::path& path, const std::set<std::string>* written) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status)) return Standing::kFree;
  if (written == nullptr || fs::is_directory(status)) return Standing::kForeign;
  const bool ours = fs::is_regular_file(status) && written->contains(HashOf(path.string()));
  return ours ? Standing::kFree : Standing::kChanged;
}

// A folder between `root` and the file that is a link, and so may lead out of the root; "" if none.
std::string LinkAbove(const fs::path& root, const std::string& name) {
  std::error_code ignored;
  for (fs::path folder = fs::path(name).parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    if (fs::is_symlink(root / folder, ignored)) return (root / folder).string();
  }
  return "";
}

// Removes the file and the folders above it, below `root`, that it leaves empty.
void RemoveStale(const fs::path& root, const std::string& name) {
  std::error_code ignored;
  fs::path path = root / name;
  if (fs::is_directory(fs::symlink_status(path, ignored))) return;
  fs::remove(path, ignored);
  for (path = path.parent_path(); path != root && fs::is_empty(path, ignored);
       path = path.parent_path()) {
    fs::remove(path, ignored);
  }
}

}  // namespace

std::string NextName(std::string_view list) {
  const fs::path path(list);
  return StrCat(path.stem().string(), ".next", path.extension().string());
}

void OutputFolder::Add(std::string_view name, std::string content) {
  AOTC_CHECK(StaysInside(name)) << name;
  files_.insert_or_assign(std::string(name), std::move(content));
}

absl::StatusOr<std::vector<std::string>> OutputFolder::CheckPlace(
    const CommitOptions& options) const {
  std::set<std::string> names = {NextName(list_)};
  for (const auto& [name, content] : files_) names.insert(name);
  for (const auto& [name, hashes] : options.previous) {
    if (StaysInside(name)) names.insert(name);
  }
  std::vector<std::string> changed, to_write;
  for (const std::string& name : names) {
    if (const std::string link = LinkAbove(path_, name); !link.empty()) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("'", link, "' is a link, and may lead out of the output folder",
                                 "; hint: remove it, or give another output folder"));
    }
    const std::string path = (fs::path(path_) / name).string();
    const auto file = files_.find(name);
    if (file != files_.end()) {
      if (HasContent(path, file->second)) continue;
      to_write.push_back(name);
    }
    const auto written = options.previous.find(name);
    const Standing standing =
        StandingOf(path, written == options.previous.end() ? nullptr : &written->second);
    if (standing == Standing::kForeign) {
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("'", path, "' is in the way and was not written by an earlier compile",
                 "; hint: remove it, or give another output folder"));
    }
    if (standing == Standing::kChanged) changed.push_back(StrCat("'", path, "'"));
  }
  if (changed.empty() || options.force) return to_write;
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("changed since aotc wrote ", changed.size() == 1 ? "it" : "them", ": ",
                             StrJoin(changed, ", "),
                             "; hint: give another output folder, or --force to write over it"));
}

absl::Status OutputFolder::Replace(const std::string& place, const std::vector<std::string>& names,
                                   const WrittenFiles& previous) const {
  AOTC_ASSIGN_OR_RETURN(const TemporaryFolder fresh, TemporaryFolder::Beside(place));
  const fs::path from = fresh.path(), to = place;
  const std::string next = NextName(list_);
  for (const std::string& name : names) {
    AOTC_RETURN_IF_ERROR(fresh.Write(name, files_.find(name)->second));
  }
  const bool list_changes = std::ranges::count(names, list_) > 0;
  if (list_changes) {
    AOTC_RETURN_IF_ERROR(fresh.Write(next, files_.find(list_)->second));
    AOTC_RETURN_IF_ERROR(Rename(from / next, to / next));
  }
  for (const std::string& name : names) {
    if (name == list_) continue;
    AOTC_RETURN_IF_ERROR(MakeFolders((to / name).parent_path()));
    AOTC_RETURN_IF_ERROR(Rename(from / name, to / name));
  }
  for (const auto& [name, hashes] : previous) {
    if (StaysInside(name) && !files_.contains(name) && name != next) RemoveStale(to, name);
  }
  if (list_changes) AOTC_RETURN_IF_ERROR(Rename(from / list_, to / list_));
  RemoveStale(to, next);
  return absl::OkStatus();
}

absl::Status OutputFolder::Commit(const CommitOptions& options) {
  fs::path place = fs::path(path_).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // "outdir/"
  std::error_code ignored;
  if (fs::exists(place, ignored)) {
    if (!fs::is_directory(place, ignored))
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("'", path_, "' is not a folder; hint: give another -o"));
    AOTC_ASSIGN_OR_RETURN(const std::vector<std::string> names, CheckPlace(options));
    return Replace(place, names, options.previous);
  }
  if (place.has_parent_path()) AOTC_RETURN_IF_ERROR(MakeFolders(place.parent_path()));
  AOTC_ASSIGN_OR_RETURN(const TemporaryFolder fresh, TemporaryFolder::Beside(place));
  for (const auto& [name, content] : files_) AOTC_RETURN_IF_ERROR(fresh.Write(name, content));
  return Rename(fresh.path(), place);
}

}  // namespace aotc
