// aotc: the command line. Parses the words, runs the command, prints what it found.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "compiler/driver/commands.h"

namespace aotc {
namespace {

// A broken invariant of ours ends here: its message is printed already.
void ExitOnAbort(int /*signal*/) { _exit(kExitInternal); }

void Print(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

bool UseColor(ColorMode mode) {
  return mode == ColorMode::kAlways || (mode == ColorMode::kAuto && isatty(STDERR_FILENO) == 1);
}

// One line on a terminal that tells how far a command is, once it takes longer than a second.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (shown_) Print(stderr, kClearLine);
  }

  void Show(const std::string& step, double seconds) {
    if (!wanted_ || seconds < 1) return;
    shown_ = true;
    std::fprintf(stderr, "%s%.0f s: %s done", kClearLine, seconds, step.c_str());
    std::fflush(stderr);
  }

 private:
  static constexpr const char* kClearLine = "\r\033[K";
  const bool wanted_;
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
    Print(parsed.exit_code == kExitDone ? stdout : stderr, parsed.text);
    return parsed.exit_code;
  }
  const CommandLine& line = *parsed.command_line;
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
    return aotc::kExitInternal;
  }
}
