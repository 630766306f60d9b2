#include "compiler/import/external_data.h"

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

constexpr std::string_view kMoveHint =
    "; hint: put the file itself into the model's folder and name it relative to that";

bool IsInside(const fs::path& path, const fs::path& folder) {
  auto [rest_of_folder, rest_of_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest_of_folder == folder.end() && rest_of_path != path.end();
}

absl::Status CheckLocation(const std::string& location) {
  fs::path path(location);
  bool odd = location.empty() || location.find('\0') != std::string::npos ||
             location.find('\\') != std::string::npos;
  if (odd)
    return AOTC_REFUSAL(
        InvalidArgument,
        "external data without a usable location; hint: a location is a relative path with "
        "slashes");
  bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  if (path.is_absolute() || climbs) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("external data '", location,
                                                "' is outside the folder of the model", kMoveHint));
  }
  return absl::OkStatus();
}

// The file itself, all links resolved.
absl::StatusOr<fs::path> Resolve(const std::string& folder, const std::string& location) {
  AOTC_RETURN_IF_ERROR(CheckLocation(location));
  std::error_code error;
  fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  fs::path path = error ? fs::path() : fs::canonical(root / location, error);
  if (error) {
    return AOTC_REFUSAL(
        NotFound,
        StrCat("external data '", location,
               "' cannot be found; hint: it belongs beside the model, where that was saved"));
  }
  if (!IsInside(path, root)) {
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat("external data '", location, "' leads outside the folder of the model", kMoveHint));
  }
  if (!fs::is_regular_file(path, error)) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("external data '", location, "' is no file", kMoveHint));
  }
  return path;
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> ReadExternalData(const std::string& folder,
                                                      const ExternalRange& range, int64_t bytes) {
  AOTC_ASSIGN_OR_RETURN(fs::path path, Resolve(folder, range.location));
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const int64_t size = file ? static_cast<int64_t>(file.tellg()) : 0;
  const auto has = [&](int64_t present) {
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat("external data '", range.location, "' has ", present, " bytes, too few for ", bytes,
               " at offset ", range.offset, "; hint: the file is cut off, or of another model"));
  };
  if (range.offset < 0 || range.offset > size || bytes > size - range.offset) return has(size);
  if (range.length && *range.length != bytes) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("external data '", range.location, "' states ",
                                                *range.length, " bytes, its dims need ", bytes));
  }
  std::vector<uint8_t> content(static_cast<size_t>(bytes));
  file.seekg(range.offset);
  if (bytes > 0) file.read(reinterpret_cast<char*>(content.data()), bytes);
  if (!file) return has(range.offset + file.gcount());
  return content;
}

}  // namespace aotc
