// aotc: the command line. Parses the words, runs the command, prints what it found.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/commands.h"

namespace aotc {
namespace {

// What --json gives where the compiler itself breaks. Its message is on stderr.
constexpr std::string_view kBrokenJson = R"({
 "findings": [
  {
   "severity": "error",
   "place": "",
   "message": "internal error",
   "hint": ""
  }
 ],
 "exit_code": 3
}
)";

bool wants_json = false;

// May be called in a handler of signals.
void PrintBroken() {
  if (!wants_json) return;
  [[maybe_unused]] const ssize_t written =
      write(STDOUT_FILENO, kBrokenJson.data(), kBrokenJson.size());
}

// A broken invariant of ours ends here: its message is printed already.
void ExitOnAbort(int /*signal*/) {
  PrintBroken();
  _exit(kExitInternal);
}

void Print(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

// Where nobody says: on a terminal, unless NO_COLOR is there (https://no-color.org).
bool UseColor(ColorMode mode) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  const char* refused = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) == 1 && (refused == nullptr || *refused == '\0');
}

// Tells what a command does, once it takes longer than a second: on a terminal in one line that is
// written anew, elsewhere (a log) in a line each ten seconds at most.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : wanted_(wanted) {}
  ~ProgressLine() {
    if (shown_) Print(stderr, kClearLine);
  }

  void Show(const std::string& step, double seconds) {
    if (!wanted_ || seconds < next_) return;
    next_ = is_terminal_ ? 1 : seconds + kSecondsOfALog;
    shown_ = is_terminal_;
    std::fprintf(stderr, is_terminal_ ? "%s%.0f s: %s" : "%sprogress: %.0f s: %s\n",
                 is_terminal_ ? kClearLine : "", seconds, step.c_str());
    std::fflush(stderr);
  }

 private:
  static constexpr const char* kClearLine = "\r\033[K";
  static constexpr double kSecondsOfALog = 10;
  const bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  const bool wanted_;
  double next_ = is_terminal_ ? 1 : kSecondsOfALog;
  bool shown_ = false;
};

CommandResult RunWithProgress(const CommandLine& line, Diagnostics& diagnostics) {
  ProgressLine progress(!line.quiet && !line.json);
  return RunCommand(line, diagnostics,
                    [&](const std::string& step, double seconds) { progress.Show(step, seconds); });
}

int Run(const std::vector<std::string>& words) {
  const ParsedCommandLine parsed = ParseCommandLine(words);
  if (!parsed.command_line) {
    Print(stdout, parsed.json);
    Print(parsed.exit_code == kExitDone ? stdout : stderr, parsed.text);
    return parsed.exit_code;
  }
  const CommandLine& line = *parsed.command_line;
  wants_json = line.json;
  Diagnostics diagnostics;
  const CommandResult result = RunWithProgress(line, diagnostics);
  Print(stdout, line.json ? JsonText(result.json) : result.dumps);
  if (!line.json && !line.quiet) Print(stdout, result.text);
  Print(stderr, RenderFindings(diagnostics, UseColor(line.color)));
  return result.exit_code;
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  std::signal(SIGABRT, aotc::ExitOnAbort);
  try {
    return aotc::Run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: internal error: %s\n", error.what());
    aotc::PrintBroken();
    return aotc::kExitInternal;
  }
}
