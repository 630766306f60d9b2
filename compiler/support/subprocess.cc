#include "compiler/support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCannotRun = 127;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// In the child: never returns. The errno of what failed goes to `report`.
[[noreturn]] void BecomeProgram(const ProcessOptions& options, int output, int report) {
  setpgid(0, 0);
  const int input = open("/dev/null", O_RDONLY);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  for (const std::string& entry : options.environment) putenv(const_cast<char*>(entry.c_str()));
  if (options.folder.empty() || chdir(options.folder.c_str()) == 0) {
    const std::vector<char*> argv = Pointers(options.argv);
    execvp(argv[0], argv.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof error);
  _exit(kCannotRun);
}

// Reads until the end of the stream. False when the time is over.
bool ReadAll(int from, Clock::time_point deadline, std::string& output) {
  char block[65536];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd waited = {from, POLLIN, 0};
    const int ready = poll(&waited, 1, static_cast<int>(left.count()));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = read(from, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    output.append(block, static_cast<size_t>(count));
  }
}

int ExitCode(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The two ends of a pipe, closed at the end and at exec.
struct Pipe {
  int ends[2] = {-1, -1};
  ~Pipe() {
    CloseEnd(0);
    CloseEnd(1);
  }
  bool Open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void CloseEnd(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

}  // namespace

absl::StatusOr<ProcessResult> RunProcess(const ProcessOptions& options) {
  Pipe output, report;
  if (!output.Open() || !report.Open()) return absl::InternalError("no pipe for a process");
  const pid_t child = fork();
  if (child < 0) return absl::InternalError(StrCat("no process: ", strerror(errno)));
  if (child == 0) BecomeProgram(options, output.ends[1], report.ends[1]);
  output.CloseEnd(1);
  report.CloseEnd(1);
  ProcessResult result;
  const auto deadline = Clock::now() + std::chrono::seconds(options.timeout_seconds);
  const bool ended = ReadAll(output.ends[0], deadline, result.output);
  if (!ended) kill(-child, SIGKILL);
  result.exit_code = ExitCode(child);
  int error = 0;
  const bool failed =
      read(report.ends[0], &error, sizeof error) == static_cast<ssize_t>(sizeof error);
  if (failed) {
    return AOTC_REFUSAL(NotFound, StrCat("cannot run '", options.argv[0], "': ", strerror(error)));
  }
  if (!ended) {
    return absl::DeadlineExceededError(
        StrCat("'", options.argv[0], "' did not end within ", options.timeout_seconds, " s"));
  }
  return result;
}

absl::StatusOr<ProcessResult> RunForked(const std::function<int()>& body, int timeout_seconds) {
  Pipe output;
  if (!output.Open()) return absl::InternalError("no pipe for a process");
  const pid_t child = fork();
  if (child < 0) return absl::InternalError(StrCat("no process: ", strerror(errno)));
  if (child == 0) {
    setpgid(0, 0);
    dup2(output.ends[1], STDOUT_FILENO);
    dup2(output.ends[1], STDERR_FILENO);
    // An exception ends the copy here: nothing of this process is for it to clean up.
    [&body]() noexcept { _exit(body()); }();
  }
  output.CloseEnd(1);
  ProcessResult result;
  const auto deadline = Clock::now() + std::chrono::seconds(timeout_seconds);
  const bool ended = ReadAll(output.ends[0], deadline, result.output);
  if (!ended) kill(-child, SIGKILL);
  result.exit_code = ExitCode(child);
  if (ended) return result;
  return absl::DeadlineExceededError(StrCat("did not end within ", timeout_seconds, " s"));
}

}  // namespace aotc
