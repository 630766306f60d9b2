// Which of our headers an output folder needs: those its files include, and theirs.
#include <set>

#include "absl/strings/str_split.h"
#include "compiler/emit/parts.h"
#include "compiler/support/embedded_files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The names in `#include "..."` lines, conditional ones too.
std::vector<std::string> QuotedIncludes(const std::string& text) {
  std::vector<std::string> names;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t hash = line.find_first_not_of(" \t");
    if (hash == absl::string_view::npos || line[hash] != '#') continue;
    const size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == absl::string_view::npos || line.substr(word, 7) != "include") continue;
    const size_t open = line.find('"');
    const size_t close = line.find('"', open + 1);
    if (open == absl::string_view::npos || close == absl::string_view::npos) continue;
    names.emplace_back(line.substr(open + 1, close - open - 1));
  }
  return names;
}

// "aotc/cpu" of "aotc/cpu/tile.h".
std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// The source of what the output folder holds as aotc/NAME.
const EmbeddedFile* SourceOf(const std::string& path) {
  constexpr std::string_view kFolder = "aotc/";
  if (path.compare(0, kFolder.size(), kFolder) != 0) return nullptr;
  if (const EmbeddedFile* file = FindEmbeddedFile(StrCat("runtime-lite/", path))) return file;
  return FindEmbeddedFile(StrCat("templates/", path.substr(kFolder.size())));
}

}  // namespace

absl::StatusOr<OutputFiles> CollectHeaders(const OutputFiles& texts) {
  OutputFiles headers;
  std::vector<std::pair<std::string, std::string>> pending(texts.begin(), texts.end());
  while (!pending.empty()) {
    const auto [includer, text] = std::move(pending.back());
    pending.pop_back();
    for (const std::string& name : QuotedIncludes(text)) {
      // Beside the file that includes it, else from the root of the folder.
      const std::string folder = FolderOf(includer);
      const std::string beside = folder.empty() ? name : StrCat(folder, "/", name);
      const std::string path = SourceOf(beside) != nullptr ? beside : name;
      if (headers.count(path) || texts.count(path)) continue;
      const EmbeddedFile* source = SourceOf(path);
      if (source == nullptr) {
        return absl::InternalError(StrCat(includer, " includes ", name, ", which does not exist"));
      }
      headers.emplace(path, std::string(source->content));
      pending.emplace_back(path, std::string(source->content));
    }
  }
  return headers;
}

}  // namespace aotc
