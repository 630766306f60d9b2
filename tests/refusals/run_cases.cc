// Runs command lines of aotc in one process, and tells which refusals they meet.
//
//   refusal_cases --list   every site that the program has: {"file", "line", "text"} a line
//   refusal_cases FILE     one command line of FILE a line, a JSON list of words; for each prints
//                          {"said": what the user sees, "sites": [those met], "silent": [...]}
//
// A site is met where its sentence is among what the user sees; "silent" are those whose sentence
// is not, which somebody took for an answer.
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "compiler/driver/commands.h"
#include "compiler/driver/opt.h"
#include "compiler/driver/options.h"
#include "compiler/driver/pipeline.h"
#include "compiler/driver/report.h"
#include "compiler/support/files.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "nlohmann/json.hpp"

namespace aotc {
namespace {

using nlohmann::json;

std::map<const RefusalSite*, std::string> made;  // sites of this command line, the last sentence

void Watch(const RefusalSite& site, const absl::Status& refusal) {
  made[&site] = std::string(refusal.message());
}

json ToJson(const RefusalSite& site) {
  return {{"file", FileOf(site)}, {"line", site.line}, {"text", site.text}};
}

// A hint stands on a line of its own.
bool IsShown(const std::string& said, const std::string& sentence) {
  for (const absl::string_view part : absl::StrSplit(sentence, "; hint: ")) {
    if (!absl::StrContains(said, part)) return false;
  }
  return true;
}

// What aotc-opt says: FILE, --passes' names and a pass to print at.
std::string RunOpt(const std::string& path, const std::string& names, const std::string& print) {
  Diagnostics diagnostics;
  const auto run = [&]() -> absl::Status {
    AOTC_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    AOTC_ASSIGN_OR_RETURN(std::vector<AirModule> modules, ParseAir(text));
    AOTC_ASSIGN_OR_RETURN(const std::vector<Pass> passes, PassesByName(names));
    OptOptions options;
    if (!print.empty()) options.print_before.insert(print);
    return aotc::RunOpt(std::move(modules), passes, options, diagnostics).status();
  };
  if (absl::Status status = run(); !status.ok()) diagnostics.AddStatus(status);
  return RenderFindings(diagnostics, false);
}

// What a user sees of a command.
std::string Run(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "opt") return RunOpt(words[1], words[2], words[3]);
  const ParsedCommandLine parsed = ParseCommandLine(words);
  if (!parsed.command_line) return parsed.text;
  Diagnostics diagnostics;
  const CommandResult result = RunCommand(*parsed.command_line, diagnostics);
  const std::string findings = RenderFindings(diagnostics, false);
  return result.exit_code == kExitDone ? findings : findings + result.text;
}

json RunWatched(const std::vector<std::string>& words) {
  made.clear();
  const std::string said = Run(words);
  json result = {{"said", said}, {"sites", json::array()}, {"silent", json::array()}};
  for (const auto& [site, sentence] : made) {
    result[IsShown(said, sentence) ? "sites" : "silent"].push_back(ToJson(*site));
  }
  return result;
}

void Print(const json& line) {
  std::printf("%s\n", line.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

void RunFile(const char* path) {
  WatchRefusals(Watch);
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Print(RunWatched(json::parse(line).get<std::vector<std::string>>()));
  }
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::string_view(argv[1]) != "--list") {
    aotc::RunFile(argv[1]);
    return 0;
  }
  for (const aotc::RefusalSite* site : aotc::AllRefusalSites()) aotc::Print(aotc::ToJson(*site));
  return 0;
}
