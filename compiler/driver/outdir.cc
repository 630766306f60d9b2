#include "compiler/driver/outdir.h"

#include <map>
#include <utility>

#include "absl/strings/str_replace.h"
#include "compiler/driver/options.h"
#include "compiler/driver/report.h"
#include "compiler/support/files.h"
#include "compiler/support/output_folder.h"
#include "compiler/support/refusal.h"
#include "compiler/support/sha256.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// A list of files that a compile wrote: what metadata.json says, and the text it says it in.
struct List {
  Json metadata = Json::object();  // empty where there is no such file, or none of ours
  std::string text = {};
};

List ReadList(const std::string& outdir, std::string_view name) {
  absl::StatusOr<std::string> text = ReadFile(StrCat(outdir, "/", name));
  if (!text.ok()) return {};
  Json metadata = Json::parse(*text, nullptr, false);
  if (!metadata.is_object() || !metadata.contains("aotc")) return {};
  return {std::move(metadata), *std::move(text)};
}

Json ReadMetadata(const std::string& outdir) { return ReadList(outdir, kListFile).metadata; }

// By name the hash of each file as the list states it.
std::map<std::string, std::string> HashesOf(const Json& metadata) {
  std::map<std::string, std::string> hashes;
  const auto stated = metadata.find("sha256");
  if (stated == metadata.end() || !stated->is_object()) return hashes;
  for (const auto& [name, hash] : stated->items()) {
    if (hash.is_string()) hashes[name] = hash.get<std::string>();
  }
  return hashes;
}

// Whether a list is as it was written: its own hash is that of its text with an empty one.
bool IsWhole(const List& list) {
  const std::map<std::string, std::string> hashes = HashesOf(list.metadata);
  const auto own = hashes.find(std::string(kListFile));
  if (own == hashes.end() || own->second.empty()) return false;
  std::string text = list.text;
  const size_t at = text.find(own->second);
  if (at == std::string::npos) return false;
  return Sha256Hex(text.erase(at, own->second.size())) == own->second;
}

// The texts of a list in it; others are left out.
std::vector<std::string> TextsOf(const Json& metadata, const char* key) {
  std::vector<std::string> texts;
  if (!metadata.contains(key) || !metadata[key].is_array()) return texts;
  for (const Json& item : metadata[key]) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

// Outputs state the names of bound files without their folders.
void FindFiles(const std::vector<BindOption>& given, const std::string& model,
               std::vector<BindOption>& binds) {
  const std::string folder = model.substr(0, model.find_last_of('/') + 1);
  for (BindOption& bind : binds) {
    bind.path = folder + bind.path;
    for (const BindOption& other : given) {
      if (other.name == bind.name) bind.path = other.path;
    }
  }
}

absl::StatusOr<OutputFiles> CompileAgain(const std::string& outdir, const std::string& model,
                                         const std::vector<BindOption>& binds,
                                         Diagnostics& diagnostics) {
  std::vector<std::string> words = {model, "-o", outdir};
  for (std::string& flag : TextsOf(ReadMetadata(outdir), "flags")) words.push_back(std::move(flag));
  ParsedCommandLine parsed = ParseCommandLine(words);
  if (!parsed.command_line) {
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat(outdir, "/metadata.json states flags that this version does not know"));
  }
  FindFiles(binds, model, parsed.command_line->compile.import.binds);
  const Json metadata = ReadMetadata(outdir);
  if (metadata.contains("limits")) parsed.command_line->compile.limits = metadata["limits"].dump();
  for (const Json& record : metadata.value("records", Json::array())) {
    StrAppend(&parsed.command_line->compile.schedules, record.dump(), "\n");
  }
  AOTC_ASSIGN_OR_RETURN(CompileResult result, Compile(parsed.command_line->compile, diagnostics));
  return std::move(result.files);
}

// What the lists in the folder say that compiles wrote: of two where one was cut short. A list that
// somebody changed still says which files are ours, and is itself a changed one.
WrittenFiles WrittenBefore(const std::string& outdir) {
  WrittenFiles written;
  const std::string next = NextName(kListFile);
  for (const std::string& name : {std::string(kListFile), next}) {
    const List list = ReadList(outdir, name);
    if (list.metadata.empty()) continue;
    for (const std::string& file : TextsOf(list.metadata, "files")) written[file];
    for (const auto& [file, hash] : HashesOf(list.metadata)) written[file].insert(hash);
    written[name];
    if (!IsWhole(list)) continue;
    written[name].insert(Sha256Hex(list.text));
    written[std::string(kListFile)].insert(Sha256Hex(list.text));
  }
  return written;
}

// The folder holds no other model than the one that is to be written.
absl::Status CheckModel(const std::string& outdir, const OutputFiles& files) {
  const Json before = ReadMetadata(outdir);
  const std::string name = Json::parse(files.at(std::string(kListFile)))["name"];
  const auto held = before.find("name");
  if (held == before.end() || *held == name) return absl::OkStatus();
  return AOTC_REFUSAL(
      InvalidArgument,
      StrCat("'", outdir, "' holds the model ", held->dump(), ", and this one is \"", name,
             "\"; hint: give another output folder, or --force to write over it"));
}

}  // namespace

std::string DependencyRule(std::string_view file, const std::vector<std::string>& read) {
  const auto name = [](std::string_view path) {
    return absl::StrReplaceAll(View(path), {{" ", "\\ "}, {"#", "\\#"}, {"$", "$$"}});
  };
  return StrCat(name(file), ": ", StrJoin(read, " ", name), "\n");
}

absl::Status WriteOutdir(const std::string& outdir, const OutputFiles& files, bool force) {
  AOTC_RETURN_IF_ERROR(force ? absl::OkStatus() : CheckModel(outdir, files));
  OutputFolder folder(outdir, std::string(kListFile));
  for (const auto& [path, content] : files) folder.Add(path, content);
  return folder.Commit({.previous = WrittenBefore(outdir), .force = force});
}

absl::StatusOr<std::vector<std::string>> CheckOutput(const std::string& outdir,
                                                     const std::string& model,
                                                     const std::vector<BindOption>& binds,
                                                     Diagnostics& diagnostics) {
  const WrittenFiles previous = WrittenBefore(outdir);
  if (previous.empty()) {
    return AOTC_REFUSAL(
        NotFound,
        StrCat("'", outdir, "' has no metadata.json of aotc; hint: it belongs to what -o names"));
  }
  AOTC_ASSIGN_OR_RETURN(const OutputFiles files, CompileAgain(outdir, model, binds, diagnostics));
  std::vector<std::string> lines;
  for (const auto& [path, content] : files) {
    const absl::StatusOr<std::string> present = ReadFile(StrCat(outdir, "/", path));
    if (!present.ok()) {
      lines.push_back("missing: " + path);
    } else if (*present != content) {
      lines.push_back("changed: " + path);
    }
  }
  for (const auto& [path, hashes] : previous) {
    if (path == NextName(kListFile)) {
      lines.push_back("left by a compile that was cut short: " + path);
    } else if (!files.contains(path) && StaysInside(path)) {
      lines.push_back("stale: " + path);
    }
  }
  return lines;
}

}  // namespace aotc
