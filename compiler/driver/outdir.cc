#include "compiler/driver/outdir.h"

#include <utility>

#include "compiler/driver/options.h"
#include "compiler/driver/report.h"
#include "compiler/support/files.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// What metadata.json of an outdir says; an empty object where there is none.
Json ReadMetadata(const std::string& outdir) {
  const absl::StatusOr<std::string> text = ReadFile(outdir + "/metadata.json");
  Json metadata = text.ok() ? Json::parse(*text, nullptr, false) : Json::object();
  return metadata.is_object() ? metadata : Json::object();
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

}  // namespace

std::vector<std::string> PreviousFiles(const std::string& outdir) {
  const Json metadata = ReadMetadata(outdir);
  std::vector<std::string> files = TextsOf(metadata, "files");
  if (!metadata.empty()) files.emplace_back("metadata.json");
  return files;
}

absl::StatusOr<std::vector<std::string>> CheckOutput(const std::string& outdir,
                                                     const std::string& model,
                                                     const std::vector<BindOption>& binds,
                                                     Diagnostics& diagnostics) {
  const std::vector<std::string> previous = PreviousFiles(outdir);
  if (previous.empty()) {
    return AOTC_REFUSAL(NotFound, StrCat("'", outdir, "' has no metadata.json of aotc"));
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
  for (const std::string& path : previous) {
    if (!files.contains(path) && StaysInside(path)) lines.push_back("stale: " + path);
  }
  return lines;
}

}  // namespace aotc
