#include "compiler/reduce/check.h"

#include <unistd.h>

#include <utility>

#include "compiler/driver/report.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"

namespace aotc {
namespace {

constexpr std::string_view kResult = "\n--- findings ---\n";

void WriteAll(const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

// The findings of `body`, made in a process of its own.
absl::StatusOr<Failure> FailureOfForked(const std::function<void(Diagnostics&)>& body,
                                        int timeout_seconds) {
  const auto in_child = [&body] {
    Diagnostics diagnostics;
    body(diagnostics);
    WriteAll(StrCat(
        kResult, FindingsToJson(diagnostics).dump(-1, ' ', true, Json::error_handler_t::replace)));
    return 0;
  };
  const absl::StatusOr<ProcessResult> result = RunForked(in_child, timeout_seconds);
  if (!result.ok()) return FailureOf(StrCat(result.status().message()));
  const size_t at = result->output.rfind(kResult);
  if (result->exit_code != 0 || at == std::string::npos) {
    const std::string line = result->output.substr(0, result->output.find('\n'));
    return FailureOf(StrCat("error: crash: ", line));
  }
  std::vector<Diagnostic> findings;
  for (const Json& item : Json::parse(result->output.substr(at + kResult.size()), nullptr, false)) {
    if (item.value("severity", "") != "error") continue;
    const std::string place = item.value("place", ""), message = item.value("message", "");
    findings.push_back({.message = place.empty() ? message : StrCat(place, ": ", message),
                        .hint = item.value("hint", "")});
  }
  return FailureOf(findings);
}

void AddUnlessReported(const absl::Status& status, Diagnostics& diagnostics) {
  if (!status.ok() && diagnostics.error_count() == 0) diagnostics.AddStatus(status);
}

}  // namespace

Check CompileCheck(const CompileOptions& options, int timeout_seconds) {
  return [options, timeout_seconds](const std::string& model) {
    CompileOptions compile = options;
    compile.model_path = model;
    compile.import.partial = true;
    return FailureOfForked(
        [&compile](Diagnostics& diagnostics) {
          AddUnlessReported(Compile(compile, diagnostics).status(), diagnostics);
        },
        timeout_seconds);
  };
}

Check VerifyCheck(const VerifyOptions& options, int timeout_seconds) {
  return [options, timeout_seconds](const std::string& model) {
    VerifyOptions verify = options;
    verify.compile.model_path = model;
    verify.compile.import.partial = true;
    return FailureOfForked(
        [&verify](Diagnostics& diagnostics) {
          const absl::StatusOr<VerifyReport> report = Verify(verify, diagnostics);
          if (!report.ok()) return AddUnlessReported(report.status(), diagnostics);
          // The values that differ have other names and errors in each candidate.
          if (diagnostics.error_count() == 0) return;
          diagnostics = {};
          diagnostics.Fault({}, "results differ from those of the evaluator");
        },
        timeout_seconds);
  };
}

Check CommandCheck(const std::string& command, int timeout_seconds) {
  return [command, timeout_seconds](const std::string& model) -> absl::StatusOr<Failure> {
    const absl::StatusOr<ProcessResult> result =
        RunProcess({.argv = {"sh", "-c", command + " \"$1\"", "sh", model},
                    .timeout_seconds = timeout_seconds});
    if (absl::IsDeadlineExceeded(result.status())) return Failure();
    if (!result.ok()) return result.status();
    return result->exit_code == 0 ? FailureOf(StrCat("'", command, "' says so")) : Failure();
  };
}

}  // namespace aotc
